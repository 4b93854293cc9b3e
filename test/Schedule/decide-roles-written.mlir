// RUN: tile-opt --tile-decide-roles --split-input-file %s | FileCheck %s

// Both operands are computed. An instruction reads the second from shared memory alone: warps write
// it there where products that they make themselves would take longer.

#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
// CHECK-LABEL: @pays
// CHECK-SAME: tile.roles = [#tile.role<"compute", warps = 4>, #tile.role<"load", warps = 1>]
// CHECK-COUNT-2: tile.load {{.*}} {atom = #nvptx.tma, ring = "ring{{[01]}}", role = "load"}
// CHECK: tile.dot {{.*}} {atom = #nvptx.tcgen05<"m128n128k16", bf16, f32>, role = "compute"}
tile.kernel @pays(%a: !tile.view<?x?xbf16> {tile.facts = #facts}, %c: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %k = tile.dim %a, 1 : !tile.view<?x?xbf16>
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<128x128xf32> {
    %x = tile.load %a[%c0, %kk] : !tile.view<?x?xbf16> -> tensor<128x64xbf16>
    %y = tile.load %a[%c64, %kk] : !tile.view<?x?xbf16> -> tensor<128x64xbf16>
    %u = arith.addf %x, %x : tensor<128x64xbf16>
    %v = arith.addf %y, %y : tensor<128x64xbf16>
    %d = tile.dot %u, %v, %s transpose_b
       : tensor<128x64xbf16>, tensor<128x64xbf16> -> tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  tile.store %sum, %c[%c0, %c0] : tensor<128x128xf32>, !tile.view<?x?xf32>
  tile.return
}
}

// -----

#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// CHECK: why = "it reads operand b from shared memory alone, where no copy engine brings it and warps that write it gain too little"
// CHECK-LABEL: @does_not
// CHECK-SAME: tile.roles = [#tile.role<"all"
tile.kernel @does_not(%a: !tile.view<?x?xbf16> {tile.facts = #facts}, %c: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %k = tile.dim %a, 1 : !tile.view<?x?xbf16>
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<128x128xf32> {
    %x = tile.load %a[%c0, %kk] : !tile.view<?x?xbf16> -> tensor<128x64xbf16>
    %y = tile.load %a[%c64, %kk] : !tile.view<?x?xbf16> -> tensor<128x64xbf16>
    %u = arith.addf %x, %x : tensor<128x64xbf16>
    %v = arith.addf %y, %y : tensor<128x64xbf16>
    %d = tile.dot %u, %v, %s transpose_b
       : tensor<128x64xbf16>, tensor<128x64xbf16> -> tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  tile.store %sum, %c[%c0, %c0] : tensor<128x128xf32>, !tile.view<?x?xf32>
  tile.return
}
}
