// Buffers that an author has laid out as those who fill or read them cannot have it.
// RUN: tile-opt %s --tile-decide-layouts --tile-decide-buffers --split-input-file --verify-diagnostics

!view = !tile.view<?x?xbf16>
#facts = #tile.facts<pointer = 16, strides = [16, 2]>
#mma = #nvptx.wgmma<"m64n64k16", bf16, f32>
#wide = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[1,8],[2,16],[4,32],[8,0],[16,0],[32,0]]>
#columns = #tile.layout<offset = [[1,0],[2,0],[4,0],[8,0],[16,0],[32,0],[0,1],[0,2],[0,4],[0,8],[0,16],[0,32]]>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @product(%a: !view {tile.facts = #facts}, %b: !view {tile.facts = #facts})
    attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  // A row after another, whose pieces no permutation keeps apart.
  // expected-error @+1 {{expected 'buffer' to lie as #nvptx.wgmma<"m64n64k16", bf16, f32> reads operand a, got '!tile.buffer<64x64xbf16>'}}
  %x = tile.load %a[%c0, %c0] {atom = #nvptx.tma, buffer = !tile.buffer<64x64xbf16>, role = "load", depth = 1} : !view -> tensor<64x64xbf16>
  // As the pass would have it.
  %y = tile.load %b[%c0, %c0] {atom = #nvptx.tma, buffer = !tile.buffer<64x64xbf16, #wide>, role = "load", depth = 1} : !view -> tensor<64x64xbf16>
  // expected-error @+1 {{expected 'buffer' to lie as #nvptx.tma fills it, got '!tile.buffer<64x64xbf16, #tile.layout<}}
  %z = tile.load %b[%c0, %c0] {atom = #nvptx.tma, buffer = !tile.buffer<64x64xbf16, #columns>, role = "load", depth = 1} : !view -> tensor<64x64xbf16>
  // expected-note @+1 {{the product, which reads '!tile.buffer<64x64xbf16, #tile.layout<offset = }}
  %s = tile.dot %x, %y, %zero {atom = #mma, role = "mma", in_flight = 0}
     : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
  tile.store %z, %a[%c0, %c0] {role = "mma"} : tensor<64x64xbf16>, !view
  tile.return
}
}

// -----

!view = !tile.view<?x?xbf16>
#facts = #tile.facts<pointer = 16, strides = [16, 2]>
#mma = #nvptx.tcgen05<"m128n64k16", bf16, f32>
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
tile.kernel @tensor(%a: !view {tile.facts = #facts}, %b: !view {tile.facts = #facts})
    attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %x = tile.load %a[%c0, %c0] {atom = #nvptx.tma, role = "load", depth = 1} : !view -> tensor<128x64xbf16>
  // expected-error @+1 {{expected 'buffer' to lie as #nvptx.tcgen05<"m128n64k16", bf16, f32> reads operand b, got '!tile.buffer<64x64xbf16>'}}
  %y = tile.load %b[%c0, %c0] {atom = #nvptx.tma, buffer = !tile.buffer<64x64xbf16>, role = "load", depth = 1} : !view -> tensor<64x64xbf16>
  // expected-note @+1 {{the product, which reads '!tile.buffer<64x64xbf16, #tile.layout<offset = }}
  %s = tile.dot %x, %y, %zero {atom = #mma, role = "mma", in_flight = 0}
     : tensor<128x64xbf16>, tensor<64x64xbf16> -> tensor<128x64xf32>
  tile.return
}
}

// -----

!view = !tile.view<?x?xbf16>
#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [0, 8]>
#columns = #tile.layout<offset = [[1,0],[2,0],[4,0],[8,0],[16,0],[32,0],[0,1],[0,2],[0,4],[0,8],[0,16],[0,32]]>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// A store's boxes.
tile.kernel @boxes(%a: !view {tile.facts = #facts}) attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %w = arith.constant dense<1.0> : tensor<64x64xbf16>
  // expected-error @+1 {{expected 'buffer' to lie as #nvptx.tma empties it, got '!tile.buffer<64x64xbf16, #tile.layout<}}
  tile.store %w, %a[%c0, %c0] {atom = #nvptx.tma, buffer = !tile.buffer<64x64xbf16, #columns>, role = "all", in_flight = 0} : tensor<64x64xbf16>, !view
  // expected-error @+1 {{expected 'buffer' to lie as #nvptx.tma empties it, got '!tile.buffer<64x4xbf16>'}}
  tile.store %w, %a[%c0, %c0] {atom = #nvptx.tma, buffer = !tile.buffer<64x4xbf16>, role = "all", in_flight = 0} : tensor<64x64xbf16>, !view
  tile.return
}
}

// -----

!view = !tile.view<?x?xbf16>
#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [0, 8], index32>
#halves = #tile.layout<offset = [[0,1],[0,2],[0,8],[0,4],[0,16],[0,32],[1,0],[2,0],[4,0],[8,0],[16,0],[32,0]]>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
// What a lane copies lies together; and what reads a buffer can read what lies so.
tile.kernel @pieces(%a: !view {tile.facts = #facts}) attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{expected 'buffer' to lie as #nvptx.cp_async<16> fills it, got '!tile.buffer<64x64xbf16, #tile.layout<}}
  %x = tile.load %a[%c0, %c0] {atom = #nvptx.cp_async<16>, buffer = !tile.buffer<64x64xbf16, #halves>, role = "all"} : !view -> tensor<64x64xbf16>
  %y = tile.load %a[%c0, %c0] {atom = #nvptx.cp_async<8>, buffer = !tile.buffer<64x64xbf16, #halves>, role = "all"} : !view -> tensor<64x64xbf16>
  // expected-error @+1 {{expected 'read_atom' to be an instruction that reads 'tensor<64x64xbf16>' from a buffer that it has}}
  %z = tile.load %a[%c0, %c0] {atom = #nvptx.cp_async<16>, read_atom = #nvptx.ldmatrix<4, 16>, role = "all"} : !view -> tensor<64x64xbf16>
  // expected-error @+1 {{expected 'read_atom' to be an instruction that reads 'tensor<64x64xbf16>' from a buffer that it has}}
  %u = tile.load %a[%c0, %c0] {atom = #nvptx.cp_async<16>, read_atom = #nvptx.ldmatrix<4, 16>, buffer = !tile.buffer<64x64xbf16>, role = "all"} : !view -> tensor<64x64xbf16>
  tile.store %x, %a[%c0, %c0] {role = "all"} : tensor<64x64xbf16>, !view
  tile.store %y, %a[%c0, %c0] {role = "all"} : tensor<64x64xbf16>, !view
  tile.store %z, %a[%c0, %c0] {role = "all"} : tensor<64x64xbf16>, !view
  tile.store %u, %a[%c0, %c0] {role = "all"} : tensor<64x64xbf16>, !view
  tile.return
}
}

// -----

!view = !tile.view<?x?xbf16>
#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [0, 8], index32>
#columns = #tile.layout<offset = [[1,0],[2,0],[4,0],[8,0],[16,0],[32,0],[0,1],[0,2],[0,4],[0,8],[0,16],[0,32]]>
module attributes {tile.target = #amdgcn.target<chip = "gfx950">} {
tile.kernel @lds(%a: !view {tile.facts = #facts}) attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{expected 'buffer' to lie as #amdgcn.load_to_lds<"gfx950", 16> fills it, got '!tile.buffer<64x64xbf16, #tile.layout<}}
  %x = tile.load %a[%c0, %c0] {atom = #amdgcn.load_to_lds<"gfx950", 16>, buffer = !tile.buffer<64x64xbf16, #columns>, role = "all"} : !view -> tensor<64x64xbf16>
  tile.store %x, %a[%c0, %c0] {role = "all"} : tensor<64x64xbf16>, !view
  tile.return
}
}
