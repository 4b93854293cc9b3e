// Stages and orders are of trips: they stand on ops of a loop.
// RUN: tile-opt %s -split-input-file -verify-diagnostics --tile-check-decisions

!view = !tile.view<?x?xbf16>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  tile.kernel @stored(%a: !view) attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
    %c0 = arith.constant 0 : index
    %t = arith.constant dense<1.0> : tensor<64x64xbf16>
    // expected-error @+1 {{expected to stand in a loop, since 'stage' is decided}}
    tile.store %t, %a[%c0, %c0] {role = "all", stage = 0} : tensor<64x64xbf16>, !view
    tile.return
  }
}

// -----

!view = !tile.view<?x?xbf16>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  tile.kernel @computed(%a: !view, %x: index) attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{expected to stand in a loop, since 'tile.order' is decided}}
    %s = arith.addi %x, %c0 {tile.order = 1} : index
    tile.return
  }
}
