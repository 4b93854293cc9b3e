// RUN: tile-opt %s --cpu-plan-scratch --split-input-file --verify-diagnostics | FileCheck %s

// The first buffer's last reader comes before the third is written: they share a place, behind
// the 128 bytes that the scratch memory begins with.

// CHECK-LABEL: tile.kernel @share(
// CHECK-SAME:    cpu.buffer_offsets = array<i64: 128, 4224, 128>
// CHECK-SAME:    cpu.scratch_bytes = 8320 : i64
tile.kernel @share(%x: !tile.view<?xf32>) attributes {cpu.buffer_bytes = array<i64: 4096, 4096, 4096>} {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] {cpu.buffers = array<i64: 0>} : !tile.view<?xf32> -> tensor<1024xf32>
  %b = math.exp %a {cpu.buffers = array<i64: 1>} : tensor<1024xf32>
  %c = math.exp %b {cpu.buffers = array<i64: 2>} : tensor<1024xf32>
  tile.store %c, %x[%c0] : tensor<1024xf32>, !tile.view<?xf32>
  tile.return
}

// -----

// A buffer from outside is used all through a loop that reads it.

// CHECK-LABEL: tile.kernel @loop(
// CHECK-SAME:    cpu.buffer_offsets = array<i64: 128, 192>
tile.kernel @loop(%x: !tile.view<?xf32>) attributes {cpu.buffer_bytes = array<i64: 64, 64>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tile.load %x[%c0] {cpu.buffers = array<i64: 0>} : !tile.view<?xf32> -> tensor<16xf32>
  scf.for %i = %c0 to %c1 step %c1 {
    tile.store %a, %x[%c0] : tensor<16xf32>, !tile.view<?xf32>
    %b = tile.load %x[%c0] {cpu.buffers = array<i64: 1>} : !tile.view<?xf32> -> tensor<16xf32>
    tile.store %b, %x[%i] : tensor<16xf32>, !tile.view<?xf32>
  }
  tile.return
}

// -----

// expected-error @+1 {{expected cpu.buffer_bytes, which cpu-decide-materialization writes}}
tile.kernel @undecided() {
  tile.return
}

// -----

// expected-error @+1 {{expected tiles that fit 1073741824 bytes of scratch memory together, got 4294967424 bytes}}
tile.kernel @huge(%x: !tile.view<?xf32>) attributes {cpu.buffer_bytes = array<i64: 4294967296>} {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] {cpu.buffers = array<i64: 0>} : !tile.view<?xf32> -> tensor<16xf32>
  tile.store %a, %x[%c0] : tensor<16xf32>, !tile.view<?xf32>
  tile.return
}
