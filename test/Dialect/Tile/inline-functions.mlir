// Helper functions go into the kernels, regions and grids that call them.
// RUN: tile-opt %s -tile-inline-functions -split-input-file -mlir-print-debuginfo -mlir-print-local-scope | FileCheck %s

// CHECK-NOT:   func.func
// CHECK-LABEL: tile.kernel @nested
// CHECK:         scf.for
// CHECK-NEXT:      %[[T:.*]] = tile.load
// CHECK-NEXT:      %[[A:.*]] = arith.addf %[[T]], %[[T]] : tensor<8xf32> loc(callsite(
// CHECK-NEXT:      %[[M:.*]] = arith.mulf %[[A]], %[[A]] : tensor<8xf32> loc(callsite(
// CHECK-NEXT:      %[[B:.*]] = arith.addf %[[M]], %[[M]] : tensor<8xf32> loc(callsite(
// CHECK-NEXT:      tile.store %[[B]]
// CHECK-NOT:   func.func
func.func @twice(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = arith.addf %x, %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func @square(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @twice(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = arith.mulf %0, %0 : tensor<8xf32>
  %2 = call @twice(%1) : (tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}
tile.kernel @nested(%x: !tile.view<?xf32>, %i: index) {
  scf.for %k = %i to %i step %i {
    %t = tile.load %x[%k] : !tile.view<?xf32> -> tensor<8xf32>
    %r = func.call @square(%t) : (tensor<8xf32>) -> tensor<8xf32>
    tile.store %r, %x[%k] : tensor<8xf32>, !tile.view<?xf32>
  }
  tile.return
}

// -----

// Functions serve the grid region and combining regions too; what passes through stays itself.
func.func private @same(%n: index, %m: index) -> (index, index) {
  return %m, %n : index, index
}
func.func private @add(%a: f32, %b: f32) -> f32 {
  %0 = arith.addf %a, %b : f32
  return %0 : f32
}
// CHECK-LABEL: tile.kernel @regions(
// CHECK-SAME:    %[[N:.*]]: index
// CHECK:         tile.grid %[[N]], %[[N]]
// CHECK:         tile.reduce
// CHECK:           arith.addf
// CHECK-NEXT:      tile.yield
tile.kernel @regions(%n: index) grid {
  %0:2 = func.call @same(%n, %n) : (index, index) -> (index, index)
  tile.grid %0#0, %0#1
} {
  %x = arith.constant dense<1.0> : tensor<8xf32>
  %0 = tile.reduce %x axis = 0 : tensor<8xf32> -> tensor<f32> {
  ^bb0(%a: f32, %b: f32):
    %s = func.call @add(%a, %b) : (f32, f32) -> f32
    tile.yield %s : f32
  }
  tile.print "sum" (%0) : tensor<f32>
  tile.return
}
