// What becomes of products of which nobody pins anything, in the lowering.
// RUN: tile-opt %s --split-input-file --tile-pipeline=stop-after=target | FileCheck %s

// A tile that all dots of a loop read is given back behind it, when the last dot commits; nobody waits
// for that, so the thread that starts them waits for their end before the program ends.
#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
// CHECK-LABEL: func @invariant
// CHECK: nvvm.tcgen05.mma
// CHECK-COUNT-3: nvvm.tcgen05.commit
// CHECK: nvvm.tcgen05.commit %[[END:[0-9]+]] :
// CHECK-NEXT: scf.while
// CHECK-NEXT: nvvm.mbarrier.try_wait %[[END]], %c0_i32
tile.kernel @invariant(%q: !tile.view<?x?xbf16> {tile.facts = #facts}, %k: !tile.view<?x?xbf16> {tile.facts = #facts},
                       %o: !tile.view<?xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = tile.dim %k, 0 : !tile.view<?x?xbf16>
  %none = arith.constant dense<0.0> : tensor<128xf32>
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %x = tile.load %q[%c0, %c0] : !tile.view<?x?xbf16> -> tensor<128x64xbf16>
  %sum = scf.for %j = %c0 to %n step %c64 iter_args(%s = %none) -> tensor<128xf32> {
    %y = tile.load %k[%j, %c0] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    %d = tile.dot %x, %y, %zero transpose_b : tensor<128x64xbf16>, tensor<64x64xbf16> -> tensor<128x64xf32>
    %r = tile.reduce %d axis = 1 : tensor<128x64xf32> -> tensor<128xf32> {
    ^bb0(%left: f32, %right: f32):
      %0 = arith.addf %left, %right : f32
      tile.yield %0 : f32
    }
    %t = arith.addf %s, %r : tensor<128xf32>
    scf.yield %t : tensor<128xf32>
  }
  tile.store %sum, %o[%c0] : tensor<128xf32>, !tile.view<?xf32>
  tile.return
}
}

// -----

// An operand in registers may be read along k or across: each thread has the same elements.
#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>
#wide = #tile.facts<pointer = 16, strides = [16, 4], extents = [16, 16], index32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// CHECK-LABEL: func @across
// CHECK: wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {{.*}}, {$64, $65, $66, $67}, $68, p
tile.kernel @across(%a: !tile.view<?x?xf16> {tile.facts = #facts}, %b: !tile.view<?x?xf32> {tile.facts = #wide},
                    %o: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %n = tile.dim %a, 1 : !tile.view<?x?xf16>
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %sum = scf.for %j = %c0 to %n step %c32 iter_args(%s = %zero) -> tensor<128x64xf32> {
    %x = tile.load %a[%c0, %j] : !tile.view<?x?xf16> -> tensor<128x32xf16>
    %y = tile.load %b[%j, %c0] : !tile.view<?x?xf32> -> tensor<32x64xf32>
    %z = arith.truncf %y : tensor<32x64xf32> to tensor<32x64xf16>
    %d = tile.dot %x, %z, %s : tensor<128x32xf16>, tensor<32x64xf16> -> tensor<128x64xf32>
    scf.yield %d : tensor<128x64xf32>
  }
  tile.store %sum, %o[%c0, %c0] : tensor<128x64xf32>, !tile.view<?x?xf32>
  tile.return
}
}
