// RUN: tile-opt %s --tile-expand-topk | FileCheck %s

// CHECK-LABEL: func.func @largest(
// CHECK-SAME:    %[[X:.*]]: tensor<4x64xf32>)
// CHECK:         %[[AT:.*]] = tile.iota 1 : tensor<4x64xi32>
// CHECK:         %[[S:.*]]:2 = tile.sort %[[X]], %[[AT]] axis = 1 descending : tensor<4x64xf32>, tensor<4x64xi32>
// CHECK:         %[[V:.*]] = tile.slice %[[S]]#0 [0, 0] : tensor<4x64xf32> -> tensor<4x8xf32>
// CHECK:         %[[P:.*]] = tile.slice %[[S]]#1 [0, 0] : tensor<4x64xi32> -> tensor<4x8xi32>
// CHECK:         return %[[V]], %[[P]]
func.func @largest(%x: tensor<4x64xf32>) -> (tensor<4x8xf32>, tensor<4x8xi32>) {
  %v, %i = tile.topk %x axis = 1 : tensor<4x64xf32> -> tensor<4x8xf32>, tensor<4x8xi32>
  return %v, %i : tensor<4x8xf32>, tensor<4x8xi32>
}

// CHECK-LABEL: func.func @smallest_unsigned(
// CHECK:         tile.sort %{{.*}}, %{{.*}} axis = 0 unsigned :
func.func @smallest_unsigned(%x: tensor<64xi8>) -> (tensor<8xi8>, tensor<8xi32>) {
  %v, %i = tile.topk %x axis = 0 smallest unsigned : tensor<64xi8> -> tensor<8xi8>, tensor<8xi32>
  return %v, %i : tensor<8xi8>, tensor<8xi32>
}
