// Operands that memory walks along the other dimension than k are read turned over from LDS.
// RUN: tile-opt %s --split-input-file -o %t.mlir --tile-decide-atoms --tile-decide-layouts --tile-place-conversions --tile-decide-conversions
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: tile-opt %t.mlir --split-input-file -o %t2.mlir --tile-realise-conversions --tile-plan-shared-memory --tile-order-shared --tile-lower-to-threads --canonicalize --cse
// RUN: FileCheck %s --input-file=%t2.mlir --check-prefix=THREADS

#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>

module attributes {tile.target = #amdgcn.target<chip = "gfx950">} {
  // What lies along k is read as it is, 16 bytes a lane.
  // CHECK-LABEL: tile.kernel @halves(
  // CHECK-COUNT-2: read = #amdgcn.transposing_read<16>
  // CHECK-NOT: transposing_read
  // THREADS-LABEL: func.func @halves(
  // THREADS-COUNT-4: rocdl.ds.read.tr16.b64 %{{.*}} : <3> -> vector<4xi16>
  // THREADS: rocdl.mfma.f32.32x32x16.f16
  tile.kernel @halves(%a: !tile.view<?x?xf16> {tile.facts = #facts}, %b: !tile.view<?x?xf16> {tile.facts = #facts}, %c: !tile.view<?x?xf32>) attributes {tile.warps = 1} {
    %c0 = arith.constant 0 : index
    %x = tile.load %a[%c0, %c0] : !tile.view<?x?xf16> -> tensor<16x32xf16>
    %y = tile.load %b[%c0, %c0] : !tile.view<?x?xf16> -> tensor<16x32xf16>
    %zero = arith.constant dense<0.0> : tensor<32x32xf32>
    %d = tile.dot %x, %y, %zero transpose_a : tensor<16x32xf16>, tensor<16x32xf16> -> tensor<32x32xf32>
    tile.store %d, %c[%c0, %c0] : tensor<32x32xf32>, !tile.view<?x?xf32>
    tile.return
  }

  // CHECK-LABEL: tile.kernel @bytes(
  // CHECK: read = #amdgcn.transposing_read<8>
  // THREADS-LABEL: func.func @bytes(
  // THREADS: rocdl.ds.read.tr8.b64 %{{.*}} : <3> -> vector<2xi32>
  tile.kernel @bytes(%a: !tile.view<?x?xf8E4M3FN> {tile.facts = #facts}, %c: !tile.view<?x?xf32>) attributes {tile.warps = 1} {
    %c0 = arith.constant 0 : index
    %x = tile.load %a[%c0, %c0] : !tile.view<?x?xf8E4M3FN> -> tensor<64x32xf8E4M3FN>
    %zero = arith.constant dense<0.0> : tensor<32x32xf32>
    %d = tile.dot %x, %x, %zero transpose_a : tensor<64x32xf8E4M3FN>, tensor<64x32xf8E4M3FN> -> tensor<32x32xf32>
    tile.store %d, %c[%c0, %c0] : tensor<32x32xf32>, !tile.view<?x?xf32>
    tile.return
  }
}

// -----

#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>

// Chips before have no such reads.
module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
  // CHECK-LABEL: tile.kernel @before(
  // CHECK-NOT: transposing_read
  tile.kernel @before(%a: !tile.view<?x?xf16> {tile.facts = #facts}, %c: !tile.view<?x?xf32>) attributes {tile.warps = 1} {
    %c0 = arith.constant 0 : index
    %x = tile.load %a[%c0, %c0] : !tile.view<?x?xf16> -> tensor<16x32xf16>
    %zero = arith.constant dense<0.0> : tensor<32x32xf32>
    %d = tile.dot %x, %x, %zero transpose_a : tensor<16x32xf16>, tensor<16x32xf16> -> tensor<32x32xf32>
    tile.store %d, %c[%c0, %c0] : tensor<32x32xf32>, !tile.view<?x?xf32>
    tile.return
  }
}
