// RUN: tile-opt %s --split-input-file --tile-pipeline=stop-after=layout --mlir-print-ir-after=tile-decide-extents -o /dev/null 2>&1 | FileCheck %s
// RUN: tile-opt %s --split-input-file --tile-pipeline=stop-after=layout | FileCheck %s --check-prefix=GONE

// Which extents are exact is what copies of the kernel run best with: the columns on one chip, none on
// another, where no ring would be filled with them.
// GONE-NOT: tile.extents
#facts = #tile.facts<pointer = 16, strides = [16, 2]>
!view = !tile.view<?x?xbf16, strides [?, 1]>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  // CHECK-LABEL: tile.kernel @exact
  // CHECK: tile.dot {{.*}}tile.extents = array<i64: 128, 192, 64>
  tile.kernel @exact(%a: !view {tile.facts = #facts}, %b: !view {tile.facts = #facts}, %c: !tile.view<?x?xf32>, %n: index) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : tensor<128x192xf32>
    %sum = scf.for %k = %c0 to %n step %c64 iter_args(%s = %zero) -> tensor<128x192xf32> {
      %x = tile.load %a[%c0, %k] : !view -> tensor<128x64xbf16>
      %y = tile.load %b[%c0, %k] : !view -> tensor<192x64xbf16>
      %d = tile.dot %x, %y, %s transpose_b : tensor<128x64xbf16>, tensor<192x64xbf16> -> tensor<128x192xf32>
      scf.yield %d : tensor<128x192xf32>
    }
    tile.store %sum, %c[%c0, %c0] : tensor<128x192xf32>, !tile.view<?x?xf32>
    tile.return
  }
}

// -----

#facts = #tile.facts<pointer = 16, strides = [16, 2]>
!view = !tile.view<?x?xbf16, strides [?, 1]>
module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
  // CHECK-LABEL: tile.kernel @grown
  // CHECK: tile.dot {{.*}}tile.extents = array<i64: 128, 256, 64>
  tile.kernel @grown(%a: !view {tile.facts = #facts}, %b: !view {tile.facts = #facts}, %c: !tile.view<?x?xf32>, %n: index) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : tensor<128x192xf32>
    %sum = scf.for %k = %c0 to %n step %c64 iter_args(%s = %zero) -> tensor<128x192xf32> {
      %x = tile.load %a[%c0, %k] : !view -> tensor<128x64xbf16>
      %y = tile.load %b[%c0, %k] : !view -> tensor<192x64xbf16>
      %d = tile.dot %x, %y, %s transpose_b : tensor<128x64xbf16>, tensor<192x64xbf16> -> tensor<128x192xf32>
      scf.yield %d : tensor<128x192xf32>
    }
    tile.store %sum, %c[%c0, %c0] : tensor<128x192xf32>, !tile.view<?x?xf32>
    tile.return
  }
}
