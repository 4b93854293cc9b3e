// RUN: tile-opt %s --tile-realise-conversions --split-input-file | FileCheck %s

#blocked = #tile.layout<register = [[0,1],[0,2]], lane = [[0,4],[1,0],[2,0],[4,0],[8,0]], warp = [[16,0]]>
#swapped = #tile.layout<register = [[0,2],[0,1]], lane = [[0,4],[1,0],[2,0],[4,0],[8,0]], warp = [[16,0]]>
#turned = #tile.layout<register = [[0,1],[0,2]], lane = [[1,0],[0,4],[2,0],[4,0],[8,0]], warp = [[16,0]]>
#crossed = #tile.layout<register = [[0,1],[0,2]], lane = [[0,4],[1,0],[2,0],[4,0],[16,0]], warp = [[8,0]]>
#rows = #tile.layout<offset = [[0,1],[0,2],[0,4],[1,0],[2,0],[4,0],[8,0],[16,0]]>

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  // CHECK-LABEL: tile.kernel @conversions
  tile.kernel @conversions(%v: f32, %b: i1) {
    // CHECK: %[[X:.*]] = tile.splat
    // CHECK: %[[M:.*]] = tile.splat
    %x = tile.splat %v : tensor<32x8xf32, #blocked>
    %m = tile.splat %b : tensor<32x8xi1, #blocked>
    // Registers of one thread, and lanes of one warp, stay as they are.
    // CHECK-NEXT: tile.convert_layout %[[X]] {how = #tile.conversion<registers>}
    %a = tile.convert_layout %x {how = #tile.conversion<registers>} : tensor<32x8xf32, #blocked> -> tensor<32x8xf32, #swapped>
    // CHECK-NEXT: tile.convert_layout %[[X]] {how = #tile.conversion<lanes>}
    %c = tile.convert_layout %x {how = #tile.conversion<lanes>} : tensor<32x8xf32, #blocked> -> tensor<32x8xf32, #turned>
    // Through memory: what follows one another is written first, then read. Memory has no bits.
    // CHECK-NEXT: %[[B0:.*]] = tile.alloc : !tile.buffer<32x8xf32, #[[ROWS:.*]]>
    // CHECK-NEXT: tile.write %[[X]], %[[B0]]
    // CHECK-NEXT: %[[B1:.*]] = tile.alloc : !tile.buffer<32x8xi8, #[[ROWS]]>
    // CHECK-NEXT: %[[BYTES:.*]] = arith.extui %[[M]]
    // CHECK-NEXT: tile.write %[[BYTES]], %[[B1]]
    // CHECK-NEXT: tile.read %[[B0]]
    // CHECK-NEXT: %[[BACK:.*]] = tile.read %[[B1]]
    // CHECK-NEXT: arith.trunci %[[BACK]]
    %d = tile.convert_layout %x {how = #tile.conversion<memory buffer = #rows>} : tensor<32x8xf32, #blocked> -> tensor<32x8xf32, #crossed>
    %e = tile.convert_layout %m {how = #tile.conversion<memory buffer = #rows>} : tensor<32x8xi1, #blocked> -> tensor<32x8xi1, #crossed>
    tile.return
  }
}

// -----

// A deferred conversion is written at once, and read in front of the product in the loop.
#loaded = #tile.layout<register = [[0,0,1],[0,0,2],[0,16,0],[0,32,0],[0,64,0]], lane = [[0,0,4],[0,0,8],[0,0,16],[0,0,32],[0,1,0]], warp = [[0,2,0],[0,4,0],[0,8,0]]>
#ofA = #tile.layout<register = [[0,16,0],[0,32,0],[0,64,0],[0,0,1],[0,0,2],[0,0,4],[0,0,8],[0,0,16],[0,0,32]], lane = [[0,0,0],[0,0,0],[0,0,0],[0,0,0],[0,1,0]], warp = [[0,2,0],[0,4,0],[0,8,0]]>
#a = #tile.layout<register = [[16,0],[32,0],[64,0],[0,1],[0,2],[0,4],[0,8],[0,16],[0,32]], lane = [[0,0],[0,0],[0,0],[0,0],[1,0]], warp = [[2,0],[4,0],[8,0]]>
#b = #tile.layout<register = [[0,1],[0,2],[1,0],[2,0],[4,0],[8,0],[16,0],[32,0]], lane = [[0,4],[0,8],[0,16],[0,32],[0,0]], warp = [[0,0],[0,0],[0,0]]>
#c = #tile.layout<register = [[0,1],[0,2],[16,0],[32,0],[64,0]], lane = [[0,4],[0,8],[0,16],[0,32],[1,0]], warp = [[2,0],[4,0],[8,0]]>
#order = #tile.layout<offset = [[0,0,1],[0,0,2],[0,0,4],[0,0,8],[0,0,16],[0,0,32],[0,1,0],[0,2,0],[0,4,0],[0,8,0],[0,16,0],[0,32,0],[0,64,0]]>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  // CHECK-LABEL: tile.kernel @later
  tile.kernel @later(%v: f32, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = tile.splat %v : tensor<128x64xf32, #c>
    %b = tile.splat %v : tensor<64x64xf32, #b>
    // CHECK: %[[X:.*]] = tile.splat %{{.*}} : tensor<1x128x64xf32
    %x = tile.splat %v : tensor<1x128x64xf32, #loaded>
    // CHECK-NEXT: %[[BUFFER:.*]] = tile.alloc
    // CHECK-NEXT: tile.write %[[X]], %[[BUFFER]]
    // CHECK-NEXT: scf.for
    %y = tile.convert_layout %x {deferred, how = #tile.conversion<memory buffer = #order>} : tensor<1x128x64xf32, #loaded> -> tensor<1x128x64xf32, #ofA>
    %a = tile.reshape %y : tensor<1x128x64xf32, #ofA> -> tensor<128x64xf32, #a>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> tensor<128x64xf32, #c> {
      // CHECK-NEXT: %[[READ:.*]] = tile.read %[[BUFFER]]
      // CHECK-NEXT: %[[A:.*]] = tile.reshape %[[READ]]
      // CHECK-NEXT: tile.dot %[[A]]
      %next = tile.dot %a, %b, %acc {atom = #tile.fma} : tensor<128x64xf32, #a>, tensor<64x64xf32, #b> -> tensor<128x64xf32, #c>
      scf.yield %next : tensor<128x64xf32, #c>
    }
    tile.return
  }
}
