// Programs that are dealt to copies: each steps over what those between use of a ring.
// RUN: tile-opt %s --tile-realise-turns --split-input-file | FileCheck %s

!tile_ = !tile.buffer<64x64xbf16>
!ring = !tile.channel<4, !tile_>
!view = !tile.view<?x?xbf16>

// CHECK-LABEL: tile.kernel @two
// CHECK-SAME: tile.turns = {mma = 2 : i64}, tile.warps = 9 : i64
tile.kernel @two(%a: !view) attributes {tile.turns = {mma = 2 : i64}, tile.warps = 5 : i64} {
  %ring = tile.channel full = 1 empty = 4 : !ring
  tile.warp_groups(%a, %ring : !view, !ring) {
    // The other role goes through all programs.
    // CHECK: role #tile.role<"load", warps = 1>
    // CHECK-NOT: tile.copy_id
    role #tile.role<"load", warps = 1> {
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %first = tile.program_id x
      %step = tile.num_programs x
      %end = tile.dim %a, 0 : !view
      %n = tile.dim %a, 1 : !view
      scf.for %p = %first to %end step %step {
        scf.for %k = %c0 to %n step %c64 {
          %s, %ph = tile.next %ring : !ring
          tile.put %ring[%s, %ph] bytes = 8192 : !ring {
          ^bb0(%x: !tile_):
            tile.copy_in %a[%p, %k], %x {atom = #nvptx.tma} : !view, !tile_
          }
        }
      } {tile.programs}
    }
    // CHECK: role #tile.role<"mma", warps = 4, copies = 2>
    role #tile.role<"mma", warps = 4> {
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      // CHECK: %[[FIRST:.*]] = tile.program_id x
      // CHECK: %[[STEP:.*]] = tile.num_programs x
      %first = tile.program_id x
      %step = tile.num_programs x
      %end = tile.dim %a, 0 : !view
      // CHECK: %[[N:.*]] = tile.dim %a, 1
      %n = tile.dim %a, 1 : !view
      // CHECK: %[[COPY:.*]] = tile.copy_id
      // CHECK: %[[BEHIND:.*]] = arith.muli %[[COPY]], %[[STEP]]
      // CHECK: %[[LOWER:.*]] = arith.addi %[[FIRST]], %[[BEHIND]]
      // CHECK: %[[TWO:.*]] = arith.constant 2 : index
      // CHECK: %[[BY:.*]] = arith.muli %[[STEP]], %[[TWO]]
      // CHECK: scf.for %[[P:.*]] = %[[LOWER]] to %{{.*}} step %[[BY]] {
      // CHECK: %[[FROM:.*]] = arith.subi %[[P]], %[[FIRST]]
      // CHECK: %[[ONE:.*]] = arith.muli %{{.*}}, %[[STEP]]
      // CHECK: %[[IS:.*]] = arith.cmpi uge, %[[FROM]], %[[ONE]]
      // CHECK: %[[USES:.*]] = scf.if %[[IS]] -> (index) {
      // CHECK: %[[ANY:.*]] = arith.cmpi slt, %{{.*}}, %[[N]]
      // CHECK: %[[TRIPS:.*]] = arith.ceildivui
      // CHECK: arith.select %[[ANY]]
      // CHECK: } else {
      // CHECK: %[[ALL:.*]] = arith.addi %{{.*}}, %[[USES]]
      // CHECK: scf.for %{{.*}} = %{{.*}} to %[[ALL]] step %{{.*}} {
      // CHECK-NEXT: tile.next
      // CHECK-NEXT: }
      // CHECK: scf.for
      // CHECK: tile.next
      // CHECK: tile.get
      scf.for %p = %first to %end step %step {
        scf.for %k = %c0 to %n step %c64 {
          %s, %ph = tile.next %ring : !ring
          %x = tile.get %ring[%s, %ph] : !ring
          tile.release %ring[%s] : !ring
        }
      } {tile.programs}
    }
  }
  tile.return
}

// -----

// How many uses there are hangs on the program; they are counted of the one that is stepped over.

!ring = !tile.channel<1, !tile.buffer<1xi32>>
!view = !tile.view<?xi32>

// CHECK-LABEL: tile.kernel @by_program
tile.kernel @by_program(%a: !view) attributes {tile.turns = {use = 3 : i64}, tile.warps = 1 : i64} {
  %ring = tile.channel full = 1 empty = 1 : !ring
  tile.warp_groups(%a, %ring : !view, !ring) {
    // CHECK: role #tile.role<"use", warps = 1, copies = 3>
    role #tile.role<"use", warps = 1> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %end = tile.dim %a, 0 : !view
      // CHECK: scf.for %[[P:.*]] = {{.*}} {
      // Two programs back, and one.
      // CHECK: scf.if
      // CHECK: %[[BACK:.*]] = arith.subi %[[P]]
      // CHECK: arith.cmpi eq, %[[BACK]], %c0
      // CHECK: arith.select
      // CHECK: scf.if
      // CHECK: %[[BACK1:.*]] = arith.subi %[[P]]
      // CHECK: arith.cmpi eq, %[[BACK1]], %c0
      // CHECK: arith.select
      scf.for %p = %c0 to %end step %c1 {
        %some = arith.cmpi eq, %p, %c0 : index
        scf.if %some {
          %s, %ph = tile.next %ring : !ring
          %x = tile.get %ring[%s, %ph] : !ring
          tile.release %ring[%s] : !ring
        }
      } {tile.programs}
    }
  }
  tile.return
}
