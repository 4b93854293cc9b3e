// What cannot be accumulated in tensor memory.
// RUN: tile-opt %s --tile-realise-accumulators -split-input-file -verify-diagnostics

!a = !tile.buffer<128x32xf16>
!b = !tile.buffer<32x32xf16>
!pending = !tile.pending<tensor<128x32xf32>, tensor_memory>
#atom = #nvptx.tcgen05<"m128n32k16", f16, f32>

tile.kernel @next_trip(%n: index) {
  tile.warp_groups(%n : index) {
    role #tile.role<"mma", warps = 4> {
      %x = tile.alloc : !a
      %y = tile.alloc : !b
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %no = arith.constant false
      %none = ub.poison : !pending
      %first = tile.start_dot %x, %y, %none when %no transpose_b {atom = #atom} : !a, !b -> !pending
      %p = scf.for %i = %c0 to %n step %c1 iter_args(%s = %first) -> !pending {
        // expected-error@+1 {{expected an accumulator in tensor memory to be waited for in the block, and the trip, in which its first dot or loop begins}}
        %t = tile.wait %s in_flight = 0 : !pending -> tensor<128x32xf32>
        %other = ub.poison : !pending
        %d = tile.start_dot %x, %y, %other when %no transpose_b {atom = #atom} : !a, !b -> !pending
        scf.yield %d : !pending
      }
    }
  }
  tile.return
}
