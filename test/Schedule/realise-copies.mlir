// Two copies of four warps share out what eight warps held: rows here, columns there.
// RUN: tile-opt %s --tile-realise-copies | FileCheck %s

#rows = #tile.layout<register = [[0,1]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[8,0],[16,0],[32,0]]>
#columns = #tile.layout<register = [[0,1]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[8,0],[16,0],[0,8]]>
#each = #tile.layout<register = [[0,1]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[8,0],[16,0]]>
!view = !tile.view<?x?xf32>

// CHECK-DAG: #[[OWN:.*]] = #tile.layout<register = {{\[\[}}0,1]], lane = {{\[\[}}0,2],[0,4],[1,0],[2,0],[4,0]], warp = {{\[\[}}8,0],[16,0]]>
// CHECK-LABEL: tile.kernel @rows
tile.kernel @rows(%a: !view, %n: index) {
  tile.warp_groups(%a, %n : !view, index) {
    role #tile.role<"all", warps = 4, copies = 2> {
      // CHECK: %[[COPY:.*]] = tile.copy_id
      // CHECK: %[[BY:.*]] = arith.muli %[[COPY]], %c32
      // CHECK: %[[AT:.*]] = arith.addi %n, %[[BY]] : index
      // CHECK: tile.load %a[%[[AT]], %n] : !tile.view<?x?xf32> -> tensor<32x8xf32, #[[OWN]]>
      %x = tile.load %a[%n, %n] : !view -> tensor<64x8xf32, #rows>
      // CHECK: arith.constant dense<1.000000e+00> : tensor<32x8xf32, #[[OWN]]>
      %one = arith.constant dense<1.0> : tensor<64x8xf32, #rows>
      // CHECK: arith.addf %{{.*}}, %{{.*}} : tensor<32x8xf32, #[[OWN]]>
      %y = arith.addf %x, %one : tensor<64x8xf32, #rows>
      // CHECK: tile.store %{{.*}}, %a[%{{.*}}, %n] : tensor<32x8xf32, #[[OWN]]>
      tile.store %y, %a[%n, %n] : tensor<64x8xf32, #rows>, !view
      // CHECK: tile.load %a[%n, %{{.*}}] : !tile.view<?x?xf32> -> tensor<32x8xf32, #[[OWN]]>
      %z = tile.load %a[%n, %n] : !view -> tensor<32x16xf32, #columns>
      tile.print "columns" (%z) : tensor<32x16xf32, #columns>
      // CHECK: tile.load %a[%n, %n] : !tile.view<?x?xf32> -> tensor<32x8xf32, #[[OWN]]>
      %w = tile.load %a[%n, %n] : !view -> tensor<32x8xf32, #each>
      tile.print "each" (%w) : tensor<32x8xf32, #each>
    }
  }
  tile.return
}

// Places count from the copy's first row on; a column of ones and a row of them are shared out
// alike.
#row = #tile.layout<register = [], lane = [[0],[0],[1],[2],[4]], warp = [[8],[16],[32]]>
#beside = #tile.layout<register = [], lane = [[0,0],[0,0],[1,0],[2,0],[4,0]], warp = [[8,0],[16,0],[32,0]]>
// CHECK-LABEL: tile.kernel @places
tile.kernel @places() {
  tile.warp_groups() {
    role #tile.role<"all", warps = 4, copies = 2> {
      // CHECK: %[[COPY:.*]] = tile.copy_id
      // CHECK: %[[OWN:.*]] = tile.iota 0 : tensor<32xi32, #[[ROW:.*]]>
      // CHECK: %[[BY:.*]] = arith.muli %[[COPY]], %c32
      // CHECK: %[[BY32:.*]] = arith.index_cast %[[BY]] : index to i32
      // CHECK: %[[FIRST:.*]] = tile.splat %[[BY32]] : tensor<32xi32, #[[ROW]]>
      // CHECK: %[[PLACE:.*]] = arith.addi %[[OWN]], %[[FIRST]] : tensor<32xi32, #[[ROW]]>
      %place = tile.iota 0 : tensor<64xi32, #row>
      // CHECK: tile.reshape %[[PLACE]] : tensor<32xi32, #[[ROW]]> -> tensor<32x1xi32, #{{.*}}>
      %beside = tile.reshape %place : tensor<64xi32, #row> -> tensor<64x1xi32, #beside>
      %spread = tile.broadcast %beside : tensor<64x1xi32, #beside> -> tensor<64x8xi32, #rows>
      // CHECK: %[[COLUMN:.*]] = tile.iota 1 : tensor<32x8xi32, #{{.*}}>
      // CHECK-NEXT: tile.print "column" (%[[COLUMN]])
      %column = tile.iota 1 : tensor<64x8xi32, #rows>
      tile.print "column" (%column) : tensor<64x8xi32, #rows>
      tile.print "row" (%spread) : tensor<64x8xi32, #rows>
    }
  }
  tile.return
}

// Each copy has all of a tensor: the first makes the atomic access, under the mask that is there.
#whole = #tile.layout<register = [], lane = [[1],[0],[0],[0],[0]], warp = [[0],[0],[0]]>
// CHECK-LABEL: tile.kernel @once
tile.kernel @once(%a: !tile.view<?xi32>) {
  tile.warp_groups(%a : !tile.view<?xi32>) {
    role #tile.role<"all", warps = 4, copies = 2> {
      // CHECK: %[[COPY:.*]] = tile.copy_id
      %at = tile.iota 0 : tensor<2xi32, #whole>
      // CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[COPY]], %c0
      // CHECK: %[[MASK:.*]] = tile.splat %[[FIRST]] : tensor<2xi1
      // CHECK: tile.atomic_rmw {{.*}} mask(%[[MASK]]
      %old = tile.atomic_rmw addi %a[%at], %at : !tile.view<?xi32>, [tensor<2xi32, #whole>], tensor<2xi32, #whole>
      // CHECK: %[[EVEN:.*]] = arith.cmpi eq, %{{.*}}, %{{.*}} : tensor<2xi32
      // CHECK: %[[BOTH:.*]] = arith.andi %[[EVEN]], %{{.*}} : tensor<2xi1
      // CHECK: tile.atomic_rmw {{.*}} mask(%[[BOTH]]
      %even = arith.cmpi eq, %at, %at : tensor<2xi32, #whole>
      %more = tile.atomic_rmw addi %a[%at], %at mask(%even : tensor<2xi1, #whole>) : !tile.view<?xi32>, [tensor<2xi32, #whole>], tensor<2xi32, #whole>
    }
  }
  tile.return
}

// What each copy has all of becomes what they share out: it is written to a buffer of each copy, of which
// the copy reads its share.
#all64 = #tile.layout<register = [], lane = [[1],[2],[4],[8],[16]], warp = [[32],[0],[0]]>
// CHECK-LABEL: tile.kernel @spread
tile.kernel @spread(%a: !tile.view<?xf32>, %n: index) {
  tile.warp_groups(%a, %n : !tile.view<?xf32>, index) {
    role #tile.role<"all", warps = 4, copies = 2> {
      // CHECK: %[[BUFFER:.*]] = tile.alloc : !tile.buffer<64xf32
      // CHECK: %[[COPY:.*]] = tile.copy_id
      // CHECK: %[[T:.*]] = tile.load %a[%n] : !tile.view<?xf32> -> tensor<64xf32
      %t = tile.load %a[%n] : !tile.view<?xf32> -> tensor<64xf32, #all64>
      // CHECK-NEXT: tile.barrier
      // CHECK-NEXT: tile.write %[[T]], %[[BUFFER]]
      // CHECK-NEXT: tile.barrier
      // CHECK: %[[BY:.*]] = arith.muli %[[COPY]], %c32
      // CHECK-NEXT: %[[PART:.*]] = tile.part %[[BUFFER]][%[[BY]]] : {{.*}} -> !tile.buffer<32xf32
      // CHECK-NEXT: %[[U:.*]] = tile.read %[[PART]] : {{.*}} -> tensor<32xf32
      // CHECK-NEXT: tile.print "share" (%[[U]])
      %u = tile.convert_layout %t {how = #tile.conversion<memory buffer = #tile.layout<offset = [[1],[2],[4],[8],[16],[32]]>>}
         : tensor<64xf32, #all64> -> tensor<64xf32, #row>
      tile.print "share" (%u) : tensor<64xf32, #row>
    }
  }
  tile.return
}

// Pairs, dimensions behind the one that is shared out, running sums along another, and what is
// gathered and scattered: each copy does what is of its share.
#pairs = #tile.layout<register = [[0,0,1],[0,1,0]], lane = [[0,2,0],[0,4,0],[1,0,0],[2,0,0],[4,0,0]], warp = [[8,0,0],[16,0,0],[32,0,0]]>
#joined = #tile.layout<register = [[0,1],[0,2]], lane = [[0,4],[0,8],[1,0],[2,0],[4,0]], warp = [[8,0],[16,0],[32,0]]>
// CHECK-LABEL: tile.kernel @by_share
tile.kernel @by_share(%a: !tile.view<?xf32>, %n: index) {
  tile.warp_groups(%a, %n : !tile.view<?xf32>, index) {
    role #tile.role<"all", warps = 4, copies = 2> {
      %at = tile.iota 0 : tensor<64x8xi32, #rows>
      // CHECK: tile.gather {{.*}} -> tensor<32x8xf32
      %t = tile.gather %a[%at] : !tile.view<?xf32>, [tensor<64x8xi32, #rows>] -> tensor<64x8xf32, #rows>
      // CHECK: tile.scan {{.*}} tensor<32x8xf32
      %s = tile.scan %t axis = 1 : tensor<64x8xf32, #rows> -> tensor<64x8xf32, #rows> {
      ^bb0(%x: f32, %y: f32):
        %z = arith.addf %x, %y : f32
        tile.yield %z : f32
      }
      // CHECK: tile.join {{.*}} -> tensor<32x8x2xf32
      %p = tile.join %t, %s : tensor<64x8xf32, #rows> -> tensor<64x8x2xf32, #pairs>
      // CHECK: tile.reshape {{.*}} -> tensor<32x16xf32
      %j = tile.reshape %p : tensor<64x8x2xf32, #pairs> -> tensor<64x16xf32, #joined>
      tile.print "joined" (%j) : tensor<64x16xf32, #joined>
      // CHECK: tile.scatter {{.*}}tensor<32x8xf32
      tile.scatter %s, %a[%at] : tensor<64x8xf32, #rows>, !tile.view<?xf32>, [tensor<64x8xi32, #rows>]
    }
  }
  tile.return
}

// Columns 64 to 127 lie behind all rows of a box of 64 columns: half of the rows is two pieces, of which
// the product reads a window.
// CHECK-LABEL: tile.kernel @windows
#acc = #tile.layout<register = [[0,1],[8,0],[0,8]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0],[32,0],[64,0]]>
#boxes = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[1,8],[2,16],[4,32],[8,0],[16,0],[32,0],[64,0],[0,64]]>
!boxes = !tile.buffer<128x128xf16, #boxes>
!few = !tile.buffer<16x128xf16>
tile.kernel @windows(%s: i32) {
  %ring = tile.channel full = 4 empty = 8 : !tile.channel<1, !boxes, !few>
  tile.warp_groups(%ring, %s : !tile.channel<1, !boxes, !few>, i32) {
    role #tile.role<"all", warps = 4, copies = 2> {
      %x, %y = tile.get %ring[%s, %s] : !tile.channel<1, !boxes, !few>
      %p = ub.poison : !tile.pending<tensor<128x16xf32, #acc>>
      // CHECK: %[[AT:.*]] = arith.muli %{{.*}} : index
      // CHECK: %[[WINDOW:.*]] = tile.part %{{.*}}[%[[AT]], %{{.*}}] : {{.*}} -> !tile.buffer<64x128xf16 of 128x128
      // CHECK: tile.start_dot %[[WINDOW]]
      %d = tile.start_dot %x, %y, %p transpose_b {atom = #nvptx.wgmma<"m64n64k16", f16, f32>}
         : !boxes, !few -> !tile.pending<tensor<128x16xf32, #acc>>
    }
  }
  tile.return
}
