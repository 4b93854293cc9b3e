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
