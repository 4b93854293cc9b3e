// Copies that take programs in turn use each ring in the order of the programs.
// RUN: tile-opt %s --tile-order-turns | FileCheck %s

#acc = #tile.layout<register = [[0,1],[8,0],[0,8],[0,16],[0,32]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0],[32,0]]>
!tile_ = !tile.buffer<64x64xbf16>
!ring = !tile.channel<4, !tile_>
!out = !tile.channel<1, !tile.buffer<64x64xf32>>
!pending = !tile.pending<tensor<64x64xf32, #acc>>

// The products' ring and that to which the sum goes have a turn each.
// CHECK-LABEL: tile.kernel @two_rings
tile.kernel @two_rings(%n: index) attributes {tile.turns = {mma = 2 : i64}, tile.warps = 8 : i64} {
  %ring = tile.channel full = 1 empty = 4 : !ring
  %out = tile.channel full = 4 empty = 4 : !out
  // CHECK: %[[PRODUCTS:.*]] = tile.channel full = 4 empty = 4 : !tile.channel<2>
  // CHECK: %[[SUMS:.*]] = tile.channel full = 4 empty = 4 : !tile.channel<2>
  // CHECK: tile.warp_groups({{.*}}, %[[PRODUCTS]], %[[SUMS]] :
  tile.warp_groups(%n, %ring, %out : index, !ring, !out) {
    role #tile.role<"mma", warps = 4, copies = 2> {
      %c0 = arith.constant 0 : index
      %c2 = arith.constant 2 : index
      %c64 = arith.constant 64 : index
      %any = arith.cmpi slt, %c0, %n : index
      %first = tile.copy_id
      %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %none = ub.poison : !pending
      // CHECK: %[[COPY:.*]] = tile.copy_id
      // CHECK: %[[COPY1:.*]] = tile.copy_id
      // CHECK: %[[STEP:.*]] = arith.divui %c2, %{{.*}}
      // The first copy hands on at the first slot, the next at the next. Both begin to take at the first.
      // CHECK: scf.for %{{.*}} = %{{.*}} to %[[COPY1]]
      // CHECK-NEXT: tile.next fills %[[PRODUCTS]]
      // CHECK: scf.for %{{.*}} = %{{.*}} to %[[COPY1]]
      // CHECK-NEXT: tile.next fills %[[SUMS]]
      // CHECK: scf.for %[[P:.*]] = %[[COPY]] to %n step %c2 {
      scf.for %p = %first to %n step %c2 {
        // The block's first program takes no turn.
        // CHECK: %[[IS:.*]] = arith.cmpi eq, %[[P]], %[[COPY]]
        // CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[COPY1]]
        // CHECK: %[[BOTH:.*]] = arith.andi %[[IS]], %[[FIRST]]
        // CHECK: %[[TAKES:.*]] = arith.xori %[[BOTH]]
        // CHECK: scf.if %[[TAKES]] {
        // CHECK-NEXT: %[[SLOT:.*]], %[[PHASE:.*]] = tile.next %[[PRODUCTS]]
        // CHECK-NEXT: tile.get %[[PRODUCTS]][%[[SLOT]], %[[PHASE]]]
        // CHECK-NEXT: tile.release %[[PRODUCTS]][%[[SLOT]]] :
        // CHECK-NEXT: }
        // What the other copy takes.
        // CHECK: scf.for
        // CHECK-NEXT: tile.next %[[PRODUCTS]]
        // CHECK: scf.if
        %sum = scf.if %any -> tensor<64x64xf32, #acc> {
          // CHECK: scf.for
          %dots = scf.for %k = %c0 to %n step %c64 iter_args(%old = %none) -> !pending {
            // CHECK: tile.get %{{.*}} : !tile.channel<4
            %s, %ph = tile.next %ring : !ring
            %x = tile.get %ring[%s, %ph] : !ring
            %more = arith.cmpi ne, %k, %c0 : index
            %d = tile.start_dot %x, %x, %old when %more transpose_b {atom = #nvptx.wgmma<"m64n64k16", bf16, f32>} : !tile_, !tile_ -> !pending
            tile.release %ring[%s] : !ring
            scf.yield %d : !pending
          }
          // The last slot is got: the next copy may begin, while the last dots run.
          // CHECK: %[[NEXT:.*]], %[[ITS:.*]] = tile.next fills %[[PRODUCTS]]
          // CHECK-NEXT: %[[LATER:.*]] = arith.addi %[[P]], %[[STEP]]
          // CHECK-NEXT: %[[ANY:.*]] = arith.cmpi slt, %[[LATER]], %n
          // CHECK-NEXT: scf.if %[[ANY]] {
          // CHECK-NEXT: tile.put %[[PRODUCTS]][%[[NEXT]], %[[ITS]]] bytes = 0
          // CHECK: scf.for
          // CHECK-NEXT: tile.next fills %[[PRODUCTS]]
          // CHECK: tile.wait
          %t = tile.wait %dots in_flight = 0 : !pending -> tensor<64x64xf32, #acc>
          scf.yield %t : tensor<64x64xf32, #acc>
        } else {
          // A program without products hands the turn on, too.
          // CHECK: } else {
          // CHECK: tile.put %[[PRODUCTS]]
          scf.yield %zero : tensor<64x64xf32, #acc>
        }
        // CHECK: tile.get %[[SUMS]]
        // CHECK: tile.put %{{.*}} : !tile.channel<1
        %s, %ph = tile.next %out : !out
        tile.put %out[%s, %ph] bytes = 0 : !out {
        ^bb0(%x: !tile.buffer<64x64xf32>):
          tile.write %sum, %x : tensor<64x64xf32, #acc>, !tile.buffer<64x64xf32>
        }
        // CHECK: tile.put %[[SUMS]]
      } {tile.programs}
    }
  }
  tile.return
}

// Of three copies the last begins to take the turn at the second slot.
// CHECK-LABEL: tile.kernel @three
tile.kernel @three(%n: index) attributes {tile.turns = {mma = 3 : i64}, tile.warps = 12 : i64} {
  %ring = tile.channel full = 1 empty = 4 : !ring
  // CHECK: %[[TURN:.*]] = tile.channel full = 4 empty = 4 : !tile.channel<3>
  tile.warp_groups(%n, %ring : index, !ring) {
    role #tile.role<"mma", warps = 4, copies = 3> {
      %c3 = arith.constant 3 : index
      %first = tile.copy_id
      // CHECK: %[[COPY:.*]] = tile.copy_id
      // CHECK: %[[COPY1:.*]] = tile.copy_id
      // CHECK: scf.for %{{.*}} = %{{.*}} to %[[COPY1]]
      // CHECK-NEXT: tile.next fills %[[TURN]]
      // CHECK: %[[ONE:.*]] = arith.minui %[[COPY1]]
      // CHECK: %[[OTHERS:.*]] = arith.subi %[[COPY1]], %[[ONE]]
      // CHECK: scf.for %{{.*}} = %{{.*}} to %[[OTHERS]]
      // CHECK-NEXT: tile.next %[[TURN]]
      scf.for %p = %first to %n step %c3 {
        %s, %ph = tile.next %ring : !ring
        %x = tile.get %ring[%s, %ph] : !ring
        tile.release %ring[%s] : !ring
      } {tile.programs}
    }
  }
  tile.return
}
