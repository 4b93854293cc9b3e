// Products that two programs of a cluster make together: half of b in the shared memory of each, the engine's
// bytes at one barrier, products by one program, commits to both.
// RUN: sed -e 's/tile.persistent/tile.cluster = array<i64: 2, 1, 1>, tile.persistent/' \
// RUN:   -e 's/m128n256k16/m256n256k16/' %S/../../../benchmarks/gemm-sm_100a.mlir > %t.mlir
// RUN: tile-compile %t.mlir --emit asm -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX --input-file %t.ptx
// RUN: %ptxas -v -arch=sm_100a %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=INFO
// RUN: tile-compile %t.mlir --emit metadata | FileCheck %s --check-prefix=METADATA
// Two pairs that share the rows of a, too.
// RUN: sed -e 's/array<i64: 2, 1, 1>/array<i64: 2, 2, 1>/' \
// RUN:   -e 's/%a\[%row, %kk\] {/%a[%row, %kk] {multicast = ["y"], /' %t.mlir > %t.both.mlir
// RUN: tile-compile %t.both.mlir --emit asm -o %t.both.ptx
// RUN: FileCheck %s --check-prefix=BOTH --input-file %t.both.ptx
// RUN: %ptxas -arch=sm_100a %t.both.ptx -o %t.both.cubin
// RUN: sed s/sm_100a\"/sm_103a\"/ %t.mlir > %t.103.mlir
// RUN: tile-compile %t.103.mlir --emit asm -o %t.103.ptx
// RUN: %ptxas -arch=sm_103a %t.103.ptx -o %t.103.cubin

// PTX: barrier.cluster.wait
// PTX: tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32
// PTX: tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;
// PTX-NOT: cta_group::1
// PTX: mov.u32 [[NUMBER:%r[0-9]+]], %cluster_ctarank;
// PTX: and.b32 {{%r[0-9]+}}, [[NUMBER]], 1;
// PTX: and.b32 [[FIRST:%r[0-9]+]], [[NUMBER]], -2;
// PTX: mapa.shared::cluster.u64 [[FULL:%rd[0-9]+]], {{%rd[0-9]+}}, [[FIRST]];
// PTX-COUNT-2: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::2 {{.*}}, [[[FULL]]];
// The first program announces what both bring: twice 128 rows of a and 128 of b.
// PTX: mbarrier.try_wait.parity.acquire.cluster.shared.b64
// PTX: mov.b32 {{.*}}, 65536;
// PTX: mbarrier.arrive.expect_tx.shared.b64
// PTX-NOT: cp.async.bulk.tensor.2d.shared
// PTX-COUNT-4: tcgen05.mma.cta_group::2.kind::f16
// PTX-NOT: tcgen05.mma
// PTX: tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64
// PTX-COUNT-4: tcgen05.st.sync.aligned.32x32b.x64.b32
// PTX-COUNT-2: tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64
// The warps of both tell both.
// PTX-COUNT-4: tcgen05.ld.sync.aligned.32x32b.x64.b32
// PTX-COUNT-2: mbarrier.arrive.shared::cluster.b64
// PTX: barrier.cluster.wait
// PTX: tcgen05.dealloc.cta_group::2.sync.aligned.b32
// PTX: ret;

// INFO-NOT: {{C75|C76|arning}}
// INFO: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads

// METADATA: {"arg":1,"box":[128,64],"kind":"tensor_map","swizzle":128,"type":"bf16"}
// METADATA: "cluster":[2,1,1]
// METADATA: "own_cluster":true

// BOTH: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.cta_group::2
// BOTH: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::2
