// Slots and phases go from use to use, through loops and conditions; each role has its own.
// RUN: tile-opt %s --tile-realise-slots | FileCheck %s

!b = !tile.buffer<32x32xf16>
!ring = !tile.channel<3, !b>
!once = !tile.channel<1, !b>

// CHECK-LABEL: tile.kernel @uses
tile.kernel @uses(%m: index, %n: index) attributes {tile.warps = 5 : i64} {
  // CHECK: %[[K:.*]] = tile.channel full = 1 empty = 4 : !tile.channel<3,
  // CHECK: %[[Q:.*]] = tile.channel full = 1 empty = 4 : !tile.channel<1,
  %k = tile.channel full = 1 empty = 4 : !ring
  %q = tile.channel full = 1 empty = 4 : !once
  tile.warp_groups(%m, %n, %k, %q : index, index, !ring, !once) {
    // CHECK: role #tile.role<"load", warps = 1> {
    // CHECK-NEXT: %[[Z:.*]] = arith.constant 0 : i32
    role #tile.role<"load", warps = 1> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      // What comes once a tile goes on from tile to tile.
      // CHECK: scf.for {{.*}} iter_args(%[[QS:.*]] = %[[Z]], %[[QP:.*]] = %[[Z]], %[[S:.*]] = %[[Z]], %[[P:.*]] = %[[Z]])
      scf.for %t = %c0 to %n step %c1 {
        // CHECK-NEXT: tile.put %[[Q]][%[[QS]], %[[QP]]]
        %s, %p = tile.next %q : !once
        tile.put %q[%s, %p] bytes = 0 : !once {
        ^bb0(%x: !b):
        }
        // CHECK: %[[L:.*]]:2 = scf.for {{.*}} iter_args(%[[S1:.*]] = %[[S]], %[[P1:.*]] = %[[P]])
        scf.for %i = %c0 to %m step %c1 {
          // CHECK-NEXT: tile.put %[[K]][%[[S1]], %[[P1]]]
          // CHECK: %[[S2:.*]], %[[P2:.*]] = tile.advance %[[S1]], %[[P1]] of %[[K]]
          // CHECK-NEXT: scf.yield %[[S2]], %[[P2]]
          %s1, %p1 = tile.next %k : !ring
          tile.put %k[%s1, %p1] bytes = 0 : !ring {
          ^bb0(%x: !b):
          }
        }
        // CHECK: %[[S3:.*]], %[[P3:.*]] = tile.advance %[[QS]], %[[QP]] of %[[Q]]
        // CHECK-NEXT: scf.yield %[[S3]], %[[P3]], %[[L]]#0, %[[L]]#1
      }
    }
    // CHECK: role #tile.role<"use", warps = 4> {
    // CHECK-NEXT: %[[Z:.*]] = arith.constant 0 : i32
    role #tile.role<"use", warps = 4> {
      %c0 = arith.constant 0 : index
      %some = arith.cmpi ult, %m, %n : index
      // Two uses one after the other, and a condition that has one or none.
      // CHECK: tile.get %[[K]][%[[Z]], %[[Z]]]
      // CHECK-NEXT: tile.release %[[K]][%[[Z]]]
      %s0, %p0 = tile.next %k : !ring
      %x = tile.get %k[%s0, %p0] : !ring
      tile.release %k[%s0] : !ring
      // CHECK-NEXT: %[[S1:.*]], %[[P1:.*]] = tile.advance %[[Z]], %[[Z]] of %[[K]]
      // CHECK-NEXT: tile.get %[[K]][%[[S1]], %[[P1]]]
      %s1, %p1 = tile.next %k : !ring
      %y = tile.get %k[%s1, %p1] : !ring
      // CHECK-NEXT: %[[S2:.*]], %[[P2:.*]] = tile.advance %[[S1]], %[[P1]] of %[[K]]
      // CHECK-NEXT: %[[I:.*]]:3 = scf.if
      %number = scf.if %some -> index {
        // CHECK-NEXT: tile.get %[[K]][%[[S2]], %[[P2]]]
        // CHECK: %[[S3:.*]], %[[P3:.*]] = tile.advance %[[S2]], %[[P2]] of %[[K]]
        // CHECK-NEXT: scf.yield %m, %[[S3]], %[[P3]]
        %s2, %p2 = tile.next %k : !ring
        %z = tile.get %k[%s2, %p2] : !ring
        tile.release %k[%s2] : !ring
        scf.yield %m : index
      } else {
        // CHECK: scf.yield %n, %[[S2]], %[[P2]]
        scf.yield %n : index
      }
      // CHECK: tile.get %[[K]][%[[I]]#1, %[[I]]#2]
      %s3, %p3 = tile.next %k : !ring
      %w = tile.get %k[%s3, %p3] : !ring
    }
  }
  tile.return
}
