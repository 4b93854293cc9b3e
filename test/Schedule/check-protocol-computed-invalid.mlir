// Roles that go by numbers of tensors which they do not have from one another, or ask otherwise.
// RUN: tile-opt %s --tile-check-protocol -split-input-file -verify-diagnostics

#line = #tile.layout<lane = [[1],[2],[4],[8],[16]]>
#one = #tile.layout<lane = [[0],[0],[0],[0],[0]]>
!view = !tile.view<?xf32>
!t = tensor<32xf32, #line>
!n = tensor<1xf32, #one>
!ring = !tile.channel<2, !tile.buffer<32xf32>>
!numbers = !tile.channel<1, !tile.buffer<1xf32>>

// One goes on at 4, the other does not.
tile.kernel @differ(%a: !view) attributes {tile.warps = 2 : i64} {
  // expected-note@+1 {{the ring}}
  %ring = tile.channel full = 1 empty = 1 : !ring
  %numbers = tile.channel full = 1 empty = 1 : !numbers
  // expected-note@+1 {{found for program}}
  tile.warp_groups(%a, %ring, %numbers : !view, !ring, !numbers) {
    role #tile.role<"load", warps = 1> {
      %s0 = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %yes = arith.constant true
      %bound = arith.constant 4.0 : f32
      %end:4 = scf.while (%go = %yes, %s = %s0, %p = %s0, %q = %s0, %r = %s0) : (i1, i32, i32, i32, i32) -> (i32, i32, i32, i32) {
        scf.condition(%go) %s, %p, %q, %r : i32, i32, i32, i32
      } do {
      ^bb0(%s: i32, %p: i32, %q: i32, %r: i32):
        %t = tile.load %a[%c0] : !view -> !t
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
        // expected-error@+1 {{expected not to wait forever, got a wait of role "use" that nothing ends}}
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
        %is = arith.cmpf ole, %most, %bound : f32
        %s1, %p1 = tile.advance %s, %p of %ring : !ring
        %q1, %r1 = tile.advance %q, %r of %numbers : !numbers
        scf.yield %is, %s1, %p1, %q1, %r1 : i1, i32, i32, i32, i32
      }
    }
  }
  tile.return
}
