// What is wrong with a library or with the way it is called is said at the call's line.
// RUN: mkdir -p %t && cp %S/Inputs/functions.ll %t/functions.ll
// RUN: llvm-as %t/functions.ll -o %t/functions.bc
// RUN: head -c 200 %t/functions.bc > %t/cut.bc
// RUN: echo 'target triple = "x86_64-unknown-linux-gnu"' > %t/triple.ll
// RUN: cat %t/triple.ll %t/functions.ll > %t/host.ll
// RUN: echo 'target datalayout = "E-i64:32"' > %t/layout.ll
// RUN: cat %t/layout.ll %t/functions.ll > %t/big.ll
// RUN: echo 'define ptx_kernel void @f() { ret void }' > %t/kernel.ll
// RUN: echo 'nonsense' > %t/text.ll
// RUN: printf '\177ELF\002\001\001\000\000\000\000\000\000\000\000\000\001\000\076\000' > %t/object.o
// RUN: split-file %s %t/cases
// RUN: cd %t && not tile-compile cases/nowhere.mlir --target nvptx:sm_90a 2>&1 | FileCheck cases/nowhere.mlir
// RUN: cd %t && not tile-compile cases/name.mlir --target amdgpu:gfx942 2>&1 | FileCheck cases/name.mlir
// RUN: cd %t && not tile-compile cases/signature.mlir --target nvptx:sm_90a 2>&1 | FileCheck cases/signature.mlir
// RUN: cd %t && not tile-compile cases/pointer.mlir --target nvptx:sm_90a 2>&1 | FileCheck cases/pointer.mlir
// RUN: cd %t && not tile-compile cases/kernel.mlir --target nvptx:sm_90a 2>&1 | FileCheck cases/kernel.mlir
// RUN: cd %t && not tile-compile cases/host.mlir --target emu:sm_90a 2>&1 | FileCheck cases/host.mlir
// RUN: cd %t && not tile-compile cases/layout.mlir --target amdgpu:gfx942 2>&1 | FileCheck cases/layout.mlir
// RUN: cd %t && not tile-compile cases/cut.mlir --target nvptx:sm_90a 2>&1 | FileCheck cases/cut.mlir
// RUN: cd %t && not tile-compile cases/text.mlir --target nvptx:sm_90a 2>&1 | FileCheck cases/text.mlir
// RUN: cd %t && not tile-compile cases/object.mlir --target nvptx:sm_90a 2>&1 | FileCheck cases/object.mlir
// RUN: cd %t && not tile-compile cases/incomplete.mlir --target amdgpu:gfx942 2>&1 | FileCheck cases/incomplete.mlir
// RUN: cd %t && not tile-compile cases/shares.mlir --target emu:gfx942 2>&1 | FileCheck cases/shares.mlir

//--- nowhere.mlir
tile.kernel @k(%x: f32, %i: i32, %d: f64) {
  // CHECK: nowhere.mlir:[[#@LINE+1]]:8: error: 'tile.extern_call' op cannot read library 'none.bc': {{.*}}o such file
  %r = tile.extern_call "f" from "none.bc" (%x) : (f32) -> f32
  tile.return
}
//--- name.mlir
tile.kernel @k(%x: f32, %i: i32, %d: f64) {
  // CHECK: name.mlir:[[#@LINE+1]]:8: error: 'tile.extern_call' op expected a function 'table' in library 'functions.bc', got none of that name
  %r = tile.extern_call "table" from "functions.bc" (%x) : (f32) -> f32
  tile.return
}
//--- signature.mlir
tile.kernel @k(%x: f32, %i: i32, %d: f64) {
  // CHECK: signature.mlir:[[#@LINE+1]]:8: error: 'tile.extern_call' op expected the signature of 'scaled' in library 'functions.bc', '(f32, i32) -> f32', got '(f64, i32) -> f32'
  %r = tile.extern_call "scaled" from "functions.bc" (%d, %i) : (f64, i32) -> f32
  tile.return
}
//--- pointer.mlir
tile.kernel @k(%x: f32, %i: i32, %d: f64) {
  // CHECK: pointer.mlir:[[#@LINE+1]]:8: error: 'tile.extern_call' op expected 'pointer' to take scalars and to return one, got 'ptr (ptr)'
  %r = tile.extern_call "pointer" from "functions.bc" (%x) : (f32) -> f32
  tile.return
}
//--- kernel.mlir
tile.kernel @k(%x: f32, %i: i32, %d: f64) {
  // CHECK: kernel.mlir:[[#@LINE+1]]:8: error: 'tile.extern_call' op expected 'f' in library 'kernel.ll' to be a function, got a kernel
  %r = tile.extern_call "f" from "kernel.ll" (%x) : (f32) -> f32
  tile.return
}
//--- host.mlir
tile.kernel @k(%x: f32, %i: i32, %d: f64) {
  // CHECK: host.mlir:[[#@LINE+1]]:8: error: 'tile.extern_call' op cannot read library 'host.ll': expected a library for nvptx64-nvidia-cuda, got one for x86_64-unknown-linux-gnu
  %r = tile.extern_call "scaled" from "host.ll" (%x, %i) : (f32, i32) -> f32
  tile.return
}
//--- layout.mlir
tile.kernel @k(%x: f32, %i: i32, %d: f64) {
  // CHECK: layout.mlir:[[#@LINE+1]]:8: error: 'tile.extern_call' op cannot read library 'big.ll': expected data to lie as "e-{{.*}}" says, got "E-i64:32"
  %r = tile.extern_call "scaled" from "big.ll" (%x, %i) : (f32, i32) -> f32
  tile.return
}
//--- cut.mlir
tile.kernel @k(%x: f32, %i: i32, %d: f64) {
  // CHECK: cut.mlir:[[#@LINE+1]]:8: error: 'tile.extern_call' op cannot read library 'cut.bc': {{.*}} (LLVM {{[0-9.]+}} reads it)
  %r = tile.extern_call "scaled" from "cut.bc" (%x, %i) : (f32, i32) -> f32
  tile.return
}
//--- text.mlir
tile.kernel @k(%x: f32, %i: i32, %d: f64) {
  // CHECK: text.mlir:[[#@LINE+1]]:8: error: 'tile.extern_call' op cannot read library 'text.ll': expected bitcode or text of LLVM, got at line 1: expected top-level entity
  %r = tile.extern_call "scaled" from "text.ll" (%x, %i) : (f32, i32) -> f32
  tile.return
}
//--- object.mlir
tile.kernel @k(%x: f32, %i: i32, %d: f64) {
  // CHECK: object.mlir:[[#@LINE+1]]:8: error: 'tile.extern_call' op cannot read library 'object.o': expected bitcode or text of LLVM, got an object for a processor
  %r = tile.extern_call "scaled" from "object.o" (%x, %i) : (f32, i32) -> f32
  tile.return
}
//--- incomplete.mlir
tile.kernel @k(%x: f32, %i: i32, %d: f64) {
  // CHECK: incomplete.mlir:[[#@LINE+1]]:8: error: expected libraries that define what they call, got none of 'nowhere'; of the vendor's library, looked for 'ocml.bc' in $KILN_OCML, 'none'
  %r = tile.extern_call "incomplete" from "functions.bc" (%x) : (f32) -> f32
  tile.return
}
//--- shares.mlir
tile.kernel @k(%x: f32, %i: i32, %d: f64) {
  // CHECK: shares.mlir:[[#@LINE+1]]:8: error: expected functions without shared memory of their own, got 'scratch'
  %r = tile.extern_call "shares" from "functions.bc" (%x, %i) : (f32, i32) -> f32
  tile.return
}
