// RUN: tile-opt %s --tile-simplify --split-input-file --verify-diagnostics

tile.kernel @unused(%a: f32) attributes {tile.roles = [#tile.role<"mma", warps = 4>]} {
  // expected-error @+1 {{expected a use, since 'tile.role' is decided}}
  %x = arith.addf %a, %a {tile.role = "mma"} : f32
  tile.return
}
