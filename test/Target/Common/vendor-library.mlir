// Functions of the vendors' libraries, called by their names and (with the option) as mathematics:
// they are linked in whole, and what they ask of the chip is answered.
// RUN: sed s:NAME:__nv_sinf: %s > %t.nv.mlir
// RUN: sed s:NAME:__ocml_sin_f32: %s > %t.ocml.mlir
// RUN: env KILN_LIBDEVICE=%libdevice tile-compile %t.nv.mlir --vendor-math --target nvptx:sm_90a \
// RUN:   --emit llvm | FileCheck %s --check-prefix NV
// RUN: env KILN_LIBDEVICE=%libdevice tile-compile %t.nv.mlir --vendor-math --target nvptx:sm_90a \
// RUN:   --emit asm -o %t.ptx
// RUN: FileCheck %s --input-file %t.ptx --check-prefix PTX
// RUN: %ptxas -arch=sm_90a %t.ptx -o %t.cubin
// RUN: env KILN_OCML=%ocml tile-compile %t.ocml.mlir --vendor-math --target amdgpu:gfx942 \
// RUN:   --emit llvm | FileCheck %s --check-prefix OCML
// RUN: env KILN_OCML=%ocml tile-compile %t.ocml.mlir --vendor-math --target amdgpu:gfx1201 \
// RUN:   --emit llvmir | FileCheck %s --check-prefix LINKED
// RUN: env KILN_OCML=%ocml tile-compile %t.ocml.mlir --vendor-math --target amdgpu:gfx942 \
// RUN:   --emit metadata | FileCheck %s --check-prefix META

// Without the library: the call is an error that says what was looked for, mathematics is Kiln's
// own. A place that was named must hold it in either case.
// RUN: not tile-compile %t.nv.mlir --target nvptx:sm_90a 2>&1 | FileCheck %s --check-prefix ABSENT
// RUN: not env -u KILN_OCML ROCM_PATH=/none tile-compile %t.ocml.mlir --target amdgpu:gfx942 2>&1 \
// RUN:   | FileCheck %s --check-prefix NOROCM
// RUN: sed '/NAME/d;s:%%called:%%p:' %s > %t.own.mlir
// RUN: tile-compile %t.own.mlir --vendor-math --target nvptx:sm_90a --emit llvm \
// RUN:   | FileCheck %s --check-prefix OWN
// RUN: not env KILN_LIBDEVICE=/none tile-compile %t.own.mlir --vendor-math --target nvptx:sm_90a \
// RUN:   2>&1 | FileCheck %s --check-prefix CHOSEN
// RUN: env KILN_LIBDEVICE=%libdevice tile-compile %t.own.mlir --target nvptx:sm_90a --emit llvm \
// RUN:   | FileCheck %s --check-prefix OWN

// NV-DAG: symbol = "__nv_powf"
// NV-DAG: symbol = "__nv_sinf"
// PTX-NOT: .extern .func
// PTX-NOT: __nvvm_reflect
// OCML-DAG: symbol = "__ocml_pow_f32"
// OCML-DAG: symbol = "__ocml_sin_f32"
// LINKED-NOT: external{{.*}}__oclc_
// LINKED-NOT: declare {{.*}}__oc
// META: "libraries":[{"hash":"{{[0-9a-f]+}}","path":"{{.*}}/ocml.bc"}]
// META-SAME: "vendor_math":true
// ABSENT: :[[#@LINE+15]]:{{[0-9]+}}: error: 'tile.extern_call' op expected the vendor's library to define '__nv_sinf', found none: looked for 'libdevice.10.bc' in $KILN_LIBDEVICE, 'none'
// NOROCM: found none: looked for 'ocml.bc' in $KILN_OCML (not set), '/none/amdgcn/bitcode', '/opt/rocm/amdgcn/bitcode'
// OWN-NOT: tile.foreign
// OWN: kiln_math_powf
// OWN-NOT: tile.foreign
// CHOSEN: error: expected the vendor's library 'libdevice.10.bc' in $KILN_LIBDEVICE, '/none', got nothing there
tile.kernel @vendor(%x: !tile.view<?xf32>) grid {
  %one = arith.constant 1 : index
  tile.grid %one
} {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<?xf32> -> tensor<64xf32>
  %p = math.powf %a, %a : tensor<64xf32>

  // The line of the call.
  %called = tile.extern_call "NAME" from "" pure (%p) : (tensor<64xf32>) -> tensor<64xf32>
  tile.store %called, %x[%c0] : tensor<64xf32>, !tile.view<?xf32>
  tile.return
}
