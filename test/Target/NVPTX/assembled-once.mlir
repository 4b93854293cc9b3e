// Where the registers do not suffice, further proposals are tried. One that becomes the program that
// was assembled before is not assembled again: here trips overlap or not, which is the same for a sum
// that goes on from trip to trip.
// RUN: rm -f %t
// RUN: env KILN_ASSEMBLER=%S/Inputs/spilling-ptxas.sh KILN_REAL_PTXAS=%ptxas KILN_CALLS=%t \
// RUN:   tile-compile %s --target nvptx:sm_90a --emit binary -o %t.cubin
// RUN: count 2 < %t
#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>
tile.kernel @product(%a: !tile.view<?x?xbf16, strides [?, 1]> {tile.facts = #facts},
                     %c: !tile.view<?x?xf32>) grid {
  %one = arith.constant 1 : index
  tile.grid %one
} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %k = tile.dim %a, 1 : !tile.view<?x?xbf16, strides [?, 1]>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  // Held in registers beside the sum.
  %z = tile.load %c[%c0, %c64] : !tile.view<?x?xf32> -> tensor<64x64xf32>
  %e = math.exp %z : tensor<64x64xf32>
  %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<64x64xf32> {
    %x = tile.load %a[%c0, %kk] : !tile.view<?x?xbf16, strides [?, 1]> -> tensor<64x64xbf16>
    %d = tile.dot %x, %x, %s transpose_b
       : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %t = arith.divf %sum, %e : tensor<64x64xf32>
  tile.store %t, %c[%c0, %c0] : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}
