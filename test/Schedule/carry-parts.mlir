// RUN: tile-opt %s --tile-carry-parts -split-input-file | FileCheck %s

#sum = #tile.layout<register = [[0,1],[8,0],[0,8],[0,16],[0,32],[0,64]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0],[32,0]]>
#wgmma = #nvptx.wgmma<"m64n64k16", f16, f32>
#swizzled = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[1,8],[2,16],[4,32],[8,0],[16,0],[32,0],[64,0]]>
!x = !tile.buffer<64x64xf16>
!y = !tile.buffer<128x64xf16, #swizzled>
!sum = tensor<64x128xf32, #sum>

// The parts of a sum that begins as zero are zeros; the role that uses it puts it together.
// CHECK: #[[PART:.*]] = #tile.layout<register = {{\[\[}}0,1],[8,0],[0,8],[0,16],[0,32]]
// CHECK-LABEL: @counted
// CHECK-DAG: %[[Z0:.*]] = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #[[PART]]>
// CHECK-DAG: %[[Z1:.*]] = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #[[PART]]>
// CHECK: %[[R:.*]]:3 = scf.for {{.*}} iter_args(%[[P0:.*]] = %{{.*}}, %[[P1:.*]] = %{{.*}}, %[[N:.*]] = %{{.*}}) -> (tensor<64x64xf32, #[[PART]]>, tensor<64x64xf32, #[[PART]]>, index)
// CHECK: %[[C:.*]] = tile.concat %[[P0]], %[[P1]] axis = 1 {role = "mma"}
// CHECK-NEXT: %[[D:.*]] = tile.dot %{{.*}}, %{{.*}}, %[[C]] {{.*}} parts = array<i64: 1, 2, 1>
// CHECK-NEXT: %[[D0:.*]] = tile.slice %[[D]] [0, 0] {role = "mma"}
// CHECK-NEXT: %[[D1:.*]] = tile.slice %[[D]] [0, 64] {role = "mma"}
// CHECK: scf.yield %[[D0]], %[[D1]], %{{.*}} : tensor<64x64xf32
// CHECK: } {tile.depth = 3 : i64}
// CHECK: %[[S:.*]] = tile.concat %[[R]]#0, %[[R]]#1 axis = 1 {role = "store"}
// CHECK: tile.store %[[S]], %{{.*}}[%{{.*}}, %[[R]]#2]
tile.kernel @counted(%z: !tile.view<64x128xf32>, %n: index)
    attributes {tile.roles = [#tile.role<"mma", warps = 4>, #tile.role<"store", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = tile.alloc : !x
  %y = tile.alloc : !y
  %zero = arith.constant dense<0.0> : !sum
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero, %last = %c0) -> (!sum, index) {
    %d = tile.dot %x, %y, %s transpose_b {atom = #wgmma, role = "mma", in_flight = 1 : i64, parts = array<i64: 1, 2, 1>} : !x, !y -> !sum
    scf.yield %d, %i : !sum, index
  } {tile.depth = 3 : i64}
  tile.store %r#0, %z[%c0, %r#1] {role = "store"} : !sum, !tile.view<64x128xf32>
  tile.return
}

// Of two dots the second adds to the first's parts. A sum that is there before is cut in front of the loop.
// CHECK-LABEL: @pages
// CHECK: %[[L:.*]] = tile.load
// CHECK: %[[L0:.*]] = tile.slice %[[L]] [0, 0]
// CHECK: %[[L1:.*]] = tile.slice %[[L]] [0, 64]
// CHECK: %[[W:.*]]:2 = scf.while (%[[GO:.*]] = %{{.*}}, %[[B0:.*]] = %[[L0]], %[[B1:.*]] = %[[L1]])
// CHECK: scf.condition(%[[GO]]) %[[B0]], %[[B1]]
// CHECK: ^bb0(%[[P0:.*]]: tensor<64x64xf32, #{{.*}}>, %[[P1:.*]]: tensor<64x64xf32, #{{.*}}>):
// CHECK: %[[C:.*]] = tile.concat %[[P0]], %[[P1]] axis = 1
// CHECK: %[[D:.*]] = tile.dot %{{.*}}, %{{.*}}, %[[C]]
// CHECK: %[[E:.*]] = tile.dot %{{.*}}, %{{.*}}, %[[D]]
// CHECK: %[[E0:.*]] = tile.slice %[[E]] [0, 0]
// CHECK: %[[E1:.*]] = tile.slice %[[E]] [0, 64]
// CHECK: scf.yield %{{.*}}, %[[E0]], %[[E1]]
// CHECK: %[[S:.*]] = tile.concat %[[W]]#0, %[[W]]#1 axis = 1
// CHECK: tile.store %[[S]]
tile.kernel @pages(%z: !tile.view<64x128xf32>, %go: i1) attributes {tile.warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %x = tile.alloc : !x
  %y = tile.alloc : !y
  %before = tile.load %z[%c0, %c0] : !tile.view<64x128xf32> -> !sum
  %r = scf.while (%more = %go, %t = %before) : (i1, !sum) -> !sum {
    scf.condition(%more) %t : !sum
  } do {
  ^bb0(%s: !sum):
    %d = tile.dot %x, %y, %s transpose_b {atom = #wgmma, in_flight = 1 : i64, parts = array<i64: 1, 2, 2>} : !x, !y -> !sum
    %e = tile.dot %x, %y, %d transpose_b {atom = #wgmma, in_flight = 1 : i64, parts = array<i64: 1, 2, 1>} : !x, !y -> !sum
    scf.yield %go, %e : i1, !sum
  }
  tile.store %r, %z[%c0, %c0] : !sum, !tile.view<64x128xf32>
  tile.return
}

// Parts along k are one sum, what others use of a trip's sum is all of it, and what no engine makes is
// in registers anyway.
// CHECK-LABEL: @left_alone
// CHECK-NOT: tile.concat
// CHECK-NOT: tile.slice
// CHECK: tile.return
tile.kernel @left_alone(%z: !tile.view<64x128xf32>, %n: index) attributes {tile.warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = tile.alloc : !x
  %y = tile.alloc : !y
  %zero = arith.constant dense<0.0> : !sum
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero, %t = %zero) -> (!sum, !sum) {
    %d = tile.dot %x, %y, %s transpose_b {atom = #wgmma, in_flight = 1 : i64, parts = array<i64: 1, 1, 2>} : !x, !y -> !sum
    %e = tile.dot %x, %y, %t transpose_b {atom = #wgmma, in_flight = 0 : i64, parts = array<i64: 1, 2, 1>} : !x, !y -> !sum
    tile.store %e, %z[%c0, %c0] : !sum, !tile.view<64x128xf32>
    scf.yield %d, %e : !sum, !sum
  }
  tile.store %r#0, %z[%c0, %c0] : !sum, !tile.view<64x128xf32>
  tile.return
}
