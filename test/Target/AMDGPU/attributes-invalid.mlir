// The dialect's attributes are values: none has a name, so that nothing that is written is ignored.
// RUN: tile-opt %s -split-input-file -verify-diagnostics

// expected-error@below {{'builtin.module' op expected attributes that mean something here, got 'amdgcn.foo'}}
module attributes {amdgcn.foo = 1 : i64, tile.target = #amdgcn.target<chip = "gfx942">} {}

// -----

tile.kernel @k(%x: f32) {
  // expected-error@below {{expected attributes that mean something here, got 'amdgcn.unroll'}}
  %0 = arith.addf %x, %x {amdgcn.unroll} : f32
  tile.return
}

// -----

// expected-error@below {{expected attributes that mean something here, got 'amdgcn.foo' on argument 0}}
tile.kernel @k(%x: f32 {amdgcn.foo}) {
  tile.return
}
