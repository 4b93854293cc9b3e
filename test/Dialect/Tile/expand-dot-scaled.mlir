// RUN: tile-opt %s --tile-expand-dot-scaled | FileCheck %s

// K runs along the rows of an operand that is not transposed: its scales turn with it.
// CHECK-LABEL: func.func @mx(
// CHECK-SAME:    %[[A:.*]]: tensor<64x128xf8E4M3FN>, %[[SA:.*]]: tensor<64x4xf8E8M0FNU>, %[[B:.*]]: tensor<128x32xf4E2M1FN>, %[[SB:.*]]: tensor<32x4xf8E8M0FNU>, %[[C:.*]]: tensor<64x32xf32>)
// CHECK:         %[[S:.*]] = arith.extf %[[SA]] : tensor<64x4xf8E8M0FNU> to tensor<64x4xf32>
// CHECK:         %[[S1:.*]] = tile.reshape %[[S]] : tensor<64x4xf32> -> tensor<64x4x1xf32>
// CHECK:         %[[S2:.*]] = tile.broadcast %[[S1]] : tensor<64x4x1xf32> -> tensor<64x4x32xf32>
// CHECK:         %[[S3:.*]] = tile.reshape %[[S2]] : tensor<64x4x32xf32> -> tensor<64x128xf32>
// CHECK:         %[[W:.*]] = arith.extf %[[A]]
// CHECK:         %[[X:.*]] = arith.mulf %[[W]], %[[S3]] : tensor<64x128xf32>
// CHECK:         %[[T:.*]] = tile.transpose %{{.*}} [1, 0] : tensor<32x4xf32> -> tensor<4x32xf32>
// CHECK:         %[[T1:.*]] = tile.reshape %[[T]] : tensor<4x32xf32> -> tensor<4x1x32xf32>
// CHECK:         %[[T2:.*]] = tile.broadcast %[[T1]] : tensor<4x1x32xf32> -> tensor<4x32x32xf32>
// CHECK:         %[[T3:.*]] = tile.reshape %[[T2]] : tensor<4x32x32xf32> -> tensor<128x32xf32>
// CHECK:         %[[Y:.*]] = arith.mulf %{{.*}}, %[[T3]] : tensor<128x32xf32>
// CHECK:         tile.dot %[[X]], %[[Y]], %[[C]] : tensor<64x128xf32>, tensor<128x32xf32> -> tensor<64x32xf32>
func.func @mx(%a: tensor<64x128xf8E4M3FN>, %sa: tensor<64x4xf8E8M0FNU>, %b: tensor<128x32xf4E2M1FN>, %sb: tensor<32x4xf8E8M0FNU>, %c: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %d = tile.dot_scaled %a scale %sa, %b scale %sb, %c : tensor<64x128xf8E4M3FN>, tensor<64x4xf8E8M0FNU>, tensor<128x32xf4E2M1FN>, tensor<32x4xf8E8M0FNU> -> tensor<64x32xf32>
  return %d : tensor<64x32xf32>
}

// CHECK-LABEL: func.func @nv(
// CHECK:         tile.broadcast %{{.*}} : tensor<16x2x1xf32> -> tensor<16x2x16xf32>
// CHECK:         tile.broadcast %{{.*}} : tensor<8x2x1xf32> -> tensor<8x2x16xf32>
// CHECK:         tile.dot %{{.*}}, %{{.*}}, %{{.*}} transpose_b : tensor<16x32xf32>, tensor<8x32xf32> -> tensor<16x8xf32>
func.func @nv(%a: tensor<16x32xf4E2M1FN>, %sa: tensor<16x2xf8E4M3FN>, %b: tensor<8x32xf4E2M1FN>, %sb: tensor<8x2xf8E4M3FN>, %c: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %d = tile.dot_scaled %a scale %sa, %b scale %sb, %c transpose_b : tensor<16x32xf4E2M1FN>, tensor<16x2xf8E4M3FN>, tensor<8x32xf4E2M1FN>, tensor<8x2xf8E4M3FN> -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}
