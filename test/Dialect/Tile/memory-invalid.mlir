// What the verifiers of views, buffers and accesses to memory refuse.
// RUN: tile-opt %s -split-input-file -verify-diagnostics

func.func @f(%p: !tile.pointer<f32>) {
  // expected-error @below {{expected a view of the pointer's element type 'f32', got 'f16'}}
  %0 = tile.view_from_pointer %p extents [] strides [] : !tile.pointer<f32> -> !tile.view<f16>
  return
}

// -----

func.func @f(%p: !tile.pointer<f32>) {
  // expected-error @below {{expected 1 extents (one a `?`), got 0}}
  %0 = tile.view_from_pointer %p extents [] strides [] : !tile.pointer<f32> -> !tile.view<?xf32>
  return
}

// -----

func.func @f(%p: !tile.pointer<f32>, %n: index) {
  // expected-error @below {{expected 0 strides (one a `?`), got 1}}
  %0 = tile.view_from_pointer %p extents [%n] strides [%n] : !tile.pointer<f32> -> !tile.view<?xf32>
  return
}

// -----

func.func @f(%x: !tile.view<?xf32>, %n: index) {
  // expected-error @below {{expected a view of the element type 'f32', got 'f16'}}
  %0 = tile.subview %x at %n extents [%n] strides [] : !tile.view<?xf32> -> !tile.view<?xf16>
  return
}

// -----

func.func @f(%x: !tile.view<?xf32>, %n: index) {
  // expected-error @below {{expected 1 strides (one a `?`), got 0}}
  %0 = tile.subview %x at %n extents [] strides [] : !tile.view<?xf32> -> !tile.view<4xf32, strides [?]>
  return
}

// -----

func.func @f(%v: !tile.view<?xf32>) {
  // expected-error @below {{expected one of the 1 dimensions of '!tile.view<?xf32>', got 1}}
  %0 = tile.dim %v, 1 : !tile.view<?xf32>
  return
}

// -----

func.func @f(%v: !tile.view<?xf32>) {
  // expected-error @below {{expected one of the 1 dimensions of '!tile.view<?xf32>', got -1}}
  %0 = tile.stride %v, -1 : !tile.view<?xf32>
  return
}

// -----

func.func @f(%v: !tile.view<?xf32>, %i: index) {
  // expected-error @below {{expected a tensor of the view's rank 1, got rank 2}}
  %0 = tile.load %v[%i] : !tile.view<?xf32> -> tensor<8x8xf32>
  return
}

// -----

func.func @f(%v: !tile.view<?xf32>) {
  // expected-error @below {{expected 1 offsets (one a dimension of the view), got 0}}
  %0 = tile.load %v[] : !tile.view<?xf32> -> tensor<8xf32>
  return
}

// -----

func.func @f(%v: !tile.view<?xf32>, %i: index) {
  // expected-error @below {{expected a tensor of the view's element type 'f32', got 'f16'}}
  %0 = tile.load %v[%i] : !tile.view<?xf32> -> tensor<8xf16>
  return
}

// -----

func.func @f(%v: !tile.view<?xf32>, %i: index, %z: f16) {
  // expected-error @below {{expected a padding of the view's element type 'f32', got 'f16'}}
  %0 = tile.load %v[%i] pad(%z : f16) : !tile.view<?xf32> -> tensor<8xf32>
  return
}

// -----

func.func @f(%v: !tile.view<?xf32>, %i: index, %t: tensor<8xf16>) {
  // expected-error @below {{expected a tensor of the view's element type 'f32', got 'f16'}}
  tile.store %t, %v[%i] : tensor<8xf16>, !tile.view<?xf32>
  return
}

// -----

func.func @f(%v: !tile.view<?x?xf32>, %i: tensor<8xi32>) {
  // expected-error @below {{expected 2 indices (one a dimension of the view), got 1}}
  %0 = tile.gather %v[%i] : !tile.view<?x?xf32>, [tensor<8xi32>] -> tensor<8xf32>
  return
}

// -----

func.func @f(%v: !tile.view<?xf32>, %i: tensor<8xi32>) {
  // expected-error @below {{expected a value of the view's element type 'f32', got 'i32'}}
  %0 = tile.gather %v[%i] : !tile.view<?xf32>, [tensor<8xi32>] -> tensor<8xi32>
  return
}

// -----

func.func @f(%v: !tile.view<?xf32>, %i: tensor<8xi32>) {
  // expected-error @below {{expected indices of the value's shape, got 'tensor<8xi32>' for a value of type 'tensor<4xf32>'}}
  %0 = tile.gather %v[%i] : !tile.view<?xf32>, [tensor<8xi32>] -> tensor<4xf32>
  return
}

// -----

func.func @f(%v: !tile.view<?xf32>, %i: tensor<8xi32>, %m: tensor<4xi1>) {
  // expected-error @below {{expected a mask of the value's shape, got 'tensor<4xi1>' for a value of type 'tensor<8xf32>'}}
  %0 = tile.gather %v[%i] mask(%m : tensor<4xi1>) : !tile.view<?xf32>, [tensor<8xi32>] -> tensor<8xf32>
  return
}

// -----

func.func @f(%v: !tile.view<?xf32>, %i: tensor<8xi32>, %z: f16) {
  // expected-error @below {{expected a padding of the view's element type 'f32', got 'f16'}}
  %0 = tile.gather %v[%i] pad(%z : f16) : !tile.view<?xf32>, [tensor<8xi32>] -> tensor<8xf32>
  return
}

// -----

func.func @f(%v: !tile.view<?xi4>, %i: tensor<8xi32>, %t: tensor<8xi4>) {
  // expected-error @below {{expected elements of at least a byte, got 'i4'}}
  tile.scatter %t, %v[%i] : tensor<8xi4>, !tile.view<?xi4>, [tensor<8xi32>]
  return
}

// -----

func.func @f(%v: !tile.view<?xf32>, %t: tensor<8xf32>) {
  // expected-error @below {{expected 1 indices (one a dimension of the view), got 0}}
  tile.scatter %t, %v[] : tensor<8xf32>, !tile.view<?xf32>
  return
}

// -----

func.func @f(%b: !tile.buffer<8xf32>) {
  // expected-error @below {{expected a tensor of the buffer's shape and element type, got 'tensor<4xf32>' for '!tile.buffer<8xf32>'}}
  %0 = tile.read %b : !tile.buffer<8xf32> -> tensor<4xf32>
  return
}

// -----

func.func @f(%b: !tile.buffer<8xf32>, %t: tensor<8xf16>) {
  // expected-error @below {{expected a tensor of the buffer's shape and element type, got 'tensor<8xf16>' for '!tile.buffer<8xf32>'}}
  tile.write %t, %b : tensor<8xf16>, !tile.buffer<8xf32>
  return
}

// -----

func.func @f(%v: !tile.view<?xf32>, %i: index) {
  // expected-error @below {{expected extents from 1 to those of 'tensor<8xf32>', got [9]}}
  %0 = tile.load %v[%i] extents [9] : !tile.view<?xf32> -> tensor<8xf32>
  return
}

// -----

func.func @f(%v: !tile.view<?xf32>, %t: tensor<8xf32>, %i: index) {
  // expected-error @below {{expected extents from 1 to those of 'tensor<8xf32>', got [4, 2]}}
  tile.store %t, %v[%i] extents [4, 2] : tensor<8xf32>, !tile.view<?xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>) {
  // expected-error @below {{expected extents from 1 to those of 'tensor<8xf32>', got [0]}}
  tile.print "t" extents [0] (%t) : tensor<8xf32>
  return
}

// -----

func.func @f(%b: !tile.buffer<15xf32>, %t: tensor<4x8xf32>) {
  // expected-error @below {{expected a buffer without layout of 14 elements of 'f32', got '!tile.buffer<15xf32>'}}
  tile.write %t, %b extents [2, 7] : tensor<4x8xf32>, !tile.buffer<15xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>) {
  // expected-error @below {{'tile.address' op operand #0 must be a strided array in global memory or a bare address in global memory, but got 'tensor<8xf32>'}}
  %0 = "tile.address"(%t) : (tensor<8xf32>) -> index
  return
}

// -----

func.func @f(%a: index) {
  // expected-error @below {{'tile.pointer_from_address' op result #0 must be}}
  %0 = "tile.pointer_from_address"(%a) : (index) -> f32
  return
}

// -----

func.func @f(%b: !tile.buffer<8x8xf32>) {
  // expected-error @below {{expected a part of '!tile.buffer<8x8xf32>' at multiples of its extents, got 'tensor<8x4xf32>' at [0, 2]}}
  %0 = tile.read %b at [0, 2] : !tile.buffer<8x8xf32> -> tensor<8x4xf32>
  return
}

// -----

func.func @f(%b: !tile.buffer<8x8xf32>) {
  // expected-error @below {{expected a part of '!tile.buffer<8x8xf32>' at multiples of its extents, got 'tensor<8x4xf32>' at [8, 0]}}
  %0 = tile.read %b at [8, 0] : !tile.buffer<8x8xf32> -> tensor<8x4xf32>
  return
}

// -----

func.func @f(%b: !tile.buffer<8x8xf32>) {
  // expected-error @below {{expected a part of '!tile.buffer<8x8xf32>' at multiples of its extents, got 'tensor<4xf32>' at [4]}}
  %0 = tile.read %b at [4] : !tile.buffer<8x8xf32> -> tensor<4xf32>
  return
}

// -----

tile.kernel @axes(%a: !tile.view<?xf32>, %n: index) {
  // expected-error@+1 {{expected multicast to be axes from "x", "y" and "z", each once, got ["x", "w"]}}
  %t = tile.load %a[%n] {multicast = ["x", "w"]} : !tile.view<?xf32> -> tensor<8xf32>
  tile.return
}

// -----

tile.kernel @twice(%a: !tile.view<?xf32>, %n: index) {
  // expected-error@+1 {{each once, got ["x", "x"]}}
  %t = tile.load %a[%n] {multicast = ["x", "x"]} : !tile.view<?xf32> -> tensor<8xf32>
  tile.return
}
