// A remainder is a function of Kiln's own: that of bf16 is one of f32.
// RUN: tile-compile %s --target amdgpu:gfx942 --emit llvmir | FileCheck %s
// RUN: tile-compile %s --target amdgpu:gfx1201 -o %t.artifact

// CHECK-NOT: frem
// CHECK: urem i32
// CHECK-NOT: frem
tile.kernel @remainder(%x: !tile.view<?xbf16>, %y: !tile.view<?xbf16>) grid {
  %one = arith.constant 1 : index
  tile.grid %one
} {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<?xbf16> -> tensor<256xbf16>
  %b = tile.load %y[%c0] : !tile.view<?xbf16> -> tensor<256xbf16>
  %r = arith.remf %a, %b : tensor<256xbf16>
  tile.store %r, %x[%c0] : tensor<256xbf16>, !tile.view<?xbf16>
  tile.return
}
