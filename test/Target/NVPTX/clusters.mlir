// Products whose operands a cluster's programs bring once for all of them: masks, arrivals at other
// programs' barriers, and the barriers of the cluster.
// RUN: sed -e 's/tile.persistent/tile.cluster = array<i64: 2, 1, 1>, tile.persistent/' \
// RUN:   -e 's/order = 1, role/order = 1, multicast = ["x"], role/' \
// RUN:   %S/../../../benchmarks/gemm.mlir > %t.mlir
// RUN: tile-compile %t.mlir --emit asm -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX --input-file %t.ptx
// RUN: %ptxas -v -arch=sm_90a %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=INFO
// RUN: tile-compile %t.mlir --emit metadata | FileCheck %s --check-prefix=METADATA
// Both operands, along both axes.
// RUN: sed -e 's/array<i64: 2, 1, 1>/array<i64: 2, 2, 1>/' \
// RUN:   -e 's/order = 0, role = "load"/order = 0, multicast = ["y"], role = "load"/' %t.mlir > %t.both.mlir
// RUN: tile-compile %t.both.mlir --emit asm -o %t.both.ptx
// RUN: FileCheck %s --check-prefix=BOTH --input-file %t.both.ptx
// RUN: %ptxas -v -arch=sm_90a %t.both.ptx -o %t.both.cubin 2>&1 | FileCheck %s --check-prefix=INFO
// The same code serves products into tensor memory, whose commits tell several programs at once.
// RUN: sed -e 's/tile.persistent/tile.cluster = array<i64: 2, 1, 1>, tile.persistent/' \
// RUN:   -e 's/%b\[%column, %kk\] {/%b[%column, %kk] {multicast = ["x"], /' \
// RUN:   %S/../../../benchmarks/gemm-sm_100a.mlir > %t.100.mlir
// RUN: tile-compile %t.100.mlir --emit asm -o %t.100.ptx
// RUN: FileCheck %s --check-prefix=TENSOR --input-file %t.100.ptx
// RUN: %ptxas -arch=sm_100a %t.100.ptx -o %t.100.cubin

// Barriers are the cluster's before anybody reaches them.
// PTX: fence.mbarrier_init.release.cluster
// PTX: barrier.cluster.arrive
// PTX-NEXT: barrier.cluster.wait
// Who fills a slot hears from both programs; half of the rows of b are its to bring.
// PTX: mbarrier.try_wait.parity.acquire.cluster.shared.b64
// PTX: mov.b32 {{.*}}, 49152;
// PTX: mbarrier.arrive.expect_tx.shared.b64
// PTX: cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes
// PTX-NOT: multicast
// PTX: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster
// PTX: mbarrier.try_wait.parity.shared.b64
// PTX-COUNT-2: mapa.shared::cluster
// PTX-COUNT-2: mbarrier.arrive.shared::cluster.b64 _
// PTX-NOT: mbarrier.arrive.shared.b64
// Nobody ends before the others have told it all.
// PTX: barrier.cluster.arrive
// PTX-NEXT: barrier.cluster.wait
// PTX: ret;

// INFO-NOT: {{C75|C76|arning}}
// INFO: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// INFO: Used 168 registers

// METADATA: {"arg":1,"box":[128,64],"kind":"tensor_map","swizzle":128,"type":"bf16"}
// METADATA: "cluster":[2,1,1]
// METADATA: "own_cluster":true

// BOTH: cp.async.bulk.tensor.2d.shared::cluster.{{.*}}multicast::cluster
// BOTH: cp.async.bulk.tensor.2d.shared::cluster.{{.*}}multicast::cluster
// BOTH-COUNT-3: mapa.shared::cluster

// TENSOR: barrier.cluster.wait
// TENSOR: cp.async.bulk.tensor.2d.shared::cluster.{{.*}}multicast::cluster
// TENSOR: tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64
