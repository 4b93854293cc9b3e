// What a module may say of the processor that it is compiled for.
// RUN: tile-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{expected 'vector_bits' to be a power of two from 64 to 4096, got -1}}
module attributes {tile.target = #cpu.target<vector_bits = -1, registers = 16>} {}

// -----

// expected-error @below {{expected 'vector_bits' to be a power of two from 64 to 4096, got 96}}
module attributes {tile.target = #cpu.target<vector_bits = 96, registers = 16>} {}

// -----

// expected-error @below {{expected 1 to 1024 'registers', got 0}}
module attributes {tile.target = #cpu.target<vector_bits = 256, registers = 0>} {}

// -----

// expected-error @below {{expected a known chip, got 'banana'}}
module attributes {tile.target = #cpu.target<vector_bits = 256, registers = 16, processor = "banana">} {}
