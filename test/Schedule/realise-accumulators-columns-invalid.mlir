// Columns of tensor memory that cannot be as they are decided.
// RUN: tile-opt %s --tile-realise-accumulators -split-input-file -verify-diagnostics

!a = !tile.buffer<128x32xf16>
!b = !tile.buffer<32x32xf16>
!t = tensor<128x32xf32>
!pending = !tile.pending<!t, tensor_memory>
#atom = #nvptx.tcgen05<"m128n32k16", f16, f32>

// Nobody has said.
tile.kernel @missing() {
  tile.warp_groups() {
    role #tile.role<"mma", warps = 4> {
      %x = tile.alloc : !a
      %y = tile.alloc : !b
      %no = arith.constant false
      %none = ub.poison : !pending
      %d = tile.start_dot %x, %y, %none when %no transpose_b {atom = #atom} : !a, !b -> !pending
      // expected-error@+1 {{expected 'tile.columns' to be decided}}
      %t = tile.wait %d in_flight = 0 : !pending -> !t
      tile.print "sum" (%t) : !t
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

tile.kernel @gap() {
  tile.warp_groups() {
    role #tile.role<"mma", warps = 4> {
      %x = tile.alloc : !a
      %y = tile.alloc : !b
      %no = arith.constant false
      %none = ub.poison : !pending
      %d = tile.start_dot %x, %y, %none when %no transpose_b {atom = #atom} : !a, !b -> !pending
      // expected-error@+1 {{expected numbers from 0 on without a gap, the next of which is 0, since 'tile.columns' is 1}}
      %t = tile.wait %d in_flight = 0 {tile.columns = 1 : i64} : !pending -> !t
      tile.print "sum" (%t) : !t
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

// Both are in use at once.
tile.kernel @at_once() {
  tile.warp_groups() {
    role #tile.role<"mma", warps = 4> {
      %x = tile.alloc : !a
      %y = tile.alloc : !b
      %no = arith.constant false
      %none = ub.poison : !pending
      %d = tile.start_dot %x, %y, %none when %no transpose_b {atom = #atom} : !a, !b -> !pending
      %other = ub.poison : !pending
      %e = tile.start_dot %x, %y, %other when %no transpose_b {atom = #atom} : !a, !b -> !pending
      // expected-note@+1 {{what else has these columns}}
      %t = tile.wait %d in_flight = 0 {tile.columns = 0 : i64} : !pending -> !t
      // expected-error@+1 {{expected nothing else of role "mma" in these columns from the first use to the last, since 'tile.columns' is 0}}
      %u = tile.wait %e in_flight = 0 {tile.columns = 0 : i64} : !pending -> !t
      tile.print "sums" (%t, %u) : !t, !t
    }
  }
  tile.return
}

// -----

!a = !tile.buffer<128x32xf16>
!b = !tile.buffer<32x32xf16>
!c = !tile.buffer<64x32xf16>
!t = tensor<128x32xf32>
!u = tensor<128x64xf32>
#atom = #nvptx.tcgen05<"m128n32k16", f16, f32>
#wide = #nvptx.tcgen05<"m128n64k16", f16, f32>

tile.kernel @types() {
  tile.warp_groups() {
    role #tile.role<"mma", warps = 4> {
      %x = tile.alloc : !a
      %y = tile.alloc : !b
      %z = tile.alloc : !c
      %no = arith.constant false
      %none = ub.poison : !tile.pending<!t, tensor_memory>
      %d = tile.start_dot %x, %y, %none when %no transpose_b {atom = #atom} : !a, !b -> !tile.pending<!t, tensor_memory>
      // expected-note@+1 {{what else has these columns}}
      %t = tile.wait %d in_flight = 0 {tile.columns = 0 : i64} : !tile.pending<!t, tensor_memory> -> !t
      tile.print "sum" (%t) : !t
      %other = ub.poison : !tile.pending<!u, tensor_memory>
      %e = tile.start_dot %x, %z, %other when %no transpose_b {atom = #wide} : !a, !c -> !tile.pending<!u, tensor_memory>
      // expected-error@+1 {{expected sums, or operands, of one type in columns of their own, since 'tile.columns' is 0}}
      %u = tile.wait %e in_flight = 0 {tile.columns = 0 : i64} : !tile.pending<!u, tensor_memory> -> !u
      tile.print "sum" (%u) : !u
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

// One sum of a dot has columns of its own, though it may be in flight beside the next.
tile.kernel @in_flight(%n: index) {
  tile.warp_groups(%n : index) {
    role #tile.role<"mma", warps = 4> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %x = tile.alloc : !a
      %y = tile.alloc : !b
      %no = arith.constant false
      %none = ub.poison : !pending
      %first = tile.start_dot %x, %y, %none when %no transpose_b {atom = #atom} : !a, !b -> !pending
      %p = scf.for %i = %c0 to %n step %c1 iter_args(%s = %first) -> !pending {
        %other = ub.poison : !pending
        %d = tile.start_dot %x, %y, %other when %no transpose_b {atom = #atom} : !a, !b -> !pending
        // expected-error@+1 {{expected the columns that the sum of the trip before has, 1, since 'tile.columns' is 0}}
        %t = tile.wait %s in_flight = 0 {tile.columns = 0 : i64} : !pending -> !t
        scf.yield %d : !pending
      }
      // expected-note@+1 {{where that is waited for}}
      %u = tile.wait %p in_flight = 0 {tile.columns = 1 : i64} : !pending -> !t
    }
  }
  tile.return
}

// -----

!a = !tile.buffer<128x32xf16>
!b = !tile.buffer<32x32xf16>
!t = tensor<128x32xf32>
!x = tensor<128x32xf16>
!pending = !tile.pending<!t, tensor_memory>
#atom = #nvptx.tcgen05<"m128n32k16", f16, f32>

// The next trip's sum begins in the one slot before the dots that would give it back.
tile.kernel @over_in_flight(%n: index) {
  tile.warp_groups(%n : index) {
    role #tile.role<"mma", warps = 4> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %x = tile.alloc : !a
      %y = tile.alloc : !b
      %no = arith.constant false
      %none = ub.poison : !pending
      %first = tile.start_dot %x, %y, %none when %no transpose_b {atom = #atom} : !a, !b -> !pending
      %p = scf.for %i = %c0 to %n step %c1 iter_args(%s = %first) -> !pending {
        // expected-note@+1 {{the sum that has these columns}}
        %t = tile.wait %s in_flight = 0 {tile.columns = 0 : i64} : !pending -> !t
        %other = ub.poison : !pending
        %d = tile.start_dot %x, %y, %other when %no transpose_b {atom = #atom} : !a, !b -> !pending
        %w = arith.truncf %t : !t to !x
        %last = ub.poison : !pending
        // expected-error@+1 {{expected dots that read the operand in front of those that begin the next trip's sum in its columns, since 'tile.operand_columns' is 0}}
        %e = tile.start_dot %w, %y, %last when %no {atom = #atom, tile.operand_columns = 0 : i64} : !x, !b -> !pending
        %v = tile.wait %e in_flight = 0 {tile.columns = 1 : i64} : !pending -> !t
        scf.yield %d : !pending
      }
      %u = tile.wait %p in_flight = 0 {tile.columns = 0 : i64} : !pending -> !t
    }
  }
  tile.return
}

// -----

!a = !tile.buffer<128x32xf16>
!b = !tile.buffer<32x32xf16>
!t = tensor<128x32xf32>
!x = tensor<128x32xf16>
!pending = !tile.pending<!t, tensor_memory>
#atom = #nvptx.tcgen05<"m128n32k16", f16, f32>

// The dots that read one operand say different columns.
tile.kernel @readers() {
  tile.warp_groups() {
    role #tile.role<"mma", warps = 4> {
      %y = tile.alloc : !b
      %w = arith.constant dense<1.0> : !x
      %no = arith.constant false
      %none = ub.poison : !pending
      // expected-note@+1 {{that dot}}
      %d = tile.start_dot %w, %y, %none when %no {atom = #atom, tile.operand_columns = 0 : i64} : !x, !b -> !pending
      %other = ub.poison : !pending
      // expected-error@+1 {{expected 'tile.operand_columns' of the dot that reads the operand first, 0, got 1}}
      %e = tile.start_dot %w, %y, %other when %no {atom = #atom, tile.operand_columns = 1 : i64} : !x, !b -> !pending
      %t = tile.wait %d in_flight = 0 {tile.columns = 1 : i64} : !pending -> !t
      %u = tile.wait %e in_flight = 0 {tile.columns = 2 : i64} : !pending -> !t
      tile.print "sums" (%t, %u) : !t, !t
    }
  }
  tile.return
}

// -----

!a = !tile.buffer<128x32xf16>
!b = !tile.buffer<32x32xf16>
!t = tensor<128x32xf32>
!x = tensor<128x32xf16>
!pending = !tile.pending<!t, tensor_memory>
#atom = #nvptx.tcgen05<"m128n32k16", f16, f32>

// The sum has not been fetched by then: it is the dot's own.
tile.kernel @not_fetched() {
  tile.warp_groups() {
    role #tile.role<"mma", warps = 4> {
      %y = tile.alloc : !b
      %w = arith.constant dense<1.0> : !x
      %no = arith.constant false
      %none = ub.poison : !pending
      // expected-error@+1 {{expected a sum that the trip has fetched in front of the operand, over which that is written, since 'tile.operand_columns' is 0}}
      %d = tile.start_dot %w, %y, %none when %no {atom = #atom, tile.operand_columns = 0 : i64} : !x, !b -> !pending
      // expected-note@+1 {{the sum that has these columns}}
      %t = tile.wait %d in_flight = 0 {tile.columns = 0 : i64} : !pending -> !t
      tile.print "sum" (%t) : !t
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

// 128 columns of 16 bits have no room over 32 of 32.
tile.kernel @no_room() {
  tile.warp_groups() {
    role #tile.role<"mma", warps = 4> {
      %x = tile.alloc : !a
      %y = tile.alloc : !b
      %z = tile.alloc : !tile.buffer<128x32xf16>
      %w = arith.constant dense<1.0> : tensor<128x128xf16>
      %no = arith.constant false
      %none = ub.poison : !pending
      %d = tile.start_dot %x, %y, %none when %no {atom = #atom} : !a, !b -> !pending
      // expected-note@+1 {{the sum that has these columns}}
      %t = tile.wait %d in_flight = 0 {tile.columns = 0 : i64} : !pending -> !t
      tile.print "sum" (%t) : !t
      %other = ub.poison : !pending
      // expected-error@+1 {{expected an operand with the rows of the instruction and of the sum over which it is written, and of no more bits, since 'tile.operand_columns' is 0}}
      %e = tile.start_dot %w, %z, %other when %no {atom = #atom, tile.operand_columns = 0 : i64} : tensor<128x128xf16>, !tile.buffer<128x32xf16> -> !pending
      %u = tile.wait %e in_flight = 0 {tile.columns = 1 : i64} : !pending -> !t
      tile.print "sum" (%u) : !t
    }
  }
  tile.return
}

// -----

!a = !tile.buffer<128x32xf16>
!b = !tile.buffer<32x32xf16>
!t = tensor<128x32xf32>
!x = tensor<128x32xf16>
!pending = !tile.pending<!t, tensor_memory>
#atom = #nvptx.tcgen05<"m128n32k16", f16, f32>

// The slot of one sum goes back by commit, that of the other by the warps that fetch it.
tile.kernel @some_over() {
  tile.warp_groups() {
    role #tile.role<"mma", warps = 4> {
      %x = tile.alloc : !a
      %y = tile.alloc : !b
      %no = arith.constant false
      %none = ub.poison : !pending
      %d = tile.start_dot %x, %y, %none when %no {atom = #atom} : !a, !b -> !pending
      // expected-note@+1 {{what else has these columns}}
      %s = tile.wait %d in_flight = 0 {tile.columns = 0 : i64} : !pending -> !t
      %w = arith.truncf %s : !t to !x
      %other = ub.poison : !pending
      %e = tile.start_dot %w, %y, %other when %no {atom = #atom, tile.operand_columns = 0 : i64} : !x, !b -> !pending
      // expected-error@+1 {{expected operands over all the sums in these columns, or none, since 'tile.columns' is 0}}
      %t = tile.wait %e in_flight = 0 {tile.columns = 0 : i64} : !pending -> !t
      tile.print "sum" (%t) : !t
    }
  }
  tile.return
}

// -----

!a = !tile.buffer<128x32xf16>
!b = !tile.buffer<32x32xf16>
!t = tensor<128x32xf32>
!x = tensor<128x32xf16>
!pending = !tile.pending<!t, tensor_memory>
#atom = #nvptx.tcgen05<"m128n32k16", f16, f32>

// Two operands, one of which reads would find the other.
tile.kernel @two_over() {
  tile.warp_groups() {
    role #tile.role<"mma", warps = 4> {
      %x = tile.alloc : !a
      %y = tile.alloc : !b
      %no = arith.constant false
      %none = ub.poison : !pending
      %d = tile.start_dot %x, %y, %none when %no {atom = #atom} : !a, !b -> !pending
      // expected-note@+1 {{the sum that has these columns}}
      %s = tile.wait %d in_flight = 0 {tile.columns = 0 : i64} : !pending -> !t
      %w = arith.truncf %s : !t to !x
      %v = arith.negf %w : !x
      %n1 = ub.poison : !pending
      %e = tile.start_dot %w, %y, %n1 when %no {atom = #atom, tile.operand_columns = 0 : i64} : !x, !b -> !pending
      // expected-error@+1 {{expected one operand over a sum, since 'tile.operand_columns' is 0}}
      %f = tile.start_dot %v, %y, %e {atom = #atom, tile.operand_columns = 0 : i64} : !x, !b -> !pending
      %t = tile.wait %f in_flight = 0 {tile.columns = 1 : i64} : !pending -> !t
      tile.print "sum" (%t) : !t
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

// What another role has, has that channel's columns.
tile.kernel @handed_over() {
  %sums = tile.channel full = 1 empty = 4 : !sums
  tile.warp_groups(%sums : !sums) {
    role #tile.role<"mma", warps = 4> {
      %x = tile.alloc : !a
      %y = tile.alloc : !b
      %no = arith.constant false
      %none = ub.poison : !pending
      %d = tile.start_dot %x, %y, %none when %no transpose_b {atom = #atom} : !a, !b -> !pending
      // expected-error@+1 {{expected a sum that its own role fetches, since 'tile.columns' is 0: another role has it from tensor memory}}
      %t = tile.wait %d in_flight = 0 {tile.columns = 0 : i64} : !pending -> !t
      %slot, %phase = tile.next %sums : !sums
      %p = tile.pend %t : !pending
      tile.commit %p into %sums[%slot] : !sums
    }
  }
  tile.return
}
