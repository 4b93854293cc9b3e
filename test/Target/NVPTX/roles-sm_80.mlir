// Two roles on chips whose barriers in shared memory count arrivals and no bytes: one fills a ring by
// copies past the registers, which arrive themselves, the other's two copies multiply. A wait is a
// test that is made until it holds; nothing is told to engines, of which there are none.
// RUN: tile-compile %s --emit asm -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX --input-file %t.ptx
// RUN: FileCheck %s --check-prefix=NONE --input-file %t.ptx
// RUN: %ptxas -v -arch=sm_80 %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=INFO
// RUN: sed s/sm_80/sm_86/ %s > %t.86.mlir
// RUN: tile-compile %t.86.mlir --emit asm -o %t.86.ptx
// RUN: FileCheck %s --check-prefix=NONE --input-file %t.86.ptx
// RUN: %ptxas -v -arch=sm_86 %t.86.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=INFO
// RUN: sed s/sm_80/sm_89/ %s > %t.89.mlir
// RUN: tile-compile %t.89.mlir --emit asm -o %t.89.ptx
// RUN: FileCheck %s --check-prefix=NONE --input-file %t.89.ptx
// RUN: %ptxas -v -arch=sm_89 %t.89.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=INFO
// Chips whose barriers count bytes put who waits to sleep, whether or not an engine brings anything.
// RUN: sed s/sm_80/sm_120a/ %s > %t.120.mlir
// RUN: tile-compile %t.120.mlir --emit asm -o %t.120.ptx
// RUN: FileCheck %s --check-prefix=TRY --input-file %t.120.ptx
// RUN: %ptxas -v -arch=sm_120a %t.120.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=INFO

#copy = #nvptx.cp_async<16>
#mma = #nvptx.mma_sync<"m16n8k16", bf16, f32>
#facts = #tile.facts<pointer = 16, strides = [16, 2], index32>
!view = !tile.view<?x?xbf16, strides [?, 1]>
!out = !tile.view<?x?xf32>

module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
tile.kernel @multiply(%a: !view {tile.facts = #facts}, %b: !view {tile.facts = #facts}, %c: !out)
    attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4, copies = 2>]} grid {
  %c128 = arith.constant 128 : index
  %m = tile.dim %c, 0 : !out
  %n = tile.dim %c, 1 : !out
  %tm = arith.ceildivui %m, %c128 : index
  %tn = arith.ceildivui %n, %c128 : index
  tile.grid %tm, %tn
} {
  %x = tile.program_id x
  %y = tile.program_id y
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %row = arith.muli %x, %c128 : index
  %column = arith.muli %y, %c128 : index
  %k = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %kk = %c0 to %k step %c32 iter_args(%s = %zero) -> tensor<128x128xf32> {
    %at = tile.load %a[%row, %kk] {atom = #copy, role = "load"} : !view -> tensor<128x32xbf16>
    %bt = tile.load %b[%column, %kk] {atom = #copy, role = "load"} : !view -> tensor<128x32xbf16>
    %d = tile.dot %at, %bt, %s transpose_b {atom = #mma, role = "mma"}
       : tensor<128x32xbf16>, tensor<128x32xbf16> -> tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  } {tile.depth = 3}
  tile.store %sum, %c[%row, %column] {role = "mma"} : tensor<128x128xf32>, !out
  tile.return
}
}

// PTX: .reqntid 384
// Four warps fill a slot, eight release it.
// PTX: mov.b32 [[FILL:%r[0-9]+]], 4;
// PTX: mbarrier.init.shared.b64 [kiln_shared+[[#]]], [[FILL]];
// PTX: mov.b32 [[FREE:%r[0-9]+]], 8;
// PTX: mbarrier.init.shared.b64 [kiln_shared+[[#]]], [[FREE]];
// PTX-COUNT-4: mbarrier.init.shared.b64
// PTX: bar.sync 0;
// The loads: a free slot, two times four copies, which hold the phase up, and a lane's arrival.
// PTX: mbarrier.test_wait.parity.shared.b64 [[HAS:%p[0-9]+]], [%{{.*}}], %{{.*}};
// PTX-NEXT: not.pred [[NOT:%p[0-9]+]], [[HAS]];
// PTX-NEXT: @[[NOT]] bra $L__BB0_
// PTX-COUNT-8: cp.async.cg.shared.global
// PTX-NOT: cp.async.cg
// PTX: cp.async.mbarrier.arrive.shared.b64
// PTX-NEXT: bar.warp.sync -1;
// PTX: mbarrier.arrive.shared.b64
// The products: a filled slot, its reads, and a lane's release.
// PTX: mbarrier.test_wait.parity.shared.b64
// PTX: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// PTX: bar.warp.sync -1;
// PTX: mbarrier.arrive.shared.b64
// PTX-NOT: mbarrier

// NONE-NOT: {{^[^/]*(try_wait|expect_tx|fence|setmaxnreg|commit_group|wait_group)}}

// TRY: mbarrier.try_wait.parity.shared.b64
// TRY-NOT: test_wait

// INFO-NOT: arning
// INFO: 0 bytes spill stores, 0 bytes spill loads
// INFO: Used {{[0-9]+}} registers
