// Folds and patterns of ops that move elements.
// RUN: tile-opt %s -canonicalize -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @constants
// CHECK-DAG:     %[[A:.*]] = arith.constant dense<1.000000e+00> : tensor<8x4xf32>
// CHECK-DAG:     %[[B:.*]] = arith.constant dense<1.000000e+00> : tensor<2x16xf32>
// CHECK-DAG:     %[[C:.*]] = arith.constant dense<1.000000e+00> : tensor<4x8xf32>
// CHECK-DAG:     %[[D:.*]] = arith.constant dense<1.000000e+00> : tensor<4x1xf32>
// CHECK-DAG:     %[[E:.*]] = arith.constant dense<1.000000e+00> : tensor<16x4xf32>
// CHECK-DAG:     %[[F:.*]] = arith.constant dense<1.000000e+00> : tensor<8x4x2xf32>
// CHECK-DAG:     %[[G:.*]] = arith.constant 1.000000e+00 : f32
// CHECK:         return %[[A]], %[[B]], %[[C]], %[[D]], %[[E]], %[[F]], %[[A]], %[[G]]
func.func @constants() -> (tensor<8x4xf32>, tensor<2x16xf32>, tensor<4x8xf32>, tensor<4x1xf32>,
                           tensor<16x4xf32>, tensor<8x4x2xf32>, tensor<8x4xf32>, f32) {
  %one = arith.constant 1.0 : f32
  %x = tile.splat %one : tensor<8x1xf32>
  %a = tile.broadcast %x : tensor<8x1xf32> -> tensor<8x4xf32>
  %b = tile.reshape %a : tensor<8x4xf32> -> tensor<2x16xf32>
  %c = tile.transpose %a [1, 0] : tensor<8x4xf32> -> tensor<4x8xf32>
  %d = tile.slice %x [4, 0] : tensor<8x1xf32> -> tensor<4x1xf32>
  %e = tile.concat %a, %a axis = 0 : tensor<8x4xf32>, tensor<8x4xf32> -> tensor<16x4xf32>
  %f = tile.join %a, %a : tensor<8x4xf32> -> tensor<8x4x2xf32>
  %g, %h = tile.split %f : tensor<8x4x2xf32> -> tensor<8x4xf32>
  %i = tile.splat %one : tensor<1xf32>
  %j = tile.to_scalar %i : tensor<1xf32>
  return %a, %b, %c, %d, %e, %f, %h, %j
    : tensor<8x4xf32>, tensor<2x16xf32>, tensor<4x8xf32>, tensor<4x1xf32>, tensor<16x4xf32>,
      tensor<8x4x2xf32>, tensor<8x4xf32>, f32
}

// -----

// CHECK-LABEL: func.func @splats(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK:         %[[S:.*]] = tile.splat %[[X]] : tensor<2x2x2xf32>
// CHECK-NEXT:    return %[[S]], %[[X]]
func.func @splats(%x: f32) -> (tensor<2x2x2xf32>, f32) {
  %0 = tile.splat %x : tensor<8x1xf32>
  %1 = tile.broadcast %0 : tensor<8x1xf32> -> tensor<8x4xf32>
  %2 = tile.transpose %1 [1, 0] : tensor<8x4xf32> -> tensor<4x8xf32>
  %3 = tile.slice %2 [0, 4] : tensor<4x8xf32> -> tensor<4x2xf32>
  %4 = tile.reshape %3 : tensor<4x2xf32> -> tensor<2x2x2xf32>
  %5 = tile.splat %x : tensor<1xf32>
  %6 = tile.to_scalar %5 : tensor<1xf32>
  return %4, %6 : tensor<2x2x2xf32>, f32
}

// -----

// CHECK-LABEL: func.func @iotas
// CHECK-DAG:     %[[Z:.*]] = arith.constant dense<0> : tensor<8x1xi32>
// CHECK-DAG:     %[[I:.*]] = tile.iota 2 : tensor<1x2x4xi32>
// CHECK-DAG:     %[[J:.*]] = tile.iota 0 : tensor<8xi32>
// CHECK-DAG:     %[[K:.*]] = tile.slice %[[J]] [1] : tensor<8xi32> -> tensor<4xi32>
// CHECK:         return %[[Z]], %[[I]], %[[K]]
func.func @iotas() -> (tensor<8x1xi32>, tensor<1x2x4xi32>, tensor<4xi32>) {
  %0 = tile.iota 1 : tensor<8x1xi32>
  %1 = tile.iota 0 : tensor<8xi32>
  %2 = tile.reshape %1 : tensor<8xi32> -> tensor<1x8x1xi32>
  %3 = tile.broadcast %2 : tensor<1x8x1xi32> -> tensor<1x8x2xi32>
  %4 = tile.transpose %3 [0, 2, 1] : tensor<1x8x2xi32> -> tensor<1x2x8xi32>
  %5 = tile.slice %4 [0, 0, 0] : tensor<1x2x8xi32> -> tensor<1x2x4xi32>
  %6 = tile.slice %1 [1] : tensor<8xi32> -> tensor<4xi32>
  return %0, %5, %6 : tensor<8x1xi32>, tensor<1x2x4xi32>, tensor<4xi32>
}

// -----

// An iota repeated along its own dimension would count on: it is left alone.
// CHECK-LABEL: func.func @not_iotas
// CHECK:         tile.reshape
func.func @not_iotas() -> tensor<2x4xi32> {
  %0 = tile.iota 0 : tensor<8xi32>
  %1 = tile.reshape %0 : tensor<8xi32> -> tensor<2x4xi32>
  return %1 : tensor<2x4xi32>
}

// -----

// CHECK-LABEL: func.func @pairs(
// CHECK-SAME:    %[[X:.*]]: tensor<2x4x8xf32>)
// CHECK-DAG:     %[[T:.*]] = tile.transpose %[[X]] [1, 2, 0] : tensor<2x4x8xf32> -> tensor<4x8x2xf32>
// CHECK-DAG:     %[[S:.*]] = tile.slice %[[X]] [1, 1, 3] : tensor<2x4x8xf32> -> tensor<1x1x2xf32>
// CHECK-DAG:     %[[R:.*]] = tile.reshape %[[X]] : tensor<2x4x8xf32> -> tensor<8x8xf32>
// CHECK:         return %[[T]], %[[S]], %[[R]], %[[X]], %[[X]]
func.func @pairs(%x: tensor<2x4x8xf32>)
    -> (tensor<4x8x2xf32>, tensor<1x1x2xf32>, tensor<8x8xf32>, tensor<2x4x8xf32>,
        tensor<2x4x8xf32>) {
  %0 = tile.transpose %x [2, 0, 1] : tensor<2x4x8xf32> -> tensor<8x2x4xf32>
  %1 = tile.transpose %0 [2, 0, 1] : tensor<8x2x4xf32> -> tensor<4x8x2xf32>
  %2 = tile.slice %x [1, 0, 2] : tensor<2x4x8xf32> -> tensor<1x2x4xf32>
  %3 = tile.slice %2 [0, 1, 1] : tensor<1x2x4xf32> -> tensor<1x1x2xf32>
  %4 = tile.reshape %x : tensor<2x4x8xf32> -> tensor<64xf32>
  %5 = tile.reshape %4 : tensor<64xf32> -> tensor<8x8xf32>
  %6 = tile.reshape %5 : tensor<8x8xf32> -> tensor<2x4x8xf32>
  %7 = tile.transpose %0 [1, 2, 0] : tensor<8x2x4xf32> -> tensor<2x4x8xf32>
  return %1, %3, %5, %6, %7
    : tensor<4x8x2xf32>, tensor<1x1x2xf32>, tensor<8x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>
}

// -----

// CHECK-LABEL: func.func @parts(
// CHECK-SAME:    %[[X:.*]]: tensor<8xf32>, %[[Y:.*]]: tensor<4xf32>, %[[Z:.*]]: tensor<8x2xf32>)
// CHECK-DAG:     %[[S:.*]] = tile.slice %[[Y]] [1] : tensor<4xf32> -> tensor<3xf32>
// CHECK-DAG:     %[[C:.*]] = tile.concat %[[X]], %[[Y]]
// CHECK-DAG:     %[[B:.*]] = tile.slice %[[C]] [7] : tensor<12xf32> -> tensor<2xf32>
// CHECK:         return %[[S]], %[[B]], %[[X]], %[[X]], %[[Z]]
func.func @parts(%x: tensor<8xf32>, %y: tensor<4xf32>, %z: tensor<8x2xf32>)
    -> (tensor<3xf32>, tensor<2xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8x2xf32>) {
  %0 = tile.concat %x, %y axis = 0 : tensor<8xf32>, tensor<4xf32> -> tensor<12xf32>
  %1 = tile.slice %0 [9] : tensor<12xf32> -> tensor<3xf32>
  %2 = tile.slice %0 [7] : tensor<12xf32> -> tensor<2xf32>
  %3 = tile.concat %x axis = 0 : tensor<8xf32> -> tensor<8xf32>
  %4 = tile.join %x, %x : tensor<8xf32> -> tensor<8x2xf32>
  %5, %6 = tile.split %4 : tensor<8x2xf32> -> tensor<8xf32>
  %7, %8 = tile.split %z : tensor<8x2xf32> -> tensor<8xf32>
  %9 = tile.join %7, %8 : tensor<8xf32> -> tensor<8x2xf32>
  return %1, %2, %3, %6, %9
    : tensor<3xf32>, tensor<2xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8x2xf32>
}

// -----

// CHECK-LABEL: func.func @bitcasts(
// CHECK-SAME:    %[[X:.*]]: tensor<8xf32>)
// CHECK:         %[[B:.*]] = tile.bitcast %[[X]] : tensor<8xf32> -> tensor<16xi16>
// CHECK:         return %[[B]], %[[X]]
func.func @bitcasts(%x: tensor<8xf32>) -> (tensor<16xi16>, tensor<8xf32>) {
  %0 = tile.bitcast %x : tensor<8xf32> -> tensor<8xi32>
  %1 = tile.bitcast %0 : tensor<8xi32> -> tensor<16xi16>
  %2 = tile.bitcast %1 : tensor<16xi16> -> tensor<8xf32>
  return %1, %2 : tensor<16xi16>, tensor<8xf32>
}

// What reads only a part is not passed over: it may hold fewer bits.
// CHECK-LABEL: func.func @bitcasts_of_parts(
// CHECK:         %[[A:.*]] = tile.bitcast %{{.*}} extents [12] : tensor<16xf6E2M3FN> -> tensor<16xi8>
// CHECK:         tile.bitcast %[[A]] : tensor<16xi8> -> tensor<8xi16>
// CHECK:         tile.bitcast %[[A]] extents [16] : tensor<16xi8> -> tensor<16xf6E3M2FN>
func.func @bitcasts_of_parts(%x: tensor<16xf6E2M3FN>) -> (tensor<8xi16>, tensor<16xf6E3M2FN>) {
  %0 = tile.bitcast %x extents [12] : tensor<16xf6E2M3FN> -> tensor<16xi8>
  %1 = tile.bitcast %0 : tensor<16xi8> -> tensor<8xi16>
  %2 = tile.bitcast %0 extents [16] : tensor<16xi8> -> tensor<16xf6E3M2FN>
  return %1, %2 : tensor<8xi16>, tensor<16xf6E3M2FN>
}
