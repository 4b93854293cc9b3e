// How tiles that copy atoms move lie in shared memory.
// RUN: tile-opt %s --tile-decide-layouts --tile-decide-buffers --split-input-file | FileCheck %s

// Products in flight read rows of 128 bytes whose pieces are permuted; rows of 64 bytes where k is
// shorter. Stores go by boxes of 64 columns and the rows of one copy.
// CHECK-DAG: #[[WIDE:.*]] = #tile.layout<offset = {{\[}}[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[1,8],[2,16],[4,32],[8,0],[16,0],[32,0],[64,0]]>
// CHECK-DAG: #[[NARROW:.*]] = #tile.layout<offset = {{\[}}[0,1],[0,2],[0,4],[0,8],[0,16],[1,0],[2,8],[4,16],[8,0],[16,0],[32,0]]>
// CHECK-DAG: #[[BOX:.*]] = #tile.layout<offset = {{\[}}[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[1,8],[2,16],[4,32],[8,0],[16,0],[32,0]]>
// CHECK-LABEL: tile.kernel @product
// CHECK: tile.load %a{{.*}} buffer = !tile.buffer<128x64xbf16, #[[WIDE]]>
// CHECK: tile.load %b{{.*}} buffer = !tile.buffer<64x64xbf16, #[[BOX]]>
// CHECK: tile.load %d{{.*}} buffer = !tile.buffer<64x32xbf16, #[[NARROW]]>
// CHECK: tile.store {{.*}} buffer = !tile.buffer<64x64xbf16, #[[BOX]]>
!view = !tile.view<?x?xbf16>
#mma = #nvptx.wgmma<"m64n64k16", bf16, f32>
#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [0, 8]>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @product(%a: !view {tile.facts = #facts}, %b: !view {tile.facts = #facts},
                     %d: !view {tile.facts = #facts}, %c: !view {tile.facts = #facts})
    attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4, copies = 2>]} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %zero2 = arith.constant dense<0.0> : tensor<128x32xf32>
  %x = tile.load %a[%c0, %c0] {atom = #nvptx.tma, role = "load", depth = 1} : !view -> tensor<128x64xbf16>
  %y = tile.load %b[%c0, %c0] {atom = #nvptx.tma, role = "load", depth = 1} : !view -> tensor<64x64xbf16>
  %z = tile.load %d[%c0, %c0] {atom = #nvptx.tma, role = "load", depth = 1} : !view -> tensor<64x32xbf16>
  %s = tile.dot %x, %y, %zero transpose_b {atom = #mma, role = "mma", in_flight = 0}
     : tensor<128x64xbf16>, tensor<64x64xbf16> -> tensor<128x64xf32>
  %w = arith.truncf %s : tensor<128x64xf32> to tensor<128x64xbf16>
  %t = tile.dot %w, %z, %zero2 {atom = #nvptx.wgmma<"m64n32k16", bf16, f32>, role = "mma", in_flight = 0}
     : tensor<128x64xbf16>, tensor<64x32xbf16> -> tensor<128x32xf32>
  tile.store %w, %c[%c0, %c0] {atom = #nvptx.tma, role = "mma", in_flight = 0} : tensor<128x64xbf16>, !view
  tile.return
}
}

// -----

// What a role reads into registers lies so that this takes the fewest cycles: by ldmatrix, whose
// eight rows reach all banks. A pinned buffer stays, and its read is what the author says.
// CHECK-DAG: #[[ROWS:.*]] = #tile.layout<offset = {{\[}}[0,1],[0,2],[0,4],[0,8],[0,16],[1,0],[2,8],[4,16],[8,0],[16,0]]>
// CHECK-LABEL: tile.kernel @registers
// CHECK: tile.load %a{{.*}} buffer = !tile.buffer<32x32xbf16, #[[ROWS]]>, {{.*}}read_atom = #nvptx.ldmatrix<4, 16>
// CHECK: tile.load %b{{.*}}<16>, buffer = !tile.buffer<32x32xbf16>, role
!view = !tile.view<?x?xbf16, strides [?, 1]>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
tile.kernel @registers(%a: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2]>},
                       %b: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2]>},
                       %k: index) attributes {tile.roles = [#tile.role<"all", warps = 1>]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%s = %zero) -> tensor<32x32xf32> {
    %x = tile.load %a[%c0, %i] {atom = #nvptx.cp_async<16>, stage = 0, role = "all"} : !view -> tensor<32x32xbf16>
    %y = tile.load %b[%c0, %i] {atom = #nvptx.cp_async<16>, buffer = !tile.buffer<32x32xbf16>, stage = 0, role = "all"}
       : !view -> tensor<32x32xbf16>
    %d = tile.dot %x, %y, %s transpose_b {atom = #nvptx.mma_sync<"m16n8k16", bf16, f32>, stage = 1, role = "all"}
       : tensor<32x32xbf16>, tensor<32x32xbf16> -> tensor<32x32xf32>
    scf.yield %d : tensor<32x32xf32>
  } {tile.depth = 2}
  tile.return
}
}

// -----

// Copies of a role find their rows, or columns, in one piece though a row of the tile is several of
// the engine's: each copy's share lies as a whole tile of that size would. The store takes boxes of
// what one copy has.
// CHECK-DAG: #[[ROWS:.*]] = #tile.layout<offset = {{\[}}[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[1,8],[2,16],[4,32],[8,0],[16,0],[32,0],[0,64],[64,0]]>
// CHECK-LABEL: tile.kernel @shares
// CHECK: tile.load %a{{.*}} buffer = !tile.buffer<128x128xbf16, #[[ROWS]]>
// CHECK: tile.load %b{{.*}} buffer = !tile.buffer<64x128xbf16
// CHECK: tile.store %{{.*}}, %c{{.*}} buffer = !tile.buffer<64x64xbf16
// CHECK: tile.store %{{.*}}, %d{{.*}} buffer = !tile.buffer<64x32xbf16
!view = !tile.view<?x?xbf16>
#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [0, 8]>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @shares(%a: !view {tile.facts = #facts}, %b: !view {tile.facts = #facts},
                    %c: !view {tile.facts = #facts}, %d: !view {tile.facts = #facts})
    attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4, copies = 2>]} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %zero2 = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.load %a[%c0, %c0] {atom = #nvptx.tma, role = "load", depth = 1} : !view -> tensor<128x128xbf16>
  %y = tile.load %b[%c0, %c0] {atom = #nvptx.tma, role = "load", depth = 1} : !view -> tensor<64x128xbf16>
  %s = tile.dot %x, %y, %zero transpose_b {atom = #nvptx.wgmma<"m64n64k16", bf16, f32>, role = "mma", in_flight = 0}
     : tensor<128x128xbf16>, tensor<64x128xbf16> -> tensor<128x64xf32>
  %z = tile.load %b[%c0, %c0] {atom = #nvptx.tma, role = "load", depth = 1} : !view -> tensor<64x128xbf16>
  %t = tile.dot %y, %z, %zero2 transpose_b {atom = #nvptx.wgmma<"m64n32k16", bf16, f32>, role = "mma", in_flight = 0}
     : tensor<64x128xbf16>, tensor<64x128xbf16> -> tensor<64x64xf32>
  %v = arith.truncf %s : tensor<128x64xf32> to tensor<128x64xbf16>
  %w = arith.truncf %t : tensor<64x64xf32> to tensor<64x64xbf16>
  tile.store %v, %c[%c0, %c0] {atom = #nvptx.tma, role = "mma", in_flight = 0} : tensor<128x64xbf16>, !view
  tile.store %w, %d[%c0, %c0] {atom = #nvptx.tma, role = "mma", in_flight = 0} : tensor<64x64xbf16>, !view
  tile.return
}
}
