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
// CHECK:       llvm.func @sin(f64) -> f64
// CHECK-LABEL: llvm.func @functions(
// CHECK-NOT:     llvm.ldexp
// CHECK:         llvm.cond_br
// CHECK:         llvm.call @sin
// CHECK:         llvm.call @sin
func.func @functions(%x: vector<2xf32>, %n: index) -> vector<2xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> vector<2xf32> {
    %e = math.exp %v : vector<2xf32>
    scf.yield %e : vector<2xf32>
  }
  %w = arith.extf %r : vector<2xf32> to vector<2xf64>
  %y = math.sin %w : vector<2xf64>
  return %y : vector<2xf64>
}
}

// -----

// Those of f32 are computed in f64 and rounded, all lanes at once: nothing calls the C library, and
// angles too large for a short reduction take a branch.

module attributes {tile.target = #cpu.target<vector_bits = 512, registers = 32>} {
// CHECK-LABEL: llvm.func @in_f64(
// CHECK-NOT:     llvm.call @
// CHECK:         llvm.fpext %{{.*}} : vector<16xf32> to vector<16xf64>
// CHECK:         llvm.intr.vector.reduce.or
// CHECK:         llvm.cond_br
// CHECK-NOT:     llvm.call @
// CHECK:         llvm.fptrunc %{{.*}} : vector<16xf64> to vector<16xf32>
// CHECK-NOT:     llvm.call @
// CHECK:         llvm.return
func.func @in_f64(%x: vector<16xf32>, %y: vector<16xf32>) -> vector<16xf32> {
  %0 = math.sin %x : vector<16xf32>
  %1 = math.cos %0 : vector<16xf32>
  %2 = math.tan %1 : vector<16xf32>
  %3 = math.atan %2 : vector<16xf32>
  %4 = math.atan2 %3, %y : vector<16xf32>
  %5 = math.sinh %4 : vector<16xf32>
  %6 = math.cosh %5 : vector<16xf32>
  %7 = math.asinh %6 : vector<16xf32>
  %8 = math.acosh %7 : vector<16xf32>
  %9 = math.atanh %8 : vector<16xf32>
  %10 = math.cbrt %9 : vector<16xf32>
  %11 = math.erfc %10 : vector<16xf32>
  %12 = math.log10 %11 : vector<16xf32>
  %13 = math.powf %12, %y : vector<16xf32>
  %14 = arith.remf %13, %y : vector<16xf32>
  return %14 : vector<16xf32>
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
