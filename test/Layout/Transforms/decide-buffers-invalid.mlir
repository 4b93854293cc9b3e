// Tiles that an engine cannot move as they are asked for.
// RUN: tile-opt %s --tile-decide-layouts --tile-decide-buffers --split-input-file --verify-diagnostics

!view = !tile.view<?x?xf8E4M3FN>
#mma = #nvptx.wgmma<"m64n64k32", f8E4M3FN, f32>
#facts = #tile.facts<pointer = 16, strides = [16, 1]>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// f8 products read both operands along k.
tile.kernel @along(%a: !view {tile.facts = #facts}, %b: !view {tile.facts = #facts})
    attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.load %a[%c0, %c0] {atom = #nvptx.tma, role = "load", depth = 1} : !view -> tensor<64x64xf8E4M3FN>
  // expected-error @+1 {{expected a tile that "tma" can bring as #nvptx.wgmma<"m64n64k32", f8E4M3FN, f32> reads operand b, got 'tensor<64x64xf8E4M3FN>'}}
  %y = tile.load %b[%c0, %c0] {atom = #nvptx.tma, role = "load", depth = 1} : !view -> tensor<64x64xf8E4M3FN>
  %s = tile.dot %x, %y, %zero {atom = #mma, role = "mma", in_flight = 0}
     : tensor<64x64xf8E4M3FN>, tensor<64x64xf8E4M3FN> -> tensor<64x64xf32>
  tile.return
}
}

// -----

!view = !tile.view<?x?xbf16>
#facts = #tile.facts<pointer = 16, strides = [16, 1], extents = [0, 8]>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// Rows of eight bytes are shorter than what the engine moves.
tile.kernel @short(%a: !view {tile.facts = #facts}) attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %w = arith.constant dense<1.0> : tensor<64x4xbf16>
  // expected-error @+1 {{expected a tile that #nvptx.tma can store, of rows that are multiples of 16 bytes, got 'tensor<64x4xbf16>'}}
  tile.store %w, %a[%c0, %c0] {atom = #nvptx.tma, role = "all", in_flight = 0} : tensor<64x4xbf16>, !view
  tile.return
}
}
