// What copies that take programs in turn cannot do.
// RUN: tile-opt %s --tile-realise-turns --split-input-file --verify-diagnostics

!tile_ = !tile.buffer<64x64xbf16>
!own = !tile.channel<4, own, !tile_>
tile.kernel @own() attributes {tile.turns = {all = 2 : i64}, tile.warps = 4 : i64} {
  %ring = tile.channel full = 4 empty = 4 : !own
  tile.warp_groups(%ring : !own) {
    role #tile.role<"all", warps = 4> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      scf.for %p = %c0 to %c1 step %c1 {
        // expected-error@+1 {{expected another role to fill the ring, since copies of role "all" take programs in turn}}
        %s, %ph = tile.next fills %ring : !own
      } {tile.programs}
    }
  }
  tile.return
}

// -----

!tile_ = !tile.buffer<64x64xbf16>
!ring = !tile.channel<4, !tile_>
!view = !tile.view<?x?xbf16>
tile.kernel @copied(%a: !view) attributes {tile.turns = {load = 2 : i64}, tile.warps = 4 : i64} {
  %ring = tile.channel full = 4 empty = 4 : !ring
  tile.warp_groups(%a, %ring : !view, !ring) {
    role #tile.role<"load", warps = 4> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      scf.for %p = %c0 to %c1 step %c1 {
        %s, %ph = tile.next %ring : !ring
        // expected-error@+1 {{expected copies of role "load", which take programs in turn, to bring what an engine counts or what goes through registers, since copies by warps are of all of a role's}}
        tile.put %ring[%s, %ph] bytes = 0 : !ring {
        ^bb0(%x: !tile_):
          tile.copy_in %a[%p, %c0], %x {atom = #nvptx.cp_async<16>} : !view, !tile_
        }
      } {tile.programs}
    }
  }
  tile.return
}

// -----

!ring = !tile.channel<4, !tile.buffer<64x64xbf16>>
tile.kernel @once() attributes {tile.turns = {mma = 2 : i64}, tile.warps = 4 : i64} {
  %ring = tile.channel full = 1 empty = 4 : !ring
  tile.warp_groups(%ring : !ring) {
    role #tile.role<"mma", warps = 4> {
      // expected-error@+1 {{expected to stand in the programs' loop, since copies of role "mma" take programs in turn}}
      %s, %ph = tile.next %ring : !ring
    }
  }
  tile.return
}

// -----

!ring = !tile.channel<4, !tile.buffer<64x64xbf16>>
tile.kernel @while(%n: index) attributes {tile.turns = {mma = 2 : i64}, tile.warps = 4 : i64} {
  %ring = tile.channel full = 1 empty = 4 : !ring
  tile.warp_groups(%n, %ring : index, !ring) {
    role #tile.role<"mma", warps = 4> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      scf.for %p = %c0 to %n step %c1 {
        // expected-error@+1 {{expected bounds and conditions of ring uses that follow from the program's number, since copies of role "mma" take programs in turn: a 'while' tells as it goes how many trips it has}}
        %end = scf.while (%i = %p) : (index) -> index {
          %more = arith.cmpi slt, %i, %n : index
          scf.condition(%more) %i : index
        } do {
        ^bb0(%i: index):
          %s, %ph = tile.next %ring : !ring
          %x = tile.get %ring[%s, %ph] : !ring
          tile.release %ring[%s] : !ring
          %next = arith.addi %i, %c1 : index
          scf.yield %next : index
        }
      } {tile.programs}
    }
  }
  tile.return
}

// -----

!ring = !tile.channel<4, !tile.buffer<64x64xbf16>>
!view = !tile.view<?xi32>
tile.kernel @counted(%a: !view, %n: index) attributes {tile.turns = {mma = 2 : i64}, tile.warps = 4 : i64} {
  %ring = tile.channel full = 1 empty = 4 : !ring
  tile.warp_groups(%a, %n, %ring : !view, index, !ring) {
    role #tile.role<"mma", warps = 4> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      scf.for %p = %c0 to %n step %c1 {
        // What memory holds is another number when it is asked again.
        // expected-error@+1 {{expected bounds and conditions of ring uses that follow from the program's number, since copies of role "mma" take programs in turn}}
        %old = tile.atomic_rmw addi %a[%c0], %one : !view, [index], i32
        %end = arith.index_cast %old : i32 to index
        scf.for %k = %c0 to %end step %c1 {
          %s, %ph = tile.next %ring : !ring
          %x = tile.get %ring[%s, %ph] : !ring
          tile.release %ring[%s] : !ring
        }
      } {tile.programs}
    }
  }
  tile.return
}
