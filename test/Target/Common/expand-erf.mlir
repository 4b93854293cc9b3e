// RUN: tile-opt %s --convert-threads-to-nvvm | FileCheck %s
// RUN: sed 's/nvptx.target<chip = "sm_90a">/amdgcn.target<chip = "gfx942">/' %s | tile-opt --convert-threads-to-rocdl | FileCheck %s

// erf of f32: two polynomials of degree 5, one exp2, and no division.

// CHECK-LABEL: llvm.func @erf
// CHECK-NOT: fdiv
// CHECK-COUNT-10: llvm.intr.fma
// CHECK: llvm.intr.exp2
// CHECK-NOT: llvm.intr.fma
// CHECK-NOT: fdiv
// CHECK: llvm.intr.copysign
// CHECK: llvm.select
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  func.func @erf(%p: !llvm.ptr<1>, %v: vector<4xf32>) {
    %e = math.erf %v : vector<4xf32>
    llvm.store %e, %p : vector<4xf32>, !llvm.ptr<1>
    return
  }
}
