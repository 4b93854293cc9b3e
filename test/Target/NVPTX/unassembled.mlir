// What was proposed for a kernel and no assembler takes is passed over, in silence; where it takes
// none of them, its error for the first is told.
// RUN: env KILN_ASSEMBLER=%S/Inputs/no-groups-ptxas.sh KILN_REAL_PTXAS=%ptxas \
// RUN:   tile-compile %s --target nvptx:sm_90a --emit binary -o %t.cubin 2>&1 | count 0
// RUN: env KILN_ASSEMBLER=%S/Inputs/no-groups-ptxas.sh KILN_REAL_PTXAS=%ptxas \
// RUN:   tile-compile %s --target nvptx:sm_90a --emit asm | FileCheck %s
// RUN: env KILN_ASSEMBLER=%S/Inputs/no-groups-ptxas.sh KILN_REAL_PTXAS=%ptxas KILN_NO_WARPS=1 \
// RUN:   not tile-compile %s --target nvptx:sm_90a --emit binary -o %t.cubin 2>&1 \
// RUN:   | FileCheck %s --check-prefix NONE

// CHECK-NOT: wgmma
// CHECK: mma.sync
// NONE: error: the assembler of nvptx:sm_90a failed{{.*}}no products of groups
// NONE-NOT: error
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
  %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<64x64xf32> {
    %x = tile.load %a[%c0, %kk] : !tile.view<?x?xbf16, strides [?, 1]> -> tensor<64x64xbf16>
    %d = tile.dot %x, %x, %s transpose_b
       : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %sum, %c[%c0, %c0] : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}
