// Products of bytes, down to the instructions that the code generator picks.
// RUN: tile-opt %s --split-input-file -o %t.mlir --tile-decide-atoms --tile-decide-layouts --tile-place-conversions --tile-decide-conversions --tile-realise-conversions --tile-plan-shared-memory --tile-order-shared --tile-lower-to-threads --canonicalize --cse
// RUN: FileCheck %s --input-file=%t.mlir

#atoms = #tile.facts<pointer = 16, strides = [16, 1], extents = [0, 16]>

module attributes {tile.target = #amdgcn.target<chip = "gfx950">} {
  // The form with scales has twice the elements along k; none of its scales is used.
  // CHECK-LABEL: func.func @f8
  // CHECK: rocdl.mfma.scale.f32.32x32x64.f8f6f4 %{{.*}} : (vector<8xi32>, vector<8xi32>, vector<16xf32>, i32, i32, i32, i32, i32, i32) -> vector<16xf32>
  tile.kernel @f8(%a: !tile.view<?x?xf8E4M3FN> {tile.facts = #atoms}, %b: !tile.view<?x?xf8E4M3FN> {tile.facts = #atoms}, %c: !tile.view<?x?xf32>) {
    %c0 = arith.constant 0 : index
    %x = tile.load %a[%c0, %c0] : !tile.view<?x?xf8E4M3FN> -> tensor<32x64xf8E4M3FN>
    %y = tile.load %b[%c0, %c0] : !tile.view<?x?xf8E4M3FN> -> tensor<32x64xf8E4M3FN>
    %zero = arith.constant dense<0.0> : tensor<32x32xf32>
    %d = tile.dot %x, %y, %zero transpose_b : tensor<32x64xf8E4M3FN>, tensor<32x64xf8E4M3FN> -> tensor<32x32xf32>
    tile.store %d, %c[%c0, %c0] : tensor<32x32xf32>, !tile.view<?x?xf32>
    tile.return
  }

  // CHECK-LABEL: func.func @short
  // CHECK: rocdl.mfma.f32.32x32x16.bf8.bf8 %{{.*}} : (i64, i64, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
  tile.kernel @short(%a: !tile.view<?x?xf8E5M2> {tile.facts = #atoms}, %c: !tile.view<?x?xf32>) {
    %c0 = arith.constant 0 : index
    %x = tile.load %a[%c0, %c0] : !tile.view<?x?xf8E5M2> -> tensor<32x16xf8E5M2>
    %zero = arith.constant dense<0.0> : tensor<32x32xf32>
    %d = tile.dot %x, %x, %zero transpose_b : tensor<32x16xf8E5M2>, tensor<32x16xf8E5M2> -> tensor<32x32xf32>
    tile.store %d, %c[%c0, %c0] : tensor<32x32xf32>, !tile.view<?x?xf32>
    tile.return
  }

  // CHECK-LABEL: func.func @integers
  // CHECK: rocdl.mfma.i32.32x32x32.i8 %{{.*}} : (vector<4xi32>, vector<4xi32>, vector<16xi32>, i32, i32, i32) -> vector<16xi32>
  tile.kernel @integers(%a: !tile.view<?x?xi8> {tile.facts = #atoms}, %c: !tile.view<?x?xi32>) {
    %c0 = arith.constant 0 : index
    %x = tile.load %a[%c0, %c0] : !tile.view<?x?xi8> -> tensor<32x32xi8>
    %zero = arith.constant dense<0> : tensor<32x32xi32>
    %d = tile.dot %x, %x, %zero transpose_b : tensor<32x32xi8>, tensor<32x32xi8> -> tensor<32x32xi32>
    tile.store %d, %c[%c0, %c0] : tensor<32x32xi32>, !tile.view<?x?xi32>
    tile.return
  }
}

// -----

module attributes {tile.target = #amdgcn.target<chip = "gfx1201">} {
  // CHECK-LABEL: func.func @waves32
  // CHECK: rocdl.wmma.f32.16x16x16.fp8_fp8 %{{.*}} : (vector<2xi32>, vector<2xi32>, vector<8xf32>) -> vector<8xf32>
  // CHECK: rocdl.wmma.i32.16x16x16.iu8 %{{.*}} {signA = true, signB = true} : (vector<2xi32>, vector<2xi32>, vector<8xi32>) -> vector<8xi32>
  tile.kernel @waves32(%a: !tile.view<?x?xf8E4M3FN>, %b: !tile.view<?x?xi8>, %c: !tile.view<?x?xf32>, %e: !tile.view<?x?xi32>) {
    %c0 = arith.constant 0 : index
    %x = tile.load %a[%c0, %c0] : !tile.view<?x?xf8E4M3FN> -> tensor<16x16xf8E4M3FN>
    %zero = arith.constant dense<0.0> : tensor<16x16xf32>
    %d = tile.dot %x, %x, %zero transpose_b : tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN> -> tensor<16x16xf32>
    tile.store %d, %c[%c0, %c0] : tensor<16x16xf32>, !tile.view<?x?xf32>
    %y = tile.load %b[%c0, %c0] : !tile.view<?x?xi8> -> tensor<16x16xi8>
    %none = arith.constant dense<0> : tensor<16x16xi32>
    %f = tile.dot %y, %y, %none transpose_b : tensor<16x16xi8>, tensor<16x16xi8> -> tensor<16x16xi32>
    tile.store %f, %e[%c0, %c0] : tensor<16x16xi32>, !tile.view<?x?xi32>
    tile.return
  }
}
