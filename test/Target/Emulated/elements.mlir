// RUN: tile-compile %s --target emu:sm_90a --emit llvmir | FileCheck %s --implicit-check-not="= call <"
// LLVM's fast instruction selection knows no vectors, and few intrinsics: each element is computed
// for itself, and an intrinsic has a function of its own.

// CHECK:      call float @kiln.llvm.exp2.f32(float
// CHECK:      call float @kiln.llvm.exp2.f32(float
// CHECK:      define internal float @kiln.llvm.exp2.f32(float [[X:%.+]])
// CHECK:        [[Y:%.+]] = call float @llvm.exp2.f32(float [[X]])
// CHECK-NEXT:   ret float [[Y]]
tile.kernel @k(%x: !tile.view<128x2xf32>) grid {
  %n = arith.constant 1 : index
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %s = tile.load %x[%c0, %c0] : !tile.view<128x2xf32> -> tensor<128x2xf32>
  %t = math.exp2 %s : tensor<128x2xf32>
  tile.store %t, %x[%c0, %c0] : tensor<128x2xf32>, !tile.view<128x2xf32>
  tile.return
}
