// Where the grid is one of clusters, two programs make products together whose operands keep shared memory busy for
// longer than they keep the units that multiply.
// RUN: tile-opt %s --split-input-file --tile-decide-roles | FileCheck %s
// RUN: tile-opt %s --split-input-file --tile-pipeline=stop-after=layout | FileCheck %s --check-prefix=LAYOUT

#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>
!view = !tile.view<?x?xbf16>
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
// CHECK-LABEL: tile.kernel @pair
// CHECK-SAME: tile.roles = [#tile.role<"compute", warps = 4, copies = 2>, #tile.role<"load", warps = 1>]
// CHECK: tile.dot {{.*}} {atom = #nvptx.tcgen05<"m256n128k16", bf16, f32>, role = "compute"}
// Each then loads half of b.
// LAYOUT-LABEL: tile.kernel @pair
// LAYOUT: tile.load %a{{.*}} -> tensor<256x64xbf16>
// LAYOUT: tile.load %b{{.*}} -> tensor<64x64xbf16>
tile.kernel @pair(%a: !view {tile.facts = #facts}, %b: !view {tile.facts = #facts}, %c: !view {tile.facts = #facts})
    attributes {tile.cluster = array<i64: 2, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %x = tile.program_id x
  %y = tile.program_id y
  %row = arith.muli %x, %c256 : index
  %column = arith.muli %y, %c128 : index
  %n = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<256x128xf32>
  %sum = scf.for %k = %c0 to %n step %c64 iter_args(%s = %zero) -> tensor<256x128xf32> {
    %at = tile.load %a[%row, %k] : !view -> tensor<256x64xbf16>
    %bt = tile.load %b[%column, %k] : !view -> tensor<128x64xbf16>
    %d = tile.dot %at, %bt, %s transpose_b : tensor<256x64xbf16>, tensor<128x64xbf16> -> tensor<256x128xf32>
    scf.yield %d : tensor<256x128xf32>
  }
  %r = arith.truncf %sum : tensor<256x128xf32> to tensor<256x128xbf16>
  tile.store %r, %c[%row, %column] : tensor<256x128xbf16>, !view
  tile.return
}

// Whether there are clusters is the author's to say.
// CHECK-LABEL: tile.kernel @no_clusters
// CHECK: tile.dot {{.*}} {atom = #nvptx.tcgen05<"m128n128k16", bf16, f32>, role = "compute"}
tile.kernel @no_clusters(%a: !view {tile.facts = #facts}, %b: !view {tile.facts = #facts}, %c: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %c0 to %n step %c64 iter_args(%s = %zero) -> tensor<128x128xf32> {
    %at = tile.load %a[%c0, %k] : !view -> tensor<128x64xbf16>
    %bt = tile.load %b[%c0, %k] : !view -> tensor<128x64xbf16>
    %d = tile.dot %at, %bt, %s transpose_b : tensor<128x64xbf16>, tensor<128x64xbf16> -> tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  tile.store %sum, %c[%c0, %c0] : tensor<128x128xf32>, !tile.view<?x?xf32>
  tile.return
}

// Of 32 columns half is little beside the rows of a.
// CHECK-LABEL: tile.kernel @narrow
// CHECK: tile.dot {{.*}} {atom = #nvptx.tcgen05<"m128n32k16", bf16, f32>, role = "compute"}
tile.kernel @narrow(%a: !view {tile.facts = #facts}, %b: !view {tile.facts = #facts}, %c: !tile.view<?x?xf32>)
    attributes {tile.cluster = array<i64: 2, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<128x32xf32>
  %sum = scf.for %k = %c0 to %n step %c64 iter_args(%s = %zero) -> tensor<128x32xf32> {
    %at = tile.load %a[%c0, %k] : !view -> tensor<128x64xbf16>
    %bt = tile.load %b[%c0, %k] : !view -> tensor<32x64xbf16>
    %d = tile.dot %at, %bt, %s transpose_b : tensor<128x64xbf16>, tensor<32x64xbf16> -> tensor<128x32xf32>
    scf.yield %d : tensor<128x32xf32>
  }
  tile.store %sum, %c[%c0, %c0] : tensor<128x32xf32>, !tile.view<?x?xf32>
  tile.return
}

// Programs that lie beside one another have other columns, and what a pair would be refused for is not decided.
// LAYOUT-LABEL: tile.kernel @beside
// LAYOUT: tile.dot {{.*}} {atom = #nvptx.tcgen05<"m128n128k16", bf16, f32>, role = "compute"}
tile.kernel @beside(%a: !view {tile.facts = #facts}, %b: !view {tile.facts = #facts}, %c: !tile.view<?x?xf32>)
    attributes {tile.cluster = array<i64: 1, 2, 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %y = tile.program_id y
  %column = arith.muli %y, %c128 : index
  %n = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %c0 to %n step %c64 iter_args(%s = %zero) -> tensor<128x128xf32> {
    %at = tile.load %a[%c0, %k] : !view -> tensor<128x64xbf16>
    %bt = tile.load %b[%column, %k] : !view -> tensor<128x64xbf16>
    %d = tile.dot %at, %bt, %s transpose_b : tensor<128x64xbf16>, tensor<128x64xbf16> -> tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  tile.store %sum, %c[%c0, %column] : tensor<128x128xf32>, !tile.view<?x?xf32>
  tile.return
}
}

// -----

// A chip whose instructions are of one program each.
#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>
!view = !tile.view<?x?xbf16>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// CHECK-LABEL: tile.kernel @hopper
// CHECK: tile.dot {{.*}} {atom = #nvptx.wgmma<"m64n128k16", bf16, f32>, role = "compute"}
tile.kernel @hopper(%a: !view {tile.facts = #facts}, %b: !view {tile.facts = #facts}, %c: !tile.view<?x?xf32>)
    attributes {tile.cluster = array<i64: 2, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %c0 to %n step %c64 iter_args(%s = %zero) -> tensor<128x128xf32> {
    %at = tile.load %a[%c0, %k] : !view -> tensor<128x64xbf16>
    %bt = tile.load %b[%c0, %k] : !view -> tensor<128x64xbf16>
    %d = tile.dot %at, %bt, %s transpose_b : tensor<128x64xbf16>, tensor<128x64xbf16> -> tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  tile.store %sum, %c[%c0, %c0] : tensor<128x128xf32>, !tile.view<?x?xf32>
  tile.return
}
}
