// Atoms as attributes: what they take and what they refuse.
// RUN: tile-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK: #nvptx.wgmma<"m64n256k16", bf16, f32>
// CHECK: #nvptx.wgmma<"m64n8k8", tf32, f32>
// CHECK: #nvptx.wgmma<"m64n208k32", f8E4M3FN, f32>
// CHECK: #nvptx.wgmma<"m64n24k32", i8, i32>
// CHECK: #nvptx.tma
module attributes {llvm.a = [#nvptx.wgmma<"m64n256k16", bf16, f32>, #nvptx.wgmma<"m64n8k8", tf32, f32>,
                        #nvptx.wgmma<"m64n208k32", f8E4M3FN, f32>,
                        #nvptx.wgmma<"m64n24k32", i8, i32>, #nvptx.tma]} {}

// -----

// CHECK: #nvptx.tcgen05<"m128n256k16", bf16, f32>
// CHECK: #nvptx.tcgen05<"m128n16k8", tf32, f32>
// CHECK: #nvptx.tcgen05<"m128n208k32", f8E5M2, f32>
// CHECK: #nvptx.tcgen05<"m256n224k32", f8E4M3FN, f32>
// CHECK: #nvptx.tcgen05<"m256n48k16", bf16, f32>
// CHECK: #nvptx.tcgen05<"m64n8k16", f16, f32>
// CHECK: #nvptx.tcgen05<"m64n8k32", i8, i32>
// CHECK: #nvptx.tcgen05<"m128n48k32", i8, i32>
// CHECK: #nvptx.tcgen05<"m256n96k32", i8, i32>
// CHECK: #nvptx.tcgen05<"m64n24k32", f8E4M3FN, f32, b = f8E5M2>
// CHECK: #nvptx.tcgen05<"m128n8k32", f8E4M3FN, f32, b = f8E5M2 scale = f8E8M0FNU>
// CHECK: #nvptx.tcgen05<"m128n256k64", f4E2M1FN, f32 scale = f8E8M0FNU>
// CHECK: #nvptx.tcgen05<"m128n200k64", f4E2M1FN, f32 scale = f8E4M3FN>
// CHECK: #nvptx.tcgen05<"m256n48k32", f8E5M2, f32 scale = f8E8M0FNU>
module attributes {llvm.a = [#nvptx.tcgen05<"m128n256k16", bf16, f32>,
                             #nvptx.tcgen05<"m128n16k8", tf32, f32>,
                             #nvptx.tcgen05<"m128n208k32", f8E5M2, f32>,
                             #nvptx.tcgen05<"m256n224k32", f8E4M3FN, f32>,
                             #nvptx.tcgen05<"m256n48k16", bf16, f32>,
                             #nvptx.tcgen05<"m64n8k16", f16, f32>,
                             #nvptx.tcgen05<"m64n8k32", i8, i32>,
                             #nvptx.tcgen05<"m128n48k32", i8, i32>,
                             #nvptx.tcgen05<"m256n96k32", i8, i32>,
                             #nvptx.tcgen05<"m64n24k32", f8E4M3FN, f32, b = f8E5M2>,
                             #nvptx.tcgen05<"m128n8k32", f8E4M3FN, f32, b = f8E5M2 scale = f8E8M0FNU>,
                             #nvptx.tcgen05<"m128n256k64", f4E2M1FN, f32 scale = f8E8M0FNU>,
                              #nvptx.tcgen05<"m128n200k64", f4E2M1FN, f32 scale = f8E4M3FN>,
                              #nvptx.tcgen05<"m256n48k32", f8E5M2, f32 scale = f8E8M0FNU>]} {}

// -----

// expected-error@+1 {{expected types that tcgen05 multiplies, got 'f8E4M3FN' with scales of 'f8E4M3FN' into 'f32'}}
module attributes {llvm.a = #nvptx.tcgen05<"m128n64k32", f8E4M3FN, f32 scale = f8E4M3FN>} {}

// -----

// expected-error@+1 {{expected a shape of tcgen05 for 'f8E4M3FN' with scales of 'f8E8M0FNU', m128n8k32 to m128n256k32 or, of two programs, m256n16k32 to m256n256k32, got 'm64n64k32'}}
module attributes {llvm.a = #nvptx.tcgen05<"m64n64k32", f8E4M3FN, f32 scale = f8E8M0FNU>} {}

// -----

// expected-error@+1 {{expected types that tcgen05 multiplies, got 'f16' and 'bf16'}}
module attributes {llvm.a = #nvptx.tcgen05<"m128n64k16", f16, f32, b = bf16>} {}

// -----

// expected-error@+1 {{expected types that tcgen05 multiplies, got 'i8' into 'f32'}}
module attributes {llvm.a = #nvptx.tcgen05<"m128n64k32", i8, f32>} {}

// -----

// expected-error@+1 {{expected a shape of tcgen05 for 'f16' into 'f32', m64n8k16 to m64n256k16, m128n16k16 to m128n256k16 or, of two programs, m256n16k16 to m256n256k16, got 'm128n24k16'}}
module attributes {llvm.a = #nvptx.tcgen05<"m128n24k16", f16, f32>} {}

// -----

// Half of the columns would be none of one program's instruction.
// expected-error@+1 {{got 'm256n40k16'}}
module attributes {llvm.a = #nvptx.tcgen05<"m256n40k16", f16, f32>} {}

// -----

// expected-error@+1 {{got 'm64n12k16'}}
module attributes {llvm.a = #nvptx.tcgen05<"m64n12k16", f16, f32>} {}

// -----

// Integers have no multiples of 8 but 8 itself.
// expected-error@+1 {{m256n32k32 to m256n256k32, got 'm64n40k32'}}
module attributes {llvm.a = #nvptx.tcgen05<"m64n40k32", i8, i32>} {}

// -----

// expected-error@+1 {{got 'm256n48k32'}}
module attributes {llvm.a = #nvptx.tcgen05<"m256n48k32", i8, i32>} {}

// -----

// expected-error@+1 {{expected types that wgmma multiplies, got 'f32' into 'f32'}}
module attributes {llvm.a = #nvptx.wgmma<"m64n8k8", f32, f32>} {}

// -----

// expected-error@+1 {{expected a shape of wgmma for 'bf16' into 'f32', m64n8k16 to m64n256k16, got 'm64n12k16'}}
module attributes {llvm.a = #nvptx.wgmma<"m64n12k16", bf16, f32>} {}

// -----

// expected-error@+1 {{m64n8k32 to m64n256k32, got 'm64n40k32'}}
module attributes {llvm.a = #nvptx.wgmma<"m64n40k32", i8, i32>} {}

// -----

// expected-error@+1 {{got 'm64n264k16'}}
module attributes {llvm.a = #nvptx.wgmma<"m64n264k16", f16, f32>} {}
