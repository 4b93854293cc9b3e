// Trips and conditions that numbers of tensors, and reals, tell.
// RUN: tile-opt %s --tile-check-protocol | FileCheck %s

!view = !tile.view<?xi32>
#line = #tile.layout<lane = [[1],[2],[4],[8],[16]]>
#one = #tile.layout<lane = [[0],[0],[0],[0],[0]]>
!reals = !tile.view<?xf32>
!t = tensor<32xf32, #line>
!n = tensor<1xf32, #one>
!ring = !tile.channel<2, !tile.buffer<32xf32>>
!numbers = !tile.channel<1, !tile.buffer<1xf32>>

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

// One role loads until the largest element of what it has loaded, which the other hands over, is 4 or
// more: both make the same comparison of one number, whatever that gives.
// CHECK-LABEL: tile.kernel @agree
tile.kernel @agree(%a: !reals) attributes {tile.warps = 2 : i64} {
  %ring = tile.channel full = 1 empty = 1 : !ring
  %numbers = tile.channel full = 1 empty = 1 : !numbers
  tile.warp_groups(%a, %ring, %numbers : !reals, !ring, !numbers) {
    role #tile.role<"load", warps = 1> {
      %s0 = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %yes = arith.constant true
      %bound = arith.constant 4.0 : f32
      %end:4 = scf.while (%go = %yes, %s = %s0, %p = %s0, %q = %s0, %r = %s0) : (i1, i32, i32, i32, i32) -> (i32, i32, i32, i32) {
        scf.condition(%go) %s, %p, %q, %r : i32, i32, i32, i32
      } do {
      ^bb0(%s: i32, %p: i32, %q: i32, %r: i32):
        %t = tile.load %a[%c0] : !reals -> !t
        tile.put %ring[%s, %p] bytes = 0 : !ring {
        ^bb0(%x: !tile.buffer<32xf32>):
          tile.write %t, %x : !t, !tile.buffer<32xf32>
          tile.barrier
        }
        %b = tile.get %numbers[%q, %r] : !numbers
        %v = tile.read %b : !tile.buffer<1xf32> -> !n
        tile.release %numbers[%q] lanes : !numbers
        %f = tile.reshape %v : !n -> tensor<f32>
        %most = tile.to_scalar %f : tensor<f32>
        %is = arith.cmpf olt, %most, %bound : f32
        %s1, %p1 = tile.advance %s, %p of %ring : !ring
        %q1, %r1 = tile.advance %q, %r of %numbers : !numbers
        scf.yield %is, %s1, %p1, %q1, %r1 : i1, i32, i32, i32, i32
      }
    }
    role #tile.role<"use", warps = 1> {
      %s0 = arith.constant 0 : i32
      %yes = arith.constant true
      %bound = arith.constant 4.0 : f32
      %end:4 = scf.while (%go = %yes, %s = %s0, %p = %s0, %q = %s0, %r = %s0) : (i1, i32, i32, i32, i32) -> (i32, i32, i32, i32) {
        scf.condition(%go) %s, %p, %q, %r : i32, i32, i32, i32
      } do {
      ^bb0(%s: i32, %p: i32, %q: i32, %r: i32):
        %x = tile.get %ring[%s, %p] : !ring
        %t = tile.read %x : !tile.buffer<32xf32> -> !t
        tile.release %ring[%s] lanes : !ring
        %f = tile.reduce %t axis = 0 : !t -> tensor<f32> {
        ^bb0(%left: f32, %right: f32):
          %max = arith.maximumf %left, %right : f32
          tile.yield %max : f32
        }
        %most = tile.to_scalar %f : tensor<f32>
        %v = tile.splat %most : !n
        tile.put %numbers[%q, %r] bytes = 0 : !numbers {
        ^bb0(%b: !tile.buffer<1xf32>):
          tile.write %v, %b : !n, !tile.buffer<1xf32>
          tile.barrier
        }
        %is = arith.cmpf olt, %most, %bound : f32
        %s1, %p1 = tile.advance %s, %p of %ring : !ring
        %q1, %r1 = tile.advance %q, %r of %numbers : !numbers
        scf.yield %is, %s1, %p1, %q1, %r1 : i1, i32, i32, i32, i32
      }
    }
  }
  tile.return
}
