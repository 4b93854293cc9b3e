// RUN: tile-opt --tile-decide-swap --split-input-file %s | FileCheck %s

// The instruction reads its second operand from shared memory alone. Weights that are widened are the
// first operand of the transpose.
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// CHECK-LABEL: @weights
// CHECK: tile.dot {{.*}} transpose_b {swap = true}
tile.kernel @weights(%a: !tile.view<?x?xbf16>, %b: !tile.view<?x?xi8>, %c: !tile.view<?x?xf32>, %k: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<16x128xf32>
  %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<16x128xf32> {
    %x = tile.load %a[%c0, %kk] : !tile.view<?x?xbf16> -> tensor<16x64xbf16>
    %y = tile.load %b[%c0, %kk] : !tile.view<?x?xi8> -> tensor<128x64xi8>
    %w = arith.sitofp %y : tensor<128x64xi8> to tensor<128x64xbf16>
    %d = tile.dot %x, %w, %s transpose_b : tensor<16x64xbf16>, tensor<128x64xbf16> -> tensor<16x128xf32>
    scf.yield %d : tensor<16x128xf32>
  }
  tile.store %sum, %c[%c0, %c0] : tensor<16x128xf32>, !tile.view<?x?xf32>
  tile.return
}

// 16 rows are fewer than an instruction has, and become its columns.
// CHECK-LABEL: @few_rows
// CHECK: tile.dot {{.*}} transpose_b {swap = true}
tile.kernel @few_rows(%a: !tile.view<?x?xbf16>, %b: !tile.view<?x?xbf16>, %c: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<16x128xf32>
  %x = tile.load %a[%c0, %c0] : !tile.view<?x?xbf16> -> tensor<16x64xbf16>
  %y = tile.load %b[%c0, %c0] : !tile.view<?x?xbf16> -> tensor<128x64xbf16>
  %d = tile.dot %x, %y, %zero transpose_b : tensor<16x64xbf16>, tensor<128x64xbf16> -> tensor<16x128xf32>
  tile.store %d, %c[%c0, %c0] : tensor<16x128xf32>, !tile.view<?x?xf32>
  tile.return
}

// Both are computed: neither way runs on beside the warps.
// CHECK-LABEL: @both
// CHECK-NOT: swap
tile.kernel @both(%a: !tile.view<?x?xi8>, %b: !tile.view<?x?xi8>, %c: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %x = tile.load %a[%c0, %c0] : !tile.view<?x?xi8> -> tensor<64x64xi8>
  %y = tile.load %b[%c0, %c0] : !tile.view<?x?xi8> -> tensor<128x64xi8>
  %v = arith.sitofp %x : tensor<64x64xi8> to tensor<64x64xbf16>
  %w = arith.sitofp %y : tensor<128x64xi8> to tensor<128x64xbf16>
  %d = tile.dot %v, %w, %zero transpose_b : tensor<64x64xbf16>, tensor<128x64xbf16> -> tensor<64x128xf32>
  tile.store %d, %c[%c0, %c0] : tensor<64x128xf32>, !tile.view<?x?xf32>
  tile.return
}

// The author decides some of it, and so all of it.
// CHECK-LABEL: @pinned
// CHECK-NOT: swap
tile.kernel @pinned(%a: !tile.view<?x?xbf16>, %b: !tile.view<?x?xi8>, %c: !tile.view<?x?xf32>) attributes {tile.warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %x = tile.load %a[%c0, %c0] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
  %y = tile.load %b[%c0, %c0] : !tile.view<?x?xi8> -> tensor<128x64xi8>
  %w = arith.sitofp %y : tensor<128x64xi8> to tensor<128x64xbf16>
  %d = tile.dot %x, %w, %zero transpose_b : tensor<64x64xbf16>, tensor<128x64xbf16> -> tensor<64x128xf32>
  tile.store %d, %c[%c0, %c0] : tensor<64x128xf32>, !tile.view<?x?xf32>
  tile.return
}

// 96 rows of the transpose are no whole instructions of 64.
// CHECK-LABEL: @rows
// CHECK-NOT: swap
tile.kernel @rows(%a: !tile.view<?x?xbf16>, %b: !tile.view<?x?xi8>, %c: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x96xf32>
  %x = tile.load %a[%c0, %c0] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
  %y = tile.load %b[%c0, %c0] : !tile.view<?x?xi8> -> tensor<96x64xi8>
  %w = arith.sitofp %y : tensor<96x64xi8> to tensor<96x64xbf16>
  %d = tile.dot %x, %w, %zero transpose_b : tensor<64x64xbf16>, tensor<96x64xbf16> -> tensor<64x96xf32>
  tile.store %d, %c[%c0, %c0] : tensor<64x96xf32>, !tile.view<?x?xf32>
  tile.return
}
}

// -----

// No instruction of this chip runs on beside its warps.
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
// CHECK-LABEL: @synchronous
// CHECK-NOT: swap
tile.kernel @synchronous(%a: !tile.view<?x?xbf16>, %b: !tile.view<?x?xi8>, %c: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %x = tile.load %a[%c0, %c0] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
  %y = tile.load %b[%c0, %c0] : !tile.view<?x?xi8> -> tensor<128x64xi8>
  %w = arith.sitofp %y : tensor<128x64xi8> to tensor<128x64xbf16>
  %d = tile.dot %x, %w, %zero transpose_b : tensor<64x64xbf16>, tensor<128x64xbf16> -> tensor<64x128xf32>
  tile.store %d, %c[%c0, %c0] : tensor<64x128xf32>, !tile.view<?x?xf32>
  tile.return
}
}

// -----

// An instruction of 64 rows leaves half of the units idle, and one of 128 rows makes the transpose. 64 columns would be 64
// rows of it. In a chain the second product reads what is computed as its first operand, so none is swapped.
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
// CHECK-LABEL: @half
// CHECK: tile.dot {{.*}} transpose_b {swap = true}
tile.kernel @half(%a: !tile.view<?x?xbf16>, %b: !tile.view<?x?xbf16>, %c: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %x = tile.load %a[%c0, %c0] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
  %y = tile.load %b[%c0, %c0] : !tile.view<?x?xbf16> -> tensor<128x64xbf16>
  %d = tile.dot %x, %y, %zero transpose_b : tensor<64x64xbf16>, tensor<128x64xbf16> -> tensor<64x128xf32>
  tile.store %d, %c[%c0, %c0] : tensor<64x128xf32>, !tile.view<?x?xf32>
  tile.return
}

// CHECK-LABEL: @said_not
// CHECK: tile.dot {{.*}} transpose_b {swap = false}
tile.kernel @said_not(%a: !tile.view<?x?xbf16>, %b: !tile.view<?x?xbf16>, %c: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %x = tile.load %a[%c0, %c0] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
  %y = tile.load %b[%c0, %c0] : !tile.view<?x?xbf16> -> tensor<128x64xbf16>
  %d = tile.dot %x, %y, %zero transpose_b {swap = false} : tensor<64x64xbf16>, tensor<128x64xbf16> -> tensor<64x128xf32>
  tile.store %d, %c[%c0, %c0] : tensor<64x128xf32>, !tile.view<?x?xf32>
  tile.return
}

// CHECK-LABEL: @square
// CHECK-NOT: swap
tile.kernel @square(%a: !tile.view<?x?xbf16>, %b: !tile.view<?x?xbf16>, %c: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.load %a[%c0, %c0] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
  %y = tile.load %b[%c0, %c0] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
  %d = tile.dot %x, %y, %zero transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
  tile.store %d, %c[%c0, %c0] : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}

// CHECK-LABEL: @chain
// CHECK-NOT: swap
tile.kernel @chain(%a: !tile.view<?x?xbf16>, %b: !tile.view<?x?xbf16>, %c: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %x = tile.load %a[%c0, %c0] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
  %y = tile.load %b[%c0, %c0] : !tile.view<?x?xbf16> -> tensor<128x64xbf16>
  %d = tile.dot %x, %y, %zero transpose_b : tensor<64x64xbf16>, tensor<128x64xbf16> -> tensor<64x128xf32>
  %p = arith.truncf %d : tensor<64x128xf32> to tensor<64x128xbf16>
  %z = tile.load %b[%c0, %c0] : !tile.view<?x?xbf16> -> tensor<128x128xbf16>
  %e = tile.dot %p, %z, %zero : tensor<64x128xbf16>, tensor<128x128xbf16> -> tensor<64x128xf32>
  tile.store %e, %c[%c0, %c0] : tensor<64x128xf32>, !tile.view<?x?xf32>
  tile.return
}
}
