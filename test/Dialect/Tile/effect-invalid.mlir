// What the verifiers of checks, hints and foreign code refuse.
// RUN: tile-opt %s -split-input-file -verify-diagnostics

func.func @f(%x: i32) {
  // expected-error @below {{expected a divisor of at least 1, got -4}}
  %0 = tile.multiple_of %x, -4 : i32
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @below {{expected operands and results of one shape, got 'tensor<8xf32>' and 'f32'}}
  %0 = tile.inline_asm "" "" (%x) : (tensor<8xf32>) -> f32
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @below {{expected to pack at least 1 element, got -1}}
  %0 = tile.inline_asm "" "" pack = -1 (%x) : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @below {{expected a multiple of 3 elements in the last dimension to pack, got 'tensor<8xf32>'}}
  %0 = tile.inline_asm "" "" pack = 3 (%x) : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%x: f32) {
  // expected-error @below {{expected a multiple of 2 elements in the last dimension to pack, got 'f32'}}
  tile.inline_asm "" "" pack = 2 (%x) : (f32) -> ()
  return
}

// -----

func.func @f(%x: f32) {
  // expected-error @below {{expected the name of a function}}
  %0 = tile.extern_call "" from "" (%x) : (f32) -> f32
  return
}

// -----

func.func @f(%x: f32) {
  // expected-error @below {{expected operands and results of one shape, got 'f32' and 'tensor<8xf32>'}}
  %0 = tile.extern_call "f" from "" (%x) : (f32) -> tensor<8xf32>
  return
}

// -----

func.func @f(%x: i32, %p: index) {
  // expected-error @below {{expected a program along x, y and z, got 2 coordinates}}
  tile.print "x" program [%p, %p] (%x) : i32
  return
}

// -----

func.func @f(%ok: i1, %p: index) {
  // expected-error @below {{expected a program along x, y and z, got 1 coordinates}}
  tile.assert %ok, "x" program [%p] : i1
  return
}

// -----

// Values stand in parentheses: else the result of a following op would be read as one.
func.func @f(%x: i32) {
  // expected-error @below {{expected integer number of results}}
  tile.print "x" %x : i32
  return
}
