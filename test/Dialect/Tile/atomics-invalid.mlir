// What the verifiers of atomic accesses refuse.
// RUN: tile-opt %s -split-input-file -verify-diagnostics

func.func @f(%v: !tile.view<?xf32>, %i: index, %x: f32) {
  // expected-error @below {{expected integer values for addi, got 'f32'}}
  %0 = tile.atomic_rmw addi %v[%i], %x : !tile.view<?xf32>, [index], f32
  return
}

// -----

func.func @f(%v: !tile.view<?xi32>, %i: index, %x: i32) {
  // expected-error @below {{expected float values for maxf, got 'i32'}}
  %0 = tile.atomic_rmw maxf %v[%i], %x : !tile.view<?xi32>, [index], i32
  return
}

// -----

func.func @f(%v: !tile.view<?xi8>, %i: index, %x: i8) {
  // expected-error @below {{expected elements of f64, f32, f16, bf16, i64 or i32, got 'i8'}}
  %0 = tile.atomic_rmw exch %v[%i], %x : !tile.view<?xi8>, [index], i8
  return
}

// -----

func.func @f(%v: !tile.view<?xf8E5M2>, %i: index, %x: f8E5M2) {
  // expected-error @below {{expected elements of f64, f32, f16, bf16, i64 or i32, got 'f8E5M2'}}
  %0 = tile.atomic_cas %v[%i], %x, %x : !tile.view<?xf8E5M2>, [index], f8E5M2
  return
}

// -----

func.func @f(%v: !tile.view<?xi32>, %i: index, %x: tensor<8xi32>) {
  // expected-error @below {{expected indices of the value's shape, got 'index' for a value of type 'tensor<8xi32>'}}
  %0 = tile.atomic_rmw addi %v[%i], %x : !tile.view<?xi32>, [index], tensor<8xi32>
  return
}

// -----

func.func @f(%v: !tile.view<?xi32>, %i: index, %x: i32, %m: tensor<8xi1>) {
  // expected-error @below {{expected a mask of the value's shape, got 'tensor<8xi1>' for a value of type 'i32'}}
  %0 = tile.atomic_cas %v[%i], %x, %x mask(%m : tensor<8xi1>) : !tile.view<?xi32>, [index], i32
  return
}
