// Programs of a cluster bring parts of the tiles that they share, and tell one another when a slot may
// be filled again.
// RUN: tile-opt %s --tile-realise-clusters | FileCheck %s
// RUN: tile-opt %s --tile-realise-clusters --tile-realise-threads --tile-check-protocol -o /dev/null

// Two boxes of 32 columns, whose rows are permuted by eights.
#two = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[1,4],[2,8],[4,16],[8,0],[16,0],[32,0],[0,32]]>
!two = !tile.buffer<64x64xf32, #two>
!a = !tile.buffer<64x32xf32>
!b = !tile.buffer<32x32xf32>
!ring = !tile.channel<2, !a, !b>
!view = !tile.view<?x?xf32>

// CHECK: tile.metadata = {own_cluster = true}
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// Of four programs, two share a and two share b: who lies across shares nothing.
// CHECK-LABEL: tile.kernel @both
tile.kernel @both(%x: !view, %y: !view, %n: index)
    attributes {tile.cluster = array<i64: 2, 2, 1>, tile.warps = 3 : i64} {
  // CHECK: tile.channel full = 1 empty = 6
  %ring = tile.channel full = 1 empty = 2 : !ring
  // CHECK: tile.cluster_barrier
  // CHECK-NEXT: tile.warp_groups
  tile.warp_groups(%x, %y, %n, %ring : !view, !view, index, !ring) {
    role #tile.role<"load", warps = 1> {
      // CHECK: %[[IDX:.*]] = tile.program_id x
      // CHECK: %[[X:.*]] = arith.remui %[[IDX]], %c2
      // CHECK: %[[IDY:.*]] = tile.program_id y
      // CHECK: %[[Y:.*]] = arith.remui %[[IDY]], %c2
      // Along y: the programs 0 and 2, or 1 and 3.
      // CHECK: %[[ALONGY:.*]] = arith.constant 5 : i32
      // CHECK: %[[MASKA:.*]] = arith.shli %[[ALONGY]], %{{.*}} : i32
      // Along x: the programs 0 and 1, or 2 and 3.
      // CHECK: %[[ALONGX:.*]] = arith.constant 3 : i32
      // CHECK: %[[MASKB:.*]] = arith.shli %[[ALONGX]], %{{.*}} : i32
      %z = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %c32 = arith.constant 32 : index
      %end:2 = scf.for %k = %c0 to %n step %c32 iter_args(%s = %z, %p = %z) -> (i32, i32) {
        // CHECK: tile.put %{{.*}} bytes = 12288
        tile.put %ring[%s, %p] bytes = 12288 : !ring {
        ^bb0(%to_a: !a, %to_b: !b):
          // CHECK: ^bb0(%[[A:.*]]: !tile.buffer<64x32xf32>, %[[B:.*]]: !tile.buffer<32x32xf32>):
          // CHECK: %[[ROWA:.*]] = arith.muli %{{.*}}, %c32
          // CHECK: %[[ATA:.*]] = arith.addi %{{.*}}, %[[ROWA]] : index
          // CHECK: %[[PARTA:.*]] = tile.part %[[A]][%[[ROWA]], %{{.*}}] : {{.*}} -> !tile.buffer<32x32xf32>
          // CHECK: tile.copy_in %x[%[[ATA]], %{{.*}}], %[[PARTA]] to %[[MASKA]] {atom = #nvptx.tma}
          tile.copy_in %x[%c0, %k], %to_a {atom = #nvptx.tma, multicast = ["y"]} : !view, !a
          // CHECK: %[[PARTB:.*]] = tile.part %[[B]][%{{.*}}, %{{.*}}] : {{.*}} -> !tile.buffer<16x32xf32>
          // CHECK: tile.copy_in %y[%{{.*}}, %{{.*}}], %[[PARTB]] to %[[MASKB]] {atom = #nvptx.tma}
          tile.copy_in %y[%c0, %k], %to_b {atom = #nvptx.tma, multicast = ["x"]} : !view, !b
        }
        %s1, %p1 = tile.advance %s, %p of %ring : !ring
        scf.yield %s1, %p1 : i32, i32
      }
    }
    role #tile.role<"use", warps = 2> {
      // CHECK: role #tile.role<"use", warps = 2>
      // CHECK: tile.program_id x
      %z = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %c32 = arith.constant 32 : index
      %end:2 = scf.for %k = %c0 to %n step %c32 iter_args(%s = %z, %p = %z) -> (i32, i32) {
        %a, %b = tile.get %ring[%s, %p] : !ring
        // Itself, the one beside it and the one behind it.
        // CHECK: tile.release %{{.*}}[%{{.*}}] lanes to %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} :
        tile.release %ring[%s] lanes : !ring
        %s1, %p1 = tile.advance %s, %p of %ring : !ring
        scf.yield %s1, %p1 : i32, i32
      }
    }
  }
  // CHECK: tile.cluster_barrier
  // CHECK-NEXT: tile.return
  tile.return
}

// A ring whose tiles nobody shares stays as it is, and so does a cluster that shares nothing.
// CHECK-LABEL: tile.kernel @alone
tile.kernel @alone(%x: !view) attributes {tile.cluster = array<i64: 2, 1, 1>, tile.warps = 2 : i64} {
  // CHECK: tile.channel full = 1 empty = 1
  // CHECK-NEXT: tile.warp_groups
  %ring = tile.channel full = 1 empty = 1 : !tile.channel<1, !b>
  tile.warp_groups(%x, %ring : !view, !tile.channel<1, !b>) {
    role #tile.role<"load", warps = 1> {
      %z = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      tile.put %ring[%z, %z] bytes = 4096 : !tile.channel<1, !b> {
      ^bb0(%to: !b):
        // CHECK: tile.copy_in %x[%c0{{.*}}, %c0{{.*}}], %{{.*}} {atom = #nvptx.tma}
        tile.copy_in %x[%c0, %c0], %to {atom = #nvptx.tma} : !view, !b
      }
    }
    role #tile.role<"use", warps = 1> {
      %z = arith.constant 0 : i32
      %b = tile.get %ring[%z, %z] : !tile.channel<1, !b>
      // CHECK: tile.release %{{.*}}[%{{.*}}] :
      tile.release %ring[%z] : !tile.channel<1, !b>
    }
  }
  // CHECK-NOT: tile.cluster_barrier
  tile.return
}

// Rows of two boxes: each box is shared out by itself.
// CHECK-LABEL: tile.kernel @boxes
tile.kernel @boxes(%x: !view) attributes {tile.cluster = array<i64: 4, 1, 1>, tile.warps = 2 : i64} {
  // CHECK: tile.channel full = 1 empty = 4
  %ring = tile.channel full = 1 empty = 1 : !tile.channel<1, !two>
  tile.warp_groups(%x, %ring : !view, !tile.channel<1, !two>) {
    role #tile.role<"load", warps = 1> {
      // CHECK: %[[ALL:.*]] = arith.constant 15 : i32
      %z = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      tile.put %ring[%z, %z] bytes = 16384 : !tile.channel<1, !two> {
      ^bb0(%to: !two):
        // CHECK: %[[LEFT:.*]] = tile.part %{{.*}} -> !tile.buffer<64x32xf32
        // CHECK: %[[ROWS:.*]] = tile.part %[[LEFT]]{{.*}} -> !tile.buffer<16x32xf32
        // CHECK: tile.copy_in %x[{{.*}}], %[[ROWS]] to %{{.*}} {atom = #nvptx.tma}
        // CHECK: %[[RIGHT:.*]] = tile.part %{{.*}} -> !tile.buffer<64x32xf32
        // CHECK: %[[MORE:.*]] = tile.part %[[RIGHT]]{{.*}} -> !tile.buffer<16x32xf32
        // CHECK: tile.copy_in %x[{{.*}}], %[[MORE]] to %{{.*}} {atom = #nvptx.tma}
        tile.copy_in %x[%c0, %c0], %to {atom = #nvptx.tma, multicast = ["x"]} : !view, !two
      }
    }
    role #tile.role<"use", warps = 1> {
      %z = arith.constant 0 : i32
      %b = tile.get %ring[%z, %z] : !tile.channel<1, !two>
      tile.release %ring[%z] : !tile.channel<1, !two>
    }
  }
  tile.return
}
}
