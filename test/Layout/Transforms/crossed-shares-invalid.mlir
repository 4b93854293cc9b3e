// Of what a role brings through registers its copies each write a part, and each copy of another role
// reads one: of rows and of columns at once no order has both in one piece.
// RUN: tile-opt %s --tile-pipeline=stop-after=layout -split-input-file -verify-diagnostics

!view = !tile.view<?x?xbf16>
#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>
#roles = [#tile.role<"load", warps = 2, copies = 2>, #tile.role<"mma", warps = 1, copies = 4>]
module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
tile.kernel @crossed(%a: !view {tile.facts = #facts}, %b: !view {tile.facts = #facts}, %c: !tile.view<?x?xf32>)
    attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %k = tile.dim %a, 0 : !view
  %zero = arith.constant dense<0.0> : tensor<96x64xf32>
  %two = arith.constant dense<2.0> : tensor<16x96xbf16>
  %sum = scf.for %kk = %c0 to %k step %c16 iter_args(%s = %zero) -> tensor<96x64xf32> {
    // expected-error@+1 {{expected a tile that "through_registers" can bring, got 'tensor<16x128xbf16>'}}
    %x = tile.load %a[%kk, %c0] {role = "load", tile.atom = "through_registers"} : !view -> tensor<16x96xbf16>
    %y = tile.load %b[%c0, %kk] {role = "load", tile.atom = "through_registers"} : !view -> tensor<64x16xbf16>
    // expected-note@+1 {{each of 4 copies ('copies') reads 16x32 of it, and each of 2 writes 8x128, for which no order has these parts each in one piece: have one copy write it, or one read it}}
    %z = arith.mulf %x, %two : tensor<16x96xbf16>
    %d = tile.dot %z, %y, %s transpose_a transpose_b {role = "mma", tile.atom = "matrix"}
       : tensor<16x96xbf16>, tensor<64x16xbf16> -> tensor<96x64xf32>
    scf.yield %d : tensor<96x64xf32>
  } {tile.depth = 2 : i64}
  tile.store %sum, %c[%c0, %c0] {role = "mma"} : tensor<96x64xf32>, !tile.view<?x?xf32>
  tile.return
}
}
