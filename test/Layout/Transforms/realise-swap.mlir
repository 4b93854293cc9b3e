// RUN: tile-opt %s --tile-realise-swap -split-input-file -verify-diagnostics | FileCheck %s

// The operands change places, each turned; the sum and the result are transposes.
// CHECK-LABEL: @once
// CHECK: %[[A:.*]] = tile.load %a
// CHECK: %[[B:.*]] = tile.load %b
// CHECK: %[[C:.*]] = tile.load %c
// CHECK: %[[S:.*]] = tile.transpose %[[C]] [1, 0] : tensor<16x128xf32> -> tensor<128x16xf32>
// CHECK: %[[D:.*]] = tile.dot %[[B]], %[[A]], %[[S]] transpose_a transpose_b {tile.atom = "mma_sync"} : tensor<64x128xf16>, tensor<16x64xf16> -> tensor<128x16xf32>
// CHECK: %[[T:.*]] = tile.transpose %[[D]] [1, 0]
// CHECK: tile.store %[[T]]
tile.kernel @once(%a: !tile.view<16x64xf16>, %b: !tile.view<64x128xf16>, %c: !tile.view<16x128xf32>) {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0, %c0] : !tile.view<16x64xf16> -> tensor<16x64xf16>
  %y = tile.load %b[%c0, %c0] : !tile.view<64x128xf16> -> tensor<64x128xf16>
  %z = tile.load %c[%c0, %c0] : !tile.view<16x128xf32> -> tensor<16x128xf32>
  %d = tile.dot %x, %y, %z {swap = true, tile.atom = "mma_sync"} : tensor<16x64xf16>, tensor<64x128xf16> -> tensor<16x128xf32>
  tile.store %d, %c[%c0, %c0] : tensor<16x128xf32>, !tile.view<16x128xf32>
  tile.return
}

// A sum that the loop carries for the product alone is carried transposed, and turned once.
// CHECK-LABEL: @carried
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<128x16xf32>
// CHECK: %[[R:.*]] = scf.for {{.*}} iter_args(%[[S:.*]] = %[[ZERO]]) -> (tensor<128x16xf32>)
// CHECK-NOT: tile.transpose
// CHECK: %[[D:.*]] = tile.dot %{{.*}}, %{{.*}}, %[[S]] transpose_b :
// CHECK-NEXT: scf.yield %[[D]]
// CHECK: %[[T:.*]] = tile.transpose %[[R]] [1, 0]
// CHECK: tile.store %[[T]]
tile.kernel @carried(%a: !tile.view<16x64xf16>, %b: !tile.view<128x64xf16>, %c: !tile.view<16x128xf32>) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<16x128xf32>
  %r = scf.for %k = %c0 to %c64 step %c32 iter_args(%s = %zero) -> tensor<16x128xf32> {
    %x = tile.load %a[%c0, %k] : !tile.view<16x64xf16> -> tensor<16x32xf16>
    %y = tile.load %b[%c0, %k] : !tile.view<128x64xf16> -> tensor<128x32xf16>
    %d = tile.dot %x, %y, %s transpose_b {swap = true} : tensor<16x32xf16>, tensor<128x32xf16> -> tensor<16x128xf32>
    scf.yield %d : tensor<16x128xf32>
  }
  tile.store %r, %c[%c0, %c0] : tensor<16x128xf32>, !tile.view<16x128xf32>
  tile.return
}

// Rows and columns that are decided change places.
// CHECK-LABEL: @extents
// CHECK: tile.dot {{.*}} {tile.extents = array<i64: 192, 16, 64, 32>} : tensor<192x96xf16>, tensor<16x96xf16> -> tensor<192x16xf32>
tile.kernel @extents(%a: !tile.view<16x96xf16>, %b: !tile.view<192x96xf16>, %c: !tile.view<16x192xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<16x192xf32>
  %x = tile.load %a[%c0, %c0] : !tile.view<16x96xf16> -> tensor<16x96xf16>
  %y = tile.load %b[%c0, %c0] : !tile.view<192x96xf16> -> tensor<192x96xf16>
  %d = tile.dot %x, %y, %zero transpose_b {swap = true, tile.extents = array<i64: 16, 192, 64, 32>} : tensor<16x96xf16>, tensor<192x96xf16> -> tensor<16x192xf32>
  tile.store %d, %c[%c0, %c0] : tensor<16x192xf32>, !tile.view<16x192xf32>
  tile.return
}

// CHECK-LABEL: @in_a_batch
// CHECK: tile.transpose %{{.*}} [0, 2, 1] : tensor<2x16x32xi32> -> tensor<2x32x16xi32>
// CHECK: tile.dot %[[B:.*]], %[[A:.*]], %{{.*}} transpose_a transpose_b unsigned_b
// CHECK: tile.transpose %{{.*}} [0, 2, 1]
tile.kernel @in_a_batch(%a: !tile.view<2x16x64xi8>, %b: !tile.view<2x64x32xi8>, %c: !tile.view<2x16x32xi32>) {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0, %c0, %c0] : !tile.view<2x16x64xi8> -> tensor<2x16x64xi8>
  %y = tile.load %b[%c0, %c0, %c0] : !tile.view<2x64x32xi8> -> tensor<2x64x32xi8>
  %z = tile.load %c[%c0, %c0, %c0] : !tile.view<2x16x32xi32> -> tensor<2x16x32xi32>
  %d = tile.dot %x, %y, %z unsigned_a {swap = true} : tensor<2x16x64xi8>, tensor<2x64x32xi8> -> tensor<2x16x32xi32>
  tile.store %d, %c[%c0, %c0, %c0] : tensor<2x16x32xi32>, !tile.view<2x16x32xi32>
  tile.return
}

// -----

tile.kernel @laid_out(%a: !tile.view<16x64xf16>, %c: !tile.view<16x16xf32>) {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0, %c0] : !tile.view<16x64xf16> -> tensor<16x64xf16>
  %z = tile.load %c[%c0, %c0] : !tile.view<16x16xf32> -> tensor<16x16xf32>
  // expected-error @+1 {{expected no layout of a result of which the transpose is computed, since 'swap' is decided}}
  %d = tile.dot %x, %x, %z transpose_b {swap = true, tile.layout = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[1,0],[2,0],[4,0],[8,0]]>} : tensor<16x64xf16>, tensor<16x64xf16> -> tensor<16x16xf32>
  tile.store %d, %c[%c0, %c0] : tensor<16x16xf32>, !tile.view<16x16xf32>
  tile.return
}
