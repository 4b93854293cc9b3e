// How many lanes share a row that is reduced: an exchange less for all rows of a lane against more
// lines of memory that an access reaches.
// RUN: tile-opt %s -split-input-file --tile-decide-layouts | FileCheck %s

// Elements of 16 bits that are accessed one by one: half of the lanes, and two rows at a time.
// CHECK-DAG: #[[T:.*]] = #tile.layout<register = {{\[}}[0,32],[0,16],[4,0],[8,0]], lane = {{\[}}[0,1],[0,2],[0,4],[0,8],[2,0]], warp = {{\[}}[1,0]]>
// CHECK-LABEL: tile.kernel @single
// CHECK: tile.load {{.*}} -> tensor<16x64xbf16, #[[T]]>
// CHECK-NOT: tile.convert_layout
!view = !tile.view<?x?xbf16>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @single(%x: !view, %y: !view) attributes {tile.warps = 2 : i64} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : !view -> tensor<16x64xbf16>
  %m = tile.reduce %t axis = 1 : tensor<16x64xbf16> -> tensor<16xbf16> {
  ^bb0(%left: bf16, %right: bf16):
    %s = arith.maximumf %left, %right : bf16
    tile.yield %s : bf16
  }
  %c = tile.reshape %m : tensor<16xbf16> -> tensor<16x1xbf16>
  %b = tile.broadcast %c : tensor<16x1xbf16> -> tensor<16x64xbf16>
  %d = arith.subf %t, %b : tensor<16x64xbf16>
  tile.store %d, %y[%c0, %c0] : tensor<16x64xbf16>, !view
  tile.return
}
}

// -----

// 16 bytes at a time reach four lines anyhow: lanes take four rows at a time. Single elements of long
// rows are worth all lanes.
// CHECK-DAG: #[[T:.*]] = #tile.layout<register = {{\[}}[0,1],[0,2],[0,32],[4,0],[8,0]], lane = {{\[}}[0,4],[0,8],[0,16],[2,0],[1,0]], warp = []>
// CHECK-DAG: #[[V:.*]] = #tile.layout<register = {{\[}}[0,1],[0,2],[2,0],[4,0],[8,0]], lane = {{\[}}[0,4],[0,8],[0,16],[0,32],[1,0]], warp = []>
// CHECK-DAG: #[[U:.*]] = #tile.layout<register = {{\[}}[0,32],[0,64],[0,128],[0,256],[0,512],[1,0]], lane = {{\[}}[0,1],[0,2],[0,4],[0,8],[0,16]], warp = []>
// CHECK-LABEL: tile.kernel @wide
// CHECK: tile.load {{.*}} -> tensor<16x64xf32, #[[T]]>
// CHECK-LABEL: tile.kernel @long
// CHECK: tile.load {{.*}} -> tensor<2x1024xf32, #[[U]]>
// With nothing reduced lanes go along the row.
// CHECK-LABEL: tile.kernel @copied
// CHECK: tile.load {{.*}} -> tensor<16x64xf32, #[[V]]>
!view = !tile.view<?x?xf32>
#facts = #tile.facts<pointer = 16, strides = [16, 4], extents = [0, 16]>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @wide(%x: !view {tile.facts = #facts}, %y: !tile.view<?xf32>) attributes {tile.warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : !view -> tensor<16x64xf32>
  %m = tile.reduce %t axis = 1 : tensor<16x64xf32> -> tensor<16xf32> {
  ^bb0(%left: f32, %right: f32):
    %s = arith.maximumf %left, %right : f32
    tile.yield %s : f32
  }
  tile.store %m, %y[%c0] : tensor<16xf32>, !tile.view<?xf32>
  tile.return
}
tile.kernel @long(%x: !view, %y: !tile.view<?xf32>) attributes {tile.warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : !view -> tensor<2x1024xf32>
  %m = tile.reduce %t axis = 1 : tensor<2x1024xf32> -> tensor<2xf32> {
  ^bb0(%left: f32, %right: f32):
    %s = arith.maximumf %left, %right : f32
    tile.yield %s : f32
  }
  tile.store %m, %y[%c0] : tensor<2xf32>, !tile.view<?xf32>
  tile.return
}
tile.kernel @copied(%x: !view {tile.facts = #facts}, %y: !view {tile.facts = #facts}) attributes {tile.warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : !view -> tensor<16x64xf32>
  tile.store %t, %y[%c0, %c0] : tensor<16x64xf32>, !view
  tile.return
}
}
