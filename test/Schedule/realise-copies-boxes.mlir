// Copies of a role that bring a tile by an engine: each brings a part of the boxes, of rows that are
// no power of two as well.
// RUN: tile-opt %s --tile-realise-copies -split-input-file -verify-diagnostics | FileCheck %s

#rows = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[1,0],[2,8],[4,16],[8,0],[16,0],[32,0],[64,0],[128,0]]>
!rows = !tile.buffer<192x32xbf16, #rows>
!view = !tile.view<?x?xbf16, strides [?, 1]>
// Each of two copies has 96 rows behind one another: one box.
// CHECK-LABEL: tile.kernel @rows
tile.kernel @rows(%a: !view) attributes {tile.warps = 2 : i64} {
  %ring = tile.channel full = 2 empty = 1 : !tile.channel<1, !rows>
  tile.warp_groups(%a, %ring : !view, !tile.channel<1, !rows>) {
    role #tile.role<"load", warps = 1, copies = 2> {
      %z = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      // CHECK: %[[COPY:.*]] = tile.copy_id
      // CHECK: tile.put %{{.*}} bytes = 6144
      tile.put %ring[%z, %z] bytes = 12288 : !tile.channel<1, !rows> {
      ^bb0(%to: !rows):
        // CHECK: %[[ROW:.*]] = arith.muli %[[COPY]], %c96
        // CHECK: %[[AT:.*]] = arith.addi %{{.*}}, %[[ROW]]
        // CHECK: %[[PART:.*]] = tile.part %{{.*}}[%[[ROW]], %{{.*}}] : {{.*}} -> !tile.buffer<96x32xbf16
        // CHECK: tile.copy_in %{{.*}}[%[[AT]], %{{.*}}], %[[PART]] {atom = #nvptx.tma}
        tile.copy_in %a[%c0, %c0], %to {atom = #nvptx.tma} : !view, !rows
      }
    }
  }
  tile.return
}

// -----

#boxes = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[1,8],[2,16],[4,32],[8,0],[16,0],[32,0],[0,64],[64,0],[128,0]]>
!boxes = !tile.buffer<192x128xbf16, #boxes>
!view = !tile.view<?x?xbf16, strides [?, 1]>
// Boxes of 64 rows, two beside one another and three above: half of the rows is no whole number of
// them, so each row of boxes is shared out by itself.
// CHECK-LABEL: tile.kernel @strips
tile.kernel @strips(%a: !view) attributes {tile.warps = 2 : i64} {
  %ring = tile.channel full = 2 empty = 1 : !tile.channel<1, !boxes>
  tile.warp_groups(%a, %ring : !view, !tile.channel<1, !boxes>) {
    role #tile.role<"load", warps = 1, copies = 2> {
      %z = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      // CHECK: tile.put %{{.*}} bytes = 24576
      tile.put %ring[%z, %z] bytes = 49152 : !tile.channel<1, !boxes> {
      ^bb0(%to: !boxes):
        // CHECK-COUNT-3: tile.copy_in {{.*}}!tile.buffer<64x64xbf16
        // CHECK-NOT: tile.copy_in
        tile.copy_in %a[%c0, %c0], %to {atom = #nvptx.tma} : !view, !boxes
      }
    }
  }
  tile.return
}

// -----

#rows = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[1,0],[2,0],[4,8],[8,0],[16,0],[32,0]]>
!rows = !tile.buffer<64x16xbf16, #rows>
!view = !tile.view<?x?xbf16, strides [?, 1]>
tile.kernel @three(%a: !view) attributes {tile.warps = 3 : i64} {
  %ring = tile.channel full = 3 empty = 1 : !tile.channel<1, !rows>
  tile.warp_groups(%a, %ring : !view, !tile.channel<1, !rows>) {
    role #tile.role<"load", warps = 1, copies = 3> {
      %z = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      tile.put %ring[%z, %z] bytes = 2048 : !tile.channel<1, !rows> {
      ^bb0(%to: !rows):
        // expected-error @+1 {{expected a tile of which each of the 3 copies of role "load" ('copies') brings as many rows or columns, in whole boxes of #nvptx.tma, got 'tensor<64x16xbf16>'}}
        tile.copy_in %a[%c0, %c0], %to {atom = #nvptx.tma} : !view, !rows
      }
    }
  }
  tile.return
}
