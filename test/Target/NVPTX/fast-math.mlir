// Fast mathematics flushes subnormals: the chip's exp2 then takes one instruction instead of four.
// RUN: tile-compile %s --target nvptx:sm_90a --fast-math --emit asm -o %t.ptx
// RUN: FileCheck %s --input-file %t.ptx --implicit-check-not=cvt.f32.bf16 --implicit-check-not=cvt.ftz.f32.bf16
// RUN: %ptxas -arch=sm_90a %t.ptx -o %t.cubin
// RUN: tile-compile %s --target nvptx:sm_90a --emit asm | FileCheck %s --check-prefix=EXACT
// RUN: tile-compile %s --target amdgpu:gfx942 --fast-math --emit llvmir | FileCheck %s --check-prefix=AMD

// What is out of bounds reads the padding, and no loaded value is chosen; erf is one polynomial of
// degree 5; f8 saturates.
// CHECK: .align 16 .b8 kiln_padding_80ff[16] = {128, 255, 128, 255,
// CHECK: ld.global.v4.b32
// CHECK-NOT: selp.b16
// CHECK: ex2.approx.ftz.f32
// CHECK-NOT: ex2.approx.f32
// CHECK-COUNT-4: cvt.rn.satfinite.e4m3x2.f32
// CHECK-NOT: setp
// CHECK: st.global.v2.b32

// EXACT: ex2.approx.f32
// EXACT: setp.le.f32

// AMD: "denormal-fp-math-f32"="preserve-sign,preserve-sign"
tile.kernel @fast(%x: !tile.view<?xbf16> {tile.facts = #tile.facts<pointer = 16, strides = [2], extents = [16]>},
                  %y: !tile.view<?xf8E4M3FN> {tile.facts = #tile.facts<pointer = 16, strides = [1], extents = [16]>})
    attributes {tile.warps = 4 : i64} {
  %zero = arith.constant 0 : index
  %low = arith.constant 0xFF80 : bf16
  %t = tile.load %x[%zero] pad(%low : bf16) : !tile.view<?xbf16> -> tensor<1024xbf16>
  %w = arith.extf %t : tensor<1024xbf16> to tensor<1024xf32>
  %e = math.erf %w : tensor<1024xf32>
  %n = arith.truncf %e : tensor<1024xf32> to tensor<1024xf8E4M3FN>
  tile.store %n, %y[%zero] : tensor<1024xf8E4M3FN>, !tile.view<?xf8E4M3FN>
  tile.return
}
