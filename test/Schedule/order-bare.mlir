// Chips whose barriers wait for no access: warps wait for their own, and copies stay under way.
// RUN: tile-opt %s --tile-order-bare --split-input-file | FileCheck %s

#t = #tile.layout<register = [[0,1],[0,8],[0,16]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0],[8,0]], warp = [[16,0]]>
!view = !tile.view<?x?xf16>
!buffer = !tile.buffer<32x32xf16>
!ring = !tile.channel<2, own, !buffer>
#copy = #amdgcn.load_to_lds<"gfx942", 4>

module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
  // CHECK-LABEL: tile.kernel @copied
  // CHECK: tile.wait_puts
  // CHECK-NEXT: tile.barrier bare
  // CHECK: tile.read
  // CHECK-NEXT: tile.release
  // CHECK-NEXT: tile.wait_shared
  // CHECK-NEXT: tile.barrier bare
  // CHECK: tile.release
  // CHECK-NEXT: tile.wait_shared
  // CHECK-NEXT: tile.print
  tile.kernel @copied(%a: !view, %n: index) attributes {tile.warps = 2 : i64} {
    %ring = tile.channel full = 1 empty = 1 : !ring
    tile.warp_groups(%a, %n, %ring : !view, index, !ring) {
      role #tile.role<"all", warps = 2> {
        %z = arith.constant 0 : i32
        tile.put %ring[%z, %z] bytes = 0 : !ring {
        ^bb0(%x: !buffer):
          tile.copy_in %a[%n, %n], %x {atom = #copy} : !view, !buffer
        }
        tile.wait_puts in_flight = 0
        tile.barrier
        %x = tile.get %ring[%z, %z] : !ring
        %t = tile.read %x : !buffer -> tensor<32x32xf16, #t>
        tile.release %ring[%z] : !ring
        tile.barrier
        %y = tile.get %ring[%z, %z] : !ring
        %u = tile.read %y : !buffer -> tensor<32x32xf16, #t>
        tile.release %ring[%z] : !ring
        tile.print "both" (%t, %u) : tensor<32x32xf16, #t>, tensor<32x32xf16, #t>
      }
    }
    tile.return
  }
}

// -----

#t = #tile.layout<register = [[0,1],[0,8],[0,16]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[8,0],[16,0]]>
!view = !tile.view<?x?xf16>
!buffer = !tile.buffer<32x32xf16>
!ring = !tile.channel<2, own, !buffer>

module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  // Where the barrier waits for all accesses nothing is added.
  // CHECK-LABEL: tile.kernel @waits
  // CHECK-NOT: bare
  // CHECK-NOT: tile.wait_shared
  tile.kernel @waits(%a: !view, %n: index) attributes {tile.warps = 4 : i64} {
    %ring = tile.channel full = 1 empty = 1 : !ring
    tile.warp_groups(%a, %n, %ring : !view, index, !ring) {
      role #tile.role<"all", warps = 4> {
        %z = arith.constant 0 : i32
        tile.put %ring[%z, %z] bytes = 0 : !ring {
        ^bb0(%x: !buffer):
          tile.copy_in %a[%n, %n], %x {atom = #nvptx.cp_async<16>} : !view, !buffer
        }
        tile.wait_puts in_flight = 0
        tile.barrier
        %x = tile.get %ring[%z, %z] : !ring
        %t = tile.read %x : !buffer -> tensor<32x32xf16, #t>
        tile.release %ring[%z] : !ring
        tile.barrier
        tile.print "one" (%t) : tensor<32x32xf16, #t>
      }
    }
    tile.return
  }
}

// -----

#s = #tile.layout<register = []>
#w = #tile.layout<register = [], lane = [[1],[2],[4],[8],[16],[32]], warp = [[64]]>
!view = !tile.view<?x?xf16>
!buffer = !tile.buffer<32x32xf16>
!ring = !tile.channel<2, own, !buffer>
#copy = #amdgcn.load_to_lds<"gfx942", 4>

module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
  // Warps that meet within an op do so, too.
  // CHECK-LABEL: tile.kernel @scratch
  // CHECK: tile.reduce {{.*}} {tile.meets_bare, tile.shared_offset = 0 : i64}
  // CHECK: tile.wait_shared
  // CHECK-NEXT: tile.barrier bare
  // CHECK-NEXT: tile.reduce {{.*}} {tile.meets_bare, tile.shared_offset = 0 : i64}
  tile.kernel @scratch(%a: !view, %n: index) attributes {tile.warps = 2 : i64} {
    %ring = tile.channel full = 1 empty = 1 : !ring
    tile.warp_groups(%a, %n, %ring : !view, index, !ring) {
      role #tile.role<"all", warps = 2> {
        %z = arith.constant 0 : i32
        %x = arith.constant dense<1.0> : tensor<128xf32, #w>
        tile.put %ring[%z, %z] bytes = 0 : !ring {
        ^bb0(%y: !buffer):
          tile.copy_in %a[%n, %n], %y {atom = #copy} : !view, !buffer
        }
        %r = tile.reduce %x axis = 0 {tile.shared_offset = 0 : i64} : tensor<128xf32, #w> -> tensor<f32, #s> {
        ^bb0(%left: f32, %right: f32):
          %b = arith.addf %left, %right : f32
          tile.yield %b : f32
        }
        tile.barrier
        %q = tile.reduce %x axis = 0 {tile.shared_offset = 0 : i64} : tensor<128xf32, #w> -> tensor<f32, #s> {
        ^bb0(%left: f32, %right: f32):
          %b = arith.mulf %left, %right : f32
          tile.yield %b : f32
        }
        tile.print "both" (%r, %q) : tensor<f32, #s>, tensor<f32, #s>
      }
    }
    tile.return
  }
}

// -----

#t = #tile.layout<register = [[0,1],[0,8],[0,16]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0],[8,0]], warp = [[16,0]]>
!view = !tile.view<?x?xf16>
!buffer = !tile.buffer<32x32xf16>
!ring = !tile.channel<2, own, !buffer>
#copy = #amdgcn.load_to_lds<"gfx942", 4>
#row = #tile.layout<lane = [[0],[0],[1],[2],[4],[8]], warp = [[16]]>

module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
  // Where lanes exchange elements in an op, warps meet in it and wait for all accesses, for what they
  // have read of the ring too.
  // CHECK-LABEL: tile.kernel @meets_inside
  // CHECK: tile.release
  // CHECK-NEXT: tile.reduce %{{.*}} {tile.meets_bare, tile.shared_offset
  // CHECK-NOT: tile.wait_shared
  // CHECK: tile.return
  tile.kernel @meets_inside(%a: !view, %n: index) attributes {tile.warps = 2 : i64} {
    %ring = tile.channel full = 1 empty = 1 : !ring
    tile.warp_groups(%a, %n, %ring : !view, index, !ring) {
      role #tile.role<"all", warps = 2> {
        %z = arith.constant 0 : i32
        tile.put %ring[%z, %z] bytes = 0 : !ring {
        ^bb0(%x: !buffer):
          tile.copy_in %a[%n, %n], %x {atom = #copy} : !view, !buffer
        }
        tile.wait_puts in_flight = 0
        tile.barrier
        %x = tile.get %ring[%z, %z] : !ring
        %t = tile.read %x : !buffer -> tensor<32x32xf16, #t>
        tile.release %ring[%z] : !ring
        %r = tile.reduce %t axis = 1 {tile.shared_offset = 8192 : i64} : tensor<32x32xf16, #t> -> tensor<32xf16, #row> {
        ^bb0(%p: f16, %q: f16):
          %m = arith.maximumf %p, %q : f16
          tile.yield %m : f16
        }
        tile.print "sums" (%r) : tensor<32xf16, #row>
      }
    }
    tile.return
  }
}

// -----

#t = #tile.layout<register = [[0,1],[0,8],[0,16]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0],[8,0]], warp = [[16,0]]>
!view = !tile.view<?x?xf16>
!buffer = !tile.buffer<32x32xf16>
!ring = !tile.channel<2, own, !buffer>
#copy = #amdgcn.load_to_lds<"gfx942", 4>

module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
  // What a condition writes is waited for as well, as where copies put their parts of a sum.
  // CHECK-LABEL: tile.kernel @in_condition
  // CHECK: scf.if
  // CHECK-NEXT: tile.write
  // CHECK-NEXT: }
  // CHECK-NEXT: tile.wait_shared
  // CHECK-NEXT: tile.barrier bare
  // CHECK-NEXT: tile.read
  tile.kernel @in_condition(%a: !view, %n: index, %is_first: i1) attributes {tile.warps = 2 : i64} {
    %ring = tile.channel full = 1 empty = 1 : !ring
    %part = tile.alloc : !buffer
    tile.warp_groups(%a, %n, %is_first, %ring, %part : !view, index, i1, !ring, !buffer) {
      role #tile.role<"all", warps = 2> {
        %z = arith.constant 0 : i32
        %s = arith.constant dense<1.0> : tensor<32x32xf16, #t>
        tile.put %ring[%z, %z] bytes = 0 : !ring {
        ^bb0(%x: !buffer):
          tile.copy_in %a[%n, %n], %x {atom = #copy} : !view, !buffer
        }
        scf.if %is_first {
          tile.write %s, %part : tensor<32x32xf16, #t>, !buffer
        }
        tile.barrier
        %p = tile.read %part : !buffer -> tensor<32x32xf16, #t>
        tile.print "part" (%p) : tensor<32x32xf16, #t>
      }
    }
    tile.return
  }
}
