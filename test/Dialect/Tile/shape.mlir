// Ops that move elements, in text, generic form and bytecode.
// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s --mlir-print-op-generic | tile-opt | FileCheck %s
// RUN: tile-opt %s --emit-bytecode | tile-opt | FileCheck %s

// CHECK-LABEL: func.func @sources
// CHECK:         tile.splat %{{.*}} : tensor<8x4xf32>
// CHECK:         tile.to_scalar %{{.*}} : tensor<1x1xi4>
// CHECK:         tile.iota 1 : tensor<8x4xi16>
func.func @sources(%x: f32, %y: tensor<1x1xi4>) {
  %0 = tile.splat %x : tensor<8x4xf32>
  %1 = tile.to_scalar %y : tensor<1x1xi4>
  %2 = tile.iota 1 : tensor<8x4xi16>
  return
}

// CHECK-LABEL: func.func @moves
// CHECK:         tile.broadcast %{{.*}} : tensor<8x1xf32> -> tensor<8x4xf32>
// CHECK:         tile.reshape %{{.*}} : tensor<8x4xf32> -> tensor<2x16xf32>
// CHECK:         tile.transpose %{{.*}} [1, 0] : tensor<8x4xf32> -> tensor<4x8xf32>
// CHECK:         tile.slice %{{.*}} [4, 1] : tensor<8x4xf32> -> tensor<4x2xf32>
// CHECK:         tile.concat %{{.*}}, %{{.*}} axis = 1 : tensor<8x4xf32>, tensor<8x1xf32> -> tensor<8x5xf32>
// CHECK:         tile.join %{{.*}}, %{{.*}} : tensor<8x4xf32> -> tensor<8x4x2xf32>
// CHECK:         tile.split %{{.*}} : tensor<8x4x2xf32> -> tensor<8x4xf32>
// CHECK:         tile.bitcast %{{.*}} : tensor<8x4xf32> -> tensor<8x32xi4>
// CHECK:         tile.bitcast %{{.*}} extents [7, 20] : tensor<8x4xf32> -> tensor<8x32xf6E2M3FN>
func.func @moves(%x: tensor<8x1xf32>, %y: tensor<8x4xf32>) {
  %0 = tile.broadcast %x : tensor<8x1xf32> -> tensor<8x4xf32>
  %1 = tile.reshape %y : tensor<8x4xf32> -> tensor<2x16xf32>
  %2 = tile.transpose %y [1, 0] : tensor<8x4xf32> -> tensor<4x8xf32>
  %3 = tile.slice %y [4, 1] : tensor<8x4xf32> -> tensor<4x2xf32>
  %4 = tile.concat %y, %x axis = 1 : tensor<8x4xf32>, tensor<8x1xf32> -> tensor<8x5xf32>
  %5 = tile.join %y, %y : tensor<8x4xf32> -> tensor<8x4x2xf32>
  %6, %7 = tile.split %5 : tensor<8x4x2xf32> -> tensor<8x4xf32>
  %8 = tile.bitcast %y : tensor<8x4xf32> -> tensor<8x32xi4>
  %9 = tile.bitcast %y extents [7, 20] : tensor<8x4xf32> -> tensor<8x32xf6E2M3FN>
  return
}

// CHECK-LABEL: func.func @rank_zero
// CHECK:         tile.reshape %{{.*}} : tensor<f32> -> tensor<1x1xf32>
// CHECK:         tile.transpose %{{.*}} [] : tensor<f32> -> tensor<f32>
// CHECK:         tile.join %{{.*}}, %{{.*}} : tensor<f32> -> tensor<2xf32>
func.func @rank_zero(%x: tensor<f32>) {
  %0 = tile.reshape %x : tensor<f32> -> tensor<1x1xf32>
  %1 = tile.transpose %x [] : tensor<f32> -> tensor<f32>
  %2 = tile.join %x, %x : tensor<f32> -> tensor<2xf32>
  return
}
