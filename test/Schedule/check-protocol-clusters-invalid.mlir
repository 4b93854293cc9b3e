// What the protocol check says of programs of a cluster that fall out of step. The mutants of
// mutants.test break everything else.
// RUN: tile-opt %s --tile-check-protocol -split-input-file -verify-diagnostics

!b = !tile.buffer<32x32xf32>
!half = !tile.buffer<16x32xf32>
!ring = !tile.channel<1, !b>
!view = !tile.view<?x?xf32>

// As it must be: each brings a half to both, and tells both.
tile.kernel @right(%x: !view, %n: index)
    attributes {tile.cluster = array<i64: 2, 1, 1>, tile.warps = 2 : i64} {
  %ring = tile.channel full = 1 empty = 2 : !ring
  tile.cluster_barrier
  tile.warp_groups(%x, %n, %ring : !view, index, !ring) {
    role #tile.role<"load", warps = 1> {
      %z = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %c2 = arith.constant 2 : index
      %c32 = arith.constant 32 : index
      %both = arith.constant 3 : i32
      %id = tile.program_id x
      %own = arith.remui %id, %c2 : index
      %end:2 = scf.for %k = %c0 to %n step %c32 iter_args(%s = %z, %p = %z) -> (i32, i32) {
        tile.put %ring[%s, %p] bytes = 4096 : !ring {
        ^bb0(%to: !b):
          %part = tile.part %to[%own, %c0] : !b -> !half
          tile.copy_in %x[%own, %k], %part to %both {atom = #nvptx.tma} : !view, !half
        }
        %s1, %p1 = tile.advance %s, %p of %ring : !ring
        scf.yield %s1, %p1 : i32, i32
      }
    }
    role #tile.role<"use", warps = 1> {
      %z = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %c0 = arith.constant 0 : index
      %c32 = arith.constant 32 : index
      %end:2 = scf.for %k = %c0 to %n step %c32 iter_args(%s = %z, %p = %z) -> (i32, i32) {
        %a = tile.get %ring[%s, %p] : !ring
        tile.release %ring[%s] lanes to %z, %one : !ring
        %s1, %p1 = tile.advance %s, %p of %ring : !ring
        scf.yield %s1, %p1 : i32, i32
      }
    }
  }
  tile.cluster_barrier
  tile.return
}

// -----

!b = !tile.buffer<32x32xf32>
!half = !tile.buffer<16x32xf32>
!ring = !tile.channel<1, !b>
!view = !tile.view<?x?xf32>

// Twice to oneself is not once to each.
tile.kernel @untold(%x: !view, %n: index)
    attributes {tile.cluster = array<i64: 2, 1, 1>, tile.warps = 2 : i64} {
  %ring = tile.channel full = 1 empty = 2 : !ring
  tile.cluster_barrier
  // expected-note@+1 {{found for cluster 0 of 1, where argument 0 is 64x64, argument 1 is 64}}
  tile.warp_groups(%x, %n, %ring : !view, index, !ring) {
    role #tile.role<"load", warps = 1> {
      %z = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %c2 = arith.constant 2 : index
      %c32 = arith.constant 32 : index
      %both = arith.constant 3 : i32
      %id = tile.program_id x
      %own = arith.remui %id, %c2 : index
      %end:2 = scf.for %k = %c0 to %n step %c32 iter_args(%s = %z, %p = %z) -> (i32, i32) {
        // expected-error@+1 {{expected every program that the copies reach to have released the slot to this one, got one that has not: number 0 of the cluster}}
        tile.put %ring[%s, %p] bytes = 4096 : !ring {
        ^bb0(%to: !b):
          %part = tile.part %to[%own, %c0] : !b -> !half
          tile.copy_in %x[%own, %k], %part to %both {atom = #nvptx.tma} : !view, !half
        }
        %s1, %p1 = tile.advance %s, %p of %ring : !ring
        scf.yield %s1, %p1 : i32, i32
      }
    }
    role #tile.role<"use", warps = 1> {
      %z = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %c2 = arith.constant 2 : index
      %c32 = arith.constant 32 : index
      %id = tile.program_id x
      %own = arith.remui %id, %c2 : index
      %number = arith.index_cast %own : index to i32
      %end:2 = scf.for %k = %c0 to %n step %c32 iter_args(%s = %z, %p = %z) -> (i32, i32) {
        %a = tile.get %ring[%s, %p] : !ring
        tile.release %ring[%s] to %number, %number : !ring
        %s1, %p1 = tile.advance %s, %p of %ring : !ring
        scf.yield %s1, %p1 : i32, i32
      }
    }
  }
  tile.cluster_barrier
  tile.return
}

// -----

!b = !tile.buffer<32x32xf32>
!half = !tile.buffer<16x32xf32>
!ring = !tile.channel<1, !b>
!view = !tile.view<?x?xf32>

// The second program has one trip less: the first waits for a half that nobody brings.
tile.kernel @trips(%x: !view, %n: index)
    attributes {tile.cluster = array<i64: 2, 1, 1>, tile.warps = 2 : i64} {
  // expected-note@+1 {{the ring}}
  %ring = tile.channel full = 1 empty = 2 : !ring
  tile.cluster_barrier
  // expected-note@+1 {{found for cluster 0 of 1}}
  tile.warp_groups(%x, %n, %ring : !view, index, !ring) {
    role #tile.role<"load", warps = 1> {
      %z = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %c2 = arith.constant 2 : index
      %c32 = arith.constant 32 : index
      %both = arith.constant 3 : i32
      %id = tile.program_id x
      %own = arith.remui %id, %c2 : index
      %first = arith.muli %own, %c32 : index
      %end:2 = scf.for %k = %first to %n step %c32 iter_args(%s = %z, %p = %z) -> (i32, i32) {
        tile.put %ring[%s, %p] bytes = 4096 : !ring {
        ^bb0(%to: !b):
          %part = tile.part %to[%own, %c0] : !b -> !half
          tile.copy_in %x[%own, %k], %part to %both {atom = #nvptx.tma} : !view, !half
        }
        %s1, %p1 = tile.advance %s, %p of %ring : !ring
        scf.yield %s1, %p1 : i32, i32
      }
    }
    role #tile.role<"use", warps = 1> {
      %z = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %c0 = arith.constant 0 : index
      %c2 = arith.constant 2 : index
      %c32 = arith.constant 32 : index
      %id = tile.program_id x
      %own = arith.remui %id, %c2 : index
      %first = arith.muli %own, %c32 : index
      %end:2 = scf.for %k = %first to %n step %c32 iter_args(%s = %z, %p = %z) -> (i32, i32) {
        // expected-error@+1 {{expected not to wait forever, got a wait of role "use" that nothing ends}}
        %a = tile.get %ring[%s, %p] : !ring
        tile.release %ring[%s] lanes to %z, %one : !ring
        %s1, %p1 = tile.advance %s, %p of %ring : !ring
        scf.yield %s1, %p1 : i32, i32
      }
    }
  }
  tile.cluster_barrier
  tile.return
}

// -----

!b = !tile.buffer<32x32xf32>
!ring = !tile.channel<1, !b>

tile.kernel @barriers() attributes {tile.cluster = array<i64: 2, 1, 1>, tile.warps = 1 : i64} {
  tile.cluster_barrier
  %ring = tile.channel full = 1 empty = 2 : !ring
  // expected-error@+1 {{expected a tile.cluster_barrier between the channels and the roles, since programs of a cluster reach those of one another}}
  tile.warp_groups(%ring : !ring) {
    role #tile.role<"use", warps = 1> {
      %z = arith.constant 0 : i32
      %a = tile.get %ring[%z, %z] : !ring
      tile.release %ring[%z] to %z, %z : !ring
    }
  }
  tile.return
}
