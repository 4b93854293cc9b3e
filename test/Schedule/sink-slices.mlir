// What a store takes box by box is made box by box.
// RUN: tile-opt %s --tile-sink-slices --tile-realise-own-conversions | FileCheck %s

#sum = #tile.layout<register = [[0,1],[0,8],[0,16]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[8,0],[16,0]]>
#box = #tile.layout<register = [[0,1],[0,8]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[8,0],[16,0]]>
#row = #tile.layout<register = [[0,1],[0,8],[0,16]], lane = [[0,2],[0,4],[0,0],[0,0],[0,0]], warp = [[0,0],[0,0]]>
#bias = #tile.layout<register = [[1],[8],[16]], lane = [[2],[4],[0],[0],[0]], warp = [[0],[0]]>
#wide = #tile.layout<register = [[0,1],[0,2],[0,4]], lane = [[0,8],[0,16],[1,0],[2,0],[4,0]], warp = [[8,0],[16,0]]>
#memory = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[1,0],[2,0],[4,0],[8,0],[16,0]]>
!view = !tile.view<?x?xf16>
!line = !tile.view<?xf16>
!buffer = !tile.buffer<32x16xf16>

// A bias and a residual: loads stay, what is made of them follows the boxes, and so does the read of
// a conversion.
// CHECK-LABEL: tile.kernel @epilogue
// CHECK: %[[SUM:.*]] = math.absf
// CHECK: %[[BIAS:.*]] = tile.load %{{.*}} -> tensor<32xf16, #{{.*}}>
// CHECK: tile.write %{{.*}}, %[[RES:.*]] : tensor<32x32xf16
// CHECK-NOT: arith.addf
// CHECK: tile.slice %[[SUM]] [0, 0] : tensor<32x32xf32, #{{.*}}> -> tensor<32x16xf32, #[[BOX:.*]]>
// CHECK: %[[PART:.*]] = tile.slice %[[BIAS]] [0] : tensor<32xf16, #{{.*}}> -> tensor<16xf16, #{{.*}}>
// CHECK: %[[LONG:.*]] = arith.extf %[[PART]]
// CHECK: tile.reshape %[[LONG]] : tensor<16xf32, #{{.*}}> -> tensor<1x16xf32, #{{.*}}>
// CHECK: tile.broadcast %{{.*}} : tensor<1x16xf32, #{{.*}}> -> tensor<32x16xf32, #[[BOX]]>
// CHECK: math.exp %{{.*}} : tensor<32x16xf32, #[[BOX]]>
// CHECK: tile.read %[[RES]] at [0, 0]
// CHECK: tile.write %{{.*}} : tensor<32x16xf16, #[[BOX]]>
// CHECK: tile.slice %[[SUM]] [0, 16]
// CHECK: tile.slice %[[BIAS]] [16]
// CHECK: math.exp
// CHECK: tile.read %[[RES]] at [0, 16]
// CHECK: tile.write
tile.kernel @epilogue(%c: !line, %r: !view, %n: index) {
  tile.warp_groups(%c, %r, %n : !line, !view, index) {
    role #tile.role<"all", warps = 4> {
      %buffer = tile.alloc : !buffer
      %sums = tile.alloc : !tile.buffer<32x32xf32>
      %sum = arith.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]]> : tensor<1x32xf32, #row>
      %whole = tile.broadcast %sum : tensor<1x32xf32, #row> -> tensor<32x32xf32, #sum>
      %kept = math.absf %whole : tensor<32x32xf32, #sum>
      tile.write %kept, %sums : tensor<32x32xf32, #sum>, !tile.buffer<32x32xf32>
      %short = tile.load %c[%n] : !line -> tensor<32xf16, #bias>
      %long = arith.extf %short : tensor<32xf16, #bias> to tensor<32xf32, #bias>
      %line = tile.reshape %long : tensor<32xf32, #bias> -> tensor<1x32xf32, #row>
      %rows = tile.broadcast %line : tensor<1x32xf32, #row> -> tensor<32x32xf32, #sum>
      %added = arith.addf %kept, %rows : tensor<32x32xf32, #sum>
      %exp = math.exp %added : tensor<32x32xf32, #sum>
      %loaded = tile.load %r[%n, %n] : !view -> tensor<32x32xf16, #wide>
      %residual = tile.convert_layout %loaded {how = #tile.conversion<memory buffer = #memory>} : tensor<32x32xf16, #wide> -> tensor<32x32xf16, #sum>
      %narrow = arith.truncf %exp : tensor<32x32xf32, #sum> to tensor<32x32xf16, #sum>
      %out = arith.addf %narrow, %residual : tensor<32x32xf16, #sum>
      %0 = tile.slice %out [0, 0] : tensor<32x32xf16, #sum> -> tensor<32x16xf16, #box>
      tile.write %0, %buffer : tensor<32x16xf16, #box>, !buffer
      %1 = tile.slice %out [0, 16] : tensor<32x32xf16, #sum> -> tensor<32x16xf16, #box>
      tile.write %1, %buffer : tensor<32x16xf16, #box>, !buffer
    }
  }
  tile.return
}
