// A mask of random words, four of them to a counter, follows the loads: a thread makes the words of
// its own elements, so that accesses have sixteen bytes and nothing goes through shared memory.
// RUN: tile-compile %s --target nvptx:sm_90a --emit asm -o %t.ptx
// RUN: FileCheck %s --input-file %t.ptx --implicit-check-not=shared --implicit-check-not=bar.sync --implicit-check-not=shfl
// RUN: %ptxas -arch=sm_90a %t.ptx -o %t.cubin
// RUN: tile-compile %s --target nvptx:sm_90a --emit layout | FileCheck %s --check-prefix=LAYOUT

// CHECK: .reqntid 128
// Eight elements a thread, of two counters: ten rounds of two wide products.
// CHECK-COUNT-1: ld.global.v4.b32
// CHECK-COUNT-1: st.global.v4.b32

// LAYOUT: tile.join
// LAYOUT-NOT: tile.{{convert_layout|alloc}}
// LAYOUT: tile.return
#facts = #tile.facts<pointer = 16, strides = [2], extents = [16], noalias>
tile.kernel @dropout(%x: !tile.view<?xbf16> {tile.facts = #facts}, %y: !tile.view<?xbf16> {tile.facts = #facts},
                     %seed: i64, %limit: i32) attributes {tile.warps = 4 : i64} {
  %zero = arith.constant 0 : index
  %c0 = arith.constant 0 : i32
  %counter = tile.iota 0 : tensor<256xi32>
  %w:4 = tile.philox %seed, %c0, %counter : tensor<256xi32>
  %even = tile.join %w#0, %w#2 : tensor<256xi32> -> tensor<256x2xi32>
  %odd = tile.join %w#1, %w#3 : tensor<256xi32> -> tensor<256x2xi32>
  %all = tile.join %even, %odd : tensor<256x2xi32> -> tensor<256x2x2xi32>
  %bits = tile.reshape %all : tensor<256x2x2xi32> -> tensor<1024xi32>
  %limits = tile.splat %limit : tensor<1024xi32>
  %kept = arith.cmpi ult, %bits, %limits : tensor<1024xi32>
  %t = tile.load %x[%zero] : !tile.view<?xbf16> -> tensor<1024xbf16>
  %nothing = arith.constant dense<0.0> : tensor<1024xbf16>
  %d = arith.select %kept, %t, %nothing : tensor<1024xi1>, tensor<1024xbf16>
  tile.store %d, %y[%zero] : tensor<1024xbf16>, !tile.view<?xbf16>
  tile.return
}
