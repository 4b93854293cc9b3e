// Random bits by Philox: ten rounds of two wide products for each element, the key on scalars.
// RUN: tile-compile %s --target nvptx:sm_90a --emit asm -o %t.ptx
// RUN: FileCheck %s --input-file %t.ptx
// RUN: %ptxas -arch=sm_90a %t.ptx -o %t.cubin

// CHECK: .entry random(
// CHECK: mul.hi.u32
// CHECK: -766435501
// CHECK: st.global.b32
tile.kernel @random(%x: !tile.view<?xi32>, %y: !tile.view<?xi32>, %seed: i64, %stream: i32) {
  %c0 = arith.constant 0 : index
  %i = tile.iota 0 : tensor<128xi32>
  %r0, %r1, %r2, %r3 = tile.philox %seed, %stream, %i : tensor<128xi32>
  %s = arith.addi %r0, %r1 : tensor<128xi32>
  %t = arith.xori %r2, %r3 : tensor<128xi32>
  tile.store %s, %x[%c0] : tensor<128xi32>, !tile.view<?xi32>
  tile.store %t, %y[%c0] : tensor<128xi32>, !tile.view<?xi32>
  tile.return
}
