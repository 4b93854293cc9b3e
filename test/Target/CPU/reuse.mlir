// What reuses values many times over compiles in time that grows with its length.
// RUN: timeout 60 tile-compile %s --target cpu --emit target -o - | FileCheck %s

// CHECK-LABEL: func.func @kiln_entry
// CHECK-COUNT-40: arith.mulf
tile.kernel @powers(%x: !tile.view<64xf32>, %y: !tile.view<64xf32>) grid {
  %one = arith.constant 1 : index
  tile.grid %one
} {
  %at = arith.constant 0 : index
  %x0 = tile.load %x[%at] : !tile.view<64xf32> -> tensor<64xf32>
  %x1 = arith.mulf %x0, %x0 : tensor<64xf32>
  %x2 = arith.mulf %x1, %x1 : tensor<64xf32>
  %x3 = arith.mulf %x2, %x2 : tensor<64xf32>
  %x4 = arith.mulf %x3, %x3 : tensor<64xf32>
  %x5 = arith.mulf %x4, %x4 : tensor<64xf32>
  %x6 = arith.mulf %x5, %x5 : tensor<64xf32>
  %x7 = arith.mulf %x6, %x6 : tensor<64xf32>
  %x8 = arith.mulf %x7, %x7 : tensor<64xf32>
  %x9 = arith.mulf %x8, %x8 : tensor<64xf32>
  %x10 = arith.mulf %x9, %x9 : tensor<64xf32>
  %x11 = arith.mulf %x10, %x10 : tensor<64xf32>
  %x12 = arith.mulf %x11, %x11 : tensor<64xf32>
  %x13 = arith.mulf %x12, %x12 : tensor<64xf32>
  %x14 = arith.mulf %x13, %x13 : tensor<64xf32>
  %x15 = arith.mulf %x14, %x14 : tensor<64xf32>
  %x16 = arith.mulf %x15, %x15 : tensor<64xf32>
  %x17 = arith.mulf %x16, %x16 : tensor<64xf32>
  %x18 = arith.mulf %x17, %x17 : tensor<64xf32>
  %x19 = arith.mulf %x18, %x18 : tensor<64xf32>
  %x20 = arith.mulf %x19, %x19 : tensor<64xf32>
  %x21 = arith.mulf %x20, %x20 : tensor<64xf32>
  %x22 = arith.mulf %x21, %x21 : tensor<64xf32>
  %x23 = arith.mulf %x22, %x22 : tensor<64xf32>
  %x24 = arith.mulf %x23, %x23 : tensor<64xf32>
  %x25 = arith.mulf %x24, %x24 : tensor<64xf32>
  %x26 = arith.mulf %x25, %x25 : tensor<64xf32>
  %x27 = arith.mulf %x26, %x26 : tensor<64xf32>
  %x28 = arith.mulf %x27, %x27 : tensor<64xf32>
  %x29 = arith.mulf %x28, %x28 : tensor<64xf32>
  %x30 = arith.mulf %x29, %x29 : tensor<64xf32>
  %x31 = arith.mulf %x30, %x30 : tensor<64xf32>
  %x32 = arith.mulf %x31, %x31 : tensor<64xf32>
  %x33 = arith.mulf %x32, %x32 : tensor<64xf32>
  %x34 = arith.mulf %x33, %x33 : tensor<64xf32>
  %x35 = arith.mulf %x34, %x34 : tensor<64xf32>
  %x36 = arith.mulf %x35, %x35 : tensor<64xf32>
  %x37 = arith.mulf %x36, %x36 : tensor<64xf32>
  %x38 = arith.mulf %x37, %x37 : tensor<64xf32>
  %x39 = arith.mulf %x38, %x38 : tensor<64xf32>
  %x40 = arith.mulf %x39, %x39 : tensor<64xf32>
  tile.store %x40, %y[%at] : tensor<64xf32>, !tile.view<64xf32>
  tile.return
}
