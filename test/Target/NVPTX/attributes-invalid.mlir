// The dialect's attributes are values: none has a name, so that nothing that is written is ignored.
// RUN: tile-opt %s -split-input-file -verify-diagnostics

// expected-error@below {{'builtin.module' op expected attributes that mean something here, got 'nvptx.foo'}}
module attributes {nvptx.foo = 1 : i64, tile.target = #nvptx.target<chip = "sm_90a">} {}

// -----

tile.kernel @k(%x: f32) {
  // expected-error@below {{expected attributes that mean something here, got 'nvptx.unroll'}}
  %0 = arith.addf %x, %x {nvptx.unroll} : f32
  tile.return
}

// -----

// expected-error@below {{expected attributes that mean something here, got 'nvptx.foo' on argument 0}}
tile.kernel @k(%x: f32 {nvptx.foo}) {
  tile.return
}

// -----

// Of a host alone.
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @k(%x: f32) {
  // expected-error@below {{expected attributes that mean something here, got 'cpu.buffers'}}
  %0 = tile.splat %x {cpu.buffers = array<i64: 1>} : tensor<4xf32>
  tile.return
}
}
