// What this target refuses that others do not.
// RUN: tile-opt %s --tile-check-target --verify-diagnostics

module attributes {tile.target = #amdgcn.target<chip = "gfx1100">} {
  tile.kernel @print(%n: index) {
    // expected-error @+1 {{'tile.print' is not supported on amdgpu:gfx1100 yet: expected a device whose driver prints}}
    tile.print "here"
    tile.return
  }
}
