// A remainder of bf16 is computed in f32: a fence keeps LLVM from narrowing it again.
// RUN: tile-compile %s --target amdgpu:gfx942 --emit llvmir | FileCheck %s
// RUN: tile-compile %s --target amdgpu:gfx1201 -o %t.artifact

// CHECK: %[[REST:.*]] = frem <{{.*}} x float>
// CHECK: %[[FENCED:.*]] = {{.*}}call <{{.*}} x float> @llvm.arithmetic.fence.{{.*}} %[[REST]])
// CHECK: fptrunc <{{.*}} x float> %[[FENCED]] to <{{.*}} x bfloat>
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
