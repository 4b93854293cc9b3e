// Shared memory that is planned, where a place is used in several ways.
// RUN: tile-opt %s --tile-check-protocol -split-input-file -verify-diagnostics

// Other warps may still read the slot.
!tile_ = !tile.buffer<64x64xf16>
!view = !tile.view<?x?xf16>
!ring = !tile.channel<1, own, !tile_>
tile.kernel @reading(%a: !view) attributes {tile.warps = 4 : i64} {
  // expected-note@+1 {{the ring}}
  %ring = tile.channel full = 4 empty = 4 {tile.shared_offset = 0 : i64} : !ring
  // expected-note@+1 {{found for program 0 of 1}}
  tile.warp_groups(%a, %ring : !view, !ring) {
    role #tile.role<"all", warps = 4> {
      %buffer = tile.alloc {tile.shared_offset = 4096 : i64} : !tile_
      %s0 = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %f = arith.constant dense<1.0> : tensor<64x64xf16>
      tile.put %ring[%s0, %s0] bytes = 0 : !ring {
      ^bb0(%x: !tile_):
        tile.copy_in %a[%c0, %c0], %x {atom = #nvptx.cp_async<16>} : !view, !tile_
      }
      tile.wait_puts in_flight = 0
      tile.barrier
      %x = tile.get %ring[%s0, %s0] : !ring
      // expected-note@+1 {{which is used here}}
      %t = tile.read %x : !tile_ -> tensor<64x64xf16>
      tile.release %ring[%s0] lanes : !ring
      // expected-error@+1 {{expected a tile.barrier of all copies between this and another use of its place of shared memory}}
      tile.write %f, %buffer : tensor<64x64xf16>, !tile_
    }
  }
  tile.return
}

// -----

// A copy is under way into the slot, and it is read later.
!tile_ = !tile.buffer<64x64xf16>
!view = !tile.view<?x?xf16>
!ring = !tile.channel<1, own, !tile_>
tile.kernel @filled(%a: !view) attributes {tile.warps = 4 : i64} {
  // expected-note@+1 {{the ring}}
  %ring = tile.channel full = 4 empty = 4 {tile.shared_offset = 0 : i64} : !ring
  // expected-note@+1 {{found for program 0 of 1}}
  tile.warp_groups(%a, %ring : !view, !ring) {
    role #tile.role<"all", warps = 4> {
      %buffer = tile.alloc {tile.shared_offset = 4096 : i64} : !tile_
      %s0 = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %f = arith.constant dense<1.0> : tensor<64x64xf16>
      tile.put %ring[%s0, %s0] bytes = 0 : !ring {
      ^bb0(%x: !tile_):
        tile.copy_in %a[%c0, %c0], %x {atom = #nvptx.cp_async<16>} : !view, !tile_
      }
      tile.barrier
      // expected-error@+1 {{expected a place of shared memory that nobody needs, got that of a ring with slots that are filled and not released}}
      tile.write %f, %buffer : tensor<64x64xf16>, !tile_
      tile.wait_puts in_flight = 0
      tile.barrier
      %x = tile.get %ring[%s0, %s0] : !ring
      tile.release %ring[%s0] lanes : !ring
    }
  }
  tile.return
}

// -----

!buffer = !tile.buffer<64xf32>
tile.kernel @lost() attributes {tile.warps = 2 : i64} {
  // expected-note@+1 {{found for program 0 of 1}}
  tile.warp_groups() {
    role #tile.role<"all", warps = 2> {
      // expected-note@+1 {{the buffer}}
      %one = tile.alloc {tile.shared_offset = 0 : i64} : !buffer
      %other = tile.alloc {tile.shared_offset = 128 : i64} : !buffer
      %f = arith.constant dense<1.0> : tensor<64xf32>
      tile.write %f, %one : tensor<64xf32>, !buffer
      tile.barrier
      // expected-note@+1 {{its place is used here}}
      tile.write %f, %other : tensor<64xf32>, !buffer
      tile.barrier
      // expected-error@+1 {{expected the buffer to hold what was written to it, got one that shares its place of shared memory with what was used since}}
      %t = tile.read %one : !buffer -> tensor<64xf32>
    }
  }
  tile.return
}

// -----

// Scratch of an op that stands where nobody follows how often it runs.
#w = #tile.layout<register = [], lane = [[1],[2],[4],[8],[16]], warp = [[32]]>
#s = #tile.layout<register = []>
!buffer = !tile.buffer<64xf32>
tile.kernel @scratch(%n: index) attributes {tile.warps = 2 : i64} {
  // expected-note@+1 {{found for program 0 of 1}}
  tile.warp_groups(%n : index) {
    role #tile.role<"all", warps = 2> {
      // expected-note@+1 {{the buffer}}
      %one = tile.alloc {tile.shared_offset = 0 : i64} : !buffer
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %f = arith.constant dense<1.0> : tensor<64xf32, #w>
      tile.write %f, %one : tensor<64xf32, #w>, !buffer
      tile.barrier
      scf.for %i = %c0 to %n step %c1 {
        // expected-note@+1 {{its place is used here}}
        %r = tile.reduce %f axis = 0 {tile.shared_offset = 0 : i64} : tensor<64xf32, #w> -> tensor<f32, #s> {
        ^bb0(%left: f32, %right: f32):
          %a = arith.addf %left, %right : f32
          tile.yield %a : f32
        }
      }
      tile.barrier
      // expected-error@+1 {{expected the buffer to hold what was written to it, got one that shares its place of shared memory with what was used since}}
      %t = tile.read %one : !buffer -> tensor<64xf32, #w>
    }
  }
  tile.return
}
