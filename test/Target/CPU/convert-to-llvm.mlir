// RUN: tile-opt %s --cpu-convert-to-llvm --split-input-file | FileCheck %s

// Loops become branches, exponentials polynomials; what has none calls the C library by lanes.

module attributes {tile.target = #cpu.target<vector_bits = 512, registers = 32>} {
// CHECK-LABEL: llvm.func @exp(
// CHECK-NOT:     llvm.intr.exp
// CHECK:         llvm.intr.fma
// CHECK:         llvm.call_intrinsic "llvm.ldexp"
func.func @exp(%x: vector<16xf32>) -> vector<16xf32> {
  %y = math.exp %x : vector<16xf32>
  return %y : vector<16xf32>
}
}

// -----

module attributes {tile.target = #cpu.target<vector_bits = 256, registers = 16>} {
// CHECK:       llvm.func @sinf(f32) -> f32
// CHECK-LABEL: llvm.func @functions(
// CHECK-NOT:     llvm.ldexp
// CHECK:         llvm.cond_br
// CHECK:         llvm.call @sinf
// CHECK:         llvm.call @sinf
func.func @functions(%x: vector<2xf32>, %n: index) -> vector<2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> vector<2xf32> {
    %e = math.exp %v : vector<2xf32>
    scf.yield %e : vector<2xf32>
  }
  %y = math.sin %r : vector<2xf32>
  return %y : vector<2xf32>
}
}

// -----

// bf16 is moved as an integer: through loops, selections and vectors.

module attributes {tile.target = #cpu.target<vector_bits = 256, registers = 16>} {
// CHECK-LABEL: llvm.func @move(
// CHECK-NOT:     bf16
// CHECK:         llvm.return %{{.*}} : i16
func.func @move(%c: i1, %x: vector<2xbf16>, %y: vector<2xbf16>) -> bf16 {
  %v = scf.if %c -> vector<2xbf16> {
    scf.yield %x : vector<2xbf16>
  } else {
    scf.yield %y : vector<2xbf16>
  }
  %s = arith.select %c, %v, %y : vector<2xbf16>
  %e = vector.extract %s[1] : bf16 from vector<2xbf16>
  return %e : bf16
}
}
