// Accumulators in tensor memory are slots of channels, acquired where their dots begin and fetched
// where they are waited for.
// RUN: tile-opt %s --tile-decide-columns --tile-realise-accumulators | FileCheck %s

#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!a = !tile.buffer<128x32xf16>
!b = !tile.buffer<32x32xf16>
!ring = !tile.channel<2, !a, !b>
!t = tensor<128x32xf32, #sum>
!pending = !tile.pending<!t, tensor_memory>
#atom = #nvptx.tcgen05<"m128n32k16", f16, f32>

// A loop that carries the sum, and a dot outside of it, which may have the same place.
// CHECK-LABEL: tile.kernel @loop
// CHECK: %[[SUMS:.*]] = tile.channel full = 1 empty = 4 : !tile.channel<1, !tile.pending<tensor<128x32xf32, #layout>, tensor_memory>>
// CHECK-NOT: tile.channel full
// CHECK: tile.warp_groups(%{{.*}}, %[[SUMS]] :
// CHECK: %[[S:.*]], %[[P:.*]] = tile.next %[[SUMS]]
// CHECK-NEXT: %[[EMPTY:.*]] = tile.acquire %[[SUMS]][%[[S]], %[[P]]]
// CHECK-NEXT: %[[LOOP:.*]] = scf.for {{.*}} iter_args(%[[IN:.*]] = %[[EMPTY]])
// CHECK: tile.start_dot %{{.*}}, %{{.*}}, %[[IN]] when
// CHECK: tile.commit %[[LOOP]] into %[[SUMS]][%[[S]]]
// CHECK-NEXT: %[[FULL:.*]] = tile.get %[[SUMS]][%[[S]], %[[P]]] :
// CHECK-NEXT: %[[T:.*]] = tile.fetch %[[FULL]] {atom = #nvptx.tcgen05<"m128n32k16", f16, f32>}
// CHECK-NEXT: tile.release %[[SUMS]][%[[S]]] lanes
// CHECK-NEXT: tile.print "sum" (%[[T]])
// CHECK: %[[S2:.*]], %[[P2:.*]] = tile.next %[[SUMS]]
// CHECK-NEXT: %[[EMPTY2:.*]] = tile.acquire %[[SUMS]][%[[S2]], %[[P2]]]
// CHECK-NEXT: %[[D:.*]] = tile.start_dot %{{.*}}, %{{.*}}, %[[EMPTY2]]
// CHECK-NEXT: tile.release %{{.*}} commit
// CHECK-NEXT: tile.commit %[[D]] into %[[SUMS]][%[[S2]]]
tile.kernel @loop(%n: index) {
  %ring = tile.channel full = 1 empty = 1 : !ring
  tile.warp_groups(%n, %ring : index, !ring) {
    role #tile.role<"mma", warps = 4> {
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
      %slot, %phase = tile.next %ring : !ring
      %x, %y = tile.get %ring[%slot, %phase] to_start : !ring
      %no = arith.constant false
      %other = ub.poison : !pending
      %d = tile.start_dot %x, %y, %other when %no transpose_b {atom = #atom} : !a, !b -> !pending
      tile.release %ring[%slot] commit : !ring
      %u = tile.wait %d in_flight = 0 : !pending -> !t
      tile.print "other" (%u) : !t
    }
  }
  tile.return
}

// Two sums at once have two places.
// CHECK-LABEL: tile.kernel @both
// CHECK-COUNT-2: tile.channel full = 1 empty = 4 : !tile.channel<1, !tile.pending
// CHECK-NOT: tile.channel full
// CHECK: tile.warp_groups
tile.kernel @both(%n: index) {
  %ring = tile.channel full = 1 empty = 1 : !ring
  tile.warp_groups(%n, %ring : index, !ring) {
    role #tile.role<"mma", warps = 4> {
      %no = arith.constant false
      %slot, %phase = tile.next %ring : !ring
      %x, %y = tile.get %ring[%slot, %phase] to_start : !ring
      %none = ub.poison : !pending
      %d = tile.start_dot %x, %y, %none when %no transpose_b {atom = #atom} : !a, !b -> !pending
      %other = ub.poison : !pending
      %e = tile.start_dot %x, %y, %other when %no transpose_b {atom = #atom} : !a, !b -> !pending
      tile.release %ring[%slot] commit : !ring
      %t = tile.wait %d in_flight = 0 : !pending -> !t
      %u = tile.wait %e in_flight = 0 : !pending -> !t
      tile.print "sums" (%t, %u) : !t, !t
    }
  }
  tile.return
}

// A sum that another role uses is made in the slot that is committed, in each branch that makes it; a
// tensor that no dot makes is written there.
// CHECK-LABEL: tile.kernel @handed_over
// CHECK: role #tile.role<"mma"
// CHECK: %[[S:.*]], %[[P:.*]] = tile.next %[[SUMS:.*]] : !tile.channel<2, !tile.pending
// CHECK-NEXT: scf.if
// CHECK: %[[EMPTY:.*]] = tile.acquire %[[SUMS]][%[[S]], %[[P]]]
// CHECK-NEXT: %[[D:.*]] = tile.start_dot %{{.*}}, %{{.*}}, %[[EMPTY]]
// CHECK-NEXT: tile.commit %[[D]] into %[[SUMS]][%[[S]]]
// CHECK: } else {
// CHECK-NEXT: %[[OTHER:.*]] = tile.acquire %[[SUMS]][%[[S]], %[[P]]]
// CHECK-NEXT: %[[ZEROS:.*]] = tile.fill %{{.*}} into %[[OTHER]] {atom = #nvptx.tcgen05<"m128n32k16", f16, f32>}
// CHECK-NEXT: tile.commit %[[ZEROS]] into %[[SUMS]][%[[S]]]
tile.kernel @handed_over(%any: i1) {
  %sums = tile.channel full = 1 empty = 4 : !tile.channel<2, !pending>
  tile.warp_groups(%any, %sums : i1, !tile.channel<2, !pending>) {
    role #tile.role<"mma", warps = 4> {
      %x = tile.alloc : !a
      %y = tile.alloc : !b
      %no = arith.constant false
      %zero = arith.constant dense<0.0> : !t
      %sum = scf.if %any -> !t {
        %none = ub.poison : !pending
        %d = tile.start_dot %x, %y, %none when %no transpose_b {atom = #atom} : !a, !b -> !pending
        %t = tile.wait %d in_flight = 0 : !pending -> !t
        scf.yield %t : !t
      } else {
        scf.yield %zero : !t
      }
      %slot, %phase = tile.next %sums : !tile.channel<2, !pending>
      %p = tile.pend %sum : !pending
      tile.commit %p into %sums[%slot] : !tile.channel<2, !pending>
    }
  }
  tile.return
}

// What begins as a tensor is filled with it.
// CHECK-LABEL: tile.kernel @begins
// CHECK: %[[EMPTY:.*]] = tile.acquire
// CHECK-NEXT: %[[FULL:.*]] = tile.fill %{{.*}} into %[[EMPTY]]
// CHECK-NEXT: tile.start_dot %{{.*}}, %{{.*}}, %[[FULL]] transpose_b
tile.kernel @begins() {
  tile.warp_groups() {
    role #tile.role<"mma", warps = 4> {
      %x = tile.alloc : !a
      %y = tile.alloc : !b
      %one = arith.constant dense<1.0> : !t
      %p = tile.pend %one : !pending
      %d = tile.start_dot %x, %y, %p transpose_b {atom = #atom} : !a, !b -> !pending
      %t = tile.wait %d in_flight = 0 : !pending -> !t
      tile.print "sum" (%t) : !t
    }
  }
  tile.return
}

// A sum that a condition chooses, since a loop may have no trips, is fetched behind it, as decided: each branch commits its own.
// CHECK-LABEL: tile.kernel @chosen
// CHECK: %[[S:.*]], %[[P:.*]] = tile.next %[[SUMS:.*]] : !tile.channel<1, !tile.pending
// CHECK-NEXT: scf.if
// CHECK: %[[EMPTY:.*]] = tile.acquire %[[SUMS]][%[[S]], %[[P]]]
// CHECK-NEXT: %[[D:.*]] = tile.start_dot %{{.*}}, %{{.*}}, %[[EMPTY]]
// CHECK-NEXT: tile.commit %[[D]] into %[[SUMS]][%[[S]]]
// CHECK: } else {
// CHECK-NEXT: %[[OTHER:.*]] = tile.acquire %[[SUMS]][%[[S]], %[[P]]]
// CHECK-NEXT: %[[ZEROS:.*]] = tile.fill %{{.*}} into %[[OTHER]] {atom = #nvptx.tcgen05<"m128n32k16", f16, f32>}
// CHECK-NEXT: tile.commit %[[ZEROS]] into %[[SUMS]][%[[S]]]
// CHECK: }
// CHECK-NEXT: %[[FULL:.*]] = tile.get %[[SUMS]][%[[S]], %[[P]]]
// CHECK-NEXT: %[[T:.*]] = tile.fetch %[[FULL]]
// CHECK-NEXT: tile.release %[[SUMS]][%[[S]]] lanes
// CHECK-NEXT: tile.print "sum" (%[[T]])
tile.kernel @chosen(%any: i1) {
  tile.warp_groups(%any : i1) {
    role #tile.role<"mma", warps = 4> {
      %x = tile.alloc : !a
      %y = tile.alloc : !b
      %no = arith.constant false
      %zero = arith.constant dense<0.0> : !t
      %sum = scf.if %any -> !t {
        %none = ub.poison : !pending
        %d = tile.start_dot %x, %y, %none when %no transpose_b {atom = #atom} : !a, !b -> !pending
        %t = tile.wait %d in_flight = 0 {tile.carried = "tensor_memory"} : !pending -> !t
        scf.yield %t : !t
      } else {
        scf.yield %zero : !t
      }
      tile.print "sum" (%sum) : !t
    }
  }
  tile.return
}

// Decided otherwise, it is fetched in the branch, and the condition chooses registers.
// CHECK-LABEL: tile.kernel @chosen_in_registers
// CHECK: %[[SUM:.*]] = scf.if
// CHECK: %[[T:.*]] = tile.fetch
// CHECK: scf.yield %[[T]]
// CHECK: } else {
// CHECK-NEXT: scf.yield
// CHECK-NOT: tile.fetch
// CHECK: tile.print "sum" (%[[SUM]])
tile.kernel @chosen_in_registers(%any: i1) {
  tile.warp_groups(%any : i1) {
    role #tile.role<"mma", warps = 4> {
      %x = tile.alloc : !a
      %y = tile.alloc : !b
      %no = arith.constant false
      %zero = arith.constant dense<0.0> : !t
      %sum = scf.if %any -> !t {
        %none = ub.poison : !pending
        %d = tile.start_dot %x, %y, %none when %no transpose_b {atom = #atom} : !a, !b -> !pending
        %t = tile.wait %d in_flight = 0 {tile.carried = "registers"} : !pending -> !t
        scf.yield %t : !t
      } else {
        scf.yield %zero : !t
      }
      tile.print "sum" (%sum) : !t
    }
  }
  tile.return
}
