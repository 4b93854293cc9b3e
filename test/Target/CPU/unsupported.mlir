// RUN: not tile-compile %s --target cpu --emit asm -o - 2>&1 | FileCheck %s

// What the host cannot do is refused at its line, before anything is decided.
// CHECK: unsupported.mlir:[[#@LINE+4]]:{{[0-9]+}}: error: 'tile.extern_call' is not supported on cpu yet: expected the path or name of a shared library, got 'functions.bc'
tile.kernel @k(%x: !tile.view<?xf32>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<?xf32> -> tensor<4xf32>
  %b = tile.extern_call "f" from "functions.bc" (%a) : (tensor<4xf32>) -> tensor<4xf32>
  tile.store %b, %x[%c0] : tensor<4xf32>, !tile.view<?xf32>
  tile.return
}
