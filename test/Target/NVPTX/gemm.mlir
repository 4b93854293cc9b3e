// The realised GEMM down to machine code: a producer and two consumers, with what the assembler
// says of them. It warns where it ignores a handing-over of registers (C7508), makes products wait
// for one another (C7510, C7512) or lacks registers for one (C7602).
// RUN: tile-compile %S/../../Schedule/gemm-realised.mlir --target nvptx:sm_90a --emit asm -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX < %t.ptx
// RUN: %ptxas -v -arch=sm_90a %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=INFO
// The same from the source whose decisions are attributes, which is what benchmarks measure.
// RUN: tile-compile %S/../../../benchmarks/gemm.mlir --target nvptx:sm_90a --emit asm -o %t2.ptx
// RUN: FileCheck %s --check-prefix=PTX < %t2.ptx
// RUN: %ptxas -v -arch=sm_90a %t2.ptx -o %t2.cubin 2>&1 | FileCheck %s --check-prefix=INFO
// RUN: tile-compile %S/../../Schedule/gemm-realised.mlir --target nvptx:sm_90a --emit metadata \
// RUN:   | FileCheck %s --check-prefix=METADATA
// RUN: not tile-compile %S/../../Schedule/gemm-realised.mlir --target nvptx:sm_80 2>&1 \
// RUN:   | FileCheck %s --check-prefix=OTHER
// RUN: sed s/sm_90a/sm_80/ %S/../../Schedule/gemm-realised.mlir > %t.old.mlir
// RUN: not tile-compile %t.old.mlir 2>&1 | FileCheck %s --check-prefix=OLD

// PTX: .extern .shared .align 1024 .b8 kiln_shared[];
// PTX: .visible .entry gemm(
// PTX-COUNT-3: .param .align 64 .b8 gemm_param_{{[0-9]+}}[128]
// PTX: .reqntid 384
// PTX-NEXT: .minnctapersm 1
// Four slots of two barriers: one arrival fills a slot, eight warps release it.
// PTX-COUNT-8: mbarrier.init.shared.b64
// PTX: fence.mbarrier_init.release.cluster
// PTX: fence.proxy.async.shared::cta
// PTX: bar.sync 0;
// PTX: shfl.sync.idx.b32
// PTX: setmaxnreg.dec.sync.aligned.u32 40;
// PTX: mbarrier.try_wait.parity.shared.b64
// PTX: mbarrier.arrive.expect_tx.shared.b64
// PTX: cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes
// PTX: cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes
// PTX: setmaxnreg.inc.sync.aligned.u32 232;
// PTX: mbarrier.try_wait.parity.shared.b64
// PTX: wgmma.fence.sync.aligned;
// PTX-COUNT-4: wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16
// PTX-NOT: wgmma.mma_async
// PTX: wgmma.commit_group.sync.aligned;
// PTX: wgmma.wait_group.sync.aligned 1;
// PTX: mbarrier.arrive.shared.b64
// PTX: wgmma.wait_group.sync.aligned 0;
// PTX: mbarrier.arrive.shared.b64
// PTX: cvt.rn.bf16x2.f32
// PTX: cp.async.bulk.wait_group.read 1;
// PTX: bar.sync %r{{[0-9]+}}, 128;
// PTX-COUNT-4: stmatrix.sync.aligned.m8n8.x4.shared.b16
// PTX: fence.proxy.async.shared::cta;
// PTX: cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group
// PTX: cp.async.bulk.commit_group;
// PTX: cp.async.bulk.wait_group.read 0;

// INFO-NOT: {{C75|C76|arning}}
// INFO: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// INFO-NOT: {{C75|C76|arning}}
// INFO: Used 168 registers

// METADATA: {"arg":0,"box":[128,64],"kind":"tensor_map","swizzle":128,"type":"bf16"}
// METADATA: {"arg":1,"box":[256,64],"kind":"tensor_map","swizzle":128,"type":"bf16"}
// METADATA: {"arg":2,"box":[64,64],"kind":"tensor_map","swizzle":128,"type":"bf16"}
// METADATA: "shared_bytes":230400
// METADATA: "warps":12

// OTHER: gemm-realised.mlir:{{.*}}: error: expected the target that the module is for, nvptx:sm_90a, got nvptx:sm_80
// OLD: error: 'tile.copy_in' op expected 'atom' to be an instruction of nvptx:sm_80, got #nvptx.tma
