// Grids that a fixed number of programs cannot run through.
// RUN: tile-opt %s --tile-realise-persistence -split-input-file -verify-diagnostics

// expected-error@+1 {{expected a grid region, since 'tile.persistent' is decided}}
tile.kernel @none() attributes {tile.persistent = #tile.persistent<programs = 2>} {
  tile.return
}

// -----

tile.kernel @group(%n: index) attributes {
    tile.persistent = #tile.persistent<programs = 2, group = 4>} grid {
  // expected-error@+1 {{expected two or three extents, since 'tile.persistent' groups tiles, got one}}
  tile.grid %n
} {
  tile.return
}
