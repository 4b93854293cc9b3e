// RUN: not tile-compile %s --target cpu --emit asm -o - 2>&1 | FileCheck %s

// What the host cannot hold is refused by name at its line, not by a pass deep in the lowering.
// CHECK: unsupported.mlir:[[#@LINE+5]]:{{[0-9]+}}: error: 'arith.truncf' is not supported on cpu yet: expected f32 (and precision = tf32 on the dot), got tf32
tile.kernel @round(%x: !tile.view<16xf32>) {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0] : !tile.view<16xf32> -> tensor<16xf32>

  %r = arith.truncf %t : tensor<16xf32> to tensor<16xtf32>
  %w = arith.extf %r : tensor<16xtf32> to tensor<16xf32>
  tile.store %w, %x[%c0] : tensor<16xf32>, !tile.view<16xf32>
  tile.return
}
