// RUN: tile-opt %s --convert-threads-to-nvvm --split-input-file | FileCheck %s

// Pairs by instruction; past the largest magnitude, and for NaN, what the type has for it.

// CHECK-LABEL: llvm.func @narrow
// CHECK-COUNT-2: nvvm.convert.f32x2.to.f8x2 {{.*}} {rnd = #nvvm.fp_rnd_mode<rn>, sat = #nvvm.sat_mode<satfinite>} : vector<2xi8>(f8E4M3FN)
// CHECK: llvm.fcmp "ole"
// CHECK: llvm.select
// CHECK-LABEL: llvm.func @widen
// CHECK-COUNT-2: nvvm.convert.f8x2.to.f16x2 {{.*}} : vector<2xi8>(f8E5M2) -> vector<2xf16>
// CHECK: llvm.fpext {{.*}} : vector<4xf16> to vector<4xf32>
// An odd number of elements has no pairs.
// CHECK-LABEL: llvm.func @odd
// CHECK-NOT: nvvm.convert
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  func.func @narrow(%p: !llvm.ptr<1>, %v: vector<4xf32>) {
    %f = arith.truncf %v : vector<4xf32> to vector<4xf8E4M3FN>
    %b = arith.bitcast %f : vector<4xf8E4M3FN> to vector<4xi8>
    llvm.store %b, %p : vector<4xi8>, !llvm.ptr<1>
    return
  }
  func.func @widen(%p: !llvm.ptr<1>, %b: vector<4xi8>) {
    %f = arith.bitcast %b : vector<4xi8> to vector<4xf8E5M2>
    %v = arith.extf %f : vector<4xf8E5M2> to vector<4xf32>
    llvm.store %v, %p : vector<4xf32>, !llvm.ptr<1>
    return
  }
  func.func @odd(%p: !llvm.ptr<1>, %v: vector<3xf32>) {
    %f = arith.truncf %v : vector<3xf32> to vector<3xf8E4M3FN>
    %b = arith.bitcast %f : vector<3xf8E4M3FN> to vector<3xi8>
    llvm.store %b, %p : vector<3xi8>, !llvm.ptr<1>
    return
  }
}

// -----

// A chip without the instruction does it in integers.

// CHECK-LABEL: llvm.func @integers
// CHECK-NOT: nvvm.convert
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  func.func @integers(%p: !llvm.ptr<1>, %v: vector<4xf32>) {
    %f = arith.truncf %v : vector<4xf32> to vector<4xf8E4M3FN>
    %b = arith.bitcast %f : vector<4xf8E4M3FN> to vector<4xi8>
    llvm.store %b, %p : vector<4xi8>, !llvm.ptr<1>
    return
  }
}
