// A program whose assertion fails writes one record and returns: no call into the driver, no trap.
// RUN: tile-compile %s --target nvptx:sm_80 --emit asm -o %t.ptx
// RUN: FileCheck %s --input-file %t.ptx
// RUN: %ptxas -arch=sm_80 %t.ptx -o %t.cubin
// RUN: tile-compile %s --target amdgpu:gfx942 --emit asm | FileCheck %s --check-prefix ISA
// RUN: tile-compile %s --target amdgpu:gfx942 --emit llvm | FileCheck %s --check-prefix LLVM
// RUN: tile-compile %s --target amdgpu:gfx942 --emit metadata | FileCheck %s --check-prefix META

// CHECK-NOT: {{vprintf|__assertfail|trap}}
// CHECK: atom.global.add.u64
// CHECK: st.global.v4.b32
// CHECK-NOT: {{vprintf|__assertfail|trap}}
// ISA-NOT: s_trap
// ISA: global_atomic_add_x2
// ISA: global_store_dwordx4
// ISA-NOT: s_trap
// LLVM: llvm.atomicrmw add {{.*}} syncscope("agent") monotonic
// LLVM: llvm.return
// LLVM-NEXT: ^{{bb[0-9]+}}:
// LLVM-NEXT: rocdl.raw.ptr.buffer.store
// META: {"kind":"messages"}
// META: "messages":[{"column":3,"file":"{{[^"]*}}compile-messages.mlir","kind":"assert","line":[[#@LINE+9]],"text":"no zero"}]
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
