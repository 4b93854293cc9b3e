// RUN: tile-opt %s --tile-split-shapes --verify-diagnostics --split-input-file

tile.kernel @effects(%x: !tile.view<?xf32>) {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0] : !tile.view<?xf32> -> tensor<5xf32>
  // expected-error @+1 {{expected extents that are powers of two around code with effects}}
  %y = tile.inline_asm "mov.f32 $0, $1;" "=f,f" (%t) : (tensor<5xf32>) -> tensor<5xf32>
  tile.store %y, %x[%c0] : tensor<5xf32>, !tile.view<?xf32>
  tile.return
}
