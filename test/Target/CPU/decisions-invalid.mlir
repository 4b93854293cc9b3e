// RUN: tile-opt %s --cpu-plan-scratch --split-input-file --verify-diagnostics
// RUN: not tile-opt %s --cpu-decide-materialization --split-input-file 2>&1 | FileCheck %s

// CHECK: expected no decision before buffers are decided, got cpu.buffers
tile.kernel @no_such_buffer(%x: !tile.view<?xf32>) attributes {cpu.buffer_bytes = array<i64: 64>} {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{expected cpu.buffers to name a buffer of at least 64 bytes, got 1}}
  %a = tile.load %x[%c0] {cpu.buffers = array<i64: 1>} : !tile.view<?xf32> -> tensor<16xf32>
  tile.store %a, %x[%c0] : tensor<16xf32>, !tile.view<?xf32>
  tile.return
}

// -----

// CHECK: expected no decision before buffers are decided, got cpu.buffers
tile.kernel @too_small(%x: !tile.view<?xf32>) attributes {cpu.buffer_bytes = array<i64: 63>} {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{expected cpu.buffers to name a buffer of at least 64 bytes, got 0}}
  %a = tile.load %x[%c0] {cpu.buffers = array<i64: 0>} : !tile.view<?xf32> -> tensor<16xf32>
  tile.store %a, %x[%c0] : tensor<16xf32>, !tile.view<?xf32>
  tile.return
}

// -----

// CHECK: expected no decision before buffers are decided, got cpu.buffers
tile.kernel @scalars_have_none(%x: !tile.view<?xf32>) attributes {cpu.buffer_bytes = array<i64: 64>} {
  // expected-error @+1 {{expected no number in cpu.buffers for a scalar, got 0}}
  %c0 = arith.constant {cpu.buffers = array<i64: 0>} 0 : index
  tile.return
}

// -----

// CHECK: expected no decision before buffers are decided, got cpu.buffer_bytes
tile.kernel @not_kept(%x: !tile.view<?xf32>) attributes {cpu.buffer_bytes = array<i64: 64>} {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<?xf32> -> tensor<8xf32>
  // expected-error @+1 {{expected cpu.buffers to be an array of 1 integers}}
  %b = tile.concat %a, %a axis = 0 : tensor<8xf32>, tensor<8xf32> -> tensor<16xf32>
  tile.store %b, %x[%c0] : tensor<16xf32>, !tile.view<?xf32>
  tile.return
}

// -----

// CHECK: expected no decision before buffers are decided, got cpu.fused
tile.kernel @fills_nothing(%x: !tile.view<?xf32>) attributes {cpu.buffer_bytes = array<i64: 64>} {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{expected cpu.fused on a kept tensor that the next reduction reads}}
  %a = tile.load %x[%c0] {cpu.fused} : !tile.view<?xf32> -> tensor<8xf32>
  tile.store %a, %x[%c0] : tensor<8xf32>, !tile.view<?xf32>
  tile.return
}

// -----

// CHECK: expected no decision before buffers are decided, got cpu.temps
tile.kernel @overwritten(%x: !tile.view<?xf32>) attributes {cpu.buffer_bytes = array<i64: 64, 64>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %p, %q = scf.for %i = %c0 to %c1 step %c1 iter_args(%s = %zero, %t = %zero)
      -> (tensor<16xf32>, tensor<16xf32>) {
    // expected-error @+1 {{expected cpu.temps to name a buffer for operand 0, which overwrites what a yielded tensor still reads, got -1}}
    scf.yield {cpu.temps = array<i64: -1, -1>} %t, %s : tensor<16xf32>, tensor<16xf32>
  } {cpu.buffers = array<i64: 0, 1>}
  tile.return
}
