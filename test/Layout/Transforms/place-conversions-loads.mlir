// Tiles that are loaded for a product's sums: lanes of a warp exchange what wide accesses bring.
// RUN: tile-opt %s --tile-place-conversions --tile-decide-conversions | FileCheck %s

#sum = #tile.layout<register = [[0,1],[8,0],[0,8],[0,16],[0,32]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0],[32,0]]>
#wide = #tile.layout<register = [[0,1],[0,2],[0,4],[16,0],[32,0]], lane = [[0,8],[0,16],[0,32],[1,0],[2,0]], warp = [[4,0],[8,0]]>
#quads = #tile.layout<register = [[0,1],[0,2],[16,0],[32,0],[8,0]], lane = [[0,4],[0,8],[0,16],[0,32],[1,0]], warp = [[2,0],[4,0]]>
#columns = #tile.layout<register = [[1,0],[2,0],[4,0],[0,16],[0,32]], lane = [[8,0],[16,0],[32,0],[0,1],[0,2]], warp = [[0,4],[0,8]]>

#rows = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32, noalias>
#words = #tile.facts<pointer = 16, strides = [16, 4], extents = [16, 16], index32, noalias>
#turned = #tile.facts<pointer = 16, strides = [2, 16], extents = [16, 16], index32, noalias>
!view = !tile.view<?x?xbf16>
!wide = !tile.view<?x?xf32>
!turned = !tile.view<?x?xbf16, strides [1, ?]>

// CHECK-DAG: #[[SUM:.*]] = #tile.layout<register = {{\[}}[0,1],[8,0],[0,8],[0,16],[0,32]], lane = {{\[}}[0,2],[0,4],[1,0],[2,0],[4,0]], warp = {{\[}}[16,0],[32,0]]>
// CHECK-DAG: #[[NEAR:.*]] = #tile.layout<register = {{\[}}[0,1],[0,2],[8,0],[0,16],[0,32]], lane = {{\[}}[0,8],[0,4],[1,0],[2,0],[4,0]], warp = {{\[}}[16,0],[32,0]]>
// CHECK-DAG: #[[TURNED:.*]] = #tile.layout<register = {{\[}}[1,0],[0,1],[0,8],[0,16],[0,32]], lane = {{\[}}[0,2],[0,4],[8,0],[2,0],[4,0]], warp = {{\[}}[16,0],[32,0]]>
// CHECK-DAG: #[[QUADS:.*]] = #tile.layout<register = {{\[}}[0,1],[0,2],[16,0],[32,0],[8,0]]
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  // A sector of 32 bytes has 16 of a row, four lanes 8 bytes each; two lanes have the same eight
  // columns in the sums. One bit changes places.
  // CHECK-LABEL: tile.kernel @residual
  // CHECK: tile.load {{.*}} -> tensor<64x64xbf16, #[[NEAR]]>
  // CHECK-NEXT: tile.convert_layout {{.*}} {how = #tile.conversion<lanes>} : tensor<64x64xbf16, #[[NEAR]]> -> tensor<64x64xbf16, #[[SUM]]>
  tile.kernel @residual(%r: !view {tile.facts = #rows}, %out: !view) attributes {tile.warps = 4} {
    %c0 = arith.constant 0 : index
    %t = tile.load %r[%c0, %c0] : !view -> tensor<64x64xbf16, #wide>
    %0 = tile.convert_layout %t : tensor<64x64xbf16, #wide> -> tensor<64x64xbf16, #sum>
    tile.store %0, %out[%c0, %c0] : tensor<64x64xbf16, #sum>, !view
    tile.return
  }

  // What is made of what is loaded comes along.
  // CHECK-LABEL: tile.kernel @made
  // CHECK: tile.load {{.*}} -> tensor<64x64xbf16, #[[NEAR]]>
  // CHECK: tile.load {{.*}} -> tensor<64x64xbf16, #[[NEAR]]>
  // CHECK: arith.mulf {{.*}} : tensor<64x64xbf16, #[[NEAR]]>
  // CHECK-NEXT: tile.convert_layout {{.*}} {how = #tile.conversion<lanes>}
  tile.kernel @made(%r: !view {tile.facts = #rows}, %g: !view {tile.facts = #rows}, %out: !view) attributes {tile.warps = 4} {
    %c0 = arith.constant 0 : index
    %t = tile.load %r[%c0, %c0] : !view -> tensor<64x64xbf16, #wide>
    %s = tile.load %g[%c0, %c0] : !view -> tensor<64x64xbf16, #wide>
    %m = arith.mulf %t, %s : tensor<64x64xbf16, #wide>
    %0 = tile.convert_layout %m : tensor<64x64xbf16, #wide> -> tensor<64x64xbf16, #sum>
    tile.store %0, %out[%c0, %c0] : tensor<64x64xbf16, #sum>, !view
    tile.return
  }

  // Pairs of f32 of four lanes fill sectors as they are.
  // CHECK-LABEL: tile.kernel @words
  // CHECK: %[[T:.*]] = tile.load {{.*}} -> tensor<64x64xf32, #[[SUM]]>
  // CHECK-NEXT: tile.store %[[T]]
  tile.kernel @words(%r: !wide {tile.facts = #words}, %out: !wide) attributes {tile.warps = 4} {
    %c0 = arith.constant 0 : index
    %t = tile.load %r[%c0, %c0] : !wide -> tensor<64x64xf32, #quads>
    %0 = tile.convert_layout %t : tensor<64x64xf32, #quads> -> tensor<64x64xf32, #sum>
    tile.store %0, %out[%c0, %c0] : tensor<64x64xf32, #sum>, !wide
    tile.return
  }

  // Memory has the rows of sums as columns: pairs of rows, of 16.
  // CHECK-LABEL: tile.kernel @turned
  // CHECK: tile.load {{.*}} -> tensor<64x64xbf16, #[[TURNED]]>
  // CHECK-NEXT: tile.convert_layout {{.*}} {how = #tile.conversion<lanes>}
  tile.kernel @turned(%r: !turned {tile.facts = #turned}, %out: !turned) attributes {tile.warps = 4} {
    %c0 = arith.constant 0 : index
    %t = tile.load %r[%c0, %c0] : !turned -> tensor<64x64xbf16, #columns>
    %0 = tile.convert_layout %t : tensor<64x64xbf16, #columns> -> tensor<64x64xbf16, #sum>
    tile.store %0, %out[%c0, %c0] : tensor<64x64xbf16, #sum>, !turned
    tile.return
  }

  // Who uses it as it was loaded keeps it so.
  // CHECK-LABEL: tile.kernel @kept
  // CHECK: tile.load {{.*}} -> tensor<64x64xf32, #[[QUADS]]>
  // CHECK-NEXT: tile.convert_layout {{.*}}memory
  tile.kernel @kept(%r: !wide {tile.facts = #words}, %out: !wide) attributes {tile.warps = 4} {
    %c0 = arith.constant 0 : index
    %t = tile.load %r[%c0, %c0] : !wide -> tensor<64x64xf32, #quads>
    %0 = tile.convert_layout %t : tensor<64x64xf32, #quads> -> tensor<64x64xf32, #sum>
    tile.store %0, %out[%c0, %c0] : tensor<64x64xf32, #sum>, !wide
    tile.store %t, %out[%c0, %c0] : tensor<64x64xf32, #quads>, !wide
    tile.return
  }
}
