// What cannot be accumulated in tensor memory.
// RUN: tile-opt %s --tile-decide-columns --tile-realise-accumulators -split-input-file -verify-diagnostics

!a = !tile.buffer<128x32xf16>
!b = !tile.buffer<32x32xf16>
!pending = !tile.pending<tensor<128x32xf32>, tensor_memory>
#atom = #nvptx.tcgen05<"m128n32k16", f16, f32>

// Trips add to a sum that only a condition behind them waits for.
tile.kernel @adds_to_another(%n: index, %any: i1) {
  tile.warp_groups(%n, %any : index, i1) {
    role #tile.role<"mma", warps = 4> {
      %x = tile.alloc : !a
      %y = tile.alloc : !b
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %no = arith.constant false
      %none = ub.poison : !pending
      %first = tile.start_dot %x, %y, %none when %no transpose_b {atom = #atom} : !a, !b -> !pending
      %p = scf.for %i = %c0 to %n step %c1 iter_args(%s = %first) -> !pending {
        %d = tile.start_dot %x, %y, %s transpose_b {atom = #atom} : !a, !b -> !pending
        scf.yield %d : !pending
      }
      scf.if %any {
        // expected-error@+1 {{expected a product in tensor memory that adds to no sum of another trip that is in flight}}
        %t = tile.wait %p in_flight = 0 : !pending -> tensor<128x32xf32>
      }
    }
  }
  tile.return
}

// -----

!a = !tile.buffer<128x32xf16>
!b = !tile.buffer<32x32xf16>
!t = tensor<128x32xf32>
!pending = !tile.pending<!t, tensor_memory>
#atom = #nvptx.tcgen05<"m128n32k16", f16, f32>
!sums = !tile.channel<1, !pending>

// Another role has the sum a trip later.
tile.kernel @handed_over_later(%n: index) {
  %sums = tile.channel full = 1 empty = 4 : !sums
  tile.warp_groups(%n, %sums : index, !sums) {
    role #tile.role<"mma", warps = 4> {
      %x = tile.alloc : !a
      %y = tile.alloc : !b
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %no = arith.constant false
      %none = ub.poison : !pending
      %first = tile.start_dot %x, %y, %none when %no transpose_b {atom = #atom} : !a, !b -> !pending
      %p = scf.for %i = %c0 to %n step %c1 iter_args(%s = %first) -> !pending {
        // expected-error@+1 {{expected one stage for a product in tensor memory and for what hands its sum to another role}}
        %t = tile.wait %s in_flight = 0 : !pending -> !t
        %slot, %phase = tile.next %sums : !sums
        %q = tile.pend %t : !pending
        tile.commit %q into %sums[%slot] : !sums
        %other = ub.poison : !pending
        %d = tile.start_dot %x, %y, %other when %no transpose_b {atom = #atom} : !a, !b -> !pending
        scf.yield %d : !pending
      }
    }
  }
  tile.return
}

// -----

#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!a = !tile.buffer<128x32xf16>
!b = !tile.buffer<32x32xf16>
!t = tensor<128x32xf32, #sum>
!pending = !tile.pending<!t, tensor_memory>
#atom = #nvptx.tcgen05<"m128n32k16", f16, f32>

// The trip uses it otherwise, too.
tile.kernel @used(%n: index) {
  tile.warp_groups(%n : index) {
    role #tile.role<"mma", warps = 4> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %x = tile.alloc : !a
      %y = tile.alloc : !b
      %one = arith.constant dense<1.0> : !t
      %half = arith.constant dense<0.5> : !t
      %p = scf.for %i = %c0 to %n step %c1 iter_args(%s = %one) -> !t {
        tile.print "before" (%s) : !t
        %less = arith.mulf %s, %half : !t
        %pend = tile.pend %less : !pending
        %d = tile.start_dot %x, %y, %pend transpose_b {atom = #atom} : !a, !b -> !pending
        // expected-error@+1 {{expected a sum that the loop carries, changes element by element in front of the trip's dots, and uses no more, since 'tile.carried' is "tensor_memory"}}
        %u = tile.wait %d in_flight = 0 {tile.carried = "tensor_memory"} : !pending -> !t
        scf.yield %u : !t
      }
      tile.print "sum" (%p) : !t
    }
  }
  tile.return
}

// -----

#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!a = !tile.buffer<128x32xf16>
!b = !tile.buffer<32x32xf16>
!t = tensor<128x32xf32, #sum>
!pending = !tile.pending<!t, tensor_memory>
#atom = #nvptx.tcgen05<"m128n32k16", f16, f32>

// So it does behind the dots.
tile.kernel @used_behind(%n: index) {
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
        // expected-error@+1 {{expected a sum that the trip hands to the next one and uses no more, nor promotes, since 'tile.carried' is "tensor_memory"}}
        %u = tile.wait %d in_flight = 0 {tile.carried = "tensor_memory"} : !pending -> !t
        tile.print "behind" (%u) : !t
        scf.yield %u : !t
      }
      tile.print "sum" (%p) : !t
    }
  }
  tile.return
}

// -----

#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!a = !tile.buffer<128x32xf16>
!b = !tile.buffer<32x32xf16>
!t = tensor<128x32xf32, #sum>
!pending = !tile.pending<!t, tensor_memory>
#atom = #nvptx.tcgen05<"m128n32k16", f16, f32>

// The trip begins another sum.
tile.kernel @begun(%n: index) {
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
        %pend = tile.pend %one : !pending
        %d = tile.start_dot %x, %y, %pend transpose_b {atom = #atom} : !a, !b -> !pending
        // expected-error@+1 {{expected a sum that the loop carries, changes element by element in front of the trip's dots, and uses no more}}
        %u = tile.wait %d in_flight = 0 {tile.carried = "tensor_memory"} : !pending -> !t
        scf.yield %u : !t
      }
      tile.print "sum" (%p) : !t
    }
  }
  tile.return
}

// -----

#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!a = !tile.buffer<128x32xf16>
!b = !tile.buffer<32x32xf16>
!t = tensor<128x32xf32, #sum>
!pending = !tile.pending<!t, tensor_memory>
#atom = #nvptx.tcgen05<"m128n32k16", f16, f32>

// No loop carries it.
tile.kernel @once() {
  tile.warp_groups() {
    role #tile.role<"mma", warps = 4> {
      %x = tile.alloc : !a
      %y = tile.alloc : !b
      %one = arith.constant dense<1.0> : !t
      %pend = tile.pend %one : !pending
      %d = tile.start_dot %x, %y, %pend transpose_b {atom = #atom} : !a, !b -> !pending
      // expected-error@+1 {{expected to stand in a loop of counted trips itself, since 'tile.carried' is "tensor_memory"}}
      %u = tile.wait %d in_flight = 0 {tile.carried = "tensor_memory"} : !pending -> !t
      tile.print "sum" (%u) : !t
    }
  }
  tile.return
}

// -----

#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!a = !tile.buffer<128x32xf16>
!b = !tile.buffer<32x32xf16>
!t = tensor<128x32xf32, #sum>
!pending = !tile.pending<!t, tensor_memory>
#atom = #nvptx.tcgen05<"m128n32k16", f16, f32>

// The condition chooses between the sum and what is no constant.
tile.kernel @chosen(%any: i1) {
  tile.warp_groups(%any : i1) {
    role #tile.role<"mma", warps = 4> {
      %x = tile.alloc : !a
      %y = tile.alloc : !b
      %no = arith.constant false
      %zero = arith.constant dense<0.0> : !t
      %f = arith.constant 1.0 : f32
      %ones = tile.splat %f : !t
      %sum = scf.if %any -> !t {
        %none = ub.poison : !pending
        %d = tile.start_dot %x, %y, %none when %no transpose_b {atom = #atom} : !a, !b -> !pending
        // expected-error@+1 {{expected a condition that chooses between the sum and a constant, since 'tile.carried' is "tensor_memory"}}
        %t = tile.wait %d in_flight = 0 {tile.carried = "tensor_memory"} : !pending -> !t
        scf.yield %t : !t
      } else {
        scf.yield %ones : !t
      }
      tile.print "sum" (%sum) : !t
    }
  }
  tile.return
}

// -----

#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!a = !tile.buffer<128x32xf16>
!b = !tile.buffer<32x32xf16>
!t = tensor<128x32xf32, #sum>
!pending = !tile.pending<!t, tensor_memory>
#atom = #nvptx.tcgen05<"m128n32k16", f16, f32>

// A condition behind the loop chooses a sum of the last trip.
tile.kernel @chosen_later(%any: i1) {
  tile.warp_groups(%any : i1) {
    role #tile.role<"mma", warps = 4> {
      %x = tile.alloc : !a
      %y = tile.alloc : !b
      %no = arith.constant false
      %zero = arith.constant dense<0.0> : !t
      %none = ub.poison : !pending
      %d = tile.start_dot %x, %y, %none when %no transpose_b {atom = #atom} : !a, !b -> !pending
      %sum = scf.if %any -> !t {
        // expected-error@+1 {{expected dots of the condition, none of which are of another trip, since 'tile.carried' is "tensor_memory"}}
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

// -----

#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!a = !tile.buffer<128x32xf16>
!b = !tile.buffer<32x32xf16>
!t = tensor<128x32xf32, #sum>
!pending = !tile.pending<!t, tensor_memory>
#atom = #nvptx.tcgen05<"m128n32k16", f16, f32>
!sums = !tile.channel<1, !pending>

// Another role has the sum, which no role's registers hold in between.
tile.kernel @handed_over(%any: i1) {
  %sums = tile.channel full = 1 empty = 4 : !sums
  tile.warp_groups(%any, %sums : i1, !sums) {
    role #tile.role<"mma", warps = 4> {
      %x = tile.alloc : !a
      %y = tile.alloc : !b
      %no = arith.constant false
      %none = ub.poison : !pending
      %d = tile.start_dot %x, %y, %none when %no transpose_b {atom = #atom} : !a, !b -> !pending
      // expected-error@+1 {{expected a sum that its own role fetches, since 'tile.carried' is "registers": another role has it from tensor memory}}
      %t = tile.wait %d in_flight = 0 {tile.carried = "registers"} : !pending -> !t
      %slot, %phase = tile.next %sums : !sums
      %p = tile.pend %t : !pending
      tile.commit %p into %sums[%slot] : !sums
    }
  }
  tile.return
}
