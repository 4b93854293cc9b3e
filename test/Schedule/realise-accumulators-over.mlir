// What warps make of a sum that they have fetched, and dots read, is written over it: the slot goes
// back when these dots have ended.
// RUN: tile-opt %s --tile-decide-columns --tile-realise-accumulators | FileCheck %s
// RUN: tile-opt %s --tile-decide-columns --tile-realise-accumulators --tile-realise-slots --tile-realise-fences | FileCheck %s --check-prefix=FENCES
// RUN: tile-opt %s --tile-decide-columns --tile-realise-accumulators --tile-realise-clusters | FileCheck %s --check-prefix=PAIR

#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
#wide = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!b = !tile.buffer<32x32xf16>
!t = tensor<128x32xf32, #sum>
!x = tensor<128x32xf16, #sum>
!pending = !tile.pending<!t, tensor_memory>
#atom = #nvptx.tcgen05<"m128n32k16", f16, f32>

// The scores of each trip are of one channel, and each trip writes over them.
// CHECK-LABEL: tile.kernel @over
// CHECK-NOT: full = 0
// CHECK: %[[SUMS:.*]] = tile.channel full = 1 empty = 1 : !tile.channel<1, !tile.pending<tensor<128x32xf32
// CHECK: %[[S:.*]], %[[P:.*]] = tile.next %[[SUMS]]
// CHECK-NEXT: tile.acquire %[[SUMS]][%[[S]], %[[P]]]
// CHECK: tile.start_dot
// CHECK-NEXT: tile.commit %{{.*}} into %[[SUMS]][%[[S]]]
// CHECK-NEXT: %[[GOT:.*]] = tile.get %[[SUMS]][%[[S]], %[[P]]] :
// CHECK-NEXT: tile.fetch %[[GOT]]
// CHECK-NEXT: arith.truncf
// CHECK: %[[PLACE:.*]] = tile.part %[[GOT]][%c0{{.*}}, %c0{{.*}}] : !tile.pending<tensor<128x32xf32, #layout>, tensor_memory> -> !tile.pending<tensor<128x32xf16, #layout>, tensor_memory>
// CHECK-NEXT: %[[A:.*]] = tile.fill %{{.*}} into %[[PLACE]]
// CHECK: tile.start_dot %[[A]],
// CHECK-NEXT: tile.release %[[SUMS]][%[[S]]] commit
// CHECK-NEXT: tile.commit
// Each warp has fetched the rows that it writes, so none meet in front of that.
// FENCES-LABEL: tile.kernel @over
// FENCES: tile.fetch
// FENCES-NEXT: arith.truncf
// FENCES-NOT: tile.barrier
// FENCES: tile.fill
// FENCES-NEXT: tile.fence tensor_before
// FENCES-NEXT: tile.barrier
// FENCES-NEXT: tile.fence tensor_after
tile.kernel @over(%n: index) {
  tile.warp_groups(%n : index) {
    role #tile.role<"mma", warps = 4> {
      %x = tile.alloc : !tile.buffer<128x32xf16>
      %y = tile.alloc : !b
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %no = arith.constant false
      %zero = arith.constant dense<0.0> : !t
      %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> !t {
        %none = ub.poison : !pending
        %d = tile.start_dot %x, %y, %none when %no {atom = #atom} : !tile.buffer<128x32xf16>, !b -> !pending
        %s = tile.wait %d in_flight = 0 : !pending -> !t
        %w = arith.truncf %s : !t to !x
        %p = tile.pend %acc : !pending
        %e = tile.start_dot %w, %y, %p {atom = #atom} : !x, !b -> !pending
        %t = tile.wait %e in_flight = 0 {tile.carried = "tensor_memory"} : !pending -> !t
        scf.yield %t : !t
      }
      tile.print "sum" (%sum) : !t
    }
  }
  tile.return
}

// A sum of the same type that the loop adds to in its trips has a channel of its own anyway.
// CHECK-LABEL: tile.kernel @added
// CHECK-NOT: full = 0
// CHECK-DAG: tile.channel full = 1 empty = 1 : !tile.channel<1, !tile.pending<tensor<128x32xf32
// CHECK-DAG: tile.channel full = 1 empty = 4 : !tile.channel<1, !tile.pending<tensor<128x32xf32
// CHECK: tile.part
tile.kernel @added(%n: index) {
  tile.warp_groups(%n : index) {
    role #tile.role<"mma", warps = 4> {
      %x = tile.alloc : !tile.buffer<128x32xf16>
      %y = tile.alloc : !b
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %no = arith.constant false
      %begin = ub.poison : !pending
      %p = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %begin) -> !pending {
        %none = ub.poison : !pending
        %d = tile.start_dot %x, %y, %none when %no {atom = #atom} : !tile.buffer<128x32xf16>, !b -> !pending
        %s = tile.wait %d in_flight = 0 : !pending -> !t
        %w = arith.truncf %s : !t to !x
        %more = arith.cmpi ne, %i, %c0 : index
        %e = tile.start_dot %w, %y, %acc when %more {atom = #atom} : !x, !b -> !pending
        scf.yield %e : !pending
      }
      %sum = tile.wait %p in_flight = 0 : !pending -> !t
      tile.print "sum" (%sum) : !t
    }
  }
  tile.return
}

// Of a chain of three the first sum's slot would be wanted for the second while what is written over
// it is read: sums of that type have one channel, as they are, and operands another.
// CHECK-LABEL: tile.kernel @chain
// CHECK: tile.channel full = 0 empty = 1 : !tile.channel<1, !tile.pending<tensor<128x32xf16
// CHECK-NEXT: tile.channel full = 1 empty = 4 : !tile.channel<1, !tile.pending<tensor<128x32xf32
// CHECK-NOT: tile.part
// CHECK-LABEL: tile.kernel @wide
tile.kernel @chain() {
  tile.warp_groups() {
    role #tile.role<"mma", warps = 4> {
      %x = tile.alloc : !tile.buffer<128x32xf16>
      %y = tile.alloc : !b
      %no = arith.constant false
      %none = ub.poison : !pending
      %d = tile.start_dot %x, %y, %none when %no {atom = #atom} : !tile.buffer<128x32xf16>, !b -> !pending
      %s = tile.wait %d in_flight = 0 : !pending -> !t
      %w = arith.truncf %s : !t to !x
      %other = ub.poison : !pending
      %e = tile.start_dot %w, %y, %other when %no {atom = #atom} : !x, !b -> !pending
      %t = tile.wait %e in_flight = 0 : !pending -> !t
      %v = arith.truncf %t : !t to !x
      %last = ub.poison : !pending
      %f = tile.start_dot %v, %y, %last when %no {atom = #atom} : !x, !b -> !pending
      %u = tile.wait %f in_flight = 0 : !pending -> !t
      tile.print "sum" (%u) : !t
    }
  }
  tile.return
}

// What has more bits than the sum has no room there: 64 columns of 16 bits lie over 32 of 32, of 32 bits they do not.
// CHECK: tile.part %{{.*}} -> !tile.pending<tensor<128x64xf16
// CHECK-LABEL: tile.kernel @wider
// CHECK-NOT: tile.part
// CHECK-LABEL: tile.kernel @pair
tile.kernel @wide() {
  tile.warp_groups() {
    role #tile.role<"mma", warps = 4> {
      %q = arith.constant dense<1.0> : tensor<128x64xf16, #wide>
      %x = tile.alloc : !tile.buffer<128x32xf16>
      %y = tile.alloc : !b
      %z = tile.alloc : !tile.buffer<64x64xf16>
      %no = arith.constant false
      %none = ub.poison : !pending
      %d = tile.start_dot %x, %y, %none when %no {atom = #atom} : !tile.buffer<128x32xf16>, !b -> !pending
      %s = tile.wait %d in_flight = 0 : !pending -> !t
      %more = ub.poison : !tile.pending<tensor<128x64xf32, #wide>, tensor_memory>
      %e = tile.start_dot %q, %z, %more when %no {atom = #nvptx.tcgen05<"m128n64k16", f16, f32>} : tensor<128x64xf16, #wide>, !tile.buffer<64x64xf16> -> !tile.pending<tensor<128x64xf32, #wide>, tensor_memory>
      %t = tile.wait %e in_flight = 0 : !tile.pending<tensor<128x64xf32, #wide>, tensor_memory> -> tensor<128x64xf32, #wide>
      tile.print "sums" (%s, %t) : !t, tensor<128x64xf32, #wide>
    }
  }
  tile.return
}
tile.kernel @wider() {
  tile.warp_groups() {
    role #tile.role<"mma", warps = 4> {
      %q = arith.constant dense<1.0> : tensor<128x64xf32, #wide>
      %x = tile.alloc : !tile.buffer<128x32xf16>
      %y = tile.alloc : !b
      %z = tile.alloc : !tile.buffer<64x64xf32>
      %no = arith.constant false
      %none = ub.poison : !pending
      %d = tile.start_dot %x, %y, %none when %no {atom = #atom} : !tile.buffer<128x32xf16>, !b -> !pending
      %s = tile.wait %d in_flight = 0 : !pending -> !t
      %more = ub.poison : !tile.pending<tensor<128x64xf32, #wide>, tensor_memory>
      %e = tile.start_dot %q, %z, %more when %no precision = tf32 {atom = #nvptx.tcgen05<"m128n64k8", tf32, f32>} : tensor<128x64xf32, #wide>, !tile.buffer<64x64xf32> -> !tile.pending<tensor<128x64xf32, #wide>, tensor_memory>
      %t = tile.wait %e in_flight = 0 : !tile.pending<tensor<128x64xf32, #wide>, tensor_memory> -> tensor<128x64xf32, #wide>
      tile.print "sums" (%s, %t) : !t, tensor<128x64xf32, #wide>
    }
  }
  tile.return
}

// The products of a pair read what both programs have written, and one commit gives the slot back to both.
#both = #nvptx.tcgen05<"m256n32k16", f16, f32>
!half = !tile.buffer<16x32xf16>
// CHECK: tile.channel full = 1 empty = 1 : !tile.channel<1, !tile.pending<tensor<128x32xf32
// CHECK: tile.channel full = 4 empty = 1 : !tile.channel<1>
// CHECK: tile.part
// CHECK-NEXT: tile.fill
// CHECK-NEXT: tile.next
// CHECK-NEXT: tile.put
// CHECK: tile.start_dot
// PAIR-LABEL: tile.kernel @pair
// PAIR: %[[SUMS:.*]] = tile.channel full = 2 empty = 1 : !tile.channel<1, pair, !tile.pending<tensor<128x32xf32
// PAIR: tile.part
// PAIR: tile.release %[[SUMS]][%{{.*}}] commit to %{{.*}}, %{{.*}} :
tile.kernel @pair() attributes {tile.cluster = array<i64: 2, 1, 1>} {
  tile.warp_groups() {
    role #tile.role<"mma", warps = 4> {
      %x = tile.alloc : !tile.buffer<128x32xf16>
      %y = tile.alloc : !half
      %z = tile.alloc : !tile.buffer<32x32xf16>
      %no = arith.constant false
      %none = ub.poison : !pending
      %d = tile.start_dot %x, %y, %none when %no transpose_b {atom = #both} : !tile.buffer<128x32xf16>, !half -> !pending
      %s = tile.wait %d in_flight = 0 : !pending -> !t
      %w = arith.truncf %s : !t to !x
      %other = ub.poison : !tile.pending<tensor<128x64xf32, #wide>, tensor_memory>
      %e = tile.start_dot %w, %z, %other when %no {atom = #nvptx.tcgen05<"m256n64k16", f16, f32>} : !x, !tile.buffer<32x32xf16> -> !tile.pending<tensor<128x64xf32, #wide>, tensor_memory>
      %t = tile.wait %e in_flight = 0 : !tile.pending<tensor<128x64xf32, #wide>, tensor_memory> -> tensor<128x64xf32, #wide>
      tile.print "sum" (%t) : tensor<128x64xf32, #wide>
    }
  }
  tile.return
}
