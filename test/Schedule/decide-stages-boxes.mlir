// Two tiles are converted behind the loop, and read box by box as the product is stored: both have
// shared memory until the last box. Four slots would fit beside the larger one alone.
// RUN: tile-opt %s --tile-decide-stages | FileCheck %s

#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[0,64]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
#tile = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[1,8],[2,16],[4,32],[8,0],[16,0],[32,0],[64,0]]>
#rows = #tile.layout<register = [[0,1],[0,2],[0,4],[8,0],[16,0],[32,0],[64,0]], lane = [[0,8],[0,16],[0,32],[0,64],[1,0]], warp = [[2,0],[4,0]]>
#narrow = #tile.layout<offset = [[0,1],[0,8],[0,16],[0,32],[0,64],[1,0],[2,64],[4,32],[0,2],[0,4],[8,0],[16,0],[32,0],[64,0]]>
#wide = #tile.layout<offset = [[0,8],[0,16],[0,32],[0,64],[1,0],[2,64],[4,32],[0,1],[0,2],[0,4],[8,0],[16,0],[32,0],[64,0]]>
#box = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[1,4],[2,8],[4,16],[8,0],[16,0],[32,0],[64,0]]>
#half = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32, noalias>
#single = #tile.facts<pointer = 16, strides = [16, 4], extents = [16, 16], index32, noalias>
!half = !tile.view<?x?xbf16>
!single = !tile.view<?x?xf32>

// CHECK-LABEL: tile.kernel @residuals
// CHECK-COUNT-2: depth = 3 : i64, ring = "ring0"
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
  tile.kernel @residuals(%a: !half {tile.facts = #half}, %b: !half {tile.facts = #half}, %x: !half {tile.facts = #half}, %y: !single {tile.facts = #single}, %c: !single {tile.facts = #single}) attributes {tile.roles = [#tile.role<"compute", warps = 4>, #tile.role<"load", warps = 1>]} grid {
    %c128 = arith.constant 128 : index
    %0 = tile.dim %c, 0 : !single
    %1 = tile.dim %c, 1 : !single
    %2 = arith.ceildivsi %0, %c128 : index
    %3 = arith.ceildivsi %1, %c128 : index
    tile.grid %2, %3
  } {
    %c64 = arith.constant 64 : index
    %c0 = arith.constant 0 : index
    %c128 = arith.constant 128 : index
    %0 = tile.program_id x
    %1 = tile.program_id y
    %2 = tile.dim %a, 1 : !half
    %3 = arith.muli %0, %c128 : index
    %4 = arith.muli %1, %c128 : index
    %cst = arith.constant dense<0.000000e+00> : tensor<128x128xf32, #sum>
    %5 = scf.for %arg0 = %c0 to %2 step %c64 iter_args(%arg1 = %cst) -> (tensor<128x128xf32, #sum>) {
      %16 = tile.load %a[%3, %arg0] {atom = #nvptx.tma, buffer = !tile.buffer<128x64xbf16, #tile>, ring = "ring0", role = "load"} : !half -> tensor<128x64xbf16>
      %17 = tile.load %b[%4, %arg0] {atom = #nvptx.tma, buffer = !tile.buffer<128x64xbf16, #tile>, ring = "ring0", role = "load"} : !half -> tensor<128x64xbf16>
      %18 = tile.dot %16, %17, %arg1 transpose_b {atom = #nvptx.tcgen05<"m128n128k16", bf16, f32>, role = "compute"} : tensor<128x64xbf16>, tensor<128x64xbf16> -> tensor<128x128xf32, #sum>
      scf.yield %18 : tensor<128x128xf32, #sum>
    }
    %6 = arith.muli %0, %c128 : index
    %7 = arith.muli %1, %c128 : index
    %8 = tile.load %x[%6, %7] {role = "compute"} : !half -> tensor<128x128xbf16, #rows>
    %9 = tile.load %y[%6, %7] {role = "compute"} : !single -> tensor<128x128xf32, #rows>
    %10 = tile.convert_layout %8 {role = "compute", how = #tile.conversion<memory buffer = #narrow write = #nvptx.stmatrix<4, 16>>} : tensor<128x128xbf16, #rows> -> tensor<128x128xbf16, #sum>
    %11 = arith.extf %10 : tensor<128x128xbf16, #sum> to tensor<128x128xf32, #sum>
    %12 = arith.mulf %5, %11 : tensor<128x128xf32, #sum>
    %13 = math.exp %9 : tensor<128x128xf32, #rows>
    %14 = tile.convert_layout %13 {role = "compute", how = #tile.conversion<memory buffer = #wide write = #nvptx.stmatrix<4, 32>>} : tensor<128x128xf32, #rows> -> tensor<128x128xf32, #sum>
    %15 = arith.addf %12, %14 : tensor<128x128xf32, #sum>
    tile.store %15, %c[%6, %7] {atom = #nvptx.tma, buffer = !tile.buffer<128x32xf32, #box>, role = "compute"} : tensor<128x128xf32, #sum>, !single
    tile.return
  }
}
