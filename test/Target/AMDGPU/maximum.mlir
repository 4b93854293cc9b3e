// The greater of two bf16 of which neither is NaN: LLVM has no instruction for its own expansion of
// it, so that it goes by maxnum, or, where zeros have signs, NaN is allowed for.
// RUN: tile-compile %s --target amdgpu:gfx90a --emit llvmir | FileCheck %s
// RUN: tile-compile %s --target amdgpu:gfx90a --emit asm | FileCheck %s --check-prefix=ASM
// RUN: tile-compile %s --target amdgpu:gfx950 -o %t.artifact
// RUN: tile-compile %s --target amdgpu:gfx1100 -o %t.artifact
// RUN: tile-compile %s --target amdgpu:gfx1201 -o %t.artifact

// CHECK: call fast {{.*}} @llvm.maxnum.{{.*}}bf16
// CHECK: call {{.*}} @llvm.minimum.{{.*}}bf16
// CHECK: call nnan nsz {{.*}} @llvm.maximum.{{.*}}f32
// ASM: v_max_f32
tile.kernel @maximum(%x: !tile.view<?xbf16>, %y: !tile.view<?xbf16>, %z: !tile.view<?xf32>) grid {
  %one = arith.constant 1 : index
  tile.grid %one
} {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<?xbf16> -> tensor<1xbf16>
  %b = tile.load %y[%c0] : !tile.view<?xbf16> -> tensor<1xbf16>
  %c = tile.load %z[%c0] : !tile.view<?xf32> -> tensor<1xf32>
  %r = arith.maximumf %a, %b fastmath<fast> : tensor<1xbf16>
  %s = arith.minimumf %r, %b fastmath<nnan> : tensor<1xbf16>
  %t = arith.extf %s : tensor<1xbf16> to tensor<1xf32>
  %u = arith.maximumf %t, %c fastmath<nnan,nsz> : tensor<1xf32>
  tile.store %u, %z[%c0] : tensor<1xf32>, !tile.view<?xf32>
  tile.return
}
