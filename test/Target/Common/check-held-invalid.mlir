// Boxes of a loaded tile that are held: by a role, and in registers alone.
// RUN: tile-opt %s --tile-check-decisions --split-input-file --verify-diagnostics

!view = !tile.view<?x?xbf16>
!buffer = !tile.buffer<64x64xbf16>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @held(%a: !view, %n: index) attributes {tile.roles = [#tile.role<"load", warps = 4>]} {
    // expected-error @+1 {{expected 'role', since 'tile.held' is decided}}
    %x = tile.load %a[%n, %n] {tile.held = 1 : i64} : !view -> tensor<64x64xbf16>
    // expected-error @+1 {{expected no 'atom', since 'tile.held' is decided}}
    %y = tile.load %a[%n, %n] {atom = #nvptx.tma, buffer = !buffer, role = "load", tile.held = 1 : i64} : !view -> tensor<64x64xbf16>
    tile.return
  }
}
