// A chip whose warps could hand registers over, but for which that is not lowered yet.
// RUN: not tile-compile %s --target nvptx:sm_120a --emit llvm 2>&1 | FileCheck %s

// CHECK: [[#@LINE+1]]:1: error: 'tile.kernel' op expected 256 registers in role "add", which warps of nvptx:sm_120a keep from the start, got 104
tile.kernel @group(%a: !tile.view<?xf32>) attributes {tile.roles = [#tile.role<"add", warps = 8, registers = 104>]} grid {
  %one = arith.constant 1 : index
  tile.grid %one
} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<256xf32>
  tile.store %zero, %a[%c0] {role = "add"} : tensor<256xf32>, !tile.view<?xf32>
  tile.return
}
