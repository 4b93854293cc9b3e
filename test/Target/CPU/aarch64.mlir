// RUN: tile-opt %s --pass-pipeline="builtin.module(cpu-decide-materialization,cpu-plan-scratch,cpu-lower-tiles,cpu-lower-kernel,canonicalize,cse,cpu-legalize-arithmetic,expand-narrow-floats,cpu-convert-to-llvm)" \
// RUN:   | mlir-translate -allow-unregistered-dialect --mlir-to-llvmir \
// RUN:   | llc -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1 -O3 -o - | FileCheck %s

// Nothing on the way to LLVM is for x86 alone: a product of packed elements with bf16 and a softmax
// become code for AArch64, which calls nothing.

module attributes {tile.target = #cpu.target<vector_bits = 128, registers = 32>} {

// CHECK-LABEL: kiln_entry:
// CHECK:         fmla v{{[0-9]+}}.4s, v{{[0-9]+}}.4s, v{{[0-9]+}}.s[
// CHECK-NOT:     {{^[[:space:]]bl[[:space:]]}}
// CHECK:         .Lfunc_end0:
tile.kernel @k(%a: !tile.view<?x?xbf16>, %b: !tile.view<?x?xf4E2M1FN>, %c: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %sum = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %zero) -> tensor<16x32xf32> {
    %x = tile.load %a[%c0, %i] : !tile.view<?x?xbf16> -> tensor<16x64xbf16>
    %n = tile.load %b[%i, %c0] : !tile.view<?x?xf4E2M1FN> -> tensor<64x32xf4E2M1FN>
    %w = arith.extf %n : tensor<64x32xf4E2M1FN> to tensor<64x32xbf16>
    %d = tile.dot %x, %w, %s : tensor<16x64xbf16>, tensor<64x32xbf16> -> tensor<16x32xf32>
    scf.yield %d : tensor<16x32xf32>
  }
  %e = math.exp %sum : tensor<16x32xf32>
  %t = tile.reduce %e axis = 1 : tensor<16x32xf32> -> tensor<16xf32> {
  ^bb0(%l: f32, %r: f32):
    %m = arith.addf %l, %r : f32
    tile.yield %m : f32
  }
  %o = tile.reshape %t : tensor<16xf32> -> tensor<16x1xf32>
  %q = tile.broadcast %o : tensor<16x1xf32> -> tensor<16x32xf32>
  %p = arith.divf %e, %q : tensor<16x32xf32>
  tile.store %p, %c[%c0, %c0] : tensor<16x32xf32>, !tile.view<?x?xf32>
  tile.return
}
}
