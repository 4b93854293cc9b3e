// RUN: tile-opt %s --split-input-file --verify-diagnostics

tile.kernel @part(%x: !tile.view<?xf32>) {
  // expected-error @+1 {{expected a place for each element of 4, got #tile.layout<register = [[1]]>}}
  %a = arith.constant {tile.layout = #tile.layout<register = [[1]]>} dense<1.0> : tensor<4xf32>
  tile.return
}

// -----

tile.kernel @twice(%x: !tile.view<?xf32>) {
  // expected-error @+1 {{expected a place for each element of 4, got}}
  %a = arith.constant {tile.layout = #tile.layout<register = [[1]], lane = [[1],[0]]>} dense<1.0> : tensor<4xf32>
  tile.return
}

// -----

tile.kernel @offsets(%x: !tile.view<?xf32>) {
  // expected-error @+1 {{expected register, lane and warp in 'tile.layout', got #tile.layout<offset = [[1],[2]]>}}
  %a = arith.constant {tile.layout = #tile.layout<offset = [[1],[2]]>} dense<1.0> : tensor<4xf32>
  tile.return
}
