// Fast bf16 to f4: pairs of halves by packed instructions, and eight elements to a word, stored at
// once; nothing goes through shared memory.
// RUN: tile-compile %s --target nvptx:sm_90a --fast-math --emit asm -o %t.ptx
// RUN: FileCheck %s --input-file %t.ptx --implicit-check-not=shared --implicit-check-not=st.global.b8
// RUN: %ptxas -arch=sm_90a %t.ptx -o %t.cubin
// RUN: tile-compile %s --target nvptx:sm_90a --emit asm | FileCheck %s --check-prefix=EXACT --implicit-check-not=shared
// RUN: tile-compile %s --target amdgpu:gfx942 --emit asm | FileCheck %s --check-prefix=AMD --implicit-check-not=ds_

// CHECK-COUNT-2: ld.global.v4.b32
// CHECK-COUNT-8: min.bf16x2
// CHECK-COUNT-8: mul.rn.bf16x2
// CHECK-COUNT-8: max.bf16x2
// CHECK-COUNT-8: fma.rn.bf16x2
// CHECK-COUNT-8: sub.rn.bf16x2
// CHECK-COUNT-4: mul.lo.s32
// CHECK: st.global.v2.b32

// EXACT-NOT: bf16x2
// EXACT: st.global.b16

// AMD: buffer_load_dwordx4
// AMD: global_store_dword v
tile.kernel @narrow(%x: !tile.view<?xbf16> {tile.facts = #tile.facts<pointer = 16, strides = [2], extents = [16]>},
                    %y: !tile.view<?xf4E2M1FN> {tile.facts = #tile.facts<pointer = 16, strides = [0], extents = [16]>})
    attributes {tile.warps = 1 : i64} {
  %zero = arith.constant 0 : index
  %t = tile.load %x[%zero] : !tile.view<?xbf16> -> tensor<512xbf16>
  %n = arith.truncf %t : tensor<512xbf16> to tensor<512xf4E2M1FN>
  tile.store %n, %y[%zero] : tensor<512xf4E2M1FN>, !tile.view<?xf4E2M1FN>
  tile.return
}
