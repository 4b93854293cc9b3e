// Accesses that nothing orders: each names both, and what is missing between them.
// RUN: tile-opt %s --tile-check-protocol -split-input-file -verify-diagnostics

#wgmma = #nvptx.wgmma<"m64n64k16", bf16, f32>
!b = !tile.buffer<64x64xbf16>
!sum = !tile.pending<tensor<64x64xf32>>

// What warps write themselves, and have met behind, an engine does not find.
tile.kernel @unpublished() attributes {tile.warps = 4 : i64} {
  // expected-note@+1 {{found for program 0 of 1}}
  tile.warp_groups() {
    role #tile.role<"all", warps = 4> {
      // expected-note@+1 {{the buffer}}
      %x = tile.alloc : !b
      %t = arith.constant dense<1.0> : tensor<64x64xbf16>
      %none = ub.poison : !sum
      %false = arith.constant false
      // expected-note@+1 {{copy 0 of role "all" writes it here}}
      tile.write %t, %x : tensor<64x64xbf16>, !b
      tile.barrier
      // expected-error@+1 {{expected a tile.barrier publish after what wrote the buffer}}
      %p = tile.start_dot %x, %x, %none when %false transpose_b {atom = #wgmma} : !b, !b -> !sum
      %s = tile.wait %p in_flight = 0 : !sum -> tensor<64x64xf32>
    }
  }
  tile.return
}

// -----

#wgmma = #nvptx.wgmma<"m64n64k16", bf16, f32>
!b = !tile.buffer<64x64xbf16>
!sum = !tile.pending<tensor<64x64xf32>>

// Nor may it be written while the dot reads it.
tile.kernel @in_flight() attributes {tile.warps = 4 : i64} {
  // expected-note@+1 {{found for program 0 of 1}}
  tile.warp_groups() {
    role #tile.role<"all", warps = 4> {
      // expected-note@+1 {{the buffer}}
      %x = tile.alloc : !b
      %t = arith.constant dense<1.0> : tensor<64x64xbf16>
      %none = ub.poison : !sum
      %false = arith.constant false
      tile.write %t, %x : tensor<64x64xbf16>, !b
      tile.barrier publish
      // expected-note@+1 {{copy 0 of role "all" reads it here}}
      %p = tile.start_dot %x, %x, %none when %false transpose_b {atom = #wgmma} : !b, !b -> !sum
      tile.barrier
      // expected-error@+1 {{expected dots that read the buffer to be waited for, got one in flight}}
      tile.write %t, %x : tensor<64x64xbf16>, !b
      %s = tile.wait %p in_flight = 0 : !sum -> tensor<64x64xf32>
    }
  }
  tile.return
}

// -----

!view = !tile.view<?x?xf32>
!b = !tile.buffer<64x64xf32>
!ring = !tile.channel<2, !b>

// One lane of each warp arrives while the others read, where the slot is filled again.
tile.kernel @one_lane(%a: !view) attributes {tile.warps = 5 : i64} {
  // expected-note@+1 {{the ring}}
  %ring = tile.channel full = 1 empty = 4 : !ring
  // expected-note@+1 {{found for program}}
  tile.warp_groups(%a, %ring : !view, !ring) {
    role #tile.role<"load", warps = 1> {
      %s0 = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %n = tile.dim %a, 0 : !view
      %end:2 = scf.for %i = %c0 to %n step %c64 iter_args(%s = %s0, %p = %s0) -> (i32, i32) {
        // expected-note@+1 {{role "load" fills it again here}}
        tile.put %ring[%s, %p] bytes = 16384 : !ring {
        ^bb0(%x: !b):
          tile.copy_in %a[%i, %c0], %x {atom = #nvptx.tma} : !view, !b
        }
        %s1, %p1 = tile.advance %s, %p of %ring : !ring
        scf.yield %s1, %p1 : i32, i32
      }
    }
    role #tile.role<"use", warps = 4> {
      %s0 = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %n = tile.dim %a, 0 : !view
      %end:2 = scf.for %i = %c0 to %n step %c64 iter_args(%s = %s0, %p = %s0) -> (i32, i32) {
        %x = tile.get %ring[%s, %p] : !ring
        // expected-note@+1 {{copy 0 of role "use" reads it here}}
        %t = tile.read %x : !b -> tensor<64x64xf32>
        tile.fence shared
        tile.one_thread each_warp {
          // expected-error@+1 {{expected 'lanes', since lanes read the slot into registers and one of them arrives for all}}
          tile.release %ring[%s] : !ring
        }
        %s1, %p1 = tile.advance %s, %p of %ring : !ring
        scf.yield %s1, %p1 : i32, i32
      }
    }
  }
  tile.return
}

// -----

!view = !tile.view<?xf32>
!b = !tile.buffer<32xf32>
!ring = !tile.channel<1, !b>

// One thread of four warps arrives.
tile.kernel @one_warp(%a: !view) attributes {tile.warps = 5 : i64} {
  %ring = tile.channel full = 1 empty = 4 : !ring
  // expected-note@+1 {{found for program}}
  tile.warp_groups(%a, %ring : !view, !ring) {
    role #tile.role<"load", warps = 1> {
      %s0 = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      // expected-error@+1 {{expected each slot that is put to be released by all, got one that is not}}
      tile.put %ring[%s0, %s0] bytes = 128 : !ring {
      ^bb0(%x: !b):
        tile.copy_in %a[%c0], %x {atom = #nvptx.tma} : !view, !b
      }
    }
    role #tile.role<"use", warps = 4> {
      %s0 = arith.constant 0 : i32
      %x = tile.get %ring[%s0, %s0] : !ring
      %t = tile.read %x : !b -> tensor<32xf32>
      tile.fence shared
      tile.one_thread {
        tile.release %ring[%s0] lanes : !ring
      }
    }
  }
  tile.return
}

// -----

!view = !tile.view<?xf32>
!b = !tile.buffer<32xf32>

// What is written behind the barrier that publishes is not published.
tile.kernel @behind(%a: !view) attributes {tile.warps = 4 : i64} {
  // expected-note@+1 {{found for program}}
  tile.warp_groups(%a : !view) {
    role #tile.role<"all", warps = 4> {
      %c0 = arith.constant 0 : index
      // expected-note@+1 {{the buffer}}
      %x = tile.alloc : !b
      %t = arith.constant dense<1.0> : tensor<32xf32>
      tile.write %t, %x : tensor<32xf32>, !b
      tile.barrier publish
      // expected-note@+1 {{copy 0 of role "all" writes it here}}
      tile.write %t, %x : tensor<32xf32>, !b
      tile.barrier
      tile.one_thread {
        // expected-error@+1 {{expected a tile.barrier publish after what wrote the buffer}}
        tile.copy_out %x, %a[%c0] {atom = #nvptx.tma} : !b, !view
        tile.wait_stores in_flight = 0
      }
    }
  }
  tile.return
}

// -----

!view = !tile.view<?xf32>
!b = !tile.buffer<32xf32>

// The thread that stores has waited, and told nobody.
tile.kernel @untold(%a: !view) attributes {tile.warps = 4 : i64} {
  // expected-note@+1 {{found for program}}
  tile.warp_groups(%a : !view) {
    role #tile.role<"all", warps = 4> {
      %c0 = arith.constant 0 : index
      // expected-note@+1 {{the buffer}}
      %x = tile.alloc : !b
      %t = arith.constant dense<1.0> : tensor<32xf32>
      tile.write %t, %x : tensor<32xf32>, !b
      tile.barrier publish
      tile.one_thread {
        // expected-note@+1 {{copy 0 of role "all" reads it here}}
        tile.copy_out %x, %a[%c0] {atom = #nvptx.tma} : !b, !view
        tile.wait_stores in_flight = 0
      }
      // expected-error@+1 {{expected a tile.barrier after the last that read the buffer}}
      tile.write %t, %x : tensor<32xf32>, !b
    }
  }
  tile.return
}

// -----

!ring = !tile.channel<1, !tile.buffer<64x64xf32>>
!view = !tile.view<?x?xf32>

// Nobody reads the slot here, but a lane that has not seen that it is full would take the next phase
// for the one before.
tile.kernel @seen_late(%a: !view) attributes {tile.warps = 2 : i64} {
  // expected-note@+1 {{the ring, of 1 slots ('depth')}}
  %ring = tile.channel full = 1 empty = 1 : !ring
  // expected-note@+1 {{found for program 0 of 1, where argument 0 is 64x64}}
  tile.warp_groups(%a, %ring : !view, !ring) {
    role #tile.role<"load", warps = 1> {
      %z = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %c32 = arith.constant 32 : index
      %n = tile.dim %a, 0 : !view
      %end:2 = scf.for %k = %c0 to %n step %c32 iter_args(%s = %z, %p = %z) -> (i32, i32) {
        tile.one_thread {
          tile.put %ring[%s, %p] bytes = 16384 : !ring {
          ^bb0(%x: !tile.buffer<64x64xf32>):
            tile.copy_in %a[%k, %c0], %x {atom = #nvptx.tma} : !view, !tile.buffer<64x64xf32>
          }
        }
        %s1, %p1 = tile.advance %s, %p of %ring : !ring
        scf.yield %s1, %p1 : i32, i32
      }
    }
    role #tile.role<"skip", warps = 1> {
      %z = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %c32 = arith.constant 32 : index
      %n = tile.dim %a, 0 : !view
      %end:2 = scf.for %k = %c0 to %n step %c32 iter_args(%s = %z, %p = %z) -> (i32, i32) {
        // expected-error@+1 {{expected every lane of role "skip" to have seen that use 0 of the ring is full before use 1 in the same slot is}}
        %x = tile.get %ring[%s, %p] : !ring
        tile.one_thread each_warp {
          tile.release %ring[%s] : !ring
        }
        %s1, %p1 = tile.advance %s, %p of %ring : !ring
        scf.yield %s1, %p1 : i32, i32
      }
    }
  }
  tile.return
}
