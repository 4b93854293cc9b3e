// Copies of a role have slots of their own in tensor memory: of a channel with a slot for each, every copy begins
// with that of its number, and steps over the uses of the others.
// RUN: tile-opt %s --tile-realise-copies --tile-decide-columns --tile-realise-accumulators | FileCheck %s
// RUN: tile-opt %s --tile-realise-copies --tile-decide-columns --tile-realise-accumulators --tile-realise-slots | FileCheck %s --check-prefix=SLOTS

#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0],[128,0]]>
!a = !tile.buffer<256x32xf16>
!b = !tile.buffer<32x32xf16>
!ring = !tile.channel<2, !a, !b>
!t = tensor<256x32xf32, #sum>
!x = tensor<256x32xf16, #sum>
!pending = !tile.pending<!t, tensor_memory>
#atom = #nvptx.tcgen05<"m128n32k16", f16, f32>

// Each copy starts the dots of its own rows, and fetches these.
// CHECK-LABEL: tile.kernel @loop
// CHECK: %[[SUMS:.*]] = tile.channel full = 1 empty = 4 : !tile.channel<2, !tile.pending<tensor<128x32xf32, #layout>, tensor_memory>>
// CHECK: %[[COPY:.*]] = tile.copy_id
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[COPY]]
// CHECK-NEXT: tile.next %[[OWN:.*]] : !tile.channel<2, !tile.pending<tensor<128x32xf32
// CHECK: %[[S:.*]], %[[P:.*]] = tile.next %[[OWN]]
// CHECK: scf.for %{{.*}} = %{{.*}} to %c1{{.*}} step
// CHECK-NEXT: tile.next %[[OWN]]
// CHECK: %[[EMPTY:.*]] = tile.acquire %[[OWN]][%[[S]], %[[P]]]
// CHECK-NEXT: %[[LOOP:.*]] = scf.for {{.*}} iter_args(%[[IN:.*]] = %[[EMPTY]])
// CHECK: %[[ROWS:.*]] = tile.part %{{.*}} : !tile.buffer<256x32xf16> -> !tile.buffer<128x32xf16>
// CHECK: tile.start_dot %[[ROWS]], %{{.*}}, %[[IN]] when
// CHECK: tile.commit %[[LOOP]] into %[[OWN]][%[[S]]]
// CHECK-NEXT: %[[FULL:.*]] = tile.get %[[OWN]][%[[S]], %[[P]]] :
// CHECK-NEXT: tile.fetch %[[FULL]] {{.*}} : !tile.pending<tensor<128x32xf32, #layout>, tensor_memory>
// CHECK-NEXT: tile.release %[[OWN]][%[[S]]] lanes
// SLOTS-LABEL: tile.kernel @loop
// SLOTS: %[[COPY:.*]] = tile.copy_id
// SLOTS: %[[S:.*]], %[[P:.*]] = tile.advance %c0_i32{{.*}}, %c0_i32{{.*}} by %[[COPY]] of
// SLOTS: tile.acquire %{{.*}}[%[[S]], %[[P]]] : !tile.channel<2, !tile.pending<
tile.kernel @loop(%n: index) {
  %ring = tile.channel full = 1 empty = 2 : !ring
  tile.warp_groups(%n, %ring : index, !ring) {
    role #tile.role<"mma", warps = 4, copies = 2> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %none = ub.poison : !pending
      %p = scf.for %i = %c0 to %n step %c1 iter_args(%s = %none) -> !pending {
        %slot, %phase = tile.next %ring : !ring
        %x, %y = tile.get %ring[%slot, %phase] to_start : !ring
        %more = arith.cmpi ne, %i, %c0 : index
        %d = tile.start_dot %x, %y, %s when %more transpose_b {atom = #atom} : !a, !b -> !pending
        tile.release %ring[%slot] commit : !ring
        scf.yield %d : !pending
      }
      %t = tile.wait %p in_flight = 0 : !pending -> !t
      tile.print "sum" (%t) : !t
    }
  }
  tile.return
}

// What a copy has computed of operand a, it writes to a slot of its own, too. In a trip, a copy steps from its use over
// that of the other.
// CHECK-LABEL: tile.kernel @operand
// CHECK: tile.channel full = 0 empty = 1 : !tile.channel<2, !tile.pending<tensor<128x32xf16, #layout>, tensor_memory>>
// CHECK: tile.channel full = 1 empty = 4 : !tile.channel<2, !tile.pending<tensor<128x32xf32, #layout>, tensor_memory>>
// SLOTS-LABEL: tile.kernel @operand
// SLOTS: scf.for
// SLOTS: %[[S:.*]], %[[P:.*]] = tile.advance %[[AT:.*]], %[[PH:.*]] of %[[ROWS:.*]] : !tile.channel<2, !tile.pending<tensor<128x32xf16
// SLOTS-NEXT: tile.advance %[[S]], %[[P]] by %c1{{.*}} of %[[ROWS]]
// SLOTS-NEXT: tile.acquire %[[ROWS]][%[[AT]], %[[PH]]]
tile.kernel @operand(%n: index) {
  tile.warp_groups(%n : index) {
    role #tile.role<"mma", warps = 4, copies = 2> {
      %y = tile.alloc : !b
      %x = arith.constant dense<1.0> : !x
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %no = arith.constant false
      scf.for %i = %c0 to %n step %c1 {
        %none = ub.poison : !pending
        %u = arith.addf %x, %x : !x
        %d = tile.start_dot %u, %y, %none when %no transpose_b {atom = #atom} : !x, !b -> !pending
        %t = tile.wait %d in_flight = 0 : !pending -> !t
        tile.print "sum" (%t) : !t
      }
    }
  }
  tile.return
}

// What another role fetches each copy hands to the copy of its own number there: each slot of the channel becomes one a copy,
// and on both sides a copy begins with its own, and steps from each use over that of the other.
// CHECK-LABEL: tile.kernel @handed_over
// CHECK: %[[SUMS:.*]] = tile.channel full = 1 empty = 4 : !tile.channel<4, !tile.pending<tensor<128x32xf32, #layout>, tensor_memory>>
// CHECK-NOT: tile.channel full
// CHECK: role #tile.role<"mma"
// CHECK: %[[COPY:.*]] = tile.copy_id
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[COPY]]
// CHECK-NEXT: tile.next %[[OWN:.*]] : !tile.channel<4
// CHECK: %[[S:.*]], %[[P:.*]] = tile.next %[[OWN]]
// CHECK: scf.for %{{.*}} = %{{.*}} to %c1{{.*}} step
// CHECK-NEXT: tile.next %[[OWN]]
// CHECK: tile.acquire %[[OWN]][%[[S]], %[[P]]]
// CHECK: tile.start_dot
// CHECK-NEXT: tile.commit %{{.*}} into %[[OWN]][%[[S]]]
// CHECK: role #tile.role<"use"
// CHECK: %[[COPY2:.*]] = tile.copy_id
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[COPY2]]
// CHECK: %[[S2:.*]], %[[P2:.*]] = tile.next %[[OTHERS:.*]] : !tile.channel<4
// CHECK: scf.for %{{.*}} = %{{.*}} to %c1{{.*}} step
// CHECK-NEXT: tile.next %[[OTHERS]]
// CHECK: tile.get %[[OTHERS]][%[[S2]], %[[P2]]]
// CHECK-NEXT: tile.fetch {{.*}}tensor<128x32xf32
// SLOTS-LABEL: tile.kernel @handed_over
!handed = !tile.channel<2, !pending>
tile.kernel @handed_over(%n: index) {
  %sums = tile.channel full = 1 empty = 4 : !handed
  tile.warp_groups(%n, %sums : index, !handed) {
    role #tile.role<"mma", warps = 4, copies = 2> {
      %x = tile.alloc : !a
      %y = tile.alloc : !b
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %no = arith.constant false
      scf.for %i = %c0 to %n step %c1 {
        %none = ub.poison : !pending
        %d = tile.start_dot %x, %y, %none when %no transpose_b {atom = #atom} : !a, !b -> !pending
        %t = tile.wait %d in_flight = 0 : !pending -> !t
        %slot, %phase = tile.next %sums : !handed
        %p = tile.pend %t : !pending
        tile.commit %p into %sums[%slot] : !handed
      }
    }
    role #tile.role<"use", warps = 4, copies = 2> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      scf.for %i = %c0 to %n step %c1 {
        %slot, %phase = tile.next %sums : !handed
        %p = tile.get %sums[%slot, %phase] : !handed
        %t = tile.fetch %p {atom = #atom} : !pending
        tile.release %sums[%slot] lanes : !handed
        tile.print "sum" (%t) : !t
      }
    }
  }
  tile.return
}
