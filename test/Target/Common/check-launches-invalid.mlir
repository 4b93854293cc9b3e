// Clusters along an axis that the grid does not have, and warps that are not those of the roles.
// RUN: tile-opt %s --tile-check-decisions -split-input-file -verify-diagnostics

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  // expected-error @+1 {{expected 'tile.cluster' of one program along y, where the grid has no extent, got 2}}
  tile.kernel @axes(%n: index) attributes {tile.cluster = array<i64: 1, 2, 1>} grid {
    tile.grid %n
  } {
    tile.return
  }
}

// -----

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  // expected-error @+1 {{expected 'tile.warps' to be those of all roles, 12, got 8}}
  tile.kernel @warps(%n: index) attributes {tile.warps = 8 : i64,
      tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4, copies = 2>]} {
    tile.return
  }
}
