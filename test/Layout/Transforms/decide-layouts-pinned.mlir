// Lanes and warps of which a pinned layout does not speak hold what the others do, and that is said.
// RUN: tile-opt %s --tile-decide-layouts | FileCheck %s

// CHECK-DAG: #[[L:.*]] = #tile.layout<register = {{\[}}[1]], lane = {{\[}}[2],[0],[0],[0],[0]], warp = {{\[}}[0],[0]]>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  // CHECK-LABEL: tile.kernel @some
  tile.kernel @some(%x: index) attributes {tile.warps = 4 : i64} {
    // CHECK: arith.constant {tile.layout = #[[L]]} dense<1.000000e+00> : tensor<4xf32, #[[L]]>
    %a = arith.constant {tile.layout = #tile.layout<register = [[1]], lane = [[2]]>} dense<1.0> : tensor<4xf32>
    tile.return
  }
}
