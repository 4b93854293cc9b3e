// Where the chip's record says that warps hand registers to one another they do, whether or not
// engines work beside them; elsewhere roles say none.
// RUN: tile-compile %s --target nvptx:sm_120a --emit asm -o %t.ptx
// RUN: FileCheck %s --input-file %t.ptx
// RUN: %ptxas -arch=sm_120a %t.ptx -o %t.cubin
// RUN: not tile-compile %s --target nvptx:sm_80 --emit asm 2>&1 | FileCheck %s --check-prefix=NONE

// CHECK: setmaxnreg.dec.sync.aligned.u32 104;
// NONE: [[#@LINE+1]]:1: error: 'tile.kernel' op expected no registers of role "add", since no role hands any to another on nvptx:sm_80, got 104
tile.kernel @group(%a: !tile.view<?xf32>) attributes {tile.roles = [#tile.role<"add", warps = 8, registers = 104>]} grid {
  %one = arith.constant 1 : index
  tile.grid %one
} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<256xf32>
  tile.store %zero, %a[%c0] {role = "add"} : tensor<256xf32>, !tile.view<?xf32>
  tile.return
}
