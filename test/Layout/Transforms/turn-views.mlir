// RUN: tile-opt --tile-turn-views %s | FileCheck %s

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {

// All that uses the turned tile turns it back.
// CHECK-LABEL: @turned
// CHECK-SAME: (%[[A:[^:]*]]: !tile.view<?x?xbf16, strides [1, ?]>
// CHECK-DAG: %[[M:.*]] = tile.dim %[[A]], 1
// CHECK-DAG: %[[K:.*]] = tile.dim %[[A]], 0
// CHECK-DAG: %[[LD:.*]] = tile.stride %[[A]], 1
// CHECK: %[[VIEW:.*]] = tile.subview %[[A]] at %{{.*}} extents [%[[M]], %[[K]]] strides [%[[LD]]] : !tile.view<?x?xbf16, strides [1, ?]> -> !tile.view<?x?xbf16>
// CHECK: %[[T:.*]] = tile.load %[[VIEW]][%[[Y:.*]], %[[X:.*]]] {atom = #nvptx.tma, role = "load"} : !tile.view<?x?xbf16> -> tensor<64x32xbf16>
// CHECK: %[[BACK:.*]] = tile.transpose %[[T]] [1, 0] : tensor<64x32xbf16> -> tensor<32x64xbf16>
// CHECK: tile.dot %[[BACK]], %[[BACK]], %{{.*}} transpose_a
// CHECK: tile.store %[[BACK]]
tile.kernel @turned(%a: !tile.view<?x?xbf16, strides [1, ?]>, %c: !tile.view<?x?xbf16>, %x: index, %y: index) {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %t = tile.load %a[%x, %y] {atom = #nvptx.tma, role = "load"}
     : !tile.view<?x?xbf16, strides [1, ?]> -> tensor<32x64xbf16>
  %d = tile.dot %t, %t, %zero transpose_a
     : tensor<32x64xbf16>, tensor<32x64xbf16> -> tensor<64x64xf32>
  tile.store %t, %c[%x, %y] : tensor<32x64xbf16>, !tile.view<?x?xbf16>
  %r = arith.truncf %d : tensor<64x64xf32> to tensor<64x64xbf16>
  tile.store %r, %c[%y, %y] : tensor<64x64xbf16>, !tile.view<?x?xbf16>
  tile.return
}

// Rows that lie together already, and loads that no engine makes.
// CHECK-LABEL: @left
// CHECK-NOT: tile.subview
tile.kernel @left(%a: !tile.view<?x?xbf16>, %b: !tile.view<?x?xbf16, strides [1, ?]>, %x: index) {
  %t = tile.load %a[%x, %x] {atom = #nvptx.tma, role = "load"}
     : !tile.view<?x?xbf16> -> tensor<32x64xbf16>
  %u = tile.load %b[%x, %x] : !tile.view<?x?xbf16, strides [1, ?]> -> tensor<32x64xbf16>
  %v = arith.addf %t, %u : tensor<32x64xbf16>
  tile.store %v, %a[%x, %x] : tensor<32x64xbf16>, !tile.view<?x?xbf16>
  tile.return
}
}
