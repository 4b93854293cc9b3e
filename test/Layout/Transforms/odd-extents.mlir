// RUN: tile-opt %s --tile-decide-extents --tile-split-shapes --split-input-file | FileCheck %s

// Nobody has decided an instruction: the target says which there are. 192 columns are one m64n192.
!view = !tile.view<?x?xbf16, strides [?, 1]>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  // CHECK-LABEL: tile.kernel @columns
  tile.kernel @columns(%a: !view, %b: !view, %c: !tile.view<?x?xf32>) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %n = arith.constant 512 : index
    %zero = arith.constant dense<0.0> : tensor<256x192xf32>
    // CHECK: scf.for {{.*}} -> (tensor<256x192xf32>)
    %acc = scf.for %k = %c0 to %n step %c64 iter_args(%s = %zero) -> tensor<256x192xf32> {
      // CHECK: tile.load %{{[^ ]*}}[%{{[^ ]*}}, %{{[^ ]*}}] : {{.*}} -> tensor<256x64xbf16>
      %x = tile.load %a[%c0, %k] : !view -> tensor<256x64xbf16>
      // CHECK: tile.load %{{[^ ]*}}[%{{[^ ]*}}, %{{[^ ]*}}] : {{.*}} -> tensor<192x64xbf16>
      %y = tile.load %b[%c0, %k] : !view -> tensor<192x64xbf16>
      // CHECK: tile.dot {{.*}} transpose_b : tensor<256x64xbf16>, tensor<192x64xbf16> -> tensor<256x192xf32>
      %d = tile.dot %x, %y, %s transpose_b : tensor<256x64xbf16>, tensor<192x64xbf16> -> tensor<256x192xf32>
      scf.yield %d : tensor<256x192xf32>
    }
    // CHECK: tile.store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] : tensor<256x192xf32>
    tile.store %acc, %c[%c0, %c0] : tensor<256x192xf32>, !tile.view<?x?xf32>
    tile.return
  }

  // Of 96 rows no warp group's instruction is made, so they grow, and the columns stay.
  // CHECK-LABEL: tile.kernel @rows
  tile.kernel @rows(%a: !view, %b: !view, %c: !tile.view<?x?xf32>) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<96x96xf32>
    // CHECK: tile.load {{.*}} extents [96, 64] : {{.*}} -> tensor<128x64xbf16>
    %x = tile.load %a[%c0, %c0] : !view -> tensor<96x64xbf16>
    %y = tile.load %b[%c0, %c0] : !view -> tensor<96x64xbf16>
    // CHECK: tile.dot {{.*}} : tensor<128x64xbf16>, tensor<96x64xbf16> -> tensor<128x96xf32>
    %d = tile.dot %x, %y, %zero transpose_b : tensor<96x64xbf16>, tensor<96x64xbf16> -> tensor<96x96xf32>
    // CHECK: tile.store {{.*}} extents [96, 96]
    tile.store %d, %c[%c0, %c0] : tensor<96x96xf32>, !tile.view<?x?xf32>
    tile.return
  }

  // No layout ends early along columns and k at once, so k is cut. What an element of one dimension
  // hides is looked through.
  // CHECK-LABEL: tile.kernel @cut
  tile.kernel @cut(%a: !view, %b: !tile.view<?x?x?xbf16, strides [?, ?, 1]>, %c: !tile.view<?x?xf32>, %k: index) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<128x192xf32>
    // CHECK: %[[X0:.*]] = tile.load %{{.*}}[%{{.*}}, %[[K:.*]]] : {{.*}} -> tensor<128x64xbf16>
    // CHECK: %[[C64:.*]] = arith.constant 64 : index
    // CHECK: %[[AT:.*]] = arith.addi %[[K]], %[[C64]]
    // CHECK: %[[X1:.*]] = tile.load %{{.*}}[%{{.*}}, %[[AT]]] : {{.*}} -> tensor<128x32xbf16>
    %x = tile.load %a[%c0, %k] : !view -> tensor<128x96xbf16>
    // CHECK: tile.load %{{.*}} -> tensor<1x192x64xbf16>
    // CHECK: tile.load %{{.*}} -> tensor<1x192x32xbf16>
    %y = tile.load %b[%c0, %c0, %k] : !tile.view<?x?x?xbf16, strides [?, ?, 1]> -> tensor<1x192x96xbf16>
    // CHECK: %[[Y0:.*]] = tile.reshape {{.*}} -> tensor<192x64xbf16>
    // CHECK: %[[Y1:.*]] = tile.reshape {{.*}} -> tensor<192x32xbf16>
    %z = tile.reshape %y : tensor<1x192x96xbf16> -> tensor<192x96xbf16>
    // CHECK: %[[D:.*]] = tile.dot %[[X0]], %[[Y0]], %{{.*}} transpose_b
    // CHECK: tile.dot %[[X1]], %[[Y1]], %[[D]] transpose_b : {{.*}} -> tensor<128x192xf32>
    %d = tile.dot %x, %z, %zero transpose_b : tensor<128x96xbf16>, tensor<192x96xbf16> -> tensor<128x192xf32>
    tile.store %d, %c[%c0, %c0] : tensor<128x192xf32>, !tile.view<?x?xf32>
    tile.return
  }
}

// -----

// By the instructions of single warps one extent of each operand has an odd factor. What something
// else uses too is not cut.
!view = !tile.view<?x?xbf16, strides [?, 1]>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  // CHECK-LABEL: tile.kernel @warps
  tile.kernel @warps(%a: !view, %b: !view, %c: !tile.view<?x?xf32>, %e: !view) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<48x128xf32>
    // CHECK: tile.load {{.*}} -> tensor<48x64xbf16>
    %x = tile.load %a[%c0, %c0] : !view -> tensor<48x64xbf16>
    %y = tile.load %b[%c0, %c0] : !view -> tensor<128x64xbf16>
    // CHECK: tile.dot {{.*}} : tensor<48x64xbf16>, tensor<128x64xbf16> -> tensor<48x128xf32>
    %d = tile.dot %x, %y, %zero transpose_b : tensor<48x64xbf16>, tensor<128x64xbf16> -> tensor<48x128xf32>
    tile.store %d, %c[%c0, %c0] : tensor<48x128xf32>, !tile.view<?x?xf32>
    // CHECK: tile.load %{{[^ ]*}}[%{{[^ ]*}}, %{{[^ ]*}}] : {{.*}} -> tensor<128x48xbf16>
    %u = tile.load %a[%c0, %c0] : !view -> tensor<128x48xbf16>
    tile.store %u, %e[%c0, %c0] : tensor<128x48xbf16>, !view
    // CHECK: tile.load {{.*}} extents [96, 48] : {{.*}} -> tensor<128x48xbf16>
    %v = tile.load %b[%c0, %c0] : !view -> tensor<96x48xbf16>
    %more = arith.constant dense<0.0> : tensor<128x96xf32>
    // CHECK: tile.dot {{.*}} : tensor<128x48xbf16>, tensor<128x48xbf16> -> tensor<128x128xf32>
    %g = tile.dot %u, %v, %more transpose_b : tensor<128x48xbf16>, tensor<96x48xbf16> -> tensor<128x96xf32>
    tile.store %g, %c[%c0, %c0] : tensor<128x96xf32>, !tile.view<?x?xf32>
    tile.return
  }
}

// -----

// Warps share out powers of two: of 48 rows by 16 columns one warp has all, of 64 rows each of four
// has a fourth, and so they grow. 96 columns are 6 blocks of 16 for two warps beside one another.
!view = !tile.view<?x?xbf16, strides [?, 1]>
module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
  // CHECK-LABEL: tile.kernel @shared
  tile.kernel @shared(%a: !view, %b: !view, %c: !tile.view<?x?xf32>) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<48x16xf32>
    %x = tile.load %a[%c0, %c0] : !view -> tensor<48x256xbf16>
    %y = tile.load %b[%c0, %c0] : !view -> tensor<16x256xbf16>
    // CHECK: tile.dot {{.*}} -> tensor<64x16xf32>
    %d = tile.dot %x, %y, %zero transpose_b : tensor<48x256xbf16>, tensor<16x256xbf16> -> tensor<48x16xf32>
    tile.store %d, %c[%c0, %c0] : tensor<48x16xf32>, !tile.view<?x?xf32>
    %more = arith.constant dense<0.0> : tensor<128x96xf32>
    %u = tile.load %a[%c0, %c0] : !view -> tensor<128x64xbf16>
    %v = tile.load %b[%c0, %c0] : !view -> tensor<96x64xbf16>
    // CHECK: tile.dot {{.*}} -> tensor<128x96xf32>
    %g = tile.dot %u, %v, %more transpose_b : tensor<128x64xbf16>, tensor<96x64xbf16> -> tensor<128x96xf32>
    tile.store %g, %c[%c0, %c0] : tensor<128x96xf32>, !tile.view<?x?xf32>
    tile.return
  }
}

// -----

// All extents of a matrix times itself are one, which an inner extent that cannot be exact refuses.
module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
  // CHECK-LABEL: tile.kernel @itself
  // CHECK: tile.dot %{{.*}} : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  tile.kernel @itself(%a: !tile.view<?x?xf16>, %c: !tile.view<?x?xf32>) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<48x48xf32>
    %x = tile.load %a[%c0, %c0] : !tile.view<?x?xf16> -> tensor<48x48xf16>
    %d = tile.dot %x, %x, %zero : tensor<48x48xf16>, tensor<48x48xf16> -> tensor<48x48xf32>
    tile.store %d, %c[%c0, %c0] : tensor<48x48xf32>, !tile.view<?x?xf32>
    tile.return
  }
}
