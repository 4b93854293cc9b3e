// What the verifiers of reduce, scan and arg_reduce refuse.
// RUN: tile-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{expected 1 or more operands, but found 0}}
"tile.reduce"() <{axis = 0}> ({ tile.yield }) : () -> ()

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @below {{expected an axis from 0 to 0 of 'tensor<8xf32>', got 1}}
  %0 = tile.reduce %x axis = 1 : tensor<8xf32> -> tensor<f32> { ^bb0(%a: f32, %b: f32): tile.yield %a : f32 }
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @below {{expected 1 results (one an input), got 2}}
  %0:2 = tile.reduce %x axis = 0 : tensor<8xf32> -> tensor<f32>, tensor<f32> { ^bb0(%a: f32, %b: f32): tile.yield %a : f32 }
  return
}

// -----

func.func @f(%x: tensor<8x4xf32>) {
  // expected-error @below {{expected a result of 'f32' elements without axis 0 of 'tensor<8x4xf32>', got 'tensor<8xf32>'}}
  %0 = tile.reduce %x axis = 0 : tensor<8x4xf32> -> tensor<8xf32> { ^bb0(%a: f32, %b: f32): tile.yield %a : f32 }
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @below {{expected the region to take ('f32', 'f32'), got ('f32')}}
  %0 = tile.reduce %x axis = 0 : tensor<8xf32> -> tensor<f32> { ^bb0(%a: f32): tile.yield %a : f32 }
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @below {{expected the region to yield ('f32'), got ('f32', 'f32')}}
  %0 = tile.reduce %x axis = 0 : tensor<8xf32> -> tensor<f32> { ^bb0(%a: f32, %b: f32): tile.yield %a, %b : f32, f32 }
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @below {{failed to verify constraint: region with 1 blocks}}
  %0 = "tile.reduce"(%x) <{axis = 0}> ({}) : (tensor<8xf32>) -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @below {{expects a non-empty block}}
  %0 = "tile.reduce"(%x) <{axis = 0}> ({ ^bb0(%a: f32, %b: f32): }) : (tensor<8xf32>) -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>, %v: !tile.view<?xf32>, %i: index) {
  %0 = tile.reduce %x axis = 0 : tensor<8xf32> -> tensor<f32> {
  ^bb0(%a: f32, %b: f32):
    // expected-error @below {{expected no access to memory in a combining region}}
    %old = tile.atomic_rmw addf %v[%i], %a : !tile.view<?xf32>, [index], f32
    tile.yield %a : f32
  }
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  %0 = tile.reduce %x axis = 0 : tensor<8xf32> -> tensor<f32> {
  ^bb0(%a: f32, %b: f32):
    // expected-error @below {{expected only scalars in a combining region}}
    %t = tile.splat %a : tensor<8xf32>
    tile.yield %a : f32
  }
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @below {{expected an axis from 0 to 0 of 'tensor<8xf32>', got 1}}
  %0 = tile.scan %x axis = 1 : tensor<8xf32> -> tensor<8xf32> { ^bb0(%a: f32, %b: f32): tile.yield %a : f32 }
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @below {{expected results ('tensor<8xf32>'), got ('tensor<8xf16>')}}
  %0 = tile.scan %x axis = 0 : tensor<8xf32> -> tensor<8xf16> { ^bb0(%a: f32, %b: f32): tile.yield %a : f32 }
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @below {{expected the region to yield ('i1'), got ('f32')}}
  %0, %1 = tile.arg_reduce %x axis = 0 : tensor<8xf32> -> tensor<f32>, tensor<i32> { ^bb0(%a: f32, %b: f32): tile.yield %a : f32 }
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error @below {{expected a tensor of rank at least 1, got 'tensor<f32>'}}
  %0, %1 = tile.arg_reduce %x axis = 0 : tensor<f32> -> tensor<f32>, tensor<i32> { ^bb0(%a: f32, %b: f32): tile.yield %a : f32 }
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @below {{expected a result of 'i32' elements without axis 0 of 'tensor<8xf32>', got 'tensor<8xi32>'}}
  %0, %1 = tile.arg_reduce %x axis = 0 : tensor<8xf32> -> tensor<f32>, tensor<8xi32> { ^bb0(%a: f32, %b: f32): tile.yield %a : f32 }
  return
}
