// RUN: tile-opt %s --cpu-lower-tiles --split-input-file --verify-diagnostics
// Buffers must lie within the scratch memory, behind its header.

module attributes {tile.target = #cpu.target<vector_bits = 256, registers = 16>} {
// expected-error @+1 {{expected a buffer of 64 bytes to lie at a multiple of 64 between 128 and 192, got 192}}
tile.kernel @outside(%x: !tile.view<?xf32>) attributes {cpu.buffer_bytes = array<i64: 64>,
    cpu.buffer_offsets = array<i64: 192>, cpu.scratch_bytes = 192 : i64} {
  tile.return
}
}

// -----

module attributes {tile.target = #cpu.target<vector_bits = 256, registers = 16>} {
// expected-error @+1 {{expected a buffer of 64 bytes to lie at a multiple of 64 between 128 and 192, got 0}}
tile.kernel @header(%x: !tile.view<?xf32>) attributes {cpu.buffer_bytes = array<i64: 64>,
    cpu.buffer_offsets = array<i64: 0>, cpu.scratch_bytes = 192 : i64} {
  tile.return
}
}

// -----

module attributes {tile.target = #cpu.target<vector_bits = 256, registers = 16>} {
// expected-error @+1 {{expected 1 offsets of buffers, got 0}}
tile.kernel @unplaced(%x: !tile.view<?xf32>) attributes {cpu.buffer_bytes = array<i64: 64>,
    cpu.buffer_offsets = array<i64>, cpu.scratch_bytes = 192 : i64} {
  tile.return
}
}
