// A sum that a loop carries, and changes in front of the trip's dots, stays in tensor memory until then, as decided.
// RUN: tile-opt %s --tile-decide-columns --tile-realise-accumulators | FileCheck %s

#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!a = !tile.buffer<128x32xf16>
!b = !tile.buffer<32x32xf16>
!t = tensor<128x32xf32, #sum>
!pending = !tile.pending<!t, tensor_memory>
#atom = #nvptx.tcgen05<"m128n32k16", f16, f32>

// What the loop begins with is written in front of it; each trip fetches the sum where it changes it, which is behind
// what it computes beside it; the last is fetched behind the loop. What fills goes round on its own.
// CHECK-LABEL: tile.kernel @halved
// CHECK: %[[ONE:.*]] = arith.constant dense<1.0
// CHECK: %[[S0:.*]], %[[P0:.*]] = tile.next fills %[[SUMS:.*]] :
// CHECK-NEXT: %[[E0:.*]] = tile.acquire %[[SUMS]][%[[S0]], %[[P0]]]
// CHECK-NEXT: %[[F0:.*]] = tile.fill %[[ONE]] into %[[E0]]
// CHECK-NEXT: tile.commit %[[F0]] into %[[SUMS]][%[[S0]]]
// CHECK: scf.for {{.*}} iter_args(%[[SELF:.*]] = %{{.*}})
// CHECK-NEXT: tile.print
// CHECK-NEXT: %[[S:.*]], %[[P:.*]] = tile.next %[[SUMS]]
// CHECK-NEXT: %[[G:.*]] = tile.get %[[SUMS]][%[[S]], %[[P]]]
// CHECK-NEXT: %[[T:.*]] = tile.fetch %[[G]]
// CHECK-NEXT: tile.release %[[SUMS]][%[[S]]] lanes
// CHECK-NEXT: %[[LESS:.*]] = arith.mulf %[[T]],
// CHECK-NEXT: %[[S1:.*]], %[[P1:.*]] = tile.next fills %[[SUMS]]
// CHECK-NEXT: %[[E:.*]] = tile.acquire %[[SUMS]][%[[S1]], %[[P1]]]
// CHECK-NEXT: %[[F:.*]] = tile.fill %[[LESS]] into %[[E]]
// CHECK-NEXT: %[[D:.*]] = tile.start_dot %{{.*}}, %{{.*}}, %[[F]]
// CHECK-NEXT: tile.commit %[[D]] into %[[SUMS]][%[[S1]]]
// CHECK-NEXT: scf.yield %[[SELF]]
// CHECK: tile.get
// CHECK-NEXT: %[[LAST:.*]] = tile.fetch
// CHECK-NEXT: tile.release %[[SUMS]]
// CHECK-NEXT: tile.print "sum" (%[[LAST]])
tile.kernel @halved(%n: index) {
  tile.warp_groups(%n : index) {
    role #tile.role<"mma", warps = 4> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %x = tile.alloc : !a
      %y = tile.alloc : !b
      %one = arith.constant dense<1.0> : !t
      %half = arith.constant dense<0.5> : !t
      %p = scf.for %i = %c0 to %n step %c1 iter_args(%s = %one) -> !t {
        %less = arith.mulf %s, %half : !t
        tile.print "beside" (%i) : index
        %pend = tile.pend %less : !pending
        %d = tile.start_dot %x, %y, %pend transpose_b {atom = #atom} : !a, !b -> !pending
        %u = tile.wait %d in_flight = 0 {tile.carried = "tensor_memory"} : !pending -> !t
        scf.yield %u : !t
      }
      tile.print "sum" (%p) : !t
    }
  }
  tile.return
}

// The same sum, fetched in the trip that makes it: so it was decided, or nobody decided anything.
// CHECK-LABEL: tile.kernel @registers
// CHECK-COUNT-2: scf.for
// CHECK-NOT: tile.next fills
// CHECK-NOT: tile.carried
// CHECK: tile.return
tile.kernel @registers(%n: index) {
  tile.warp_groups(%n : index) {
    role #tile.role<"mma", warps = 4> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %x = tile.alloc : !a
      %y = tile.alloc : !b
      %one = arith.constant dense<1.0> : !t
      %half = arith.constant dense<0.5> : !t
      %p = scf.for %i = %c0 to %n step %c1 iter_args(%s = %one) -> !t {
        %less = arith.mulf %s, %half : !t
        %pend = tile.pend %less : !pending
        %d = tile.start_dot %x, %y, %pend transpose_b {atom = #atom} : !a, !b -> !pending
        %u = tile.wait %d in_flight = 0 {tile.carried = "registers"} : !pending -> !t
        scf.yield %u : !t
      }
      %q = scf.for %i = %c0 to %n step %c1 iter_args(%s = %p) -> !t {
        %less = arith.mulf %s, %half : !t
        %pend = tile.pend %less : !pending
        %d = tile.start_dot %x, %y, %pend transpose_b {atom = #atom} : !a, !b -> !pending
        %u = tile.wait %d in_flight = 0 : !pending -> !t
        scf.yield %u : !t
      }
      tile.print "sum" (%q) : !t
    }
  }
  tile.return
}

// Of two programs the warps of both say that they have written the trip's, in front of the dots for both; what the loop begins
// with no dot reads.
// CHECK-LABEL: tile.kernel @pair
// CHECK: tile.next fills %[[SUMS:.*]] :
// CHECK: tile.fill
// CHECK-NEXT: tile.commit
// CHECK: scf.for
// CHECK: tile.next %[[SUMS]]
// CHECK: tile.fetch
// CHECK: %[[F:.*]] = tile.fill
// CHECK-NEXT: %[[S:.*]], %[[P:.*]] = tile.next %[[SAID:.*]] : !tile.channel<1>
// CHECK-NEXT: tile.put %[[SAID]][%[[S]], %[[P]]] bytes = 0
// CHECK: tile.get %[[SAID]][%[[S]], %[[P]]] to_start
// CHECK-NEXT: %[[D:.*]] = tile.start_dot %{{.*}}, %{{.*}}, %[[F]]
// CHECK-NEXT: tile.release %[[SAID]][%[[S]]] commit
// CHECK-NEXT: tile.commit %[[D]] into %[[SUMS]]
#pair = #nvptx.tcgen05<"m256n32k16", f16, f32>
tile.kernel @pair(%n: index) attributes {tile.cluster = array<i64: 2, 1, 1>} {
  tile.warp_groups(%n : index) {
    role #tile.role<"mma", warps = 4> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %x = tile.alloc : !a
      %y = tile.alloc : !tile.buffer<16x32xf16>
      %one = arith.constant dense<1.0> : !t
      %half = arith.constant dense<0.5> : !t
      %p = scf.for %i = %c0 to %n step %c1 iter_args(%s = %one) -> !t {
        %less = arith.mulf %s, %half : !t
        %pend = tile.pend %less : !pending
        %d = tile.start_dot %x, %y, %pend transpose_b {atom = #pair} : !a, !tile.buffer<16x32xf16> -> !pending
        %u = tile.wait %d in_flight = 0 {tile.carried = "tensor_memory"} : !pending -> !t
        scf.yield %u : !t
      }
      tile.print "sum" (%p) : !t
    }
  }
  tile.return
}

// A sum in front of the loop with the same columns goes round with the loop's: its sides are two as well.
// CHECK-LABEL: tile.kernel @shared
// CHECK: %[[SUMS:.*]] = tile.channel full = 1 empty = 4 : !tile.channel<1, !tile.pending
// CHECK-NOT: tile.channel full
// CHECK: %[[S:.*]], %[[P:.*]] = tile.next fills %[[OWN:.*]] :
// CHECK-NEXT: tile.acquire %[[OWN]][%[[S]], %[[P]]]
// CHECK-NEXT: %[[D:.*]] = tile.start_dot
// CHECK-NEXT: tile.commit %[[D]] into %[[OWN]][%[[S]]]
// CHECK-NEXT: %[[S1:.*]], %[[P1:.*]] = tile.next %[[OWN]]
// CHECK-NEXT: tile.get %[[OWN]][%[[S1]], %[[P1]]]
// CHECK: tile.next fills %[[OWN]]
// CHECK: tile.commit
// CHECK: scf.for
// CHECK: tile.next %[[OWN]]
tile.kernel @shared(%n: index) {
  tile.warp_groups(%n : index) {
    role #tile.role<"mma", warps = 4> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %x = tile.alloc : !a
      %y = tile.alloc : !b
      %no = arith.constant false
      %half = arith.constant dense<0.5> : !t
      %none = ub.poison : !pending
      %d = tile.start_dot %x, %y, %none when %no transpose_b {atom = #atom} : !a, !b -> !pending
      %t = tile.wait %d in_flight = 0 {tile.columns = 0 : i64} : !pending -> !t
      %p = scf.for %i = %c0 to %n step %c1 iter_args(%s = %t) -> !t {
        %less = arith.mulf %s, %half : !t
        %pend = tile.pend %less : !pending
        %e = tile.start_dot %x, %y, %pend transpose_b {atom = #atom} : !a, !b -> !pending
        %u = tile.wait %e in_flight = 0 {tile.carried = "tensor_memory", tile.columns = 0 : i64} : !pending -> !t
        scf.yield %u : !t
      }
      tile.print "sum" (%p) : !t
    }
  }
  tile.return
}

// A sum that a condition chooses behind such a loop has its columns: each branch fills a slot in its turn.
// CHECK-LABEL: tile.kernel @chosen_behind
// CHECK: tile.channel full = 1 empty = 4 : !tile.channel<1, !tile.pending
// CHECK-NOT: tile.channel full
// CHECK: scf.if
// CHECK: tile.next fills
// CHECK: scf.for
// CHECK: tile.fetch
// CHECK: tile.next fills
// CHECK: tile.commit
// CHECK: tile.fetch
// CHECK: %[[S:.*]], %{{.*}} = tile.next fills %[[SUMS:.*]] :
// CHECK-NEXT: tile.acquire
// CHECK: tile.commit %{{.*}} into %[[SUMS]][%[[S]]]
// CHECK: } else {
// CHECK-NEXT: %[[S1:.*]], %{{.*}} = tile.next fills %[[SUMS]]
// CHECK: tile.commit %{{.*}} into %[[SUMS]][%[[S1]]]
// CHECK: }
// CHECK-NEXT: %[[S2:.*]], %{{.*}} = tile.next %[[SUMS]]
// CHECK-NEXT: tile.get %[[SUMS]][%[[S2]]
tile.kernel @chosen_behind(%n: index, %any: i1) {
  tile.warp_groups(%n, %any : index, i1) {
    role #tile.role<"mma", warps = 4> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %x = tile.alloc : !a
      %y = tile.alloc : !b
      %half = arith.constant dense<0.5> : !t
      %zero = arith.constant dense<0.0> : !t
      %sum = scf.if %any -> !t {
        %p = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> !t {
          %less = arith.mulf %s, %half : !t
          %pend = tile.pend %less : !pending
          %e = tile.start_dot %x, %y, %pend transpose_b {atom = #atom} : !a, !b -> !pending
          %u = tile.wait %e in_flight = 0 {tile.carried = "tensor_memory"} : !pending -> !t
          scf.yield %u : !t
        }
        %less = arith.mulf %p, %half : !t
        %pend = tile.pend %less : !pending
        %d = tile.start_dot %x, %y, %pend transpose_b {atom = #atom} : !a, !b -> !pending
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
