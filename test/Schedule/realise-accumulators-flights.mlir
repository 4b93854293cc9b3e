// Sums that are in flight where their trip ends: slots are filled in one trip and got in a later one, as many as are
// in flight at once.
// RUN: tile-opt %s --tile-decide-columns --tile-realise-accumulators | FileCheck %s

#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!a = !tile.buffer<128x32xf16>
!b = !tile.buffer<32x32xf16>
!t = tensor<128x32xf32, #sum>
!x = tensor<128x32xf16, #sum>
!pending = !tile.pending<!t, tensor_memory>
#atom = #nvptx.tcgen05<"m128n32k16", f16, f32>
#wide = #nvptx.tcgen05<"m128n64k16", f16, f32>
!u = tensor<128x64xf32, #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>>
!wide = !tile.pending<!u, tensor_memory>

// Each trip begins its own sum and then waits for that of the trip before, so there are two slots.
// CHECK-LABEL: tile.kernel @begun_first
// CHECK: %[[SUMS:.*]] = tile.channel full = 1 empty = 4 : !tile.channel<2, !tile.pending<tensor<128x32xf32, #layout>, tensor_memory>>
// CHECK-NOT: tile.channel full
// CHECK: %[[S0:.*]], %[[P0:.*]] = tile.next fills %[[SUMS:.*]] :
// CHECK-NEXT: %[[E0:.*]] = tile.acquire %[[SUMS]][%[[S0]], %[[P0]]]
// CHECK-NEXT: %[[D0:.*]] = tile.start_dot %{{.*}}, %{{.*}}, %[[E0]] when
// CHECK-NEXT: tile.commit %[[D0]] into %[[SUMS]][%[[S0]]]
// CHECK: scf.for
// CHECK: %[[S1:.*]], %[[P1:.*]] = tile.next fills %[[SUMS]]
// CHECK-NEXT: %[[E1:.*]] = tile.acquire %[[SUMS]][%[[S1]], %[[P1]]]
// CHECK-NEXT: %[[D1:.*]] = tile.start_dot %{{.*}}, %{{.*}}, %[[E1]] when
// CHECK-NEXT: tile.commit %[[D1]] into %[[SUMS]][%[[S1]]]
// CHECK-NEXT: %[[S2:.*]], %[[P2:.*]] = tile.next %[[SUMS]]
// CHECK-NEXT: %[[G:.*]] = tile.get %[[SUMS]][%[[S2]], %[[P2]]] :
// CHECK-NEXT: %[[T:.*]] = tile.fetch %[[G]]
// CHECK-NEXT: tile.release %[[SUMS]][%[[S2]]] lanes
// CHECK-NEXT: tile.print "sum" (%[[T]])
// CHECK: scf.yield %[[NONE:.*]] : !tile.pending
// CHECK: %[[S3:.*]], %[[P3:.*]] = tile.next %[[SUMS]]
// CHECK-NEXT: tile.get %[[SUMS]][%[[S3]], %[[P3]]] :
// CHECK-NEXT: tile.fetch
// CHECK-NEXT: tile.release %[[SUMS]][%[[S3]]] lanes
tile.kernel @begun_first(%n: index) {
  tile.warp_groups(%n : index) {
    role #tile.role<"mma", warps = 4> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %x = tile.alloc : !a
      %y = tile.alloc : !b
      %no = arith.constant false
      %none = ub.poison : !pending
      %first = tile.start_dot %x, %y, %none when %no transpose_b {atom = #atom} : !a, !b -> !pending
      %p = scf.for %i = %c1 to %n step %c1 iter_args(%s = %first) -> !pending {
        %other = ub.poison : !pending
        %d = tile.start_dot %x, %y, %other when %no transpose_b {atom = #atom} : !a, !b -> !pending
        %t = tile.wait %s in_flight = 0 : !pending -> !t
        tile.print "sum" (%t) : !t
        scf.yield %d : !pending
      }
      %u = tile.wait %p in_flight = 0 : !pending -> !t
      tile.print "last" (%u) : !t
    }
  }
  tile.return
}

// The sum of the trip before has been fetched where the next one begins, which is in flight until the next trip.
// CHECK-LABEL: tile.kernel @waited_first
// CHECK: tile.channel full = 1 empty = 4 : !tile.channel<1, !tile.pending
// CHECK-NOT: tile.channel full
// CHECK: scf.for
// CHECK: tile.get
// CHECK-NEXT: tile.fetch
// CHECK-NEXT: tile.release
// CHECK: tile.next fills
// CHECK-NEXT: tile.acquire
// CHECK: tile.commit
tile.kernel @waited_first(%n: index) {
  tile.warp_groups(%n : index) {
    role #tile.role<"mma", warps = 4> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %x = tile.alloc : !a
      %y = tile.alloc : !b
      %no = arith.constant false
      %none = ub.poison : !pending
      %first = tile.start_dot %x, %y, %none when %no transpose_b {atom = #atom} : !a, !b -> !pending
      %p = scf.for %i = %c1 to %n step %c1 iter_args(%s = %first) -> !pending {
        %t = tile.wait %s in_flight = 0 : !pending -> !t
        %other = ub.poison : !pending
        %d = tile.start_dot %x, %y, %other when %no transpose_b {atom = #atom} : !a, !b -> !pending
        tile.print "sum" (%t) : !t
        scf.yield %d : !pending
      }
      %u = tile.wait %p in_flight = 0 : !pending -> !t
      tile.print "last" (%u) : !t
    }
  }
  tile.return
}

// Two trips apart, of two dots each, the first of which adds to a tensor: it is written to the slot, which the commit
// behind the second tells of. Where there is one iteration alone, its sum has the same columns.
// CHECK-LABEL: tile.kernel @two_trips
// CHECK: %[[SUMS:.*]] = tile.channel full = 1 empty = 4 : !tile.channel<3, !tile.pending
// CHECK-NOT: tile.channel full
// CHECK: scf.for
// CHECK: tile.next fills
// CHECK-NEXT: %[[E:.*]] = tile.acquire
// CHECK-NEXT: %[[F:.*]] = tile.fill %{{.*}} into %[[E]]
// CHECK-NEXT: %[[D:.*]] = tile.start_dot %{{.*}}, %{{.*}}, %[[F]]
// CHECK-NEXT: %[[M:.*]] = tile.start_dot %{{.*}}, %{{.*}}, %[[D]]
// CHECK-NEXT: tile.commit %[[M]]
// CHECK-NEXT: tile.next
// CHECK: } else {
// CHECK: tile.next fills
// CHECK-NEXT: tile.acquire
// CHECK-NEXT: tile.start_dot
// CHECK-NEXT: tile.commit
// CHECK-NEXT: tile.next %
// CHECK-NEXT: tile.get
tile.kernel @two_trips(%n: index, %many: i1) {
  tile.warp_groups(%n, %many : index, i1) {
    role #tile.role<"mma", warps = 4> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %x = tile.alloc : !a
      %y = tile.alloc : !b
      %no = arith.constant false
      %one = arith.constant dense<1.0> : !t
      scf.if %many {
        %p0 = tile.pend %one : !pending
        %d0 = tile.start_dot %x, %y, %p0 transpose_b {atom = #atom} : !a, !b -> !pending
        %e0 = tile.start_dot %x, %y, %d0 transpose_b {atom = #atom} : !a, !b -> !pending
        %p1 = tile.pend %one : !pending
        %d1 = tile.start_dot %x, %y, %p1 transpose_b {atom = #atom} : !a, !b -> !pending
        %e1 = tile.start_dot %x, %y, %d1 transpose_b {atom = #atom} : !a, !b -> !pending
        %p:2 = scf.for %i = %c2 to %n step %c1 iter_args(%s = %e0, %r = %e1) -> (!pending, !pending) {
          %p2 = tile.pend %one : !pending
          %d2 = tile.start_dot %x, %y, %p2 transpose_b {atom = #atom} : !a, !b -> !pending
          %e2 = tile.start_dot %x, %y, %d2 transpose_b {atom = #atom} : !a, !b -> !pending
          %t = tile.wait %s in_flight = 0 : !pending -> !t
          tile.print "sum" (%t) : !t
          scf.yield %r, %e2 : !pending, !pending
        }
        %u = tile.wait %p#0 in_flight = 0 : !pending -> !t
        tile.print "last" (%u) : !t
        %v = tile.wait %p#1 in_flight = 0 : !pending -> !t
        tile.print "last" (%v) : !t
      } else {
        %none = ub.poison : !pending
        %d = tile.start_dot %x, %y, %none when %no transpose_b {atom = #atom} : !a, !b -> !pending
        %t = tile.wait %d in_flight = 0 : !pending -> !t
        tile.print "only" (%t) : !t
      }
    }
  }
  tile.return
}

// Trips that nobody counts: the first sum is used in whichever branch follows.
// CHECK-LABEL: tile.kernel @uncounted
// CHECK: %[[SUMS:.*]] = tile.channel full = 1 empty = 4 : !tile.channel<2, !tile.pending
// CHECK-NOT: tile.channel full
// CHECK: tile.next fills
// CHECK: tile.commit
// CHECK: scf.if
// CHECK: scf.while
// CHECK: tile.next fills
// CHECK: tile.commit
// CHECK-NEXT: tile.next %
// CHECK-NEXT: tile.get
// CHECK: }
// CHECK: tile.next %
// CHECK-NEXT: tile.get
// CHECK: } else {
// CHECK: tile.next %
// CHECK-NEXT: tile.get
tile.kernel @uncounted(%goes: i1, %more: i1) {
  tile.warp_groups(%goes, %more : i1, i1) {
    role #tile.role<"mma", warps = 4> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %x = tile.alloc : !a
      %y = tile.alloc : !b
      %no = arith.constant false
      %none = ub.poison : !pending
      %first = tile.start_dot %x, %y, %none when %no transpose_b {atom = #atom} : !a, !b -> !pending
      scf.if %goes {
        %p:2 = scf.while (%g = %goes, %s = %first) : (i1, !pending) -> (i1, !pending) {
          scf.condition(%g) %g, %s : i1, !pending
        } do {
        ^bb0(%g: i1, %s: !pending):
          %other = ub.poison : !pending
          %d = tile.start_dot %x, %y, %other when %no transpose_b {atom = #atom} : !a, !b -> !pending
          %t = tile.wait %s in_flight = 0 : !pending -> !t
          tile.print "sum" (%t) : !t
          scf.yield %more, %d : i1, !pending
        }
        %u = tile.wait %p#1 in_flight = 0 : !pending -> !t
        tile.print "last" (%u) : !t
      } else {
        %t = tile.wait %first in_flight = 0 : !pending -> !t
        tile.print "only" (%t) : !t
      }
    }
  }
  tile.return
}

// What is made of each sum is written over it, in the loop and behind it: a slot goes back when those dots have ended.
// CHECK-LABEL: tile.kernel @over
// CHECK-NOT: full = 0
// CHECK: %[[SUMS:.*]] = tile.channel full = 1 empty = 1 : !tile.channel<2, !tile.pending
// CHECK: scf.for
// CHECK: tile.next fills
// CHECK: %[[S:.*]], %[[P:.*]] = tile.next %[[OWN:.*]] :
// CHECK-NEXT: %[[G:.*]] = tile.get %[[OWN]][%[[S]], %[[P]]]
// CHECK-NEXT: tile.fetch %[[G]]
// CHECK-NEXT: arith.truncf
// CHECK: tile.part %[[G]]
// CHECK: tile.release %[[OWN]][%[[S]]] commit
// CHECK: tile.part
// CHECK: tile.release %[[OWN]][%{{.*}}] commit
tile.kernel @over(%n: index) {
  tile.warp_groups(%n : index) {
    role #tile.role<"mma", warps = 4> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %x = tile.alloc : !a
      %y = tile.alloc : !b
      %no = arith.constant false
      %zero = arith.constant dense<0.0> : !u
      %z = tile.alloc : !tile.buffer<32x64xf16>
      %none = ub.poison : !pending
      %first = tile.start_dot %x, %y, %none when %no transpose_b {atom = #atom} : !a, !b -> !pending
      %p:2 = scf.for %i = %c1 to %n step %c1 iter_args(%s = %first, %acc = %zero) -> (!pending, !u) {
        %other = ub.poison : !pending
        %d = tile.start_dot %x, %y, %other when %no transpose_b {atom = #atom} : !a, !b -> !pending
        %t = tile.wait %s in_flight = 0 : !pending -> !t
        %w = arith.truncf %t : !t to !x
        %q = tile.pend %acc : !wide
        %e = tile.start_dot %w, %z, %q {atom = #wide} : !x, !tile.buffer<32x64xf16> -> !wide
        %u = tile.wait %e in_flight = 0 : !wide -> !u
        scf.yield %d, %u : !pending, !u
      }
      %v = tile.wait %p#0 in_flight = 0 : !pending -> !t
      %w = arith.truncf %v : !t to !x
      %q = tile.pend %p#1 : !wide
      %e = tile.start_dot %w, %z, %q {atom = #wide} : !x, !tile.buffer<32x64xf16> -> !wide
      %u = tile.wait %e in_flight = 0 : !wide -> !u
      tile.print "all" (%u) : !u
    }
  }
  tile.return
}
