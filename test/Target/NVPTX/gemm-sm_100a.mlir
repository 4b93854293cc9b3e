// The product into tensor memory, down to what the assembler says of it; and what other chips say.
// RUN: tile-compile %S/../../../benchmarks/gemm-sm_100a.mlir --emit asm -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX < %t.ptx
// RUN: %ptxas -v -arch=sm_100a %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=INFO
// RUN: sed s/sm_100a\"/sm_103a\"/ %S/../../../benchmarks/gemm-sm_100a.mlir > %t.103.mlir
// RUN: tile-compile %t.103.mlir --emit asm -o %t.103.ptx
// RUN: FileCheck %s --check-prefix=PTX < %t.103.ptx
// RUN: %ptxas -v -arch=sm_103a %t.103.ptx -o %t.103.cubin 2>&1 | FileCheck %s --check-prefix=INFO
// RUN: sed s/sm_100a\"/sm_90a\"/ %S/../../../benchmarks/gemm-sm_100a.mlir > %t.90.mlir
// RUN: not tile-compile %t.90.mlir 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: sed s/sm_90a\"/sm_100a\"/ %S/../../../benchmarks/gemm.mlir > %t.wgmma.mlir
// RUN: not tile-compile %t.wgmma.mlir 2>&1 | FileCheck %s --check-prefix=WGMMA

// The sums of two tiles take all 512 columns.
// PTX: mov.b32 [[COLUMNS:%r[0-9]+]], 512;
// PTX: tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [kiln_shared+{{[0-9]+}}], [[COLUMNS]];
// PTX: tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
// PTX: tcgen05.fence::before_thread_sync;
// PTX: bar.sync 0;
// PTX: tcgen05.fence::after_thread_sync;
// PTX: setmaxnreg.dec.sync.aligned.u32 40;
// PTX-COUNT-2: cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes
// One thread waits for an empty slot of sums, then for each full slot of the ring; a commit gives that
// back, and one fills the slot of sums.
// PTX: setmaxnreg.dec.sync.aligned.u32 80;
// PTX: mbarrier.try_wait.parity.shared.b64
// PTX: tcgen05.fence::after_thread_sync;
// PTX: mbarrier.try_wait.parity.shared.b64
// PTX: tcgen05.fence::after_thread_sync;
// PTX-COUNT-4: tcgen05.mma.cta_group::1.kind::f16
// PTX-NOT: tcgen05.mma
// PTX: tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64
// Without trips zeros are handed over, which all warps write.
// PTX: bar.sync 2, 128;
// PTX-COUNT-4: tcgen05.st.sync.aligned.32x32b.x64.b32
// PTX: tcgen05.wait::st.sync.aligned;
// PTX: tcgen05.fence::before_thread_sync;
// PTX: bar.sync 2, 128;
// PTX-COUNT-2: tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64
// PTX: setmaxnreg.inc.sync.aligned.u32 232;
// PTX: mbarrier.try_wait.parity.shared.b64
// PTX: tcgen05.fence::after_thread_sync;
// Each box is stored when its columns are fetched; the slot goes back behind the last of them.
// PTX: tcgen05.ld.sync.aligned.32x32b.x64.b32
// PTX: tcgen05.wait::ld.sync.aligned;
// PTX: cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group
// PTX: tcgen05.ld.sync.aligned.32x32b.x64.b32
// PTX: tcgen05.wait::ld.sync.aligned;
// PTX: cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group
// PTX: tcgen05.ld.sync.aligned.32x32b.x64.b32
// PTX: tcgen05.wait::ld.sync.aligned;
// PTX: cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group
// PTX: tcgen05.ld.sync.aligned.32x32b.x64.b32
// PTX: tcgen05.wait::ld.sync.aligned;
// PTX: tcgen05.fence::before_thread_sync;
// PTX: mbarrier.arrive.shared.b64
// PTX: cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group
// PTX: bar.sync 0;
// PTX: tcgen05.dealloc.cta_group::1.sync.aligned.b32

// INFO-NOT: {{C75|C76|arning}}
// INFO: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads

// OTHER: error: 'tile.dot' op expected 'atom' to be an instruction of nvptx:sm_90a, got #nvptx.tcgen05<"m128n256k16", bf16, f32>
// WGMMA: error: 'tile.dot' op expected 'atom' to be an instruction of nvptx:sm_100a, got #nvptx.wgmma<"m64n256k16", bf16, f32>
