// Folds and patterns of views and of accesses to memory; what may be removed and what may not.
// RUN: tile-opt %s -canonicalize -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @extents(
// CHECK-SAME:    %[[X:.*]]: !tile.view<?x8xf32>, %[[P:.*]]: !tile.pointer<f32>, %[[M:.*]]: index, %[[N:.*]]: index)
// CHECK-DAG:     %[[C8:.*]] = arith.constant 8 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[D:.*]] = tile.dim %[[X]], 0
// CHECK:         return %[[D]], %[[C8]], %[[C1]], %[[N]], %[[M]]
func.func @extents(%x: !tile.view<?x8xf32>, %p: !tile.pointer<f32>, %m: index, %n: index)
    -> (index, index, index, index, index) {
  %0 = tile.dim %x, 0 : !tile.view<?x8xf32>
  %1 = tile.dim %x, 1 : !tile.view<?x8xf32>
  %2 = tile.stride %x, 1 : !tile.view<?x8xf32>
  %v = tile.view_from_pointer %p extents [%m, %n] strides [%m]
     : !tile.pointer<f32> -> !tile.view<?x4x?xf32, strides [8, ?, 1]>
  %3 = tile.dim %v, 2 : !tile.view<?x4x?xf32, strides [8, ?, 1]>
  %4 = tile.stride %v, 1 : !tile.view<?x4x?xf32, strides [8, ?, 1]>
  return %0, %1, %2, %3, %4 : index, index, index, index, index
}

// -----

// CHECK-LABEL: func.func @parts(
// CHECK-SAME:    %[[X:.*]]: !tile.view<?xf32>, %[[M:.*]]: index, %[[A:.*]]: index)
// CHECK:         return %[[M]], %[[A]], %[[A]]
func.func @parts(%x: !tile.view<?xf32>, %m: index, %a: index) -> (index, index, index) {
  %v = tile.subview %x at %m extents [%m] strides [%a]
     : !tile.view<?xf32> -> !tile.view<?x4xf32, strides [1, ?]>
  %0 = tile.dim %v, 0 : !tile.view<?x4xf32, strides [1, ?]>
  %1 = tile.stride %v, 1 : !tile.view<?x4xf32, strides [1, ?]>
  %p = tile.pointer_from_address %a : !tile.pointer<f32>
  %w = tile.view_from_pointer %p extents [%m] strides [] : !tile.pointer<f32> -> !tile.view<?xf32>
  %2 = tile.address %w : !tile.view<?xf32>
  return %0, %1, %2 : index, index, index
}

// -----

// CHECK-LABEL: func.func @paddings
// CHECK:         tile.load %{{.*}}[%{{.*}}] : !tile.view<?xf32>
// CHECK:         tile.load %{{.*}}[%{{.*}}] pad(
// CHECK:         tile.gather %{{.*}}[%{{.*}}] : !tile.view<?xf32>
func.func @paddings(%x: !tile.view<?xf32>, %i: index, %j: tensor<8xi32>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %minus_zero = arith.constant -0.0 : f32
  %0 = tile.load %x[%i] pad(%zero : f32) : !tile.view<?xf32> -> tensor<8xf32>
  %1 = tile.load %x[%i] pad(%minus_zero : f32) : !tile.view<?xf32> -> tensor<8xf32>
  %2 = tile.gather %x[%j] pad(%zero : f32) : !tile.view<?xf32>, [tensor<8xi32>] -> tensor<8xf32>
  return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// CHECK-LABEL: func.func @true_masks
// CHECK:         tile.gather %{{.*}}[%{{.*}}] : !tile.view<?xf32>
// CHECK:         tile.scatter %{{.*}}, %{{.*}}[%{{.*}}] : tensor<8xf32>
// CHECK:         tile.atomic_rmw addf %{{.*}}[%{{.*}}], %{{.*}} : !tile.view<?xf32>
// CHECK:         tile.atomic_cas %{{.*}}[%{{.*}}], %{{.*}}, %{{.*}} : !tile.view<?xf32>
func.func @true_masks(%x: !tile.view<?xf32>, %i: tensor<8xi32>, %j: index, %v: f32) {
  %m = arith.constant dense<true> : tensor<8xi1>
  %true = arith.constant true
  %0 = tile.gather %x[%i] mask(%m : tensor<8xi1>) : !tile.view<?xf32>, [tensor<8xi32>] -> tensor<8xf32>
  tile.scatter %0, %x[%i] mask(%m : tensor<8xi1>) : tensor<8xf32>, !tile.view<?xf32>, [tensor<8xi32>]
  %1 = tile.atomic_rmw addf %x[%j], %v mask(%true : i1) : !tile.view<?xf32>, [index], f32
  %2 = tile.atomic_cas %x[%j], %v, %v mask(%true : i1) : !tile.view<?xf32>, [index], f32
  return
}

// -----

// CHECK-LABEL: func.func @false_masks(
// CHECK-SAME:    %[[V:[^:]*]]: f32)
// CHECK-DAG:     %[[S:.*]] = tile.splat %[[V]] : tensor<8xf32>
// CHECK-DAG:     %[[Z:.*]] = arith.constant dense<0.000000e+00> : tensor<8xf32>
// CHECK-DAG:     %[[F:.*]] = arith.constant 0.000000e+00 : f32
// CHECK:         return %[[S]], %[[Z]], %[[F]], %[[F]]
func.func @false_masks(%x: !tile.view<?xf32>, %i: tensor<8xi32>, %j: index, %v: f32)
    -> (tensor<8xf32>, tensor<8xf32>, f32, f32) {
  %m = arith.constant dense<false> : tensor<8xi1>
  %false = arith.constant false
  %0 = tile.gather %x[%i] mask(%m : tensor<8xi1>) pad(%v : f32)
     : !tile.view<?xf32>, [tensor<8xi32>] -> tensor<8xf32>
  %1 = tile.gather %x[%i] mask(%m : tensor<8xi1>) : !tile.view<?xf32>, [tensor<8xi32>] -> tensor<8xf32>
  tile.scatter %0, %x[%i] mask(%m : tensor<8xi1>) : tensor<8xf32>, !tile.view<?xf32>, [tensor<8xi32>]
  %2 = tile.atomic_rmw addf %x[%j], %v mask(%false : i1) : !tile.view<?xf32>, [index], f32
  %3 = tile.atomic_cas %x[%j], %v, %v mask(%false : i1) : !tile.view<?xf32>, [index], f32
  return %0, %1, %2, %3 : tensor<8xf32>, tensor<8xf32>, f32, f32
}

// -----

// f8E8M0FNU has no zero: all bits zero are 2^-127.
// CHECK-LABEL: func.func @no_zero
// CHECK:         arith.constant dense<5.877{{.*}}e-39> : tensor<8xf8E8M0FNU>
func.func @no_zero(%x: !tile.view<?xf8E8M0FNU>, %i: tensor<8xi32>) -> tensor<8xf8E8M0FNU> {
  %m = arith.constant dense<false> : tensor<8xi1>
  %0 = tile.gather %x[%i] mask(%m : tensor<8xi1>)
     : !tile.view<?xf8E8M0FNU>, [tensor<8xi32>] -> tensor<8xf8E8M0FNU>
  return %0 : tensor<8xf8E8M0FNU>
}

// -----

// Reads whose result is not used go; atomics and writes stay.
// CHECK-LABEL: func.func @unused
// CHECK-NEXT:    tile.atomic_rmw
// CHECK-NEXT:    return
func.func @unused(%x: !tile.view<?xf32>, %i: index, %j: tensor<8xi32>, %v: f32,
                  %b: !tile.buffer<8x8xf32>, %c: tensor<8x8xf32>) {
  %0 = tile.load %x[%i] : !tile.view<?xf32> -> tensor<8xf32>
  %1 = tile.gather %x[%j] : !tile.view<?xf32>, [tensor<8xi32>] -> tensor<8xf32>
  %2 = tile.alloc : !tile.buffer<8xf32>
  %3 = tile.read %b : !tile.buffer<8x8xf32> -> tensor<8x8xf32>
  %4 = tile.dot %b, %b, %c : !tile.buffer<8x8xf32>, !tile.buffer<8x8xf32> -> tensor<8x8xf32>
  %5 = tile.atomic_rmw addf %x[%i], %v : !tile.view<?xf32>, [index], f32
  return
}
