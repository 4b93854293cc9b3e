// Nested loops of small steps are too long to be followed on large extents; small ones show enough.
// RUN: tile-opt %s --tile-check-protocol | FileCheck %s

!b = !tile.buffer<32xf32>
!view = !tile.view<?xf32>

// CHECK-LABEL: tile.kernel @nested
tile.kernel @nested(%a: !view, %n: index) attributes {tile.warps = 1 : i64} {
  tile.warp_groups(%a, %n : !view, index) {
    role #tile.role<"all", warps = 1> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %x = tile.alloc : !b
      scf.for %i = %c0 to %n step %c1 {
        scf.for %j = %c0 to %n step %c1 {
          %t = tile.load %a[%j] : !view -> tensor<32xf32>
          tile.barrier
          tile.write %t, %x : tensor<32xf32>, !b
          tile.barrier
          %u = tile.read %x : !b -> tensor<32xf32>
          tile.store %u, %a[%j] : tensor<32xf32>, !view
        }
      }
    }
  }
  tile.return
}

// The fence that orders the reads of two slots stands in front of both releases; so does the one in
// front of the second alone, where a loop's last trip has left it.
!s = !tile.buffer<32xf32>
!ring = !tile.channel<2, !s>
// CHECK-LABEL: tile.kernel @fenced_twice
tile.kernel @fenced_twice(%a: !view) attributes {tile.warps = 2 : i64} {
  %ring = tile.channel full = 1 empty = 1 : !ring
  tile.warp_groups(%a, %ring : !view, !ring) {
    role #tile.role<"load", warps = 1> {
      %s0 = arith.constant 0 : i32
      %s1 = arith.constant 1 : i32
      %c0 = arith.constant 0 : index
      tile.put %ring[%s0, %s0] bytes = 128 : !ring {
      ^bb0(%x: !s):
        tile.copy_in %a[%c0], %x {atom = #nvptx.tma} : !view, !s
      }
      tile.put %ring[%s1, %s0] bytes = 128 : !ring {
      ^bb0(%x: !s):
        tile.copy_in %a[%c0], %x {atom = #nvptx.tma} : !view, !s
      }
    }
    role #tile.role<"use", warps = 1> {
      %s0 = arith.constant 0 : i32
      %s1 = arith.constant 1 : i32
      %c0 = arith.constant 0 : index
      %x = tile.get %ring[%s0, %s0] : !ring
      %t = tile.read %x : !s -> tensor<32xf32>
      %y = tile.get %ring[%s1, %s0] : !ring
      %u = tile.read %y : !s -> tensor<32xf32>
      tile.fence shared
      tile.release %ring[%s0] lanes : !ring
      tile.fence shared
      tile.release %ring[%s1] lanes : !ring
      %v = arith.addf %t, %u : tensor<32xf32>
      tile.store %v, %a[%c0] : tensor<32xf32>, !view
    }
  }
  tile.return
}
