// RUN: tile-opt %s --split-input-file --verify-diagnostics

tile.kernel @dot(%a: tensor<16x16xf16>, %c: tensor<16x16xf32>) {
  // expected-error @+1 {{attribute 'atom' failed to satisfy constraint: a matrix instruction}}
  %d = tile.dot %a, %a, %c {atom = "banana"} : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf32>
  tile.return
}

// -----

tile.kernel @load(%a: !tile.view<?xf16>, %i: index) {
  // expected-error @+1 {{attribute 'atom' failed to satisfy constraint: a copy instruction from global to shared memory}}
  %d = tile.load %a[%i] {atom = #nvptx.ldmatrix<4, 16>, buffer = !tile.buffer<16xf16>} : !tile.view<?xf16> -> tensor<16xf16>
  tile.return
}

// -----

tile.kernel @read(%a: !tile.view<?xf16>, %i: index) {
  // expected-error @+1 {{attribute 'read_atom' failed to satisfy constraint: a copy instruction from shared memory to registers}}
  %d = tile.load %a[%i] {atom = #nvptx.tma, read_atom = #nvptx.tma, buffer = !tile.buffer<16xf16>} : !tile.view<?xf16> -> tensor<16xf16>
  tile.return
}

// -----

tile.kernel @store(%a: !tile.view<?xf16>, %t: tensor<16xf16>, %i: index) {
  // expected-error @+1 {{attribute 'atom' failed to satisfy constraint: a copy instruction from shared to global memory}}
  tile.store %t, %a[%i] {atom = #nvptx.cp_async<16>} : tensor<16xf16>, !tile.view<?xf16>
  tile.return
}
