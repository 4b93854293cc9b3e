// Floats to i1, clamped. LLVM's own conversion compares the float's bits with 0.
// RUN: tile-compile %s --kernel signed --target nvptx:sm_90a --emit asm | FileCheck %s --check-prefix=SIGNED
// RUN: tile-compile %s --kernel unsigned --target nvptx:sm_90a --emit asm | FileCheck %s --check-prefix=UNSIGNED

// SIGNED-NOT: setp.eq.b32
// SIGNED: cvt.rzi.s16.f32
// SIGNED-NOT: setp.eq.b32
// UNSIGNED-NOT: setp.eq.b32
// UNSIGNED: cvt.rzi.u16.f32
// UNSIGNED-NOT: setp.eq.b32
tile.kernel @signed(%x: !tile.view<?xf32>, %y: !tile.view<?xi8>) grid {
  %one = arith.constant 1 : index
  tile.grid %one
} {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<?xf32> -> tensor<32xf32>
  %i = arith.fptosi %a : tensor<32xf32> to tensor<32xi1>
  %r = arith.extui %i : tensor<32xi1> to tensor<32xi8>
  tile.store %r, %y[%c0] : tensor<32xi8>, !tile.view<?xi8>
  tile.return
}
tile.kernel @unsigned(%x: !tile.view<?xf32>, %y: !tile.view<?xi8>) grid {
  %one = arith.constant 1 : index
  tile.grid %one
} {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<?xf32> -> tensor<32xf32>
  %i = arith.fptoui %a : tensor<32xf32> to tensor<32xi1>
  %r = arith.extui %i : tensor<32xi1> to tensor<32xi8>
  tile.store %r, %y[%c0] : tensor<32xi8>, !tile.view<?xi8>
  tile.return
}
