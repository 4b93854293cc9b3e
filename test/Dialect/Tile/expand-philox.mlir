// RUN: tile-opt %s --tile-expand-philox --canonicalize | FileCheck %s

// The known answers of the paper's own implementation (Random123's kat_vectors) for a counter and
// key of zero: 6627e8d5 e169c58d bc57ac4c 9b00dbd8.
// CHECK-LABEL: func.func @zeros
// CHECK-DAG:     arith.constant dense<1713891541>
// CHECK-DAG:     arith.constant dense<-513161843>
// CHECK-DAG:     arith.constant dense<-1135104948>
// CHECK-DAG:     arith.constant dense<-1694442536>
func.func @zeros() -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) {
  %seed = arith.constant 0 : i64
  %stream = arith.constant 0 : i32
  %counter = arith.constant dense<0> : tensor<4xi32>
  %r0, %r1, %r2, %r3 = tile.philox %seed, %stream, %counter : tensor<4xi32>
  return %r0, %r1, %r2, %r3 : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
}

// CHECK-LABEL: func.func @keyed
// CHECK:         arith.shrui %{{.*}}, %{{.*}} : i64
// Two products a round; the first round multiplies a zero, which folds.
// CHECK-COUNT-19: arith.mului_extended %{{.*}}, %{{.*}} : tensor<64xi32>
// CHECK-NOT:     arith.mului_extended
func.func @keyed(%seed: i64, %stream: i32, %counter: tensor<64xi32>, %zero: tensor<64xi32>) -> tensor<64xi32> {
  %r0, %r1, %r2, %r3 = tile.philox %seed, %stream, %counter : tensor<64xi32>
  %a = arith.addi %r0, %r1 : tensor<64xi32>
  %b = arith.addi %r2, %r3 : tensor<64xi32>
  %c = arith.addi %a, %b : tensor<64xi32>
  return %c : tensor<64xi32>
}
