// Grids that a fixed number of programs cannot run through.
// RUN: tile-opt %s --tile-realise-persistence -split-input-file -verify-diagnostics

// expected-error@+1 {{expected a grid region, since 'tile.persistent' is decided}}
tile.kernel @none() attributes {tile.persistent = #tile.persistent<programs = 2>} {
  tile.return
}

// -----

// expected-error@+1 {{expected a grid of at least 2 extents, since 'tile.persistent' groups tiles, got 1}}
tile.kernel @group(%n: index) attributes {
    tile.persistent = #tile.persistent<programs = 2, group = 4>} grid {
  tile.grid %n
} {
  tile.return
}

// -----

// expected-error@+1 {{expected a grid of at least 2 extents, since 'tile.raster' is "longest_y", got 1}}
tile.kernel @longest(%n: index) attributes {
    tile.persistent = #tile.persistent<programs = 2>, tile.raster = "longest_y"} grid {
  tile.grid %n
} {
  tile.return
}

// -----

// expected-error@+1 {{expected 'tile.persistent' of whole clusters of 4 programs, got 6}}
tile.kernel @cluster(%n: index) attributes {tile.cluster = array<i64: 2, 2, 1>,
    tile.persistent = #tile.persistent<programs = 6>} grid {
  tile.grid %n, %n
} {
  tile.return
}

// -----

// expected-error@+1 {{expected 'tile.persistent' to group whole clusters, of 2 tiles along an axis, got groups of 5}}
tile.kernel @groups(%n: index) attributes {tile.cluster = array<i64: 2, 1, 1>,
    tile.persistent = #tile.persistent<programs = 6, group = 5>} grid {
  tile.grid %n, %n
} {
  tile.return
}
