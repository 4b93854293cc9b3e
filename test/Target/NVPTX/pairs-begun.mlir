// Sums of pairs that begin as a tile, which each trip halves: the warps of both programs write it, and say so to
// the thread that starts the product for both.
// RUN: tile-compile %s --emit asm -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX --input-file %t.ptx
// RUN: %ptxas -v -arch=sm_100a %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=INFO
// RUN: sed s/sm_100a\"/sm_103a\"/ %s > %t.103.mlir
// RUN: tile-compile %t.103.mlir --emit asm -o %t.103.ptx
// RUN: %ptxas -arch=sm_103a %t.103.ptx -o %t.103.cubin
// Columns in steps of 16: 48 of 24 each.
// RUN: sed -e s/n64k16/n48k16/ -e 's/64xf32/48xf32/g' -e 's/tensor<64x64xbf16>/tensor<48x64xbf16>/g' %s > %t.48.mlir
// RUN: tile-compile %t.48.mlir --emit asm -o %t.48.ptx
// RUN: %ptxas -arch=sm_100a %t.48.ptx -o %t.48.cubin

// PTX: tcgen05.st.sync.aligned.32x32b.x64.b32
// PTX-NEXT: tcgen05.wait::st.sync.aligned;
// PTX-NEXT: tcgen05.fence::before_thread_sync;
// PTX: bar.sync
// PTX: tcgen05.fence::after_thread_sync;
// PTX: mbarrier.arrive.release.cluster.shared::cluster.b64
// PTX: mbarrier.try_wait.parity.acquire.cluster.shared.b64
// PTX: tcgen05.fence::after_thread_sync;
// PTX-COUNT-4: tcgen05.mma.cta_group::2.kind::f16
// PTX: tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64

// INFO-NOT: {{C75|C76|arning}}
// INFO: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>
#wide = #tile.facts<pointer = 16, strides = [16, 4], extents = [16, 16], index32>
#mma = #nvptx.tcgen05<"m256n64k16", bf16, f32>
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
tile.kernel @begun(%a: !tile.view<?x?xbf16> {tile.facts = #facts}, %b: !tile.view<?x?xbf16> {tile.facts = #facts},
                   %c: !tile.view<?x?xf32> {tile.facts = #wide})
    attributes {tile.cluster = array<i64: 2, 1, 1>,
                tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %x = tile.program_id x
  %row = arith.muli %x, %c128 : index
  %n = tile.dim %a, 1 : !tile.view<?x?xbf16>
  %half = arith.constant {tile.role = "mma"} dense<0.5> : tensor<128x64xf32>
  %first = tile.load %c[%row, %c0] {role = "mma"} : !tile.view<?x?xf32> -> tensor<128x64xf32>
  %sum = scf.for %k = %c0 to %n step %c64 iter_args(%s = %first) -> tensor<128x64xf32> {
    %at = tile.load %a[%row, %k] {atom = #nvptx.tma, stage = 0, depth = 2, ring = "tiles", role = "load"}
        : !tile.view<?x?xbf16> -> tensor<128x64xbf16>
    %bt = tile.load %b[%c0, %k] {atom = #nvptx.tma, stage = 0, depth = 2, ring = "tiles", role = "load"}
        : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    %less = arith.mulf %s, %half {tile.role = "mma", tile.stage = 0} : tensor<128x64xf32>
    %d = tile.dot %at, %bt, %less transpose_b {atom = #mma, stage = 0, role = "mma", in_flight = 0}
        : tensor<128x64xbf16>, tensor<64x64xbf16> -> tensor<128x64xf32>
    scf.yield %d : tensor<128x64xf32>
  }
  tile.store %sum, %c[%row, %c0] {role = "mma"} : tensor<128x64xf32>, !tile.view<?x?xf32>
  tile.return
}
}
