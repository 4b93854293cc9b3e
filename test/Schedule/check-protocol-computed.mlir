// Trips that a role's own tensor tells: there is nobody to agree with.
// RUN: tile-opt %s --tile-check-protocol | FileCheck %s

// CHECK-LABEL: tile.kernel @unknown
!view = !tile.view<?xi32>
tile.kernel @unknown(%a: !view) attributes {tile.warps = 1 : i64} {
  tile.warp_groups(%a : !view) {
    role #tile.role<"all", warps = 1> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %t = tile.load %a[%c0] : !view -> tensor<2xi32>
      %r = tile.reduce %t axis = 0 : tensor<2xi32> -> tensor<i32> {
      ^bb0(%x: i32, %y: i32):
        %s = arith.addi %x, %y : i32
        tile.yield %s : i32
      }
      %i = tile.to_scalar %r : tensor<i32>
      %n = arith.index_cast %i : i32 to index
      scf.for %j = %c0 to %n step %c1 {
        tile.barrier
      }
    }
  }
  tile.return
}
