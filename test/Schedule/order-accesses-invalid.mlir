// RUN: tile-opt %s --tile-order-accesses --split-input-file --verify-diagnostics

#l = #tile.layout<register = [[1],[2]], lane = [[4],[8],[16],[32],[64]], warp = [[128]]>
!view = !tile.view<?xf32>

tile.kernel @unordered(%x: !view) attributes {tile.warps = 4 : i64} {
  tile.warp_groups(%x : !view) {
    role #tile.role<"first", warps = 2> {
      %c0 = arith.constant 0 : index
      %v = arith.constant dense<1.0> : tensor<256xf32, #l>
      // expected-note @below {{this is the other access}}
      tile.store %v, %x[%c0] : tensor<256xf32, #l>, !view
    }
    role #tile.role<"second", warps = 2> {
      %c8 = arith.constant 8 : index
      // expected-error @below {{expected one role to make both accesses of an argument that may meet, or a channel between the two, got roles "first" and "second", which nothing orders}}
      %t = tile.load %x[%c8] : !view -> tensor<256xf32, #l>
    }
  }
  tile.return
}

// -----

// Tiles that lie apart need no order, and of two arguments a pinned schedule may take them for two.

#l = #tile.layout<register = [[1],[2]], lane = [[4],[8],[16],[32],[64]], warp = [[128]]>
!view = !tile.view<?xf32>

tile.kernel @apart(%x: !view, %y: !view) attributes {tile.warps = 6 : i64} {
  tile.warp_groups(%x, %y : !view, !view) {
    role #tile.role<"first", warps = 2, copies = 2> {
      %c256 = arith.constant 256 : index
      %v = arith.constant dense<1.0> : tensor<256xf32, #l>
      %i = tile.program_id x
      %c1024 = arith.constant 1024 : index
      %o = arith.muli %i, %c1024 : index
      %copy = tile.copy_id
      %share = arith.muli %copy, %c256 : index
      %mine = arith.addi %o, %share : index
      tile.store %v, %x[%mine] : tensor<256xf32, #l>, !view
    }
    role #tile.role<"second", warps = 2> {
      %c512 = arith.constant 512 : index
      %v = arith.constant dense<1.0> : tensor<256xf32, #l>
      %i = tile.program_id x
      %c1024 = arith.constant 1024 : index
      %o = arith.muli %i, %c1024 : index
      %p = arith.addi %o, %c512 : index
      tile.store %v, %x[%p] : tensor<256xf32, #l>, !view
      tile.store %v, %y[%o] : tensor<256xf32, #l>, !view
    }
  }
  tile.return
}
