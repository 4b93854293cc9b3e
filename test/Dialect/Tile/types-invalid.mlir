// What the verifiers of the types and of the facts refuse.
// RUN: tile-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{expected 1 strides (one a dimension), got 2}}
func.func private @f(!tile.view<?xf32, strides [1, 1]>)

// -----

// expected-error @below {{expected an element type that memory can hold, got 'i1'}}
func.func private @f(!tile.view<?xi1>)

// -----

// expected-error @below {{expected an element type that memory can hold, got 'tf32'}}
func.func private @f(!tile.buffer<8xtf32>)

// -----

// expected-error @below {{expected an element type that memory can hold, got 'index'}}
func.func private @f(!tile.pointer<index>)

// -----

// expected-error @below {{expected a rank of at most 8, got 9}}
func.func private @f(!tile.view<1x1x1x1x1x1x1x1x1xf32>)

// -----

// expected-error @below {{expected 1 to 16777216 elements in a buffer}}
func.func private @f(!tile.buffer<4294967296x4294967296xf32>)

// -----

// expected-error @below {{expected 1 to 16777216 elements in a buffer}}
func.func private @f(!tile.buffer<0xf32>)

// -----

// expected-error @below {{expected a layout of offsets in a buffer, got "rows"}}
func.func private @f(!tile.buffer<4xf32, "rows">)

// -----

// expected-error @below {{expected a layout of offsets in a buffer, got #tile.layout<lane = }}
func.func private @f(!tile.buffer<4xf32, #tile.layout<lane = [[1],[2]]>>)

// -----

// expected-error @below {{expected bases of 2 coordinates, got 1}}
func.func private @f(!tile.buffer<4x4xf32, #tile.layout<offset = [[1],[2]]>>)

// -----

// expected-error @below {{expected a basis within the extent 4 of dimension 0, got 2147483648}}
func.func private @f(!tile.buffer<4xf32, #tile.layout<offset = [[1],[2147483648]]>>)

// -----

// Two places hold element 1, and none holds element 2.
// expected-error @below {{expected a place for each element of 4, got #tile.layout<register = [[1],[1]]>}}
func.func private @f(tensor<4xf32, #tile.layout<register = [[1],[1]]>>)

// -----

// expected-error @below {{expected a place for each element of 4, got}}
func.func private @f(!tile.buffer<4xf32, #tile.layout<offset = [[1],[1]]>>)

// -----

// expected-error @below {{expected pointer, strides, extents, index32, noalias or divisor, got 'alignment'}}
#facts = #tile.facts<alignment = 16>

// -----

// expected-error @below {{expected each fact once, got 'pointer' again}}
#facts = #tile.facts<pointer = 16, pointer = 8>

// -----

// expected-error @below {{expected multiples of at least 0, got a negative one}}
#facts = #tile.facts<extents = [-1]>

// -----

// expected-error @below {{expected a pointer that is a multiple of a power of two, got 12}}
#facts = #tile.facts<pointer = 12>

// -----

// expected-error @below {{expected a value of "B" among the candidates [32, 64], got 48}}
#tunable = #tile.tunable<"B" = 48 of [32, 64]>

// -----

func.func @f(%x: f32) {
  // expected-error @below {{'result' must be tensor of rank at most 8, of 1 to 2^24 elements, of scalars, but got 'tensor<?xf32>'}}
  %0 = tile.splat %x : tensor<?xf32>
  return
}

// -----

func.func @f(%x: f32) {
  // expected-error @below {{'result' must be tensor of rank at most 8, of 1 to 2^24 elements, of scalars, but got 'tensor<4294967296x4294967296xf32>'}}
  %0 = tile.splat %x : tensor<4294967296x4294967296xf32>
  return
}

// -----

func.func @f(%x: f80) {
  // expected-error @below {{or scalar (f64, f32, tf32, f16, bf16, an OCP f8, f6 or f4, i64, i32, i16, i8, i4, i2, i1 or index), but got 'f80'}}
  tile.print "" (%x) : f80
  return
}
