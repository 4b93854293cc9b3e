// What the protocol check says of rings that several loops share, and of what comes once.
// RUN: tile-opt %s --tile-check-protocol -split-input-file -verify-diagnostics

!tile_ = !tile.buffer<64x64xf16>
!ring = !tile.channel<3, !tile_>
!view = !tile.view<?x?xf16>

// The second loop begins anew instead of where the first stopped.
tile.kernel @anew(%a: !view) attributes {tile.warps = 5 : i64} {
  // expected-note@+1 {{the ring}}
  %ring = tile.channel full = 1 empty = 4 : !ring
  // expected-note@+1 {{found for program 0 of 1, where argument 0 is 0x0}}
  tile.warp_groups(%a, %ring : !view, !ring) {
    role #tile.role<"load", warps = 1> {
      %s0 = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %n = arith.constant 64 : index
      %first:2 = scf.for %i = %c0 to %n step %c64 iter_args(%s = %s0, %p = %s0) -> (i32, i32) {
        tile.put %ring[%s, %p] bytes = 8192 : !ring {
        ^bb0(%x: !tile_):
          tile.copy_in %a[%i, %c0], %x {atom = #nvptx.tma} : !view, !tile_
        }
        %s1, %p1 = tile.advance %s, %p of %ring : !ring
        scf.yield %s1, %p1 : i32, i32
      }
      %second:2 = scf.for %i = %c0 to %n step %c64 iter_args(%s = %s0, %p = %s0) -> (i32, i32) {
        // expected-error@+1 {{expected slot 1 and phase 0 for use 1 of the channel by role "load", got slot 0 and phase 0}}
        tile.put %ring[%s, %p] bytes = 8192 : !ring {
        ^bb0(%x: !tile_):
          tile.copy_in %a[%i, %c0], %x {atom = #nvptx.tma} : !view, !tile_
        }
        %s1, %p1 = tile.advance %s, %p of %ring : !ring
        scf.yield %s1, %p1 : i32, i32
      }
    }
    role #tile.role<"read", warps = 4> {
      %s0 = arith.constant 0 : i32
      %x = tile.get %ring[%s0, %s0] : !ring
      tile.release %ring[%s0] : !ring
    }
  }
  tile.return
}

// -----

!tile_ = !tile.buffer<64x64xf16>
!once = !tile.channel<1, !tile_>
!view = !tile.view<?x?xf16>

// What comes once is kept; its one slot cannot be filled for another tile.
tile.kernel @kept(%a: !view) attributes {tile.warps = 5 : i64} {
  // expected-error@+1 {{expected role "read" to release what it got, got 1 slots that it kept}}
  %once = tile.channel full = 1 empty = 4 : !once
  // expected-note@+1 {{found for program 0 of 1}}
  tile.warp_groups(%a, %once : !view, !once) {
    role #tile.role<"load", warps = 1> {
      %s0 = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      tile.put %once[%s0, %s0] bytes = 8192 : !once {
      ^bb0(%x: !tile_):
        tile.copy_in %a[%c0, %c0], %x {atom = #nvptx.tma} : !view, !tile_
      }
    }
    role #tile.role<"read", warps = 4> {
      %s0 = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %n = tile.dim %a, 0 : !view
      %some = arith.cmpi eq, %n, %c0 : index
      %x = tile.get %once[%s0, %s0] : !once
      scf.if %some {
        tile.release %once[%s0] : !once
      }
    }
  }
  tile.return
}

// -----

!tile_ = !tile.buffer<64x64xf16>
!once = !tile.channel<1, !tile_>
!view = !tile.view<?x?xf16>

// Slot and phase in each other's place, which of one slot are a slot that there is not.
tile.kernel @swapped(%a: !view) attributes {tile.warps = 5 : i64} {
  %once = tile.channel full = 1 empty = 4 : !once
  // expected-note@+1 {{found for program 0 of 1}}
  tile.warp_groups(%a, %once : !view, !once) {
    role #tile.role<"load", warps = 1> {
      %s0 = arith.constant 0 : i32
      %s1, %p1 = tile.advance %s0, %s0 of %once : !once
      // expected-error@+1 {{expected a slot from 0 to 0 and a phase of 0 or 1, got slot 1 and phase 0}}
      %s2, %p2 = tile.advance %p1, %s1 of %once : !once
      %c0 = arith.constant 0 : index
      tile.put %once[%s0, %s0] bytes = 8192 : !once {
      ^bb0(%x: !tile_):
        tile.copy_in %a[%c0, %c0], %x {atom = #nvptx.tma} : !view, !tile_
      }
    }
    role #tile.role<"read", warps = 4> {
      %s0 = arith.constant 0 : i32
      %x = tile.get %once[%s0, %s0] : !once
      tile.release %once[%s0] : !once
    }
  }
  tile.return
}
