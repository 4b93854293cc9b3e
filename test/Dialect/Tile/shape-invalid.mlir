// What the verifiers of ops that move elements refuse.
// RUN: tile-opt %s -split-input-file -verify-diagnostics

func.func @f(%x: f32) {
  // expected-error @below {{invalid kind of type specified: expected builtin.tensor, but found 'f32'}}
  %0 = tile.splat %x : f32
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @below {{expected a tensor of one element, got 'tensor<2xf32>'}}
  %0 = tile.to_scalar %x : tensor<2xf32>
  return
}

// -----

func.func @f() {
  // expected-error @below {{expected an axis from 0 to 0 of 'tensor<8xi32>', got 1}}
  %0 = tile.iota 1 : tensor<8xi32>
  return
}

// -----

func.func @f() {
  // expected-error @below {{expected a tensor of rank at least 1, got 'tensor<i32>'}}
  %0 = tile.iota 0 : tensor<i32>
  return
}

// -----

func.func @f() {
  // expected-error @below {{expected an element type that holds positions up to 16, got 'i4'}}
  %0 = tile.iota 0 : tensor<17xi4>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @below {{expected the same rank, got 1 and 2}}
  %0 = tile.broadcast %x : tensor<8xf32> -> tensor<8x8xf32>
  return
}

// -----

func.func @f(%x: tensor<2x8xf32>) {
  // expected-error @below {{expected extent 1 or 4 in dimension 0, got 2}}
  %0 = tile.broadcast %x : tensor<2x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @below {{expected 8 elements, got 4}}
  %0 = tile.reshape %x : tensor<8xf32> -> tensor<2x2xf32>
  return
}

// -----

func.func @f(%x: tensor<8x4xf32>) {
  // expected-error @below {{expected a permutation of 2 dimensions}}
  %0 = tile.transpose %x [0, 2] : tensor<8x4xf32> -> tensor<8x4xf32>
  return
}

// -----

func.func @f(%x: tensor<8x4xf32>) {
  // expected-error @below {{expected a permutation of 2 dimensions}}
  %0 = tile.transpose %x [-9223372036854775808, 0] : tensor<8x4xf32> -> tensor<8x4xf32>
  return
}

// -----

func.func @f(%x: tensor<8x4xf32>) {
  // expected-error @below {{expected the same rank, got 2 and 1}}
  %0 = tile.transpose %x [1, 0] : tensor<8x4xf32> -> tensor<32xf32>
  return
}

// -----

func.func @f(%x: tensor<8x4xf32>) {
  // expected-error @below {{expected extent 4 in dimension 0, got 8}}
  %0 = tile.transpose %x [1, 0] : tensor<8x4xf32> -> tensor<8x4xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @below {{expected 4 elements from offset 9223372036854775807 on to lie within extent 8 of dimension 0}}
  %0 = tile.slice %x [9223372036854775807] : tensor<8xf32> -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @below {{expected ranks and offsets of one number, got 1, 1 and 0}}
  %0 = tile.slice %x [] : tensor<8xf32> -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @below {{expected an axis from 0 to 0 of 'tensor<16xf32>', got -1}}
  %0 = tile.concat %x, %x axis = -1 : tensor<8xf32>, tensor<8xf32> -> tensor<16xf32>
  return
}

// -----

func.func @f(%x: tensor<8x2xf32>, %y: tensor<8xf32>) {
  // expected-error @below {{expected inputs of the result's extents but along axis 0, got 'tensor<8xf32>' for 'tensor<16x2xf32>'}}
  %0 = tile.concat %x, %y axis = 0 : tensor<8x2xf32>, tensor<8xf32> -> tensor<16x2xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @below {{expected extent 16 along axis 0, got 12}}
  %0 = tile.concat %x, %x axis = 0 : tensor<8xf32>, tensor<8xf32> -> tensor<12xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @below {{expected 'tensor<2x8xf32>' to be 'tensor<8xf32>' with a last dimension of extent 2}}
  %0 = tile.join %x, %x : tensor<8xf32> -> tensor<2x8xf32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error @below {{expected 'tensor<f32>' to be 'tensor<f32>' with a last dimension of extent 2}}
  %0, %1 = tile.split %x : tensor<f32> -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<8xi32>) {
  // expected-error @below {{expected element types of a width that memory knows, got 'index'}}
  %0 = tile.bitcast %x : tensor<8xi32> -> tensor<4xindex>
  return
}

// -----

func.func @f(%x: tensor<8xi32>) {
  // expected-error @below {{expected the same extents but the last, got 'tensor<8xi32>' and 'tensor<4x2xi32>'}}
  %0 = tile.bitcast %x : tensor<8xi32> -> tensor<4x2xi32>
  return
}

// -----

func.func @f(%x: tensor<8xi32>) {
  // expected-error @below {{expected 256 bits in the last dimension, got 128}}
  %0 = tile.bitcast %x : tensor<8xi32> -> tensor<8xi16>
  return
}

// -----

func.func @f(%x: tensor<2x8xi8>) {
  // expected-error @below {{expected at least 66 bits in the last dimension of what is read, got 64}}
  %0 = tile.bitcast %x extents [2, 11] : tensor<2x8xi8> -> tensor<2x16xf6E2M3FN>
  return
}

// -----

func.func @f(%x: tensor<2x8xi8>) {
  // expected-error @below {{expected extents from 1 to those of 'tensor<2x8xf6E2M3FN>', got [2, 9]}}
  %0 = tile.bitcast %x extents [2, 9] : tensor<2x8xi8> -> tensor<2x8xf6E2M3FN>
  return
}
