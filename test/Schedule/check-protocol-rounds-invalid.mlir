// Phases that are wrong by one or two, which show where a ring is gone round: 1000 rows are four tiles of
// 256, as many as the ring has slots, so the instances go further.
// RUN: tile-opt %s --tile-check-protocol -split-input-file -verify-diagnostics

!tile_ = !tile.buffer<256x64xf16>
!ring = !tile.channel<4, !tile_>
!view = !tile.view<?x?xf16>

// The reader's phase stays what it was.
tile.kernel @never_flips(%a: !view) attributes {tile.warps = 5 : i64} {
  // expected-note@+1 {{the ring}}
  %ring = tile.channel full = 1 empty = 4 : !ring
  // expected-note@+1 {{found for program 0 of 1, where argument 0 is 3000x3000}}
  tile.warp_groups(%a, %ring : !view, !ring) {
    role #tile.role<"load", warps = 1> {
      %s0 = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %c256 = arith.constant 256 : index
      %n = tile.dim %a, 0 : !view
      %end:2 = scf.for %i = %c0 to %n step %c256 iter_args(%s = %s0, %p = %s0) -> (i32, i32) {
        tile.put %ring[%s, %p] bytes = 32768 : !ring {
        ^bb0(%x: !tile_):
          tile.copy_in %a[%i, %c0], %x {atom = #nvptx.tma} : !view, !tile_
        }
        %s1, %p1 = tile.advance %s, %p of %ring : !ring
        scf.yield %s1, %p1 : i32, i32
      }
    }
    role #tile.role<"read", warps = 4> {
      %s0 = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %c256 = arith.constant 256 : index
      %n = tile.dim %a, 0 : !view
      %end:2 = scf.for %i = %c0 to %n step %c256 iter_args(%s = %s0, %p = %s0) -> (i32, i32) {
        // expected-error@+1 {{expected slot 0 and phase 1 for use 4 of the channel by role "read", got slot 0 and phase 0}}
        %x = tile.get %ring[%s, %s0] : !ring
        tile.release %ring[%s] : !ring
        %s1, %p1 = tile.advance %s, %p of %ring : !ring
        scf.yield %s1, %p1 : i32, i32
      }
    }
  }
  tile.return
}

// -----

!tile_ = !tile.buffer<256x64xf16>
!ring = !tile.channel<4, !tile_>
!view = !tile.view<?x?xf16>

// It turns when the ring is gone round for the first time, and stays then.
tile.kernel @flips_once(%a: !view) attributes {tile.warps = 5 : i64} {
  // expected-note@+1 {{the ring}}
  %ring = tile.channel full = 1 empty = 4 : !ring
  // expected-note@+1 {{found for program 0 of 1, where argument 0 is 3000x3000}}
  tile.warp_groups(%a, %ring : !view, !ring) {
    role #tile.role<"load", warps = 1> {
      %s0 = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %c256 = arith.constant 256 : index
      %n = tile.dim %a, 0 : !view
      %end:2 = scf.for %i = %c0 to %n step %c256 iter_args(%s = %s0, %p = %s0) -> (i32, i32) {
        tile.put %ring[%s, %p] bytes = 32768 : !ring {
        ^bb0(%x: !tile_):
          tile.copy_in %a[%i, %c0], %x {atom = #nvptx.tma} : !view, !tile_
        }
        %s1, %p1 = tile.advance %s, %p of %ring : !ring
        scf.yield %s1, %p1 : i32, i32
      }
    }
    role #tile.role<"read", warps = 4> {
      %s0 = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %c256 = arith.constant 256 : index
      %n = tile.dim %a, 0 : !view
      %end:2 = scf.for %i = %c0 to %n step %c256 iter_args(%s = %s0, %p = %s0) -> (i32, i32) {
        // expected-error@+1 {{expected slot 0 and phase 0 for use 8 of the channel by role "read", got slot 0 and phase 1}}
        %x = tile.get %ring[%s, %p] : !ring
        tile.release %ring[%s] : !ring
        %s1, %p1 = tile.advance %s, %p of %ring : !ring
        %kept = arith.ori %p, %p1 : i32
        scf.yield %s1, %kept : i32, i32
      }
    }
  }
  tile.return
}

// -----

!tile_ = !tile.buffer<256x64xf16>
!ring = !tile.channel<4, !tile_>
!view = !tile.view<?x?xf16>

// The one who fills waits for what has been released long ago.
tile.kernel @filler_never_flips(%a: !view) attributes {tile.warps = 5 : i64} {
  // expected-note@+1 {{the ring}}
  %ring = tile.channel full = 1 empty = 4 : !ring
  // expected-note@+1 {{found for program 0 of 1, where argument 0 is 3000x3000}}
  tile.warp_groups(%a, %ring : !view, !ring) {
    role #tile.role<"load", warps = 1> {
      %s0 = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %c256 = arith.constant 256 : index
      %n = tile.dim %a, 0 : !view
      %end:2 = scf.for %i = %c0 to %n step %c256 iter_args(%s = %s0, %p = %s0) -> (i32, i32) {
        // expected-error@+1 {{expected slot 0 and phase 1 for use 4 of the channel by role "load", got slot 0 and phase 0}}
        tile.put %ring[%s, %s0] bytes = 32768 : !ring {
        ^bb0(%x: !tile_):
          tile.copy_in %a[%i, %c0], %x {atom = #nvptx.tma} : !view, !tile_
        }
        %s1, %p1 = tile.advance %s, %p of %ring : !ring
        scf.yield %s1, %p1 : i32, i32
      }
    }
    role #tile.role<"read", warps = 4> {
      %s0 = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %c256 = arith.constant 256 : index
      %n = tile.dim %a, 0 : !view
      %end:2 = scf.for %i = %c0 to %n step %c256 iter_args(%s = %s0, %p = %s0) -> (i32, i32) {
        %x = tile.get %ring[%s, %p] : !ring
        tile.release %ring[%s] : !ring
        %s1, %p1 = tile.advance %s, %p of %ring : !ring
        scf.yield %s1, %p1 : i32, i32
      }
    }
  }
  tile.return
}

// -----

!tile_ = !tile.buffer<256x64xf16>
!ring = !tile.channel<4, !tile_>
!view = !tile.view<?x?xf16>

// The reader leaves out a round. On the chip it would go on at once, since the barrier is in a phase of
// the other parity, and read a slot that is not full.
tile.kernel @skips(%a: !view) attributes {tile.warps = 5 : i64} {
  // expected-note@+1 {{the ring}}
  %ring = tile.channel full = 1 empty = 4 : !ring
  // expected-note@+1 {{found for program 0 of 1, where argument 0 is 3000x3000}}
  tile.warp_groups(%a, %ring : !view, !ring) {
    role #tile.role<"load", warps = 1> {
      %s0 = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %c256 = arith.constant 256 : index
      %n = tile.dim %a, 0 : !view
      %end:2 = scf.for %i = %c0 to %n step %c256 iter_args(%s = %s0, %p = %s0) -> (i32, i32) {
        // expected-error@+1 {{expected not to wait forever, got a wait of role "load" that nothing ends}}
        tile.put %ring[%s, %p] bytes = 32768 : !ring {
        ^bb0(%x: !tile_):
          tile.copy_in %a[%i, %c0], %x {atom = #nvptx.tma} : !view, !tile_
        }
        %s1, %p1 = tile.advance %s, %p of %ring : !ring
        scf.yield %s1, %p1 : i32, i32
      }
    }
    role #tile.role<"read", warps = 4> {
      %s0 = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %c256 = arith.constant 256 : index
      %n = tile.dim %a, 0 : !view
      %end:2 = scf.for %i = %c0 to %n step %c256 iter_args(%s = %s0, %p = %s0) -> (i32, i32) {
        // expected-note@+1 {{role "read" waits here}}
        %x = tile.get %ring[%s, %p] : !ring
        tile.release %ring[%s] : !ring
        %s1, %p1 = tile.advance %s, %p of %ring : !ring
        %c4 = arith.constant 4 : index
        %one = arith.divui %i, %c256 : index
        %is = arith.cmpi eq, %one, %c4 : index
        %by = arith.select %is, %c4, %c0 : index
        %s2, %p2 = tile.advance %s1, %p1 by %by of %ring : !ring
        scf.yield %s2, %p2 : i32, i32
      }
    }
  }
  tile.return
}
