// ptxas drops the constant of a packed add of which one half is used (it did so to the quotients of
// this kernel's odd rows), so no packed add is left.
// RUN: tile-compile %s --target nvptx:sm_90a --emit asm | FileCheck %s

// CHECK-NOT: add.{{[su]}}16x2
// CHECK: { .reg .b16 %al, %ah, %bl, %bh; mov.b32 {%al, %ah}, [[A:%r[0-9]+]]; mov.b32 {%bl, %bh}, [[B:%r[0-9]+]]; add.s16 %al, %al, %bl; add.s16 %ah, %ah, %bh; mov.b32 %r{{[0-9]+}}, {%al, %ah}; }
// CHECK-NOT: add.{{[su]}}16x2
tile.kernel @divide(%x: !tile.view<?x?xi16>, %y: !tile.view<?x?xi16>, %z: !tile.view<?x?xi16>) grid {
  %one = arith.constant 1 : index
  tile.grid %one
} {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0, %c0] : !tile.view<?x?xi16> -> tensor<5x37xi16>
  %b = tile.load %y[%c0, %c0] : !tile.view<?x?xi16> -> tensor<5x37xi16>
  %r = arith.ceildivui %a, %b : tensor<5x37xi16>
  tile.store %r, %z[%c0, %c0] : tensor<5x37xi16>, !tile.view<?x?xi16>
  tile.return
}
