// A number that is loaded a trip ahead: its role puts it in the next trip, behind what it loads then, and
// the last one behind the loop. Both roles go on by it in one trip.
// RUN: tile-opt %s --tile-check-protocol | FileCheck %s
// What is put is the number of the next trip: the other role goes on by another one.
// RUN: sed 's/tile.write %before, %b/tile.write %v, %b/' %s | not tile-opt --tile-check-protocol 2>&1 | FileCheck %s --check-prefix=EARLY
// EARLY: error: 'tile.put' op expected not to wait forever, got a wait of role "load" that nothing ends

!view = !tile.view<?xi32>
!reals = !tile.view<?xf32>
#line = #tile.layout<lane = [[1],[2],[4],[8],[16]]>
#one = #tile.layout<lane = [[0],[0],[0],[0],[0]]>
!t = tensor<32xf32, #line>
!n = tensor<1xi32, #one>
!ring = !tile.channel<2, !tile.buffer<32xf32>>
!numbers = !tile.channel<1, !tile.buffer<1xi32>>

// CHECK-LABEL: tile.kernel @ahead
tile.kernel @ahead(%a: !reals, %ends: !view) attributes {tile.warps = 2 : i64} {
  %ring = tile.channel full = 1 empty = 1 : !ring
  %numbers = tile.channel full = 1 empty = 1 : !numbers
  tile.warp_groups(%a, %ends, %ring, %numbers : !reals, !view, !ring, !numbers) {
    role #tile.role<"load", warps = 1> {
      %s0 = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %trips = tile.dim %a, 0 : !reals
      %some = arith.cmpi slt, %c0, %trips : index
      scf.if %some {
        %l = tile.load %ends[%c0] : !view -> !n
        %e = tile.reshape %l : !n -> tensor<i32>
        %n = tile.to_scalar %e : tensor<i32>
        %first = tile.splat %n : !n
        %end = arith.index_cast %n : i32 to index
        %r:6 = scf.for %i = %c1 to %trips step %c1 iter_args(%before = %first, %e0 = %end, %s = %s0, %p = %s0, %q = %s0, %o = %s0) -> (!n, index, i32, i32, i32, i32) {
          %l1 = tile.load %ends[%i] : !view -> !n
          %e1 = tile.reshape %l1 : !n -> tensor<i32>
          %n1 = tile.to_scalar %e1 : tensor<i32>
          %v = tile.splat %n1 : !n
          tile.put %numbers[%q, %o] bytes = 0 : !numbers {
          ^bb0(%b: !tile.buffer<1xi32>):
            tile.write %before, %b : !n, !tile.buffer<1xi32>
            tile.barrier
          }
          %u:2 = scf.for %j = %c0 to %e0 step %c1 iter_args(%x = %s, %y = %p) -> (i32, i32) {
            %t = tile.load %a[%j] : !reals -> !t
            tile.put %ring[%x, %y] bytes = 0 : !ring {
            ^bb0(%b: !tile.buffer<32xf32>):
              tile.write %t, %b : !t, !tile.buffer<32xf32>
              tile.barrier
            }
            %x1, %y1 = tile.advance %x, %y of %ring : !ring
            scf.yield %x1, %y1 : i32, i32
          }
          %end1 = arith.index_cast %n1 : i32 to index
          %q1, %o1 = tile.advance %q, %o of %numbers : !numbers
          scf.yield %v, %end1, %u#0, %u#1, %q1, %o1 : !n, index, i32, i32, i32, i32
        }
        tile.put %numbers[%r#4, %r#5] bytes = 0 : !numbers {
        ^bb0(%b: !tile.buffer<1xi32>):
          tile.write %r#0, %b : !n, !tile.buffer<1xi32>
          tile.barrier
        }
        %u:2 = scf.for %j = %c0 to %r#1 step %c1 iter_args(%x = %r#2, %y = %r#3) -> (i32, i32) {
          %t = tile.load %a[%j] : !reals -> !t
          tile.put %ring[%x, %y] bytes = 0 : !ring {
          ^bb0(%b: !tile.buffer<32xf32>):
            tile.write %t, %b : !t, !tile.buffer<32xf32>
            tile.barrier
          }
          %x1, %y1 = tile.advance %x, %y of %ring : !ring
          scf.yield %x1, %y1 : i32, i32
        }
      }
    }
    role #tile.role<"use", warps = 1> {
      %s0 = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %trips = tile.dim %a, 0 : !reals
      %r:4 = scf.for %i = %c0 to %trips step %c1 iter_args(%s = %s0, %p = %s0, %q = %s0, %o = %s0) -> (i32, i32, i32, i32) {
        %b = tile.get %numbers[%q, %o] : !numbers
        %v = tile.read %b : !tile.buffer<1xi32> -> !n
        tile.release %numbers[%q] lanes : !numbers
        %e = tile.reshape %v : !n -> tensor<i32>
        %n = tile.to_scalar %e : tensor<i32>
        %end = arith.index_cast %n : i32 to index
        %u:2 = scf.for %j = %c0 to %end step %c1 iter_args(%x = %s, %y = %p) -> (i32, i32) {
          %slot = tile.get %ring[%x, %y] : !ring
          %t = tile.read %slot : !tile.buffer<32xf32> -> !t
          tile.release %ring[%x] lanes : !ring
          %x1, %y1 = tile.advance %x, %y of %ring : !ring
          scf.yield %x1, %y1 : i32, i32
        }
        %q1, %o1 = tile.advance %q, %o of %numbers : !numbers
        scf.yield %u#0, %u#1, %q1, %o1 : i32, i32, i32, i32
      }
    }
  }
  tile.return
}
