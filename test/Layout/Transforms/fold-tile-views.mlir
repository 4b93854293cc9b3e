// Reshapes, slices and transposes, between a tile that an instruction copies and what uses it.
// RUN: tile-opt %s --tile-fold-tile-views | FileCheck %s

// CHECK-DAG: #[[LOADED:.*]] = #tile.layout<offset = {{\[}}[0,1],[0,2],[1,1],[2,0],[4,0]]>
// CHECK-DAG: #[[STORED:.*]] = #tile.layout<offset = {{\[}}[0,1],[0,2],[4,0],[2,0],[1,0]]>

!view = !tile.view<?x?x?x?xf32>
// CHECK-LABEL: tile.kernel @copied
tile.kernel @copied(%a: !view, %i: index) {
  // CHECK: %[[X:.*]] = tile.load %a{{.*}} {dropped = array<i64: 0, 2>, tile.atom = "tma"} : {{.*}} -> tensor<16x8xf32>
  %x = tile.load %a[%i, %i, %i, %i] {tile.atom = "tma"} : !view -> tensor<1x16x1x8xf32>
  %y = tile.reshape %x : tensor<1x16x1x8xf32> -> tensor<16x8xf32>
  // CHECK-NEXT: arith.negf %[[X]]
  %z = arith.negf %y : tensor<16x8xf32>
  // CHECK-NEXT: tile.store %{{.*}}, %a{{.*}} {atom = #nvptx.tma, dropped = array<i64: 0, 1>} : tensor<16x8xf32>
  %w = tile.reshape %z : tensor<16x8xf32> -> tensor<1x1x16x8xf32>
  tile.store %w, %a[%i, %i, %i, %i] {atom = #nvptx.tma} : tensor<1x1x16x8xf32>, !view
  tile.return
}

// What is said of the order of a buffer goes along.
// CHECK-LABEL: tile.kernel @ordered
tile.kernel @ordered(%a: !view, %i: index) {
  // CHECK: tile.load %a{{.*}} {buffer = !tile.buffer<8x4xf32, #[[LOADED]]>, dropped = array<i64: 0, 2>
  %x = tile.load %a[%i, %i, %i, %i] {tile.atom = "tma", buffer = !tile.buffer<1x8x1x4xf32, #tile.layout<offset = [[0,0,0,1],[0,0,0,2],[0,1,0,1],[0,2,0,0],[0,4,0,0]]>>} : !view -> tensor<1x8x1x4xf32>
  %y = tile.reshape %x : tensor<1x8x1x4xf32> -> tensor<8x4xf32>
  %z = arith.negf %y : tensor<8x4xf32>
  %w = tile.reshape %z : tensor<8x4xf32> -> tensor<1x1x8x4xf32>
  // CHECK: tile.store %{{.*}}, %a{{.*}} {atom = #nvptx.tma, buffer = !tile.buffer<8x4xf32, #[[STORED]]>, dropped = array<i64: 0, 1>}
  tile.store %w, %a[%i, %i, %i, %i] {atom = #nvptx.tma, buffer = !tile.buffer<1x1x8x4xf32, #tile.layout<offset = [[0,0,0,1],[0,0,0,2],[0,0,4,0],[0,0,2,0],[0,0,1,0]]>>} : tensor<1x1x8x4xf32>, !view
  tile.return
}

// What no instruction is named for, what is used as it is loaded, and another shape, stay.
// CHECK-LABEL: tile.kernel @kept
tile.kernel @kept(%a: !view, %i: index) {
  // CHECK-NOT: dropped
  %x = tile.load %a[%i, %i, %i, %i] : !view -> tensor<1x1x16x8xf32>
  %0 = tile.reshape %x : tensor<1x1x16x8xf32> -> tensor<16x8xf32>
  %y = tile.load %a[%i, %i, %i, %i] {tile.atom = "tma"} : !view -> tensor<1x1x16x8xf32>
  %1 = tile.reshape %y : tensor<1x1x16x8xf32> -> tensor<16x8xf32>
  %2 = arith.negf %y : tensor<1x1x16x8xf32>
  %z = tile.load %a[%i, %i, %i, %i] {tile.atom = "tma"} : !view -> tensor<1x1x16x8xf32>
  %3 = tile.reshape %z : tensor<1x1x16x8xf32> -> tensor<8x16xf32>
  %w = tile.load %a[%i, %i, %i, %i] {tile.atom = "tma", tile.layout = #tile.layout<register = [[0,0,0,1],[0,0,0,2],[0,0,0,4]], lane = [[0,0,1,0],[0,0,2,0],[0,0,4,0],[0,0,8,0]]>} : !view -> tensor<1x1x16x8xf32>
  %4 = tile.reshape %w : tensor<1x1x16x8xf32> -> tensor<16x8xf32>
  // CHECK: tile.return
  tile.return
}

// A product reads what lies in a buffer either way.
// CHECK-LABEL: tile.kernel @turned
tile.kernel @turned(%a: !tile.view<?x?xbf16>, %i: index) {
  %acc = arith.constant dense<0.0> : tensor<16x16xf32>
  // CHECK: %[[X:.*]] = tile.load
  %x = tile.load %a[%i, %i] {tile.atom = "tma"} : !tile.view<?x?xbf16> -> tensor<16x16xbf16>
  %t = tile.transpose %x [1, 0] : tensor<16x16xbf16> -> tensor<16x16xbf16>
  // CHECK-NEXT: tile.dot %[[X]], %[[X]], %{{.*}} transpose_a :
  %d = tile.dot %t, %t, %acc transpose_b : tensor<16x16xbf16>, tensor<16x16xbf16> -> tensor<16x16xf32>
  // What is turned twice is as it was.
  // CHECK-NEXT: tile.dot %[[X]], %[[X]], %{{.*}} transpose_b :
  %u = tile.transpose %t [1, 0] : tensor<16x16xbf16> -> tensor<16x16xbf16>
  %e = tile.dot %x, %u, %acc transpose_b : tensor<16x16xbf16>, tensor<16x16xbf16> -> tensor<16x16xf32>
  tile.return
}

// Slices are tiles of their own, of the view where they lie. Those that share elements, and a load
// whose place is pinned, stay.
// CHECK-LABEL: tile.kernel @sliced
tile.kernel @sliced(%a: !tile.view<?x?x?xbf16>, %i: index) {
  // CHECK: tile.load %a[%i, %i, %i] {dropped = array<i64: 0>, tile.atom = "tma"} : {{.*}} -> tensor<16x8xbf16>
  // CHECK-NEXT: %[[C8:.*]] = arith.constant 8 : index
  // CHECK-NEXT: %[[AT:.*]] = arith.addi %i, %[[C8]]
  // CHECK-NEXT: tile.load %a[%i, %i, %[[AT]]] {dropped = array<i64: 0>, tile.atom = "tma"} : {{.*}} -> tensor<16x8xbf16>
  // CHECK-NOT: tile.slice
  %x = tile.load %a[%i, %i, %i] {tile.atom = "tma"} : !tile.view<?x?x?xbf16> -> tensor<1x16x16xbf16>
  %m = tile.reshape %x : tensor<1x16x16xbf16> -> tensor<16x16xbf16>
  %0 = tile.slice %m [0, 0] : tensor<16x16xbf16> -> tensor<16x8xbf16>
  %1 = tile.slice %m [0, 8] : tensor<16x16xbf16> -> tensor<16x8xbf16>
  // CHECK: tile.load {{.*}} -> tensor<1x16x16xbf16>
  // CHECK-COUNT-2: tile.slice
  %y = tile.load %a[%i, %i, %i] {tile.atom = "tma"} : !tile.view<?x?x?xbf16> -> tensor<1x16x16xbf16>
  %2 = tile.slice %y [0, 0, 0] : tensor<1x16x16xbf16> -> tensor<1x16x8xbf16>
  %3 = tile.slice %y [0, 0, 4] : tensor<1x16x16xbf16> -> tensor<1x16x8xbf16>
  // CHECK: tile.load {{.*}} -> tensor<1x16x16xbf16>
  // CHECK: tile.slice
  %z = tile.load %a[%i, %i, %i] {order = 0, tile.atom = "tma"} : !tile.view<?x?x?xbf16> -> tensor<1x16x16xbf16>
  %4 = tile.slice %z [0, 0, 0] : tensor<1x16x16xbf16> -> tensor<1x16x8xbf16>
  tile.return
}
