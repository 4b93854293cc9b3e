// What cannot lie, or be read, in tensor memory so.
// RUN: tile-opt %s -split-input-file -verify-diagnostics

tile.kernel @told_by_nobody() {
  // expected-error@+1 {{expected full to be at least 1, got 0}}
  %ring = tile.channel full = 0 empty = 1 : !tile.channel<1, !tile.buffer<8x8xf32>>
  tile.return
}

// -----

!sum = !tile.pending<tensor<128x32xf32>, tensor_memory>
#atom = #nvptx.tcgen05<"m128n32k16", f16, f32>
func.func @turned(%x: !tile.pending<tensor<32x128xf16>, tensor_memory>, %y: !tile.buffer<32x32xf16>, %q: !sum) {
  // expected-error@+1 {{expected operand a in tensor memory by rows, got '!tile.pending<tensor<32x128xf16>, tensor_memory>' and 'transpose_a'}}
  %d = tile.start_dot %x, %y, %q transpose_a {atom = #atom}
     : !tile.pending<tensor<32x128xf16>, tensor_memory>, !tile.buffer<32x32xf16> -> !sum
  return
}

// -----

!sum = !tile.pending<tensor<128x32xf32>, tensor_memory>
#atom = #nvptx.tcgen05<"m128n32k16", f16, f32>
func.func @in_registers(%x: !tile.pending<tensor<128x32xf16>>, %y: !tile.buffer<32x32xf16>, %q: !sum) {
  // expected-error@+1 {{expected operand a in tensor memory by rows, got '!tile.pending<tensor<128x32xf16>>'}}
  %d = tile.start_dot %x, %y, %q {atom = #atom}
     : !tile.pending<tensor<128x32xf16>>, !tile.buffer<32x32xf16> -> !sum
  return
}

// -----

func.func @rows(%q: !tile.pending<tensor<128x32xf32>, tensor_memory>, %i: index) {
  // expected-error@+1 {{expected columns of}}
  %p = tile.part %q[%i, %i] : !tile.pending<tensor<128x32xf32>, tensor_memory>
                              -> !tile.pending<tensor<64x32xf32>, tensor_memory>
  return
}

// -----

func.func @no_part(%q: !tile.pending<tensor<128x32xf32>, tensor_memory>, %i: index) {
  // expected-error@+1 {{expected columns of}}
  %p = tile.part %q[%i, %i] : !tile.pending<tensor<128x32xf32>, tensor_memory>
                              -> !tile.pending<tensor<128x24xf32>, tensor_memory>
  return
}

// -----

func.func @part_in_registers(%q: !tile.pending<tensor<128x32xf32>>, %i: index) {
  // expected-error@+1 {{expected a part in tensor memory of an accumulator there}}
  %p = tile.part %q[%i, %i] : !tile.pending<tensor<128x32xf32>>
                              -> !tile.pending<tensor<128x16xf32>>
  return
}

// -----

func.func @buffer_of_a_sum(%q: !tile.buffer<128x32xf32>, %i: index) {
  // expected-error@+1 {{to be a buffer, got}}
  %p = tile.part %q[%i, %i] : !tile.buffer<128x32xf32> -> !tile.pending<tensor<128x16xf32>, tensor_memory>
  return
}
