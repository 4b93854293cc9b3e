// Constants of floats below 16 bits, here the padding of a sum over 7 elements, are taken apart
// once: that their bits fold back into such constants must not begin it all again.
// RUN: tile-opt %s --tile-pipeline="target=nvptx:sm_80 stop-after=llvm" | FileCheck %s
// RUN: tile-opt %s --tile-pipeline="target=nvptx:sm_120a stop-after=llvm" | FileCheck %s
// RUN: tile-opt %s --tile-pipeline="target=amdgpu:gfx1100 stop-after=llvm" | FileCheck %s

// CHECK: llvm.func @sum
// CHECK-NOT: arith.
tile.kernel @sum(%a: !tile.view<?xf8E4M3FN>, %o: !tile.view<?xf8E4M3FN>) grid {
  %one = arith.constant 1 : index
  tile.grid %one
} {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0] : !tile.view<?xf8E4M3FN> -> tensor<7xf8E4M3FN>
  %s = tile.reduce %x axis = 0 : tensor<7xf8E4M3FN> -> tensor<f8E4M3FN> {
  ^bb0(%l: f8E4M3FN, %n: f8E4M3FN):
    %t = arith.addf %l, %n : f8E4M3FN
    tile.yield %t : f8E4M3FN
  }
  %u = tile.to_scalar %s : tensor<f8E4M3FN>
  %r = tile.splat %u : tensor<7xf8E4M3FN>
  tile.store %r, %o[%c0] : tensor<7xf8E4M3FN>, !tile.view<?xf8E4M3FN>
  tile.return
}
