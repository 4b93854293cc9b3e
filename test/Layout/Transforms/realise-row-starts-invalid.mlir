// RUN: tile-opt %s -split-input-file -verify-diagnostics --tile-realise-row-starts

!view = !tile.view<?x?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @rows(%a: !view) attributes {tile.row_starts = true} {
  %c0 = arith.constant 0 : index
  %i = tile.program_id x
  // expected-error @+1 {{expected tiles of one row, since 'tile.row_starts' is decided}}
  %x = tile.load %a[%i, %c0] : !view -> tensor<2x1024xf32>
  tile.store %x, %a[%i, %c0] : tensor<2x1024xf32>, !view
  tile.return
}
}

// -----

!view = !tile.view<?x?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// expected-error @+1 {{expected 'tile.row_starts' on a kernel, as a boolean, got 1 : i64}}
tile.kernel @number(%a: !view) attributes {tile.row_starts = 1 : i64} {
  tile.return
}
}

// -----

!view = !tile.view<?x?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @ragged(%a: !view) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{expected 'tile.ragged' on a load or a store of a tile of one row, as an i64 of at least 1}}
  %x = tile.load %a[%c0, %c0] {tile.ragged = 1024 : i64} : !view -> tensor<2x1024xf32>
  tile.return
}
}
