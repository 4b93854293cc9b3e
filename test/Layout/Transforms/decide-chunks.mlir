// Which tiles are computed in chunks, how long these are, and what is kept.
// RUN: tile-opt %s -split-input-file --tile-decide-chunks | FileCheck %s

// 64 KB a row: a core has shared memory for three programs. Warps are as many as share its registers
// then, and each thread loads a vector of a chunk, of four chunks a trip.
// CHECK-LABEL: tile.kernel @kept
// CHECK-SAME: tile.chunk = array<i64: 2048, 4>, tile.warps = 8 : i64
// CHECK: tile.load {{.*}} {tile.kept = "shared"}
!view = !tile.view<?x?xbf16>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @kept(%a: !view, %b: !view) grid {
  %n = tile.dim %a, 0 : !view
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %i = tile.program_id x
  %x = tile.load %a[%i, %c0] : !view -> tensor<1x32768xbf16>
  %f = arith.extf %x : tensor<1x32768xbf16> to tensor<1x32768xf32>
  %sum = tile.reduce %f axis = 1 : tensor<1x32768xf32> -> tensor<1xf32> {
  ^bb0(%left: f32, %right: f32):
    %s = arith.addf %left, %right : f32
    tile.yield %s : f32
  }
  %sums = tile.reshape %sum : tensor<1xf32> -> tensor<1x1xf32>
  %all = tile.broadcast %sums : tensor<1x1xf32> -> tensor<1x32768xf32>
  %y = arith.divf %f, %all : tensor<1x32768xf32>
  %out = arith.truncf %y : tensor<1x32768xf32> to tensor<1x32768xbf16>
  tile.store %out, %b[%i, %c0] : tensor<1x32768xbf16>, !view
  tile.return
}
}

// -----

// Half a megabyte is loaded again, if that is known to be what it was: one program a core, whose rows
// the second-level cache holds. Warps that are pinned stay.
// CHECK-LABEL: tile.kernel @again
// CHECK-SAME: tile.chunk = array<i64: 8192, 4>, tile.warps = 32 : i64
// CHECK-NOT: tile.kept
// CHECK-LABEL: tile.kernel @pinned
// CHECK-SAME: tile.chunk = array<i64: 2048, 4>, tile.warps = 8 : i64
// CHECK-NOT: tile.kept
// CHECK-LABEL: tile.kernel @in_place
// CHECK-NOT: tile.chunk
!view = !tile.view<?x?xbf16>
#alone = #tile.facts<noalias>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @again(%a: !view {tile.facts = #alone}, %b: !view) grid {
  %n = tile.dim %a, 0 : !view
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %i = tile.program_id x
  %x = tile.load %a[%i, %c0] : !view -> tensor<1x262144xbf16>
  %sum = tile.reduce %x axis = 1 : tensor<1x262144xbf16> -> tensor<1xbf16> {
  ^bb0(%left: bf16, %right: bf16):
    %s = arith.maximumf %left, %right : bf16
    tile.yield %s : bf16
  }
  %sums = tile.reshape %sum : tensor<1xbf16> -> tensor<1x1xbf16>
  %all = tile.broadcast %sums : tensor<1x1xbf16> -> tensor<1x262144xbf16>
  %y = arith.divf %x, %all : tensor<1x262144xbf16>
  tile.store %y, %b[%i, %c0] : tensor<1x262144xbf16>, !view
  tile.return
}
tile.kernel @pinned(%a: !view {tile.facts = #alone}, %b: !view)
    attributes {tile.warps = 8 : i64} grid {
  %n = tile.dim %a, 0 : !view
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %i = tile.program_id x
  %x = tile.load %a[%i, %c0] : !view -> tensor<1x262144xbf16>
  %y = arith.addf %x, %x : tensor<1x262144xbf16>
  tile.store %y, %b[%i, %c0] : tensor<1x262144xbf16>, !view
  tile.return
}
tile.kernel @in_place(%a: !view, %b: !view) grid {
  %n = tile.dim %a, 0 : !view
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %i = tile.program_id x
  %x = tile.load %a[%i, %c0] : !view -> tensor<1x262144xbf16>
  %y = arith.addf %x, %x : tensor<1x262144xbf16>
  tile.store %y, %b[%i, %c0] : tensor<1x262144xbf16>, !view
  tile.return
}
}

// -----

// What registers hold stays; so does what is decided otherwise, and what cannot be cut.
// CHECK-LABEL: tile.kernel @short
// CHECK-NOT: tile.chunk
// CHECK-LABEL: tile.kernel @said
// CHECK-SAME: tile.chunk = false
// CHECK-LABEL: tile.kernel @sorted
// CHECK-NOT: tile.chunk
// CHECK-LABEL: tile.kernel @odd
// CHECK-NOT: tile.chunk
!row = !tile.view<?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @short(%a: !row) {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0] : !row -> tensor<8192xf32>
  tile.store %x, %a[%c0] : tensor<8192xf32>, !row
  tile.return
}
tile.kernel @said(%a: !row) attributes {tile.chunk = false} {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0] : !row -> tensor<32768xf32>
  tile.store %x, %a[%c0] : tensor<32768xf32>, !row
  tile.return
}
tile.kernel @sorted(%a: !row) {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0] : !row -> tensor<32768xf32>
  %y = tile.sort %x axis = 0 : tensor<32768xf32> -> tensor<32768xf32>
  tile.store %y, %a[%c0] : tensor<32768xf32>, !row
  tile.return
}
tile.kernel @odd(%a: !row) {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0] : !row -> tensor<131071xf32>
  tile.store %x, %a[%c0] : tensor<131071xf32>, !row
  tile.return
}
}

// -----

// A core has twice the registers here, and a workgroup 64 KB of shared memory, which keep no such row.
// CHECK-LABEL: tile.kernel @short
// CHECK-NOT: tile.chunk
// CHECK-LABEL: tile.kernel @long
// CHECK-SAME: tile.chunk = array<i64:
// CHECK-NOT: tile.kept
!row = !tile.view<?xf16>
module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
tile.kernel @short(%a: !row) {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0] : !row -> tensor<16384xf16>
  tile.store %x, %a[%c0] : tensor<16384xf16>, !row
  tile.return
}
tile.kernel @long(%a: !row) {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0] : !row -> tensor<49152xf16>
  %most = tile.reduce %x axis = 0 : tensor<49152xf16> -> tensor<f16> {
  ^bb0(%left: f16, %right: f16):
    %m = arith.maximumf %left, %right : f16
    tile.yield %m : f16
  }
  %one = tile.to_scalar %most : tensor<f16>
  %all = tile.splat %one : tensor<49152xf16>
  %y = arith.subf %x, %all : tensor<49152xf16>
  tile.store %y, %a[%c0] : tensor<49152xf16>, !row
  tile.return
}
}
