// RUN: tile-opt %s --tile-decide-conversions --split-input-file | FileCheck %s

#blocked = #tile.layout<register = [[0,1],[0,2]], lane = [[0,4],[1,0],[2,0],[4,0],[8,0]], warp = [[16,0]]>
#swapped = #tile.layout<register = [[0,2],[0,1]], lane = [[0,4],[1,0],[2,0],[4,0],[8,0]], warp = [[16,0]]>
#turned = #tile.layout<register = [[0,1],[0,2]], lane = [[1,0],[0,4],[2,0],[4,0],[8,0]], warp = [[16,0]]>
#crossed = #tile.layout<register = [[0,1],[0,2]], lane = [[0,4],[1,0],[2,0],[4,0],[16,0]], warp = [[8,0]]>
#rows = #tile.layout<offset = [[0,1],[0,2],[0,4],[1,0],[2,0],[4,0],[8,0],[16,0]]>
// Rows of 64 halves loaded 16 bytes a lane, and the first operand of a matrix instruction.
#loaded = #tile.layout<register = [[0,1],[0,2],[0,4],[4,0],[8,0]], lane = [[0,8],[0,16],[0,32],[1,0],[2,0]], warp = []>
#operand = #tile.layout<register = [[0,1],[8,0],[0,8],[0,16],[0,32]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = []>

// The eight rows that are read together lie in different banks: row bits are added to column bits.
// CHECK: #[[SWIZZLE:.*]] = #tile.layout<offset = {{\[}}[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[1,32],[2,16],[4,8],[8,0]]>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  // CHECK-LABEL: tile.kernel @conversions
  tile.kernel @conversions(%v: f32, %h: f16) {
    %x = tile.splat %v : tensor<32x8xf32, #blocked>
    // CHECK: {how = #tile.conversion<registers>}
    %a = tile.convert_layout %x : tensor<32x8xf32, #blocked> -> tensor<32x8xf32, #swapped>
    // CHECK: {how = #tile.conversion<lanes>}
    %b = tile.convert_layout %x : tensor<32x8xf32, #blocked> -> tensor<32x8xf32, #turned>
    // CHECK: {how = #tile.conversion<memory buffer = #{{[a-z0-9]+}}>}
    %c = tile.convert_layout %x : tensor<32x8xf32, #blocked> -> tensor<32x8xf32, #crossed>
    // What is decided stays.
    // CHECK: {how = #tile.conversion<memory buffer = #{{[a-z0-9]+}}>}
    %d = tile.convert_layout %x {how = #tile.conversion<memory buffer = #rows>} : tensor<32x8xf32, #blocked> -> tensor<32x8xf32, #turned>
    // A copy atom reads the matrices; between lanes it would take more cycles.
    // CHECK: {how = #tile.conversion<memory buffer = #[[SWIZZLE]] read = #nvptx.ldmatrix<4, 16>>}
    %t = tile.splat %h : tensor<16x64xf16, #loaded>
    %o = tile.convert_layout %t : tensor<16x64xf16, #loaded> -> tensor<16x64xf16, #operand>
    tile.return
  }
}

// -----

// An operand of a product by multiply-adds, made before the loop: 512 registers of each thread are
// not held throughout, the read is deferred. Not where it has another use.
#loaded = #tile.layout<register = [[0,0,1],[0,0,2],[0,16,0],[0,32,0],[0,64,0]], lane = [[0,0,4],[0,0,8],[0,0,16],[0,0,32],[0,1,0]], warp = [[0,2,0],[0,4,0],[0,8,0]]>
#ofA = #tile.layout<register = [[0,16,0],[0,32,0],[0,64,0],[0,0,1],[0,0,2],[0,0,4],[0,0,8],[0,0,16],[0,0,32]], lane = [[0,0,0],[0,0,0],[0,0,0],[0,0,0],[0,1,0]], warp = [[0,2,0],[0,4,0],[0,8,0]]>
#a = #tile.layout<register = [[16,0],[32,0],[64,0],[0,1],[0,2],[0,4],[0,8],[0,16],[0,32]], lane = [[0,0],[0,0],[0,0],[0,0],[1,0]], warp = [[2,0],[4,0],[8,0]]>
#b = #tile.layout<register = [[0,1],[0,2],[1,0],[2,0],[4,0],[8,0],[16,0],[32,0]], lane = [[0,4],[0,8],[0,16],[0,32],[0,0]], warp = [[0,0],[0,0],[0,0]]>
#c = #tile.layout<register = [[0,1],[0,2],[16,0],[32,0],[64,0]], lane = [[0,4],[0,8],[0,16],[0,32],[1,0]], warp = [[2,0],[4,0],[8,0]]>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  // CHECK-LABEL: tile.kernel @later
  tile.kernel @later(%v: f32, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = tile.splat %v : tensor<128x64xf32, #c>
    %b = tile.splat %v : tensor<64x64xf32, #b>
    %x = tile.splat %v : tensor<1x128x64xf32, #loaded>
    // CHECK: tile.convert_layout {{.*}}deferred{{.*}}memory
    %y = tile.convert_layout %x : tensor<1x128x64xf32, #loaded> -> tensor<1x128x64xf32, #ofA>
    %a = tile.reshape %y : tensor<1x128x64xf32, #ofA> -> tensor<128x64xf32, #a>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> tensor<128x64xf32, #c> {
      %next = tile.dot %a, %b, %acc {atom = #tile.fma} : tensor<128x64xf32, #a>, tensor<64x64xf32, #b> -> tensor<128x64xf32, #c>
      scf.yield %next : tensor<128x64xf32, #c>
    }
    tile.return
  }

  // CHECK-LABEL: tile.kernel @at_once
  tile.kernel @at_once(%v: f32, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = tile.splat %v : tensor<128x64xf32, #c>
    %b = tile.splat %v : tensor<64x64xf32, #b>
    %x = tile.splat %v : tensor<1x128x64xf32, #loaded>
    // CHECK-NOT: deferred
    // CHECK: tile.convert_layout {{.*}}memory
    // CHECK-NOT: deferred
    %y = tile.convert_layout %x : tensor<1x128x64xf32, #loaded> -> tensor<1x128x64xf32, #ofA>
    %a = tile.reshape %y : tensor<1x128x64xf32, #ofA> -> tensor<128x64xf32, #a>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> tensor<128x64xf32, #c> {
      %next = tile.dot %a, %b, %acc {atom = #tile.fma} : tensor<128x64xf32, #a>, tensor<64x64xf32, #b> -> tensor<128x64xf32, #c>
      scf.yield %next : tensor<128x64xf32, #c>
    }
    %last = tile.dot %a, %b, %sum {atom = #tile.fma} : tensor<128x64xf32, #a>, tensor<64x64xf32, #b> -> tensor<128x64xf32, #c>
    tile.return
  }
}
