// RUN: tile-opt %s --tile-decide-layouts | FileCheck %s

#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16]>
#columns = #tile.facts<pointer = 16, strides = [2, 16], extents = [16, 16]>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  // Eight bf16 are one access; rows go to the warps, so a reduction along them stays in each.
  // CHECK-DAG: #[[T:.*]] = #tile.layout<register = {{\[}}[0,1],[0,2],[0,4]], lane = {{\[}}[0,8],[0,16],[0,32],[0,64],[0,128]], warp = {{\[}}[1,0],[2,0]]>
  // CHECK-DAG: #[[ROW:.*]] = #tile.layout<register = [], lane = {{\[}}[0],[0],[0],[0],[0]], warp = {{\[}}[1],[2]]>
  // CHECK-DAG: #[[COL:.*]] = #tile.layout<register = [], lane = {{\[}}[0,0],[0,0],[0,0],[0,0],[0,0]], warp = {{\[}}[1,0],[2,0]]>

  // CHECK-LABEL: tile.kernel @rows
  tile.kernel @rows(%x: !tile.view<?x?xbf16> {tile.facts = #facts},
                    %y: !tile.view<?x?xbf16> {tile.facts = #facts})
      attributes {tile.warps = 4 : i64} {
    %c0 = arith.constant 0 : index
    // CHECK: tile.load {{.*}} -> tensor<4x256xbf16, #[[T]]>
    %t = tile.load %x[%c0, %c0] : !tile.view<?x?xbf16> -> tensor<4x256xbf16>
    %f = arith.extf %t : tensor<4x256xbf16> to tensor<4x256xf32>
    // CHECK: tile.reduce {{.*}} : tensor<4x256xf32, #[[T]]> -> tensor<4xf32, #[[ROW]]>
    %m = tile.reduce %f axis = 1 : tensor<4x256xf32> -> tensor<4xf32> {
    ^bb0(%left: f32, %right: f32):
      %s = arith.maximumf %left, %right : f32
      tile.yield %s : f32
    }
    // CHECK-NOT: tile.convert_layout
    // CHECK: tile.broadcast {{.*}} : tensor<4x1xf32, #[[COL]]> -> tensor<4x256xf32, #[[T]]>
    %c = tile.reshape %m : tensor<4xf32> -> tensor<4x1xf32>
    %b = tile.broadcast %c : tensor<4x1xf32> -> tensor<4x256xf32>
    %d = arith.subf %f, %b : tensor<4x256xf32>
    %o = arith.truncf %d : tensor<4x256xf32> to tensor<4x256xbf16>
    tile.store %o, %y[%c0, %c0] : tensor<4x256xbf16>, !tile.view<?x?xbf16>
    tile.return
  }

  // A loop's accumulator takes the atom's layout, and what meets it afterwards follows. Nothing is
  // made again here: a conversion says where layouts differ.
  // CHECK-LABEL: tile.kernel @accumulate
  tile.kernel @accumulate(%x: !tile.view<?x?xbf16>, %y: !tile.view<?x?xf32>)
      attributes {tile.warps = 1 : i64} {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    // CHECK: %[[ZERO:.*]] = tile.convert_layout {{.*}} -> tensor<16x16xf32, #[[ACC:.*]]>
    %zero = arith.constant dense<0.0> : tensor<16x16xf32>
    %two = arith.constant 2.0 : f32
    // CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[ZERO]]) -> (tensor<16x16xf32, #[[ACC]]>)
    %acc = scf.for %k = %c0 to %c64 step %c16 iter_args(%s = %zero) -> tensor<16x16xf32> {
      // CHECK: %[[A:.*]] = tile.load
      // CHECK: tile.convert_layout %[[A]]
      %a = tile.load %x[%c0, %k] : !tile.view<?x?xbf16> -> tensor<16x16xbf16>
      %b = tile.load %x[%k, %c0] : !tile.view<?x?xbf16> -> tensor<16x16xbf16>
      %d = tile.dot %a, %b, %s {atom = #nvptx.mma_sync<"m16n8k16", bf16, f32>}
         : tensor<16x16xbf16>, tensor<16x16xbf16> -> tensor<16x16xf32>
      scf.yield %d : tensor<16x16xf32>
    }
    // CHECK: %[[T:.*]] = tile.splat
    // CHECK: %[[TWO:.*]] = tile.convert_layout %[[T]] : {{.*}} -> tensor<16x16xf32, #[[ACC]]>
    %t = tile.splat %two : tensor<16x16xf32>
    // CHECK: arith.mulf %[[TWO]], {{.*}} : tensor<16x16xf32, #[[ACC]]>
    %r = arith.mulf %t, %acc : tensor<16x16xf32>
    // CHECK: tile.store
    tile.store %r, %y[%c0, %c0] : tensor<16x16xf32>, !tile.view<?x?xf32>
    tile.return
  }

  // Memory that walks the first dimension first is read and written that way; a store takes no
  // layout that needs twice the sectors.
  // CHECK-LABEL: tile.kernel @transpose
  tile.kernel @transpose(%x: !tile.view<?x?xbf16> {tile.facts = #facts},
                         %y: !tile.view<?x?xbf16, strides [1, ?]> {tile.facts = #columns})
      attributes {tile.warps = 4 : i64} {
    %c0 = arith.constant 0 : index
    // CHECK: %[[X:.*]] = tile.load {{.*}} -> tensor<64x64xbf16, #[[ROWS:.*]]>
    %t = tile.load %x[%c0, %c0] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    // CHECK: %[[Y:.*]] = tile.convert_layout %[[X]] : {{.*}} -> tensor<64x64xbf16, #[[COLUMNS:.*]]>
    // CHECK: tile.store %[[Y]]
    tile.store %t, %y[%c0, %c0] : tensor<64x64xbf16>, !tile.view<?x?xbf16, strides [1, ?]>
    // CHECK: tile.load {{.*}} -> tensor<64x64xbf16, #[[COLUMNS]]>
    %u = tile.load %y[%c0, %c0] : !tile.view<?x?xbf16, strides [1, ?]> -> tensor<64x64xbf16>
    // CHECK: %[[V:.*]] = tile.convert_layout {{.*}} -> tensor<64x64xbf16, #[[ROWS]]>
    // CHECK: tile.store %[[V]]
    tile.store %u, %x[%c0, %c0] : tensor<64x64xbf16>, !tile.view<?x?xbf16>
    tile.return
  }
}
