// An exponential that may be approximated is the chip's instruction alone, which takes results below
// 2^-126 for zeros; any other keeps them.
// RUN: tile-compile %s --kernel flushed --target nvptx:sm_80 --emit asm -o %t.ptx
// RUN: FileCheck %s < %t.ptx
// RUN: tile-compile %s --kernel kept --target nvptx:sm_80 --emit asm | FileCheck %s --check-prefix=KEPT
// RUN: %ptxas -arch=sm_80 %t.ptx -o %t.cubin

// CHECK-LABEL: .entry flushed
// CHECK-NOT: ex2.approx.f32
// CHECK: ex2.approx.ftz.f32
// CHECK-NOT: ex2.approx.f32
// CHECK: ret;
tile.kernel @flushed(%a: !tile.view<?xf32>, %b: !tile.view<?xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %t = tile.load %a[%c0] : !tile.view<?xf32> -> tensor<128xf32>
  %u = math.exp2 %t fastmath<afn> : tensor<128xf32>
  %v = math.exp %u fastmath<afn> : tensor<128xf32>
  %y = math.exp2 %x fastmath<afn> : f32
  %s = tile.splat %y : tensor<128xf32>
  %w = arith.addf %v, %s : tensor<128xf32>
  tile.store %w, %b[%c0] : tensor<128xf32>, !tile.view<?xf32>
  tile.return
}

// KEPT-LABEL: .entry kept
// KEPT-NOT: ex2.approx.ftz.f32
// KEPT: ex2.approx.f32
// KEPT-NOT: ex2.approx.ftz.f32
// KEPT: ret;
tile.kernel @kept(%a: !tile.view<?xf32>, %b: !tile.view<?xf32>) {
  %c0 = arith.constant 0 : index
  %t = tile.load %a[%c0] : !tile.view<?xf32> -> tensor<128xf32>
  %u = math.exp2 %t : tensor<128xf32>
  tile.store %u, %b[%c0] : tensor<128xf32>, !tile.view<?xf32>
  tile.return
}
