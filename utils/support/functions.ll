; The absolute value in each element type of the language, as functions of a library: what the
; support table and the tests call on accelerators. A type that LLVM lacks is the bits of an element
; in the low bits of a byte.

define double @abs_f64(double %x) {
  %y = call double @llvm.fabs.f64(double %x)
  ret double %y
}

define float @abs_f32(float %x) {
  %y = call float @llvm.fabs.f32(float %x)
  ret float %y
}

define float @abs_tf32(float %x) {
  %y = call float @llvm.fabs.f32(float %x)
  ret float %y
}

define half @abs_f16(half %x) {
  %y = call half @llvm.fabs.f16(half %x)
  ret half %y
}

define bfloat @abs_bf16(bfloat %x) {
  %y = call bfloat @llvm.fabs.bf16(bfloat %x)
  ret bfloat %y
}

define i8 @abs_f8E4M3FN(i8 %x) {
  %y = and i8 %x, 127
  ret i8 %y
}

define i8 @abs_f8E5M2(i8 %x) {
  %y = and i8 %x, 127
  ret i8 %y
}

define i8 @abs_f8E8M0FNU(i8 %x) {
  %y = and i8 %x, 255
  ret i8 %y
}

define i8 @abs_f6E2M3FN(i8 %x) {
  %y = and i8 %x, 31
  ret i8 %y
}

define i8 @abs_f6E3M2FN(i8 %x) {
  %y = and i8 %x, 31
  ret i8 %y
}

define i8 @abs_f4E2M1FN(i8 %x) {
  %y = and i8 %x, 7
  ret i8 %y
}

define i64 @abs_i64(i64 %x) {
  %y = call i64 @llvm.abs.i64(i64 %x, i1 false)
  ret i64 %y
}

define i32 @abs_i32(i32 %x) {
  %y = call i32 @llvm.abs.i32(i32 %x, i1 false)
  ret i32 %y
}

define i16 @abs_i16(i16 %x) {
  %y = call i16 @llvm.abs.i16(i16 %x, i1 false)
  ret i16 %y
}

define i8 @abs_i8(i8 %x) {
  %y = call i8 @llvm.abs.i8(i8 %x, i1 false)
  ret i8 %y
}

define i64 @abs_index(i64 %x) {
  %y = call i64 @llvm.abs.i64(i64 %x, i1 false)
  ret i64 %y
}

define i8 @abs_i4(i8 %x) {
  %l = shl i8 %x, 4
  %n = ashr i8 %l, 4
  %y = call i8 @llvm.abs.i8(i8 %n, i1 false)
  ret i8 %y
}

define i8 @abs_i2(i8 %x) {
  %l = shl i8 %x, 6
  %n = ashr i8 %l, 6
  %y = call i8 @llvm.abs.i8(i8 %n, i1 false)
  ret i8 %y
}

define i1 @abs_i1(i1 %x) {
  ret i1 %x
}

declare double @llvm.fabs.f64(double)
declare float @llvm.fabs.f32(float)
declare half @llvm.fabs.f16(half)
declare bfloat @llvm.fabs.bf16(bfloat)
declare i8 @llvm.abs.i8(i8, i1)
declare i16 @llvm.abs.i16(i16, i1)
declare i32 @llvm.abs.i32(i32, i1)
declare i64 @llvm.abs.i64(i64, i1)
