// What dots into tensor memory read as operand a, and warps have computed, is written there in front
// of them, and given back by a commit behind them.
// RUN: tile-opt %s --tile-decide-columns --tile-realise-accumulators | FileCheck %s
// RUN: tile-opt %s --tile-decide-columns --tile-realise-accumulators --tile-realise-slots --tile-realise-fences | FileCheck %s --check-prefix=FENCES

#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
#turned = #tile.layout<register = [[1,0],[2,0],[4,0],[8,0],[16,0]], lane = [[0,1],[0,2],[0,4],[0,8],[0,16]], warp = [[0,32],[0,64]]>
!b = !tile.buffer<32x32xf16>
!ring = !tile.channel<2, !b>
!t = tensor<128x32xf32, #sum>
!x = tensor<128x32xf16, #sum>
!pending = !tile.pending<!t, tensor_memory>
#atom = #nvptx.tcgen05<"m128n32k16", f16, f32>

// Two dots of a trip read one tensor: it is written once. The sum of one stays there from trip to trip.
// CHECK-LABEL: tile.kernel @loop
// CHECK: %[[ROWS:.*]] = tile.channel full = 0 empty = 1 : !tile.channel<1, !tile.pending<tensor<128x32xf16, #layout>, tensor_memory>>
// CHECK: scf.for
// CHECK: %[[S:.*]], %[[P:.*]] = tile.next %[[ROWS]]
// CHECK-NEXT: %[[EMPTY:.*]] = tile.acquire %[[ROWS]][%[[S]], %[[P]]]
// CHECK-NEXT: %[[A:.*]] = tile.fill %[[X:.*]] into %[[EMPTY]] {atom = #nvptx.tcgen05<"m128n32k16", f16, f32>}
// CHECK: tile.start_dot %[[A]], %{{.*}}, %{{.*}} when
// CHECK: tile.start_dot %[[A]], %{{.*}}, %{{.*}} when
// CHECK-NEXT: tile.release %[[ROWS]][%[[S]]] commit
// CHECK-NOT: tile.fill
// The thread that starts dots has waited alone; the others learn it, write, and tell it.
// FENCES-LABEL: tile.kernel @loop
// FENCES: tile.acquire %[[ROWS:.*]][%{{.*}}, %{{.*}}] : !tile.channel<1, !tile.pending<tensor<128x32xf16
// FENCES-NEXT: tile.barrier
// FENCES-NEXT: tile.fence tensor_after
// FENCES-NEXT: tile.fill
// FENCES-NEXT: tile.fence tensor_before
// FENCES-NEXT: tile.barrier
// FENCES-NEXT: tile.fence tensor_after
// FENCES: tile.start_dot
// FENCES-NOT: tile.fence tensor_before
// FENCES: tile.release %[[ROWS]][%{{.*}}] commit
tile.kernel @loop(%n: index) {
  %ring = tile.channel full = 1 empty = 1 : !ring
  tile.warp_groups(%n, %ring : index, !ring) {
    role #tile.role<"mma", warps = 4> {
      %x = arith.constant dense<1.0> : !x
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %no = arith.constant false
      %none = ub.poison : !pending
      %p = scf.for %i = %c0 to %n step %c1 iter_args(%s = %none) -> !pending {
        %slot, %phase = tile.next %ring : !ring
        %y = tile.get %ring[%slot, %phase] to_start : !ring
        %other = ub.poison : !pending
        %u = arith.addf %x, %x : !x
        %d = tile.start_dot %u, %y, %other when %no transpose_b {atom = #atom} : !x, !b -> !pending
        %more = arith.cmpi ne, %i, %c0 : index
        %e = tile.start_dot %u, %y, %s when %more {atom = #atom} : !x, !b -> !pending
        tile.release %ring[%slot] commit : !ring
        %t = tile.wait %d in_flight = 0 : !pending -> !t
        tile.print "one" (%t) : !t
        scf.yield %e : !pending
      }
      %t = tile.wait %p in_flight = 0 : !pending -> !t
      tile.print "sum" (%t) : !t
    }
  }
  tile.return
}

// Columns are written as rows: each thread has the same elements.
// CHECK-LABEL: tile.kernel @turned
// CHECK: %[[T:.*]] = tile.transpose %{{.*}} [1, 0] : tensor<32x128xf16, #{{.*}}> -> tensor<128x32xf16, #{{.*}}>
// CHECK: tile.fill %[[T]] into
// CHECK: tile.start_dot
// CHECK-NOT: transpose_a
tile.kernel @turned() {
  tile.warp_groups() {
    role #tile.role<"mma", warps = 4> {
      %x = arith.constant dense<1.0> : tensor<32x128xf16, #turned>
      %y = tile.alloc : !b
      %no = arith.constant false
      %none = ub.poison : !pending
      %d = tile.start_dot %x, %y, %none when %no transpose_a {atom = #atom} : tensor<32x128xf16, #turned>, !b -> !pending
      %t = tile.wait %d in_flight = 0 : !pending -> !t
      tile.print "sum" (%t) : !t
    }
  }
  tile.return
}

// What two programs multiply together, one of them starts when the warps of both have written.
#both = #nvptx.tcgen05<"m256n32k16", f16, f32>
!half = !tile.buffer<16x32xf16>
// CHECK-LABEL: tile.kernel @pair
// CHECK: %[[SAID:.*]] = tile.channel full = 4 empty = 1 : !tile.channel<1>
// CHECK: tile.fill
// CHECK-NEXT: %[[S:.*]], %[[P:.*]] = tile.next %[[SAID]]
// CHECK-NEXT: tile.put %[[SAID]][%[[S]], %[[P]]] bytes = 0 : !tile.channel<1> {
// CHECK-NEXT: }
// CHECK-NEXT: tile.get %[[SAID]][%[[S]], %[[P]]] to_start
// CHECK: tile.start_dot
// CHECK-NEXT: tile.release %{{.*}} commit
// CHECK-NEXT: tile.release %[[SAID]][%[[S]]] commit
// CHECK-NEXT: tile.commit
tile.kernel @pair() {
  tile.warp_groups() {
    role #tile.role<"mma", warps = 4> {
      %x = arith.constant dense<1.0> : !x
      %y = tile.alloc : !half
      %no = arith.constant false
      %none = ub.poison : !pending
      %d = tile.start_dot %x, %y, %none when %no transpose_b {atom = #both} : !x, !half -> !pending
      %t = tile.wait %d in_flight = 0 : !pending -> !t
      tile.print "sum" (%t) : !t
    }
  }
  tile.return
}
