// A failed assertion prints its message, its place in the source and the kernel's name; on AMD's
// chips it is a trap.
// RUN: tile-compile %s --target nvptx:sm_80 --emit asm -o %t.ptx
// RUN: FileCheck %s --input-file %t.ptx
// RUN: %ptxas -arch=sm_80 %t.ptx -o %t.cubin
// RUN: tile-compile %s --target amdgpu:gfx942 --emit asm | FileCheck %s --check-prefix TRAP

// CHECK: .extern .func __assertfail
// CHECK: call.uni __assertfail,
// TRAP: s_trap 2
tile.kernel @checks(%x: !tile.view<?xi32>) grid {
  %one = arith.constant 1 : index
  tile.grid %one
} {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<?xi32> -> tensor<64xi32>
  %zero = arith.constant dense<0> : tensor<64xi32>
  %ok = arith.cmpi ne, %a, %zero : tensor<64xi32>
  tile.assert %ok, "no zero" : tensor<64xi1>
  tile.store %a, %x[%c0] : tensor<64xi32>, !tile.view<?xi32>
  tile.return
}
