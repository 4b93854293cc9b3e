// RUN: tile-compile %s --target emu:sm_89 --emit asm | FileCheck %s
// A streaming access is one like any other here: the host may have none for the type.

// CHECK: kiln_emulated_kernel:
tile.kernel @k(%x: !tile.view<32x?xbf16>, %y: !tile.view<?x2xbf16>,
               %z: !tile.view<?x?xf16>, %w: !tile.view<?x?xf16>) grid {
  %n = arith.constant 2 : index
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %i = tile.program_id x
  %s = tile.load %x[%i, %i] cache = streaming : !tile.view<32x?xbf16> -> tensor<8x2xbf16>
  %t = tile.load %z[%c0, %c3] cache = bypass : !tile.view<?x?xf16> -> tensor<4x2xf16>
  tile.store %s, %y[%i, %c0] : tensor<8x2xbf16>, !tile.view<?x2xbf16>
  tile.store %t, %w[%i, %c0] : tensor<4x2xf16>, !tile.view<?x?xf16>
  tile.return
}
