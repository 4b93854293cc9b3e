// The stage that every target starts from: functions inlined, kernels checked, constants folded.
// RUN: tile-opt %s --tile-pipeline="target=cpu stop-after=tile" -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-NOT:   func.func
// CHECK-LABEL: tile.kernel @k
// CHECK:         %[[T:.*]] = tile.load
// CHECK-NEXT:    tile.store %[[T]]
func.func @same(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = tile.reshape %x : tensor<8xf32> -> tensor<1x8xf32>
  %1 = tile.reshape %0 : tensor<1x8xf32> -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
tile.kernel @k(%x: !tile.view<?xf32>, %i: index) {
  %t = tile.load %x[%i] : !tile.view<?xf32> -> tensor<8xf32>
  %r = func.call @same(%t) : (tensor<8xf32>) -> tensor<8xf32>
  tile.store %r, %x[%i] : tensor<8xf32>, !tile.view<?xf32>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.view<?xf32>, %i: index) {
  // expected-error @below {{expected an operation of tile, arith, math or structured control flow in a kernel}}
  %0 = tensor.empty() : tensor<8xf32>
  tile.return
}
