// What copies of a role cannot do, or not while another role has copied what they store over.
// RUN: tile-opt %s --split-input-file --verify-diagnostics --tile-check-schedule

// One copy changes the number for all, which lag behind one another.
!view = !tile.view<?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
tile.kernel @changed(%a: !view, %n: index) attributes {tile.roles = [#tile.role<"all", warps = 4, copies = 2, skew = 1>]} {
  %x = arith.constant 1.0 : f32
  // expected-error@+1 {{expected no skew of role "all", one of whose copies changes a number in memory for all, got a skew of 1}}
  %old = tile.atomic_rmw addf %a[%n], %x {role = "all"} : !view, [index], f32
  tile.return
}
}

// -----

// Rows that a tile has grown by are the last copy's.
#rows = #tile.layout<register = [[0,1],[0,2],[0,4]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!view = !tile.view<?x?xf32, strides [?, 1]>
!tile = tensor<128x8xf32, #rows>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @grown(%c: !view) attributes {tile.roles = [#tile.role<"mma", warps = 2, copies = 2>]} {
  %c0 = arith.constant 0 : index
  %t = arith.constant dense<1.0> : !tile
  // expected-error@+2 {{expected a tile that the 2 copies of role "mma" share out evenly, got 96 of 128 along dimension 0}}
  // expected-note@+1 {{of 96, 3 copies have a power of two each, or one copy has all ('copies')}}
  tile.store %t, %c[%c0, %c0] {atom = #nvptx.tma, buffer = !tile.buffer<64x8xf32>, extents = array<i64: 96, 8>, in_flight = 0, role = "mma"}
      : !tile, !view
  tile.return
}
}

// -----

// Another role reads the tile, so nobody tells the one that stores when it is copied.
#l = #tile.layout<register = [[1,0],[2,0]], lane = [[0,1],[0,2],[0,4],[0,8],[0,16]], warp = [[4,0],[8,0]]>
!view = !tile.view<?x?xf32, strides [?, 1]>
!tile = tensor<16x32xf32, #l>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @over(%a: !view, %n: index) attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"use", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  scf.for %i = %c0 to %n step %c16 {
    // expected-note@+1 {{the load}}
    %x = tile.load %a[%i, %c0] {atom = #nvptx.tma, buffer = !tile.buffer<16x32xf32>, stage = 0, depth = 2, role = "load"} : !view -> !tile
    %y = arith.addf %x, %x {tile.role = "use"} : !tile
    // expected-error@+1 {{expected a role ('role') that uses what is loaded to store over it, since role "load", which has it copied for others, is not told when that is done}}
    tile.store %y, %a[%i, %c0] {role = "load"} : !tile, !view
  }
  tile.return
}
}
