// RUN: tile-opt %s --tile-realise-overlap --split-input-file -verify-diagnostics

tile.kernel @alone(%x: !tile.view<?xf32>) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{'tile.load' op expected a kernel with 'tile.overlap', since 'tile.triggers' is decided}}
  %t = tile.load %x[%c0] {tile.triggers} : !tile.view<?xf32> -> tensor<256xf32>
  tile.return
}

// -----

// expected-error @below {{expected 'tile.triggers' on an op of a program, as a unit}}
tile.kernel @kernel() attributes {tile.triggers} {
  tile.return
}

// -----

// expected-error @below {{expected 'tile.overlap' on a kernel, as a unit}}
tile.kernel @valued() attributes {tile.overlap = 3 : i64} {
  tile.return
}
