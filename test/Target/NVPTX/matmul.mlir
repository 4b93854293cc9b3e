// Nothing is pinned: the warps that multiply copy operands past the registers, three trips ahead of
// themselves, read whole matrices at a time and multiply them by mma.sync. The assembler is told not
// to unroll the loop: nothing of one turn moves over the barrier to another, and it took seven copies
// of the body.
// RUN: tile-compile %s --target nvptx:sm_80 --emit asm -o %t.ptx
// RUN: FileCheck %s --input-file %t.ptx
// RUN: %ptxas -arch=sm_80 %t.ptx -o %t.cubin

// CHECK: .reqntid 256
// CHECK-COUNT-9: cp.async.cg.shared.global
// CHECK: .pragma "nounroll";
// CHECK: cp.async.wait_group 2;
// CHECK-NEXT: bar.sync
// CHECK-COUNT-3: cp.async.cg.shared.global
// CHECK: cp.async.commit_group
// CHECK-NOT: {{ld.global|st.shared|bar.sync}}
// CHECK-COUNT-4: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK-COUNT-4: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// CHECK-NOT: {{ld|st}}.shared
// CHECK-NOT: bar.sync
// CHECK-COUNT-16: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// CHECK: st.global.v2.b32
#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [0, 16]>
tile.kernel @matmul(%a: !tile.view<?x?xbf16> {tile.facts = #facts},
                    %b: !tile.view<?x?xbf16> {tile.facts = #facts},
                    %c: !tile.view<?x?xf32> {tile.facts = #tile.facts<pointer = 16, strides = [16, 4], extents = [0, 16]>})
{
  %i = tile.program_id x
  %j = tile.program_id y
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %m = arith.muli %i, %c64 : index
  %n = arith.muli %j, %c128 : index
  %K = tile.dim %a, 1 : !tile.view<?x?xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %acc = scf.for %k = %c0 to %K step %c32 iter_args(%s = %zero) -> tensor<64x128xf32> {
    %ta = tile.load %a[%m, %k] : !tile.view<?x?xbf16> -> tensor<64x32xbf16>
    %tb = tile.load %b[%k, %n] : !tile.view<?x?xbf16> -> tensor<32x128xbf16>
    %d = tile.dot %ta, %tb, %s : tensor<64x32xbf16>, tensor<32x128xbf16> -> tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  }
  tile.store %acc, %c[%m, %n] : tensor<64x128xf32>, !tile.view<?x?xf32>
  tile.return
}
