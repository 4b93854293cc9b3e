// Dots in flight read parts of their buffers where these lie.
// RUN: tile-opt %s --tile-realise-parts -split-input-file | FileCheck %s

// A part of a row of 128 bytes is a window: other parts lie between its elements.
#swizzled = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[1,8],[2,16],[4,32],[8,0],[16,0],[32,0]]>
#sum = #tile.layout<register = [[0,1],[8,0],[0,8],[0,16],[0,32]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0],[32,0]]>
!buffer = !tile.buffer<64x64xf16, #swizzled>
#wgmma = #nvptx.wgmma<"m64n64k16", f16, f32>
// CHECK: #[[WHOLE:.*]] = #tile.layout<offset
// CHECK-LABEL: @along_k
// CHECK: %[[X:.*]] = tile.alloc
// CHECK: %[[X0:.*]] = tile.part %[[X]][%{{.*}}, %c0{{.*}}] {stage = 1 : i64} : {{.*}} -> !tile.buffer<64x32xf16 of 64x64, #[[WHOLE]]>
// CHECK-NEXT: %[[D0:.*]] = tile.dot %[[X0]], %[[X0]], %{{.*}} transpose_b {{.*}} in_flight = 1 : i64, stage = 1
// CHECK: %[[X1:.*]] = tile.part %[[X]][%{{.*}}, %c32{{.*}}]
// CHECK-NEXT: %[[D1:.*]] = tile.dot %[[X1]], %[[X1]], %[[D0]] transpose_b
// CHECK-NEXT: tile.store %[[D1]]
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @along_k(%z: !tile.view<64x64xf32>) attributes {tile.warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %x = tile.alloc : !buffer
  %s = arith.constant dense<0.0> : tensor<64x64xf32, #sum>
  %d = tile.dot %x, %x, %s transpose_b {atom = #wgmma, in_flight = 1 : i64, stage = 1 : i64, parts = array<i64: 1, 1, 2>} : !buffer, !buffer -> tensor<64x64xf32, #sum>
  tile.store %d, %z[%c0, %c0] : tensor<64x64xf32, #sum>, !tile.view<64x64xf32>
  tile.return
}
}

// -----

// Of a sum that a loop carries in parts each dot adds to one, at a stage of its own. Rows are
// together in a buffer of one column of pieces.
#swizzled = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[1,8],[2,16],[4,32],[8,0],[16,0],[32,0]]>
#sum = #tile.layout<register = [[0,1],[8,0],[0,8],[0,16],[0,32]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0],[32,0]]>
#half = #tile.layout<register = [[0,1],[8,0],[0,8],[0,16]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0],[32,0]]>
!buffer = !tile.buffer<64x64xf16, #swizzled>
!half = tensor<64x32xf32, #half>
!sum = tensor<64x64xf32, #sum>
#wgmma = #nvptx.wgmma<"m64n32k16", f16, f32>
// CHECK-LABEL: @carried
// CHECK: scf.for {{.*}} iter_args(%[[P0:.*]] = %{{.*}}, %[[P1:.*]] = %{{.*}})
// CHECK-NOT: tile.concat
// CHECK: %[[Y0:.*]] = tile.part %[[X:.*]][%c0{{.*}}, %{{.*}}] {order = 0 : i64, stage = 0 : i64} : {{.*}} -> !tile.buffer<32x64xf16, #
// CHECK-NEXT: %[[D0:.*]] = tile.dot %[[X]], %[[Y0]], %[[P0]] transpose_b {{.*}} in_flight = 1 : i64, order = 1 : i64, stage = 0 : i64}
// CHECK: %[[Y1:.*]] = tile.part %[[X]][%c32{{.*}}, %{{.*}}] {order = 2 : i64, stage = 1 : i64}
// CHECK-NEXT: %[[D1:.*]] = tile.dot %[[X]], %[[Y1]], %[[P1]] transpose_b {{.*}} in_flight = 1 : i64, order = 3 : i64, stage = 1 : i64}
// CHECK-NEXT: scf.yield %[[D0]], %[[D1]]
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @carried(%z: !tile.view<64x64xf32>, %n: index) attributes {tile.warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = tile.alloc : !buffer
  %s = arith.constant dense<0.0> : !half
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %s, %q = %s) -> (!half, !half) {
    %both = tile.concat %p, %q axis = 1 : !half, !half -> !sum
    %d = tile.dot %x, %x, %both transpose_b {atom = #wgmma, in_flight = 1 : i64, stage = 1 : i64, order = 0 : i64,
        parts = array<i64: 1, 2, 1>, part_stages = array<i64: 0, 0, 1, 1>, part_orders = array<i64: 0, 1, 2, 3>} : !buffer, !buffer -> !sum
    %d0 = tile.slice %d [0, 0] : !sum -> !half
    %d1 = tile.slice %d [0, 32] : !sum -> !half
    scf.yield %d0, %d1 : !half, !half
  }
  tile.store %r#0, %z[%c0, %c0] : !half, !tile.view<64x64xf32>
  tile.return
}
}

// -----

// Rows of a buffer of several columns of pieces are a window, too. What takes all of a sum gets its
// parts joined.
#swizzled = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[1,8],[2,16],[4,32],[8,0],[16,0],[32,0],[64,0],[0,64]]>
#sum = #tile.layout<register = [[0,1],[8,0],[0,8],[0,16],[0,32],[0,64],[64,0]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0],[32,0]]>
!buffer = !tile.buffer<128x128xf16, #swizzled>
#wgmma = #nvptx.wgmma<"m64n128k16", f16, f32>
// CHECK-LABEL: @rows
// CHECK: %[[X0:.*]] = tile.part %[[X:.*]][%c0{{.*}}, %{{.*}}] : {{.*}} -> !tile.buffer<64x128xf16 of 128x128, #
// CHECK-NEXT: %[[D0:.*]] = tile.dot %[[X0]], %[[X]], %{{.*}} -> tensor<64x128xf32
// CHECK: %[[X1:.*]] = tile.part %[[X]][%c64{{.*}}, %{{.*}}]
// CHECK-NEXT: %[[D1:.*]] = tile.dot %[[X1]], %[[X]], %{{.*}} -> tensor<64x128xf32
// CHECK-NEXT: %[[D:.*]] = tile.concat %[[D0]], %[[D1]] axis = 0
// CHECK-NEXT: tile.store %[[D]]
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @rows(%z: !tile.view<128x128xf32>) attributes {tile.warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %x = tile.alloc : !buffer
  %s = tile.load %z[%c0, %c0] : !tile.view<128x128xf32> -> tensor<128x128xf32, #sum>
  %d = tile.dot %x, %x, %s transpose_b {atom = #wgmma, in_flight = 0 : i64, parts = array<i64: 2, 1, 1>} : !buffer, !buffer -> tensor<128x128xf32, #sum>
  tile.store %d, %z[%c0, %c0] : tensor<128x128xf32, #sum>, !tile.view<128x128xf32>
  tile.return
}
}
