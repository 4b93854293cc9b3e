// Tiles that the programs of a cluster cannot share out.
// RUN: tile-opt %s --tile-realise-clusters -split-input-file -verify-diagnostics

// Rows are permuted by eights: four parts would be of four rows.
#rows = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[1,4],[2,8],[4,16],[8,0]]>
!b = !tile.buffer<16x32xf32, #rows>
!ring = !tile.channel<1, !b>
!view = !tile.view<?x?xf32>

tile.kernel @permuted(%x: !view) attributes {tile.cluster = array<i64: 4, 1, 1>, tile.warps = 1 : i64} {
  %ring = tile.channel full = 1 empty = 1 : !ring
  tile.warp_groups(%x, %ring : !view, !ring) {
    role #tile.role<"load", warps = 1> {
      %z = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      tile.put %ring[%z, %z] bytes = 2048 : !ring {
      ^bb0(%to: !b):
        // expected-error@+1 {{expected a buffer whose rows 4 programs of a cluster bring in parts by #nvptx.tma, since 'multicast' is decided, got '!tile.buffer<16x32xf32}}
        tile.copy_in %x[%c0, %c0], %to {atom = #nvptx.tma, multicast = ["x"]} : !view, !b
      }
    }
  }
  tile.return
}

// -----

!b = !tile.buffer<16x32xf32>
!ring = !tile.channel<1, !b>
!view = !tile.view<?x?xf32>

tile.kernel @alone(%x: !view) attributes {tile.cluster = array<i64: 1, 2, 1>, tile.warps = 1 : i64} {
  %ring = tile.channel full = 1 empty = 1 : !ring
  tile.warp_groups(%x, %ring : !view, !ring) {
    role #tile.role<"load", warps = 1> {
      %z = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      tile.put %ring[%z, %z] bytes = 2048 : !ring {
      ^bb0(%to: !b):
        // expected-error@+1 {{expected a cluster of several programs along ["x"], since 'multicast' is decided}}
        tile.copy_in %x[%c0, %c0], %to {atom = #nvptx.tma, multicast = ["x"]} : !view, !b
      }
    }
  }
  tile.return
}
