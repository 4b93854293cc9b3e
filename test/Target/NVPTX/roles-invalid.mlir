// A chip whose warps could hand registers over, but for which that is not lowered yet.
// RUN: not tile-compile %s --target nvptx:sm_120a --emit llvm 2>&1 | FileCheck %s

// CHECK: [[#@LINE+1]]:1: error: 'tile.warp_groups' op expected roles of 256 registers, which warps of nvptx:sm_120a keep from the start, got 104
tile.kernel @group(%a: !tile.view<?xf32>) attributes {tile.roles = [#tile.role<"add", warps = 8, registers = 104>]} grid {
  %one = arith.constant 1 : index
  tile.grid %one
} {
  tile.return
}
