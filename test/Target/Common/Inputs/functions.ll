; A library as somebody else may have written it: a function that needs another and a table, which
; no kernel must see, and functions that no kernel can call.
@table = constant [2 x float] [float 1.0, float 2.0]
@scratch = internal addrspace(3) global [32 x float] poison

define linkonce_odr hidden float @twice(float %x) #0 {
  %two.place = getelementptr [2 x float], ptr @table, i32 0, i32 1
  %two = load float, ptr %two.place
  %y = fmul float %x, %two
  ret float %y
}

define float @scaled(float %x, i32 %n) #0 {
  %y = call float @twice(float %x)
  %s = sitofp i32 %n to float
  %z = fmul float %y, %s
  ret float %z
}

define float @never_called(float %x) {
  ret float %x
}

declare float @nowhere(float)
define float @incomplete(float %x) {
  %y = call float @nowhere(float %x)
  ret float %y
}

define ptr @pointer(ptr %x) {
  ret ptr %x
}

define float @shares(float %x, i32 %n) {
  %place = getelementptr [32 x float], ptr addrspace(3) @scratch, i32 0, i32 %n
  store float %x, ptr addrspace(3) %place
  %y = load float, ptr addrspace(3) %place
  ret float %y
}

attributes #0 = { nounwind memory(read) "target-cpu"="another" "target-features"="+none" }
