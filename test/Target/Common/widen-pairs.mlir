// Floats of four bits become f16 two at a time: shifts and masks of a word and one product, no
// comparison and nothing for an element alone but its byte.
// RUN: tile-compile %s --target amdgpu:gfx942 --emit asm -o - | FileCheck %s --check-prefix AMD
// RUN: tile-compile %s --target nvptx:sm_90a --emit asm -o %t.ptx
// RUN: FileCheck %s --check-prefix NV --input-file %t.ptx
// RUN: %ptxas -arch=sm_90a %t.ptx -o %t.cubin

// AMD: v_pk_mul_f16
// AMD-NOT: v_cmp{{.*}}f32
// AMD-NOT: v_cvt_f32
// NV: mul{{.*}}.f16x2
// NV-NOT: cvt.rn.f32
tile.kernel @widen(%x: !tile.view<4096xf4E2M1FN>, %y: !tile.view<4096xf16>) {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0] : !tile.view<4096xf4E2M1FN> -> tensor<4096xf4E2M1FN>
  %w = arith.extf %t : tensor<4096xf4E2M1FN> to tensor<4096xf16>
  tile.store %w, %y[%c0] : tensor<4096xf16>, !tile.view<4096xf16>
  tile.return
}
