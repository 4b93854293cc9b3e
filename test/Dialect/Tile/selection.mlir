// Order, counts and random bits, in text, generic form and bytecode.
// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s --mlir-print-op-generic | tile-opt | FileCheck %s
// RUN: tile-opt %s --emit-bytecode | tile-opt | FileCheck %s

// CHECK-LABEL: func.func @order
// CHECK:         tile.sort %{{.*}}, %{{.*}} axis = 0 descending unsigned : tensor<64xi32>, tensor<64xf32> -> tensor<64xi32>, tensor<64xf32>
// CHECK:         tile.sort %{{.*}} axis = 0 : tensor<64xf32> -> tensor<64xf32>
// CHECK:         tile.topk %{{.*}} axis = 0 smallest unsigned : tensor<64xi32> -> tensor<8xi32>, tensor<8xi32>
func.func @order(%x: tensor<64xi32>, %y: tensor<64xf32>) {
  %0:2 = tile.sort %x, %y axis = 0 descending unsigned
       : tensor<64xi32>, tensor<64xf32> -> tensor<64xi32>, tensor<64xf32>
  %1 = tile.sort %y axis = 0 : tensor<64xf32> -> tensor<64xf32>
  %2, %3 = tile.topk %x axis = 0 smallest unsigned : tensor<64xi32> -> tensor<8xi32>, tensor<8xi32>
  return
}

// CHECK-LABEL: func.func @positions
// CHECK:         tile.take %{{.*}}[%{{.*}}] axis = 1 : tensor<4x16xf32>, tensor<4x64xi32> -> tensor<4x64xf32>
func.func @positions(%x: tensor<4x16xf32>, %i: tensor<4x64xi32>) {
  %0 = tile.take %x[%i] axis = 1 : tensor<4x16xf32>, tensor<4x64xi32> -> tensor<4x64xf32>
  return
}

// CHECK-LABEL: func.func @counts
// CHECK:         tile.histogram %{{.*}} mask(%{{.*}} : tensor<64xi1>) : tensor<64xi32> -> tensor<16xi32>
// CHECK:         tile.histogram %{{.*}} : tensor<64xi32> -> tensor<16xi32>
// CHECK:         tile.philox %{{.*}}, %{{.*}}, %{{.*}} : tensor<64xi32>
func.func @counts(%x: tensor<64xi32>, %m: tensor<64xi1>, %seed: i64, %stream: i32) {
  %0 = tile.histogram %x mask(%m : tensor<64xi1>) : tensor<64xi32> -> tensor<16xi32>
  %1 = tile.histogram %x : tensor<64xi32> -> tensor<16xi32>
  %2:4 = tile.philox %seed, %stream, %x : tensor<64xi32>
  return
}
