// Trips and conditions that numbers of tensors, and reals, tell.
// RUN: tile-opt %s --tile-check-protocol | FileCheck %s

!view = !tile.view<?xi32>
!number = !tile.buffer<1xf32>
!numbers = !tile.channel<1, !number>
!slot = !tile.buffer<64xf32>
!ring = !tile.channel<2, !slot>
#one = #tile.layout<lane = [[0],[0],[0],[0],[0]]>
#none = #tile.layout<lane = [[],[],[],[],[]]>

// There is nobody to agree with.
// CHECK-LABEL: tile.kernel @own
tile.kernel @own(%a: !view) attributes {tile.warps = 1 : i64} {
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

// Nor is there where another role does not need the number.
// CHECK-LABEL: tile.kernel @own_of_two
tile.kernel @own_of_two(%a: !view) attributes {tile.warps = 2 : i64} {
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
    role #tile.role<"other", warps = 1> {
      tile.barrier
    }
  }
  tile.return
}
