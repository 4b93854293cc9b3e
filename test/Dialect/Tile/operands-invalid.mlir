// RUN: tile-opt %s -split-input-file -verify-diagnostics
// Operands that an op of no verifier of its own refuses by their types.

tile.kernel @assume(%x: f32) { // expected-note {{prior use here}}
  // expected-error @below {{expects different type than prior uses: 'i1' vs 'f32'}}
  tile.assume %x
  tile.return
}

// -----

tile.kernel @assert(%x: i32) {
  // expected-error @below {{operand #0 must be tensor of rank at most 8, of 1 to 2^24 elements, of i1}}
  tile.assert %x, "holds" : i32
  tile.return
}

// -----

tile.kernel @num_programs() {
  // expected-error @+1 {{expected ::kiln::tile::Axis to be one of: x, y, z}}
  %n = tile.num_programs w
  // expected-error @+1 {{failed to parse Tile_AxisAttr parameter}}
  tile.return
}

// -----

// expected-note @below {{prior use here}}
func.func @philox(%s: i64, %c: tensor<8xf32>) {
  // expected-error @below {{expects different type than prior uses: 'i32' vs 'i64'}}
  %r:4 = tile.philox %s, %s, %c : tensor<8xf32>
  return
}

// -----

func.func @convert_layout(%x: tensor<16xf32>) {
  // expected-error @below {{requires the same shape for all operands and results}}
  %y = tile.convert_layout %x : tensor<16xf32> -> tensor<8xf32>
  return
}

// -----

func.func @release(%x: index, %s: i32) {
  // expected-error @below {{must be a ring of slots}}
  tile.release %x[%s] : index
  return
}

// -----

func.func @advance(%x: index, %s: i32) {
  // expected-error @below {{must be a ring of slots}}
  %t, %p = tile.advance %s, %s of %x : index
  return
}

// -----

func.func @next(%ring: index) {
  // expected-error@+1 {{must be a ring of slots}}
  %s, %p = tile.next %ring : index
  return
}
