// Boxes are loaded so many ahead as are held.
// RUN: tile-opt %s --tile-realise-box-loads | FileCheck %s

#sum = #tile.layout<register = [[0,1],[8,0],[0,8],[0,16],[0,32],[0,64]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0],[32,0]]>
#box = #tile.layout<register = [[0,1],[8,0],[0,8],[0,16]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0],[32,0]]>
!view = !tile.view<?x?xf32>
!buffer = !tile.buffer<64x32xf32>

// CHECK-LABEL: tile.kernel @ahead
// CHECK: %[[A:.*]] = tile.load %[[X:.*]][%[[N:.*]], %[[N]]] : {{.*}} -> tensor<64x32xf32, #[[BOX:.*]]>
// CHECK: %[[BY:.*]] = arith.constant 32 : index
// CHECK: %[[AT:.*]] = arith.addi %[[N]], %[[BY]]
// CHECK: %[[B:.*]] = tile.load %[[X]][%[[N]], %[[AT]]] : {{.*}} -> tensor<64x32xf32, #[[BOX]]>
// CHECK: tile.write %[[A]]
// CHECK: tile.write %[[A]]
// CHECK: %[[C:.*]] = tile.load {{.*}} -> tensor<64x32xf32, #[[BOX]]>
// CHECK: tile.write %[[B]]
// CHECK: %[[D:.*]] = tile.load {{.*}} -> tensor<64x32xf32, #[[BOX]]>
// CHECK: tile.write %[[C]]
// CHECK-NOT: tile.load
// CHECK: tile.write %[[D]]
// CHECK-NOT: tile.slice
tile.kernel @ahead(%r: !view, %n: index) {
  tile.warp_groups(%r, %n : !view, index) {
    role #tile.role<"all", warps = 4> {
      %buffer = tile.alloc : !buffer
      %t = tile.load %r[%n, %n] {tile.held = 2 : i64} : !view -> tensor<64x128xf32, #sum>
      %0 = tile.slice %t [0, 0] : tensor<64x128xf32, #sum> -> tensor<64x32xf32, #box>
      tile.write %0, %buffer : tensor<64x32xf32, #box>, !buffer
      %4 = tile.slice %t [0, 0] : tensor<64x128xf32, #sum> -> tensor<64x32xf32, #box>
      tile.write %4, %buffer : tensor<64x32xf32, #box>, !buffer
      %1 = tile.slice %t [0, 32] : tensor<64x128xf32, #sum> -> tensor<64x32xf32, #box>
      tile.write %1, %buffer : tensor<64x32xf32, #box>, !buffer
      %2 = tile.slice %t [0, 64] : tensor<64x128xf32, #sum> -> tensor<64x32xf32, #box>
      tile.write %2, %buffer : tensor<64x32xf32, #box>, !buffer
      %3 = tile.slice %t [0, 96] : tensor<64x128xf32, #sum> -> tensor<64x32xf32, #box>
      tile.write %3, %buffer : tensor<64x32xf32, #box>, !buffer
    }
  }
  tile.return
}
