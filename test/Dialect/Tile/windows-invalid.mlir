// RUN: tile-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{expected a window of 2 extents of a buffer with as many and a layout, got 2 and no layout}}
func.func private @f(!tile.buffer<4x2xf32 of 4x4>)

// -----

#l = #tile.layout<offset = [[1],[2]]>
// expected-error @below {{expected a window of 2 extents of a buffer with as many and a layout, got 1}}
func.func private @f(!tile.buffer<4x2xf32 of 4, #l>)

// -----

#swizzled = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[1,8],[2,16],[4,32],[8,0],[16,0],[32,0]]>
tile.kernel @no_dot_reads_it(%k: index) {
  %c0 = arith.constant 0 : index
  %x = tile.alloc : !tile.buffer<64x64xf16, #swizzled>
  %w = tile.part %x[%c0, %k] : !tile.buffer<64x64xf16, #swizzled> -> !tile.buffer<64x32xf16 of 64x64, #swizzled>
  // expected-error @+1 {{'tile.read' op operand #0 must be buffer that is no window, but got '!tile.buffer<64x32xf16 of 64x64}}
  %t = tile.read %w : !tile.buffer<64x32xf16 of 64x64, #swizzled> -> tensor<64x32xf16>
  tile.return
}

// -----

#swizzled = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[1,8],[2,16],[4,32],[8,0],[16,0],[32,0]]>
tile.kernel @of_a_window(%k: index) {
  %c0 = arith.constant 0 : index
  %x = tile.alloc : !tile.buffer<64x64xf16, #swizzled>
  %w = tile.part %x[%c0, %k] : !tile.buffer<64x64xf16, #swizzled> -> !tile.buffer<64x32xf16 of 64x64, #swizzled>
  // expected-error @+1 {{'tile.part' op operand #0 must be}}
  %v = tile.part %w[%c0, %k] : !tile.buffer<64x32xf16 of 64x64, #swizzled> -> !tile.buffer<64x16xf16 of 64x64, #swizzled>
  tile.return
}

// -----

// What permutes a row's pieces is that row's number: of four rows nobody knows which they are.
#swizzled = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[1,8],[2,16],[4,32],[8,0],[16,0],[32,0]]>
tile.kernel @few_rows(%k: index) {
  %c0 = arith.constant 0 : index
  %x = tile.alloc : !tile.buffer<64x64xf16, #swizzled>
  // expected-error @+1 {{expected a part whose place does not permute what is in it}}
  %w = tile.part %x[%k, %c0] : !tile.buffer<64x64xf16, #swizzled> -> !tile.buffer<4x64xf16 of 64x64, #swizzled>
  tile.return
}

// -----

// 96 columns are a piece and a half: where the second 96 begin, pieces are another way apart.
#swizzled = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[1,8],[2,16],[4,32],[8,0],[0,64],[0,128]]>
tile.kernel @odd_columns(%k: index) {
  %c0 = arith.constant 0 : index
  %x = tile.alloc : !tile.buffer<16x192xf16, #swizzled>
  // expected-error @+1 {{expected a part whose place does not permute what is in it}}
  %w = tile.part %x[%c0, %k] : !tile.buffer<16x192xf16, #swizzled> -> !tile.buffer<16x96xf16 of 16x192, #swizzled>
  tile.return
}
