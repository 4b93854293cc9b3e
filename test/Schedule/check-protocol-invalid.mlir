// What the protocol check says, with the instance on which roles fall out of step. The mutants of
// mutants.test break everything else.
// RUN: tile-opt %s --tile-check-protocol -split-input-file -verify-diagnostics

!tile_ = !tile.buffer<64x64xf16>
!ring = !tile.channel<1, !tile_>
!pending = !tile.pending<tensor<64x64xf32>>
!view = !tile.view<?x?xf16>

// One slot, but each trip gets the next before it releases the last.
tile.kernel @shallow(%a: !view) attributes {tile.warps = 5 : i64} {
  // expected-note@+1 {{the ring}}
  %ring = tile.channel full = 1 empty = 4 : !ring
  // expected-note@+1 {{found for program 0 of 1, where argument 0 is 200x200}}
  tile.warp_groups(%a, %ring : !view, !ring) {
    role #tile.role<"load", warps = 1> {
      %s0 = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %n = tile.dim %a, 0 : !view
      %end:2 = scf.for %i = %c0 to %n step %c64 iter_args(%s = %s0, %p = %s0) -> (i32, i32) {
        // expected-error@+1 {{expected not to wait forever, got a wait of role "load" that nothing ends}}
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
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %n = tile.dim %a, 0 : !view
      %any = arith.cmpi slt, %c0, %n : index
      %end:3 = scf.for %i = %c0 to %n step %c64 iter_args(%s = %s0, %p = %s0, %old = %s0) -> (i32, i32, i32) {
        // expected-note@+1 {{role "read" waits here}}
        %x = tile.get %ring[%s, %p] : !ring
        %more = arith.cmpi ne, %i, %c0 : index
        scf.if %more {
          tile.release %ring[%old] : !ring
        }
        %s1, %p1 = tile.advance %s, %p of %ring : !ring
        scf.yield %s1, %p1, %s : i32, i32, i32
      }
      scf.if %any {
        tile.release %ring[%end#2] : !ring
      }
    }
  }
  tile.return
}

// -----

// Trips that nothing tells.
tile.kernel @unknown() attributes {tile.warps = 2 : i64} {
  // expected-note@+1 {{found for program 0 of 1}}
  tile.warp_groups() {
    role #tile.role<"all", warps = 1> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = ub.poison : index
      // expected-error@+1 {{expected bounds that extents, scalar arguments, what is loaded or handed over and the program's place give, since roles must agree on its trips}}
      scf.for %j = %c0 to %n step %c1 {
        tile.barrier
      }
    }
    role #tile.role<"other", warps = 1> {
      tile.barrier
    }
  }
  tile.return
}

// -----

// Copies that meet as often as one another, but for one.
tile.kernel @meet() attributes {tile.warps = 8 : i64} {
  // expected-note@+1 {{found for program 0 of 1}}
  tile.warp_groups() {
    role #tile.role<"all", warps = 4, copies = 2> {
      %copy = tile.copy_id
      %c0 = arith.constant 0 : index
      %first = arith.cmpi eq, %copy, %c0 : index
      tile.barrier all_copies
      scf.if %first {
        // expected-error@+1 {{expected not to wait forever, got a wait of role "all" that nothing ends}}
        tile.barrier all_copies
      }
    }
  }
  tile.return
}

// -----

// Who owns a ring stands in its type.
!tile_ = !tile.buffer<64x64xf16>
!view = !tile.view<?x?xf16>
!ring = !tile.channel<1, !tile_>
tile.kernel @own(%a: !view) attributes {tile.warps = 4 : i64} {
  %ring = tile.channel full = 4 empty = 4 : !ring
  tile.warp_groups(%a, %ring : !view, !ring) {
    role #tile.role<"all", warps = 4> {
      %s0 = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      tile.put %ring[%s0, %s0] bytes = 0 {tile.lanes} : !ring {
      ^bb0(%x: !tile_):
        tile.copy_in %a[%c0, %c0], %x {atom = #nvptx.cp_async<16>} : !view, !tile_
        tile.barrier
      }
      // expected-error@+1 {{expected 'own' in the type of a channel, since role "all" puts into it and gets from it}}
      %x = tile.get %ring[%s0, %s0] : !ring
      tile.release %ring[%s0] : !ring
    }
  }
  tile.return
}

// -----

!tile_ = !tile.buffer<64x64xf16>
!view = !tile.view<?x?xf16>
!ring = !tile.channel<1, own, !tile_>
tile.kernel @others(%a: !view) attributes {tile.warps = 5 : i64} {
  %ring = tile.channel full = 1 empty = 4 : !ring
  tile.warp_groups(%a, %ring : !view, !ring) {
    role #tile.role<"load", warps = 1> {
      %s0 = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      tile.put %ring[%s0, %s0] bytes = 8192 : !ring {
      ^bb0(%x: !tile_):
        tile.copy_in %a[%c0, %c0], %x {atom = #nvptx.tma} : !view, !tile_
      }
    }
    role #tile.role<"read", warps = 4> {
      %s0 = arith.constant 0 : i32
      // expected-error@+1 {{expected a tile.put into an 'own' channel, since role "read" gets from it}}
      %x = tile.get %ring[%s0, %s0] : !ring
      tile.release %ring[%s0] : !ring
    }
  }
  tile.return
}

// -----

// One lane of each warp arrives, and the others may still read.
!view = !tile.view<?xf32>
!b = !tile.buffer<32xf32>
!ring = !tile.channel<1, !b>
tile.kernel @lanes(%a: !view) attributes {tile.warps = 2 : i64} {
  // expected-note@+1 {{the ring}}
  %ring = tile.channel full = 1 empty = 1 : !ring
  // expected-note@+1 {{found for program 0 of 1}}
  tile.warp_groups(%a, %ring : !view, !ring) {
    role #tile.role<"load", warps = 1> {
      %s0 = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      // expected-note@+1 {{role "load" fills it again here}}
      tile.put %ring[%s0, %s0] bytes = 128 : !ring {
      ^bb0(%x: !b):
        tile.copy_in %a[%c0], %x {atom = #nvptx.tma} : !view, !b
      }
    }
    role #tile.role<"use", warps = 1> {
      %s0 = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %x = tile.get %ring[%s0, %s0] : !ring
      // expected-note@+1 {{copy 0 of role "use" reads it here}}
      %t = tile.read %x : !b -> tensor<32xf32>
      // expected-error@+1 {{expected 'lanes', since lanes read the slot into registers and one of them arrives for all}}
      tile.release %ring[%s0] : !ring
      tile.store %t, %a[%c0] : tensor<32xf32>, !view
    }
  }
  tile.return
}

// -----

// An engine writes by a proxy of its own, and a read that has been started may wait.
!view = !tile.view<?xf32>
!b = !tile.buffer<32xf32>
!ring = !tile.channel<1, !b>
tile.kernel @unfenced(%a: !view) attributes {tile.warps = 2 : i64} {
  // expected-note@+1 {{the ring}}
  %ring = tile.channel full = 1 empty = 1 : !ring
  // expected-note@+1 {{found for program 0 of 1}}
  tile.warp_groups(%a, %ring : !view, !ring) {
    role #tile.role<"load", warps = 1> {
      %s0 = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      // expected-note@+1 {{role "load" fills it again here}}
      tile.put %ring[%s0, %s0] bytes = 128 : !ring {
      ^bb0(%x: !b):
        tile.copy_in %a[%c0], %x {atom = #nvptx.tma} : !view, !b
      }
    }
    role #tile.role<"use", warps = 1> {
      %s0 = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %x = tile.get %ring[%s0, %s0] : !ring
      // expected-note@+1 {{copy 0 of role "use" reads it here}}
      %t = tile.read %x : !b -> tensor<32xf32>
      // expected-error@+1 {{expected a tile.fence shared behind what lanes read of the slot, since an engine fills it again}}
      tile.release %ring[%s0] lanes : !ring
      tile.store %t, %a[%c0] : tensor<32xf32>, !view
    }
  }
  tile.return
}

// -----

// A role that does not end.
tile.kernel @endless() attributes {tile.warps = 1 : i64} {
  tile.warp_groups() {
    role #tile.role<"all", warps = 1> {
      %yes = arith.constant true
      // expected-error@+1 {{expected a role that ends within 262144 steps on small extents}}
      scf.while : () -> () {
        tile.barrier
        scf.condition(%yes)
      } do {
        scf.yield
      }
    }
  }
  tile.return
}

// -----

// It is known in front of the first trip that there are too many.
tile.kernel @long() attributes {tile.warps = 1 : i64} {
  tile.warp_groups() {
    role #tile.role<"all", warps = 1> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %many = arith.constant 262144 : index
      // expected-error@+1 {{expected a role that ends within 262144 steps on small extents}}
      scf.for %i = %c0 to %many step %c1 {
        tile.barrier
      }
    }
  }
  tile.return
}

// -----

tile.kernel @made_too_late() attributes {tile.warps = 1 : i64} {
  // expected-note@+1 {{found for program 0 of 1}}
  tile.warp_groups() {
    role #tile.role<"all", warps = 1> {
      // expected-error@+1 {{expected to stand in front of roles, behind what makes barriers}}
      tile.fence barriers
    }
  }
  tile.return
}
