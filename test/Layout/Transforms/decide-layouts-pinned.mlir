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

  // What is combined lies as it is made, and is brought to where it is said to lie; what a reshape
  // takes is brought in front of it.
  // CHECK-LABEL: tile.kernel @followers
  // CHECK: %[[SUM:.*]] = tile.reduce %{{.*}} axis = 1 : tensor<4x8xf32, #[[IN:.*]]> -> tensor<4xf32, #{{.*}}> {
  // CHECK: tile.convert_layout %[[SUM]] {tile.layout = #[[TO:.*]]} : tensor<4xf32, #{{.*}}> -> tensor<4xf32, #[[TO]]>
  // CHECK: %[[MANY:.*]] = tile.scan %{{.*}} axis = 1 : tensor<4x8xf32, #[[IN]]> -> tensor<4x8xf32, #[[IN]]> {
  // CHECK: tile.convert_layout %[[MANY]] {tile.layout = #[[SCANNED:.*]]} : tensor<4x8xf32, #[[IN]]> -> tensor<4x8xf32, #[[SCANNED]]>
  // CHECK: %[[X:.*]] = tile.convert_layout %{{.*}} : tensor<4x8xf32, #[[IN]]>
  // CHECK: tile.reshape %[[X]] {tile.layout = #[[FLAT:.*]]} : tensor<4x8xf32, #{{.*}}> -> tensor<32xf32, #[[FLAT]]>
  // CHECK: %[[Y:.*]] = tile.convert_layout %{{.*}} : tensor<4x8xf32, #[[IN]]> -> tensor<4x8xf32, #[[SCANNED]]>
  // CHECK: tile.sort %[[Y]] axis = 1 {tile.layout = #[[SCANNED]]} : tensor<4x8xf32, #[[SCANNED]]>
  tile.kernel @followers(%x: !tile.view<?x?xf32>, %y: !tile.view<?x?xf32>) attributes {tile.warps = 1 : i64} {
    %c0 = arith.constant 0 : index
    %t = tile.load %x[%c0, %c0] : !tile.view<?x?xf32> -> tensor<4x8xf32>
    %s = tile.reduce %t axis = 1 {tile.layout = #tile.layout<register = [[1]], lane = [[2]]>} : tensor<4x8xf32> -> tensor<4xf32> {
    ^bb0(%a: f32, %b: f32):
      %sum = arith.addf %a, %b : f32
      tile.yield %sum : f32
    }
    %r = tile.scan %t axis = 1 {tile.layout = #tile.layout<lane = [[1,1],[0,2],[2,0],[0,4],[1,0]]>} : tensor<4x8xf32> -> tensor<4x8xf32> {
    ^bb0(%a: f32, %b: f32):
      %sum = arith.addf %a, %b : f32
      tile.yield %sum : f32
    }
    %f = tile.reshape %t {tile.layout = #tile.layout<lane = [[16],[8],[4],[2],[1]]>} : tensor<4x8xf32> -> tensor<32xf32>
    %o = tile.sort %t axis = 1 {tile.layout = #tile.layout<lane = [[1,1],[0,2],[2,0],[0,4],[1,0]]>} : tensor<4x8xf32> -> tensor<4x8xf32>
    tile.store %r, %y[%c0, %c0] : tensor<4x8xf32>, !tile.view<?x?xf32>
    tile.return
  }
}
