// Products of blocks with scales by tcgen05: of kernels that pin nothing, down to what the assembler
// says of them.
// RUN: split-file %s %t
// RUN: tile-compile %t/bytes.mlir --emit asm -o %t/bytes.ptx
// RUN: FileCheck %s --check-prefix=BYTES < %t/bytes.ptx
// RUN: %ptxas -v -arch=sm_100a %t/bytes.ptx -o %t/bytes.cubin 2>&1 | FileCheck %s --check-prefix=INFO
// RUN: sed s/sm_100a\"/sm_103a\"/ %t/bytes.mlir > %t/bytes.103.mlir
// RUN: tile-compile %t/bytes.103.mlir --emit asm -o %t/bytes.103.ptx
// RUN: FileCheck %s --check-prefix=BYTES < %t/bytes.103.ptx
// RUN: %ptxas -v -arch=sm_103a %t/bytes.103.ptx -o %t/bytes.103.cubin 2>&1 | FileCheck %s --check-prefix=INFO
// RUN: tile-compile %t/nibbles.mlir --emit asm -o %t/nibbles.ptx
// RUN: FileCheck %s --check-prefix=NIBBLES < %t/nibbles.ptx
// RUN: %ptxas -v -arch=sm_100a %t/nibbles.ptx -o %t/nibbles.cubin 2>&1 | FileCheck %s --check-prefix=INFO

// Each warp writes the scales of all 128 rows, and of the 64 of b; four instructions read a byte each.
// BYTES: cp.async.bulk.tensor.2d
// BYTES: tcgen05.st.sync.aligned.32x32b.x4.b32
// BYTES: tcgen05.wait::st.sync.aligned;
// BYTES: tcgen05.st.sync.aligned.32x32b.x2.b32
// BYTES: tcgen05.wait::st.sync.aligned;
// BYTES: tcgen05.fence::before_thread_sync;
// BYTES-COUNT-4: tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale
// BYTES-NOT: tcgen05.mma
// BYTES-COUNT-3: tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64
// INFO: 0 bytes spill stores, 0 bytes spill loads

// Blocks of 16: four scales for each 64 of k.
// NIBBLES-COUNT-2: tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.{{block16|scale_vec::4X}}

//--- bytes.mlir
#facts = #tile.facts<pointer = 16, strides = [16, 1], extents = [16, 16], index32>
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
tile.kernel @bytes(%a: !tile.view<?x?xf8E4M3FN> {tile.facts = #facts}, %b: !tile.view<?x?xf8E5M2> {tile.facts = #facts},
                   %u: !tile.view<?x?xf8E8M0FNU>, %v: !tile.view<?x?xf8E8M0FNU>, %o: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %n = tile.dim %a, 1 : !tile.view<?x?xf8E4M3FN>
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %sum = scf.for %k = %c0 to %n step %c128 iter_args(%c = %zero) -> tensor<128x64xf32> {
    %x = tile.load %a[%c0, %k] : !tile.view<?x?xf8E4M3FN> -> tensor<128x128xf8E4M3FN>
    %y = tile.load %b[%c0, %k] : !tile.view<?x?xf8E5M2> -> tensor<64x128xf8E5M2>
    %block = arith.divui %k, %c32 : index
    %s = tile.load %u[%c0, %block] : !tile.view<?x?xf8E8M0FNU> -> tensor<128x4xf8E8M0FNU>
    %t = tile.load %v[%c0, %block] : !tile.view<?x?xf8E8M0FNU> -> tensor<64x4xf8E8M0FNU>
    %d = tile.dot_scaled %x scale %s, %y scale %t, %c transpose_b
       : tensor<128x128xf8E4M3FN>, tensor<128x4xf8E8M0FNU>, tensor<64x128xf8E5M2>, tensor<64x4xf8E8M0FNU> -> tensor<128x64xf32>
    scf.yield %d : tensor<128x64xf32>
  }
  tile.store %sum, %o[%c0, %c0] : tensor<128x64xf32>, !tile.view<?x?xf32>
  tile.return
}
}

//--- nibbles.mlir
#facts = #tile.facts<pointer = 16, strides = [16, 1], extents = [16, 16], index32>
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
tile.kernel @nibbles(%a: !tile.view<?x?xi8> {tile.facts = #facts}, %b: !tile.view<?x?xi8> {tile.facts = #facts},
                     %u: !tile.view<?x?xf8E4M3FN>, %v: !tile.view<?x?xf8E4M3FN>, %o: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %n = tile.dim %a, 1 : !tile.view<?x?xi8>
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %sum = scf.for %k = %c0 to %n step %c64 iter_args(%c = %zero) -> tensor<128x64xf32> {
    %i = tile.load %a[%c0, %k] : !tile.view<?x?xi8> -> tensor<128x64xi8>
    %j = tile.load %b[%c0, %k] : !tile.view<?x?xi8> -> tensor<64x64xi8>
    %x = tile.bitcast %i : tensor<128x64xi8> -> tensor<128x128xf4E2M1FN>
    %y = tile.bitcast %j : tensor<64x64xi8> -> tensor<64x128xf4E2M1FN>
    %block = arith.divui %k, %c8 : index
    %s = tile.load %u[%c0, %block] : !tile.view<?x?xf8E4M3FN> -> tensor<128x8xf8E4M3FN>
    %t = tile.load %v[%c0, %block] : !tile.view<?x?xf8E4M3FN> -> tensor<64x8xf8E4M3FN>
    %d = tile.dot_scaled %x scale %s, %y scale %t, %c transpose_b
       : tensor<128x128xf4E2M1FN>, tensor<128x8xf8E4M3FN>, tensor<64x128xf4E2M1FN>, tensor<64x8xf8E4M3FN> -> tensor<128x64xf32>
    scf.yield %d : tensor<128x64xf32>
  }
  tile.store %sum, %o[%c0, %c0] : tensor<128x64xf32>, !tile.view<?x?xf32>
  tile.return
}
}
