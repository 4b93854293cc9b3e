// What the verifiers of sorting, selecting and counting refuse.
// RUN: tile-opt %s -split-input-file -verify-diagnostics

func.func @f(%x: tensor<8xf32>) {
  // expected-error @below {{expected results of the inputs' types}}
  %0 = tile.sort %x axis = 0 : tensor<8xf32> -> tensor<8xi32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @below {{expected an axis from 0 to 0 of 'tensor<8xf32>', got 9223372036854775807}}
  %0 = tile.sort %x axis = 9223372036854775807 : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<8x4xf32>) {
  // expected-error @below {{expected an axis from 0 to 1 of 'tensor<8x4xf32>', got -1}}
  %0, %1 = tile.topk %x axis = -1 : tensor<8x4xf32> -> tensor<8x2xf32>, tensor<8x2xi32>
  return
}

// -----

func.func @f(%x: tensor<8x4xf32>) {
  // expected-error @below {{expected values and positions of one shape, of the input's rank and element type}}
  %0, %1 = tile.topk %x axis = 1 : tensor<8x4xf32> -> tensor<8x2xf32>, tensor<8x3xi32>
  return
}

// -----

func.func @f(%x: tensor<8x4xf32>) {
  // expected-error @below {{expected at most 4 elements in dimension 1, got 5}}
  %0, %1 = tile.topk %x axis = 1 : tensor<8x4xf32> -> tensor<8x5xf32>, tensor<8x5xi32>
  return
}

// -----

func.func @f(%x: tensor<8x4xf32>) {
  // expected-error @below {{expected 8 elements in dimension 0, got 4}}
  %0, %1 = tile.topk %x axis = 1 : tensor<8x4xf32> -> tensor<4x2xf32>, tensor<4x2xi32>
  return
}

// -----

func.func @f(%x: tensor<8xi32>) {
  // expected-error @below {{expected a result of rank 1, got 'tensor<4x2xi32>'}}
  %0 = tile.histogram %x : tensor<8xi32> -> tensor<4x2xi32>
  return
}

// -----

func.func @f(%x: tensor<8xi32>, %m: tensor<4xi1>) {
  // expected-error @below {{expected a mask of the input's shape, got 'tensor<4xi1>' for 'tensor<8xi32>'}}
  %0 = tile.histogram %x mask(%m : tensor<4xi1>) : tensor<8xi32> -> tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<8xi32>, %i: tensor<4xi32>) {
  // expected-error @below {{expected a result of the input's rank and element type, got 'tensor<4xf32>' of 'tensor<8xi32>'}}
  %0 = tile.take %x[%i] axis = 0 : tensor<8xi32>, tensor<4xi32> -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<8x4xi32>, %i: tensor<6x4xi32>) {
  // expected-error @below {{expected 8 elements in dimension 0, got 6}}
  %0 = tile.take %x[%i] axis = 1 : tensor<8x4xi32>, tensor<6x4xi32> -> tensor<6x4xi32>
  return
}
