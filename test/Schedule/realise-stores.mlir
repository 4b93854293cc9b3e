// A store goes through boxes; what is waited for depends on how many boxes and buffers there are.
// RUN: tile-opt %s --tile-realise-stores | FileCheck %s

#t = #tile.layout<register = [[0,1],[0,8],[0,16]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[8,0],[16,0]]>
!view = !tile.view<?x?xf16>
!box = !tile.buffer<32x8xf16>
!whole = !tile.buffer<32x32xf16>

// Four boxes and three buffers: the next round begins with the buffer of the last store but two.
// CHECK-LABEL: tile.kernel @boxes
tile.kernel @boxes(%a: !view, %n: index) {
  tile.warp_groups(%a, %n : !view, index) {
    role #tile.role<"all", warps = 4> {
      // CHECK: %[[B0:.*]] = tile.alloc
      // CHECK-NEXT: %[[B1:.*]] = tile.alloc
      // CHECK-NEXT: %[[B2:.*]] = tile.alloc
      // CHECK-NOT: tile.alloc
      %one = arith.constant dense<1.0> : tensor<32x32xf16, #t>
      // CHECK: %[[T:.*]] = tile.slice %{{.*}} [0, 0] : tensor<32x32xf16, #{{.*}}> -> tensor<32x8xf16, #[[L:.*]]>
      // CHECK-NEXT: tile.wait_stores in_flight = 0
      // CHECK-NEXT: tile.barrier
      // CHECK-NEXT: tile.write %[[T]], %[[B0]] : tensor<32x8xf16, #[[L]]>
      // CHECK-NEXT: tile.barrier publish
      // CHECK-NEXT: tile.copy_out %[[B0]], %a[%n, %n] {atom = #nvptx.tma}
      // CHECK: tile.wait_stores in_flight = 3
      // CHECK: tile.copy_out %[[B1]]
      // CHECK: tile.wait_stores in_flight = 3
      // CHECK: tile.copy_out %[[B2]]
      // CHECK: tile.slice %{{.*}} [0, 24]
      // CHECK: tile.wait_stores in_flight = 2
      // CHECK: %[[C24:.*]] = arith.constant 24 : index
      // CHECK: %[[AT:.*]] = arith.addi %n, %[[C24]] : index
      // CHECK: tile.copy_out %[[B0]], %a[%n, %[[AT]]]
      // CHECK: tile.wait_stores in_flight = 0
      tile.store %one, %a[%n, %n] {atom = #nvptx.tma, buffer = !box, in_flight = 2}
        : tensor<32x32xf16, #t>, !view
    }
  }
  tile.return
}

// CHECK-LABEL: tile.kernel @whole
tile.kernel @whole(%a: !view, %n: index) {
  tile.warp_groups(%a, %n : !view, index) {
    role #tile.role<"all", warps = 4> {
      // CHECK: %[[B:.*]] = tile.alloc : !tile.buffer<32x32xf16>
      // CHECK-NOT: tile.slice
      %one = arith.constant dense<1.0> : tensor<32x32xf16, #t>
      // CHECK: tile.write %{{.*}}, %[[B]]
      tile.store %one, %a[%n, %n] {atom = #nvptx.tma, buffer = !whole, in_flight = 0}
        : tensor<32x32xf16, #t>, !view
    }
  }
  tile.return
}
