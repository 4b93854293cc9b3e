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

// -----

#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!a = !tile.buffer<128x16xf16>
!b = !tile.buffer<16x16xf16>
!ring = !tile.channel<1, !a, !b>
!pending = !tile.pending<tensor<128x32xf32, #sum>, tensor_memory>
!sums = !tile.channel<1, !pending>

// Who waits for the sum does not wait for what tells the other program of the slot.
tile.kernel @untold() attributes {tile.cluster = array<i64: 2, 1, 1>, tile.warps = 4 : i64} {
  %ring = tile.channel full = 1 empty = 1 : !ring
  %sums = tile.channel full = 1 empty = 4 : !sums
  tile.warp_groups(%ring, %sums : !ring, !sums) {
    role #tile.role<"mma", warps = 4> {
      %z = arith.constant 0 : i32
      %no = arith.constant false
      %empty = tile.acquire %sums[%z, %z] : !sums
      %x, %y = tile.get %ring[%z, %z] to_start : !ring
      %d = tile.start_dot %x, %y, %empty when %no transpose_b {atom = #nvptx.tcgen05<"m256n32k16", f16, f32>} : !a, !b -> !pending
      tile.commit %d into %sums[%z] : !sums
      // expected-error@+1 {{expected a sum to be handed on behind the last dot that reads the slot, since other programs fill it, too, and may end before they are told of that dot's end}}
      tile.release %ring[%z] commit : !ring
    }
  }
  tile.return
}
