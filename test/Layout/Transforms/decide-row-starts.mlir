// Which tiles of rows begin where memory's vectors do.
// RUN: tile-opt %s -split-input-file --tile-decide-row-starts | FileCheck %s

// Rows of any length; aligned ones whose end may be anywhere; and those of whole vectors, which stay.
// CHECK-LABEL: tile.kernel @any
// CHECK-SAME: tile.row_starts = true
// CHECK-LABEL: tile.kernel @ends
// CHECK-SAME: tile.row_starts = true
// CHECK-LABEL: tile.kernel @whole
// CHECK-NOT: tile.row_starts
// CHECK-LABEL: tile.kernel @short
// CHECK-NOT: tile.row_starts
// Rows that are cut into chunks stay.
// CHECK-LABEL: tile.kernel @long
// CHECK-NOT: tile.row_starts
!view = !tile.view<?x?xf32>
#any = #tile.facts<pointer = 16, strides = [4, 4], extents = [0, 1], noalias>
#ends = #tile.facts<pointer = 16, strides = [16, 4], extents = [0, 1], noalias>
#whole = #tile.facts<pointer = 16, strides = [16, 4], extents = [0, 4], noalias>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @any(%a: !view {tile.facts = #any}, %b: !view {tile.facts = #any}) {
  %c0 = arith.constant 0 : index
  %i = tile.program_id x
  %x = tile.load %a[%i, %c0] : !view -> tensor<1x1024xf32>
  tile.store %x, %b[%i, %c0] : tensor<1x1024xf32>, !view
  tile.return
}
tile.kernel @ends(%a: !view {tile.facts = #ends}, %b: !view {tile.facts = #ends}) {
  %c0 = arith.constant 0 : index
  %i = tile.program_id x
  %x = tile.load %a[%i, %c0] : !view -> tensor<1x1024xf32>
  tile.store %x, %b[%i, %c0] : tensor<1x1024xf32>, !view
  tile.return
}
tile.kernel @whole(%a: !view {tile.facts = #whole}, %b: !view {tile.facts = #whole}) {
  %c0 = arith.constant 0 : index
  %i = tile.program_id x
  %x = tile.load %a[%i, %c0] : !view -> tensor<1x1024xf32>
  tile.store %x, %b[%i, %c0] : tensor<1x1024xf32>, !view
  tile.return
}
tile.kernel @short(%a: !view {tile.facts = #any}, %b: !view {tile.facts = #any}) {
  %c0 = arith.constant 0 : index
  %i = tile.program_id x
  %x = tile.load %a[%i, %c0] : !view -> tensor<1x512xf32>
  tile.store %x, %b[%i, %c0] : tensor<1x512xf32>, !view
  tile.return
}
tile.kernel @long(%a: !view {tile.facts = #any}, %b: !view {tile.facts = #any}) {
  %c0 = arith.constant 0 : index
  %i = tile.program_id x
  %x = tile.load %a[%i, %c0] : !view -> tensor<1x65536xf32>
  tile.store %x, %b[%i, %c0] : tensor<1x65536xf32>, !view
  tile.return
}
}

// -----

// Several rows begin at several places; tiles of a part of a row do not begin with it; an order of
// elements is kept.
// CHECK-NOT: tile.row_starts
!view = !tile.view<?x?xf32>
#any = #tile.facts<pointer = 16, strides = [4, 4], extents = [0, 1], noalias>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @rows(%a: !view {tile.facts = #any}, %b: !view {tile.facts = #any}) {
  %c0 = arith.constant 0 : index
  %i = tile.program_id x
  %x = tile.load %a[%i, %c0] : !view -> tensor<2x1024xf32>
  tile.store %x, %b[%i, %c0] : tensor<2x1024xf32>, !view
  tile.return
}
tile.kernel @parts(%a: !view {tile.facts = #any}, %b: !view {tile.facts = #any}) {
  %c1024 = arith.constant 1024 : index
  %i = tile.program_id x
  %j = tile.program_id y
  %at = arith.muli %j, %c1024 : index
  %x = tile.load %a[%i, %at] : !view -> tensor<1x1024xf32>
  tile.store %x, %b[%i, %at] : tensor<1x1024xf32>, !view
  tile.return
}
tile.kernel @ordered(%a: !view {tile.facts = #any}, %b: !view {tile.facts = #any}) {
  %c0 = arith.constant 0 : index
  %i = tile.program_id x
  %x = tile.load %a[%i, %c0] : !view -> tensor<1x1024xf32>
  %last = tile.reduce %x axis = 1 : tensor<1x1024xf32> -> tensor<1xf32> {
  ^bb0(%left: f32, %right: f32):
    %s = arith.subf %left, %right : f32
    tile.yield %s : f32
  }
  %lasts = tile.reshape %last : tensor<1xf32> -> tensor<1x1xf32>
  %all = tile.broadcast %lasts : tensor<1x1xf32> -> tensor<1x1024xf32>
  tile.store %all, %b[%i, %c0] : tensor<1x1024xf32>, !view
  tile.return
}
}
