// Inline assembly: one text for each group of elements, each operand in the register that its
// constraint names, two halves packed into one of 32 bits.
// RUN: tile-compile %s --target nvptx:sm_80 --emit asm -o %t.ptx
// RUN: FileCheck %s --input-file %t.ptx
// RUN: %ptxas -arch=sm_80 %t.ptx -o %t.cubin

// CHECK: ex2.approx.ftz.f32 %r{{[0-9]+}}, %r{{[0-9]+}};
// CHECK: add.rn.f16x2 %r{{[0-9]+}}, %r
tile.kernel @foreign(%x: !tile.view<?xf32>,
                     %h: !tile.view<?xf16> {tile.facts = #tile.facts<pointer = 16, extents = [16]>}) grid {
  %one = arith.constant 1 : index
  tile.grid %one
} {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<?xf32> -> tensor<64xf32>
  %e = tile.inline_asm "ex2.approx.ftz.f32 $0, $1;" "=f,f" pure (%a)
     : (tensor<64xf32>) -> tensor<64xf32>
  tile.store %e, %x[%c0] : tensor<64xf32>, !tile.view<?xf32>
  %b = tile.load %h[%c0] : !tile.view<?xf16> -> tensor<1024xf16>
  %d = tile.inline_asm "add.rn.f16x2 $0, $1, $1;" "=r,r" pack = 2 pure (%b)
     : (tensor<1024xf16>) -> tensor<1024xf16>
  tile.store %d, %h[%c0] : tensor<1024xf16>, !tile.view<?xf16>
  tile.return
}
