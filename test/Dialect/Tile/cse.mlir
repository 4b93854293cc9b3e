// What common subexpression elimination may merge: reads, as long as nothing writes between them.
// RUN: tile-opt %s -cse -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @loads
// CHECK:         %[[A:.*]] = tile.load
// CHECK-NEXT:    tile.store
// CHECK-NEXT:    %[[B:.*]] = tile.load
// CHECK-NEXT:    return %[[A]], %[[A]], %[[B]]
func.func @loads(%x: !tile.view<?xf32>, %i: index, %t: tensor<8xf32>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = tile.load %x[%i] : !tile.view<?xf32> -> tensor<8xf32>
  %1 = tile.load %x[%i] : !tile.view<?xf32> -> tensor<8xf32>
  tile.store %t, %x[%i] : tensor<8xf32>, !tile.view<?xf32>
  %2 = tile.load %x[%i] : !tile.view<?xf32> -> tensor<8xf32>
  return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// A dot of buffers reads them when it runs.
// CHECK-LABEL: func.func @dots
// CHECK:         %[[A:.*]] = tile.dot
// CHECK-NEXT:    tile.write
// CHECK-NEXT:    %[[B:.*]] = tile.dot
// CHECK-NEXT:    return %[[A]], %[[B]]
func.func @dots(%b: !tile.buffer<8x8xf32>, %c: tensor<8x8xf32>)
    -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = tile.dot %b, %b, %c : !tile.buffer<8x8xf32>, !tile.buffer<8x8xf32> -> tensor<8x8xf32>
  tile.write %c, %b : tensor<8x8xf32>, !tile.buffer<8x8xf32>
  %1 = tile.dot %b, %b, %c : !tile.buffer<8x8xf32>, !tile.buffer<8x8xf32> -> tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// Two buffers are two, and foreign code runs as often as it is written unless it is pure.
// CHECK-LABEL: func.func @twice
// CHECK:         tile.alloc
// CHECK-NEXT:    tile.alloc
// CHECK-NEXT:    tile.extern_call "tick"
// CHECK-NEXT:    tile.extern_call "tick"
// CHECK-NEXT:    tile.extern_call "sin"
// CHECK-NEXT:    return
func.func @twice(%x: f32) -> (!tile.buffer<8xf32>, !tile.buffer<8xf32>, f32, f32, f32, f32) {
  %0 = tile.alloc : !tile.buffer<8xf32>
  %1 = tile.alloc : !tile.buffer<8xf32>
  %2 = tile.extern_call "tick" from "" (%x) : (f32) -> f32
  %3 = tile.extern_call "tick" from "" (%x) : (f32) -> f32
  %4 = tile.extern_call "sin" from "" pure (%x) : (f32) -> f32
  %5 = tile.extern_call "sin" from "" pure (%x) : (f32) -> f32
  return %0, %1, %2, %3, %4, %5 : !tile.buffer<8xf32>, !tile.buffer<8xf32>, f32, f32, f32, f32
}
