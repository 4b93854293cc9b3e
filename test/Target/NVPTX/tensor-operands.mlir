// A chain of two products, as the compiler decides it: what is computed of the first is the second's
// operand a in tensor memory, two elements a column.
// RUN: sed s/proposal\ =\ 0/proposal\ =\ 1/ %s | tile-compile --emit asm -o %t.over.ptx
// RUN: FileCheck %s --check-prefixes=PTX,OVER --input-file %t.over.ptx
// RUN: %ptxas -v -arch=sm_100a %t.over.ptx -o %t.over.cubin 2>&1 | FileCheck %s --check-prefix=INFO
// RUN: tile-compile %s --emit asm -o %t.ptx
// RUN: FileCheck %s --check-prefixes=PTX,APART --input-file %t.ptx
// RUN: %ptxas -v -arch=sm_100a %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=INFO
// RUN: sed s/sm_100a\"/sm_103a\"/ %s > %t.103.mlir
// RUN: tile-compile %t.103.mlir --emit asm -o %t.103.ptx
// RUN: FileCheck %s --check-prefixes=PTX,APART --input-file %t.103.ptx
// RUN: %ptxas -v -arch=sm_103a %t.103.ptx -o %t.103.cubin 2>&1 | FileCheck %s --check-prefix=INFO
// RUN: sed -e s/bf16/f16/g %s | tile-compile --emit asm -o %t.f16.ptx
// RUN: FileCheck %s --check-prefixes=PTX,APART --input-file %t.f16.ptx
// RUN: %ptxas -arch=sm_100a %t.f16.ptx -o %t.f16.cubin

// PTX: .target sm_10{{[03]}}a
// Scores: both operands are described.
// PTX-COUNT-4: tcgen05.mma.cta_group::1.kind::f16{{[a-z:.]*}} [{{%r[0-9]+}}], %rd{{[0-9]+}}, %rd{{[0-9]+}},
// PTX: tcgen05.commit.cta_group::1
// PTX: tcgen05.ld.sync.aligned.32x32b.x64.b32
// PTX: tcgen05.wait::ld.sync.aligned;
// Of trips in turn, all write their rows over the scores', which the same warp has fetched: nobody meets for that.
// Where the next scores are computed beside these weights, the weights have columns of their own: the thread that
// starts products has waited for the last that read them.
// OVER-NOT: bar.sync
// APART: bar.sync
// APART: tcgen05.fence::after_thread_sync;
// PTX: tcgen05.st.sync.aligned.32x32b.x32.b32
// PTX-NEXT: tcgen05.wait::st.sync.aligned;
// PTX: tcgen05.fence::before_thread_sync;
// PTX: bar.sync
// PTX: tcgen05.fence::after_thread_sync;
// PTX-COUNT-4: tcgen05.mma.cta_group::1.kind::f16{{[a-z:.]*}} [{{%r[0-9]+}}], [{{%r[0-9]+(\+[0-9]+)?}}], %rd{{[0-9]+}},
// PTX: tcgen05.commit.cta_group::1

// INFO-NOT: {{C75|C76|arning}}
// INFO: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>
#wide = #tile.facts<pointer = 16, strides = [16, 4], extents = [16, 16], index32>
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
tile.kernel @chain(%x: !tile.view<?x?xbf16> {tile.facts = #facts}, %w: !tile.view<?x?xbf16> {tile.facts = #facts},
                   %v: !tile.view<?x?xbf16> {tile.facts = #facts}, %o: !tile.view<?x?xf32> {tile.facts = #wide})
    attributes {tile.proposal = 0 : i64} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = tile.dim %w, 0 : !tile.view<?x?xbf16>
  %none = arith.constant dense<0.0> : tensor<128x64xf32>
  %t = tile.load %x[%c0, %c0] : !tile.view<?x?xbf16> -> tensor<128x64xbf16>
  %sum = scf.for %j = %c0 to %n step %c64 iter_args(%acc = %none) -> tensor<128x64xf32> {
    %wt = tile.load %w[%j, %c0] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    %s = tile.dot %t, %wt, %none transpose_b : tensor<128x64xbf16>, tensor<64x64xbf16> -> tensor<128x64xf32>
    %p = arith.maximumf %s, %none : tensor<128x64xf32>
    %q = arith.truncf %p : tensor<128x64xf32> to tensor<128x64xbf16>
    %vt = tile.load %v[%j, %c0] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    %d = tile.dot %q, %vt, %acc : tensor<128x64xbf16>, tensor<64x64xbf16> -> tensor<128x64xf32>
    scf.yield %d : tensor<128x64xf32>
  }
  tile.store %sum, %o[%c0, %c0] : tensor<128x64xf32>, !tile.view<?x?xf32>
  tile.return
}
}
