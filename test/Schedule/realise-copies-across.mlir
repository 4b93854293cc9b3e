// Reductions and scans along what copies share out: each makes a part, writes it to a buffer of the
// program, and combines those of all when they have met.
// RUN: tile-opt %s --tile-realise-copies -split-input-file -verify-diagnostics | FileCheck %s

#rows = #tile.layout<register = [[0,1]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[8,0],[16,0],[32,0]]>
#columns = #tile.layout<register = [[1]], lane = [[2],[4],[0],[0],[0]], warp = [[0],[0],[0]]>
!view = !tile.view<?x?xf32>

// CHECK-LABEL: tile.kernel @sum
// CHECK: %[[FIRST:.*]] = tile.alloc : !tile.buffer<8xf32>
// CHECK-NEXT: %[[SECOND:.*]] = tile.alloc : !tile.buffer<8xf32>
// CHECK-NEXT: tile.warp_groups(%a, %n, %[[FIRST]], %[[SECOND]]
tile.kernel @sum(%a: !view, %n: index) {
  tile.warp_groups(%a, %n : !view, index) {
    role #tile.role<"all", warps = 4, copies = 2> {
      // CHECK: %[[COPY:.*]] = tile.copy_id
      %x = tile.load %a[%n, %n] : !view -> tensor<64x8xf32, #rows>
      // CHECK: %[[OWN:.*]] = tile.reduce %{{.*}} axis = 0 : tensor<32x8xf32
      // CHECK: tile.barrier all_copies
      // CHECK: %[[IS0:.*]] = arith.cmpi eq, %[[COPY]], %c0
      // CHECK: scf.if %[[IS0]] {
      // CHECK-NEXT: tile.write %[[OWN]], %[[FIRST]]
      // CHECK: %[[IS1:.*]] = arith.cmpi eq, %[[COPY]], %c1
      // CHECK: scf.if %[[IS1]] {
      // CHECK-NEXT: tile.write %[[OWN]], %[[SECOND]]
      // CHECK: tile.barrier all_copies
      // CHECK-NEXT: %[[ONE:.*]] = tile.read %[[FIRST]]
      // CHECK-NEXT: %[[OTHER:.*]] = tile.read %[[SECOND]]
      // CHECK-NEXT: %[[PAIRS:.*]] = tile.join %[[ONE]], %[[OTHER]]
      // CHECK-NEXT: %[[SUM:.*]] = tile.reduce %[[PAIRS]] axis = 1 : tensor<8x2xf32
      // CHECK: tile.print "sum" (%[[SUM]])
      %s = tile.reduce %x axis = 0 : tensor<64x8xf32, #rows> -> tensor<8xf32, #columns> {
      ^bb0(%l: f32, %r: f32):
        %t = arith.addf %l, %r : f32
        tile.yield %t : f32
      }
      tile.print "sum" (%s) : tensor<8xf32, #columns>
      // Sums one after another go through the same buffers.
      // CHECK: tile.write %{{.*}}, %[[FIRST]]
      // CHECK: tile.write %{{.*}}, %[[SECOND]]
      %m = tile.reduce %x axis = 0 : tensor<64x8xf32, #rows> -> tensor<8xf32, #columns> {
      ^bb0(%l: f32, %r: f32):
        %t = arith.maximumf %l, %r : f32
        tile.yield %t : f32
      }
      tile.print "max" (%m) : tensor<8xf32, #columns>
    }
  }
  tile.return
}

// -----

// A number and its place, of a whole dimension: two results, which have no dimension left.
#row = #tile.layout<register = [], lane = [[0],[0],[1],[2],[4]], warp = [[8],[16],[32]]>
#one = #tile.layout<register = [], lane = [[],[],[],[],[]], warp = [[],[],[]]>
// CHECK-LABEL: tile.kernel @largest
// CHECK-COUNT-2: tile.alloc : !tile.buffer<1xf32>
// CHECK-COUNT-2: tile.alloc : !tile.buffer<1xi32>
tile.kernel @largest(%a: !tile.view<?xf32>, %n: index) {
  tile.warp_groups(%a, %n : !tile.view<?xf32>, index) {
    role #tile.role<"all", warps = 4, copies = 2> {
      %x = tile.load %a[%n] : !tile.view<?xf32> -> tensor<64xf32, #row>
      %at = tile.iota 0 : tensor<64xi32, #row>
      // CHECK: tile.barrier all_copies
      // CHECK: tile.write %{{.*}} : tensor<1xf32
      // CHECK-NEXT: tile.write %{{.*}} : tensor<1xi32
      // CHECK: tile.barrier all_copies
      // CHECK: tile.reduce %{{.*}}, %{{.*}} axis = 0 : tensor<2xf32, #{{.*}}>, tensor<2xi32, #{{.*}}> -> tensor<f32, #{{.*}}>, tensor<i32
      %m, %p = tile.reduce %x, %at axis = 0 : tensor<64xf32, #row>, tensor<64xi32, #row> -> tensor<f32, #one>, tensor<i32, #one> {
      ^bb0(%l: f32, %i: i32, %r: f32, %j: i32):
        %wins = arith.cmpf ogt, %r, %l : f32
        %v = arith.select %wins, %r, %l : f32
        %w = arith.select %wins, %j, %i : i32
        tile.yield %v, %w : f32, i32
      }
      tile.print "largest" (%m) : tensor<f32, #one>
      tile.print "place" (%p) : tensor<i32, #one>
    }
  }
  tile.return
}

// -----

// Each copy adds to its running sums what those before it have altogether.
#rows = #tile.layout<register = [[0,1]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[8,0],[16,0],[32,0],[64,0]]>
!view = !tile.view<?x?xf32>
// CHECK-LABEL: tile.kernel @running
// CHECK-COUNT-3: tile.alloc : !tile.buffer<8xf32>
tile.kernel @running(%a: !view, %n: index) {
  tile.warp_groups(%a, %n : !view, index) {
    role #tile.role<"all", warps = 4, copies = 3> {
      %x = tile.load %a[%n, %n] : !view -> tensor<96x8xf32, #rows>
      // CHECK: %[[COPY:.*]] = tile.copy_id
      // CHECK: %[[SUMS:.*]] = tile.scan %[[X:.*]] axis = 0 : tensor<32x8xf32
      // CHECK: tile.reduce %{{.*}} axis = 0 : tensor<32x8xf32, #{{.*}}> -> tensor<8xf32
      // CHECK: tile.barrier all_copies
      // CHECK: tile.barrier all_copies
      // CHECK: %[[ONE:.*]] = tile.read
      // CHECK-NEXT: %[[TWO:.*]] = tile.read
      // CHECK: tile.join %[[ONE]], %[[TWO]]
      // CHECK: %[[BEFORE:.*]] = arith.select
      // CHECK: tile.broadcast
      // CHECK: tile.join %{{.*}}, %[[SUMS]]
      // CHECK: %[[ALL:.*]] = arith.select %{{.*}}, %[[SUMS]], %{{.*}}
      // CHECK: tile.print "sums" (%[[ALL]])
      %s = tile.scan %x axis = 0 : tensor<96x8xf32, #rows> -> tensor<96x8xf32, #rows> {
      ^bb0(%l: f32, %r: f32):
        %t = arith.addf %l, %r : f32
        tile.yield %t : f32
      }
      tile.print "sums" (%s) : tensor<96x8xf32, #rows>
    }
  }
  tile.return
}

// -----

#two = #tile.layout<register = [], lane = [[1],[2],[4],[8],[16]], warp = [[32]]>
#one = #tile.layout<register = [], lane = [[],[],[],[],[]], warp = [[]]>
tile.kernel @skewed(%a: !tile.view<?xf32>, %n: index) {
  tile.warp_groups(%a, %n : !tile.view<?xf32>, index) {
    role #tile.role<"all", warps = 1, copies = 2, skew = 1> {
      %x = tile.load %a[%n] : !tile.view<?xf32> -> tensor<64xf32, #two>
      // expected-error@+1 {{expected a role whose copies come to it together, since each makes a part of it, got role "all" with a skew of 1}}
      %s = tile.reduce %x axis = 0 : tensor<64xf32, #two> -> tensor<f32, #one> {
      ^bb0(%l: f32, %r: f32):
        %t = arith.addf %l, %r : f32
        tile.yield %t : f32
      }
      tile.print "sum" (%s) : tensor<f32, #one>
    }
  }
  tile.return
}
