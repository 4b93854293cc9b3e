// A loop whose stages the exact solver finds, and what of them holds.
// RUN: tile-opt %s --tile-pipeline=stop-after=layout -o %t.mlir
// RUN: tile-opt %t.mlir --tile-decide-stages=solver=exact --tile-check-schedule | FileCheck %s
// Found again it is the same, and all that follows proves it.
// RUN: tile-opt %t.mlir --tile-decide-stages=solver=exact -o %t.one.mlir
// RUN: tile-opt %t.mlir --tile-decide-stages=solver=exact -o %t.other.mlir
// RUN: cmp %t.one.mlir %t.other.mlir
// RUN: tile-opt %t.one.mlir --tile-pipeline="stop-after=llvm" -o /dev/null
// What says nothing of a solver, or names swing modulo scheduling, asks that.
// RUN: tile-opt %t.mlir --tile-decide-stages -o %t.usual.mlir
// RUN: tile-opt %t.mlir --tile-decide-stages=solver=swing | cmp - %t.usual.mlir
// RUN: not tile-opt %t.mlir --tile-decide-stages=solver=guess 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: env KILN_Z3=/none/libz3.so not tile-opt %t.mlir --tile-decide-stages=solver=exact 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: env KILN_Z3=/none/libz3.so not tile-opt %t.mlir --tile-print-schedules 2>&1 | FileCheck %s --check-prefix=NONE

// NAME: error: expected solver to be swing or exact, got 'guess'
// NONE: error: expected Z3 for the exact solver, got no '/none/libz3.so': install the package libz3-4, or set KILN_Z3 to the library

// The scores of a trip are made beside the exponentials of the trip before.
// CHECK: tile.dot {{.*}}wgmma{{.*}}stage = 0 : i64}
// CHECK: math.exp2 {{.*}}tile.stage = {{[01]}} : i64}
// CHECK: tile.dot {{.*}}wgmma{{.*}}stage = {{[12]}} : i64}

#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>
#apart = #tile.facts<pointer = 16, strides = [16, 4], extents = [16, 16], index32, noalias>

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @beside(%q: !tile.view<?x?xf16> {tile.facts = #facts}, %k: !tile.view<?x?xf16> {tile.facts = #facts},
                    %v: !tile.view<?x?xf16> {tile.facts = #facts}, %o: !tile.view<?x?xf32> {tile.facts = #apart}) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = tile.dim %k, 0 : !tile.view<?x?xf16>
  %none = arith.constant dense<0.0> : tensor<128x64xf32>
  %x = tile.load %q[%c0, %c0] : !tile.view<?x?xf16> -> tensor<128x64xf16>
  %sum = scf.for %j = %c0 to %n step %c64 iter_args(%s = %none) -> tensor<128x64xf32> {
    %y = tile.load %k[%j, %c0] : !tile.view<?x?xf16> -> tensor<64x64xf16>
    %z = tile.load %v[%j, %c0] : !tile.view<?x?xf16> -> tensor<64x64xf16>
    %d = tile.dot %x, %y, %none transpose_b : tensor<128x64xf16>, tensor<64x64xf16> -> tensor<128x64xf32>
    %e = math.exp2 %d : tensor<128x64xf32>
    %w = arith.truncf %e : tensor<128x64xf32> to tensor<128x64xf16>
    %t = tile.dot %w, %z, %s : tensor<128x64xf16>, tensor<64x64xf16> -> tensor<128x64xf32>
    scf.yield %t : tensor<128x64xf32>
  }
  tile.store %sum, %o[%c0, %c0] : tensor<128x64xf32>, !tile.view<?x?xf32>
  tile.return
}
}
