// RUN: tile-opt %s --tile-decide-atoms --split-input-file | FileCheck %s

#nv = #nvptx.target<chip = "sm_80">
module attributes {tile.target = #nv} {
  // CHECK-LABEL: tile.kernel @types{{.*}} attributes {tile.warps = 8 : i64}
  tile.kernel @types(%x: index) {
    %a = arith.constant dense<1.0> : tensor<64x64xbf16>
    %b = arith.constant dense<1.0> : tensor<64x64xf32>
    %c = arith.constant dense<1.0> : tensor<64x64xf64>
    %i = arith.constant dense<1> : tensor<64x64xi8>
    %j = arith.constant dense<1> : tensor<64x64xi32>
    // CHECK: tile.dot {{.*}} {atom = #nvptx.mma_sync<"m16n8k16", bf16, f32>}
    %0 = tile.dot %a, %a, %b : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    // The matrix instructions round f32, so they are only for who asks.
    // CHECK: tile.dot {{.*}} {atom = #tile.fma}
    %1 = tile.dot %b, %b, %b : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    // CHECK: tile.dot {{.*}} {atom = #nvptx.mma_sync<"m16n8k8", tf32, f32>}
    %2 = tile.dot %b, %b, %b precision = tf32
       : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    // CHECK: tile.dot {{.*}} {atom = #nvptx.mma_sync<"m8n8k4", f64, f64>}
    %3 = tile.dot %c, %c, %c : tensor<64x64xf64>, tensor<64x64xf64> -> tensor<64x64xf64>
    // CHECK: tile.dot {{.*}} {atom = #nvptx.mma_sync<"m16n8k32", i8, i32>}
    %4 = tile.dot %i, %i, %j : tensor<64x64xi8>, tensor<64x64xi8> -> tensor<64x64xi32>
    // CHECK: tile.dot {{.*}} {atom = #nvptx.mma_sync<"m16n8k32", ui8, i32, b = i8>}
    %5 = tile.dot %i, %i, %j unsigned_a : tensor<64x64xi8>, tensor<64x64xi8> -> tensor<64x64xi32>
    // CHECK: tile.dot {{.*}} precision = tf32x3 {atom = #nvptx.mma_sync<"m16n8k8", tf32, f32>}
    %6 = tile.dot %b, %b, %b precision = tf32x3
       : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    tile.return
  }
}

// -----

module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
  // By 32 x 32 one of two warps would be idle. What is decided stays; what no fragment fits goes by
  // multiply-adds.
  // CHECK-LABEL: tile.kernel @pinned{{.*}} attributes {tile.warps = 2 : i64}
  tile.kernel @pinned(%x: index) attributes {tile.warps = 2 : i64} {
    %a = arith.constant dense<1.0> : tensor<32x32xf16>
    %c = arith.constant dense<1.0> : tensor<32x32xf32>
    %s = arith.constant dense<1.0> : tensor<8x8xf16>
    %t = arith.constant dense<1.0> : tensor<8x8xf32>
    // CHECK: tile.dot {{.*}} {atom = #amdgcn.matrix<"mfma.f32.16x16x16f16", "gfx942", f16>}
    %0 = tile.dot %a, %a, %c : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
    // CHECK: tile.dot {{.*}} {atom = #amdgcn.matrix<"mfma.f32.32x32x8f16", "gfx942", f16>}
    %l = arith.constant dense<1.0> : tensor<64x32xf16>
    %m = arith.constant dense<1.0> : tensor<64x32xf32>
    %5 = tile.dot %l, %a, %m : tensor<64x32xf16>, tensor<32x32xf16> -> tensor<64x32xf32>
    // CHECK: tile.dot {{.*}} {atom = #amdgcn.matrix<"mfma.f32.32x32x8f16", "gfx942", f16>}
    %1 = tile.dot %a, %a, %c {atom = #amdgcn.matrix<"mfma.f32.32x32x8f16", "gfx942", f16>}
       : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
    // CHECK: tile.dot {{.*}} {atom = #amdgcn.matrix<"mfma.f32.16x16x4f32", "gfx942", f32>}
    %2 = tile.dot %c, %c, %c : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
    // As exact, and in one product.
    // CHECK: tile.dot %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} {atom = #amdgcn.matrix<"mfma.f32.16x16x4f32", "gfx942", f32>}
    %4 = tile.dot %c, %c, %c precision = tf32x3
       : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
    // CHECK: tile.dot {{.*}} {atom = #tile.fma}
    %3 = tile.dot %s, %s, %t : tensor<8x8xf16>, tensor<8x8xf16> -> tensor<8x8xf32>
    tile.return
  }
}

// -----

// A large tensor on a chip whose registers eight warps do not reach, and on one where they do.
module attributes {tile.target = #amdgcn.target<chip = "gfx1201">} {
  // CHECK-LABEL: tile.kernel @reach{{.*}} attributes {tile.warps = 32 : i64}
  tile.kernel @reach(%x: index) {
    %a = arith.constant dense<1.0> : tensor<65536xf32>
    tile.return
  }
}

// -----

module attributes {tile.target = #amdgcn.target<chip = "gfx1201">} {
  // CHECK-LABEL: tile.kernel @usual{{.*}} attributes {tile.warps = 8 : i64}
  tile.kernel @usual(%x: index) {
    %a = arith.constant dense<1.0> : tensor<16384xf32>
    tile.return
  }
}

// -----

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  // CHECK-LABEL: tile.kernel @reached{{.*}} attributes {tile.warps = 8 : i64}
  tile.kernel @reached(%x: index) {
    %a = arith.constant dense<1.0> : tensor<65536xf32>
    tile.return
  }
}

// -----

// Products of f64 have sixteen rows where the chip has such instructions, and as long a k as fits.
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  // CHECK-LABEL: tile.kernel @doubles
  tile.kernel @doubles(%x: index) {
    %a = arith.constant dense<1.0> : tensor<64x64xf64>
    %k8 = arith.constant dense<1.0> : tensor<64x8xf64>
    %k4 = arith.constant dense<1.0> : tensor<64x4xf64>
    %m8 = arith.constant dense<1.0> : tensor<8x64xf64>
    // CHECK: tile.dot {{.*}} {atom = #nvptx.mma_sync<"m16n8k16", f64, f64>}
    %0 = tile.dot %a, %a, %a : tensor<64x64xf64>, tensor<64x64xf64> -> tensor<64x64xf64>
    // CHECK: tile.dot {{.*}} {atom = #nvptx.mma_sync<"m16n8k8", f64, f64>}
    %1 = tile.dot %k8, %k8, %a transpose_b : tensor<64x8xf64>, tensor<64x8xf64> -> tensor<64x64xf64>
    // CHECK: tile.dot {{.*}} {atom = #nvptx.mma_sync<"m16n8k4", f64, f64>}
    %2 = tile.dot %k4, %k4, %a transpose_b : tensor<64x4xf64>, tensor<64x4xf64> -> tensor<64x64xf64>
    // CHECK: tile.dot {{.*}} {atom = #nvptx.mma_sync<"m8n8k4", f64, f64>}
    %3 = tile.dot %m8, %a, %m8 : tensor<8x64xf64>, tensor<64x64xf64> -> tensor<8x64xf64>
    tile.return
  }
}
