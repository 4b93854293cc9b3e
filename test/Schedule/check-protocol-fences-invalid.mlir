// Fences that nothing needs.
// RUN: tile-opt %s --tile-check-protocol -split-input-file -verify-diagnostics

#t = #tile.layout<register = [], lane = [[1],[2],[4],[8],[16]]>
!view = !tile.view<?xf32>
!b = !tile.buffer<32xf32>
!ring = !tile.channel<2, !b>

// What lanes alone read is not shown to engines.
tile.kernel @published(%a: !view) attributes {tile.warps = 2 : i64} {
  %ring = tile.channel full = 1 empty = 1 : !ring
  tile.warp_groups(%a, %ring : !view, !ring) {
    role #tile.role<"write", warps = 1> {
      %s0 = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %t = tile.load %a[%c0] : !view -> tensor<32xf32, #t>
      tile.put %ring[%s0, %s0] bytes = 0 : !ring {
      ^bb0(%x: !b):
        tile.write %t, %x : tensor<32xf32, #t>, !b
        // expected-error@+1 {{expected no 'publish', since no engine reads the slot}}
        tile.barrier publish
      }
    }
    role #tile.role<"use", warps = 1> {
      %s0 = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %x = tile.get %ring[%s0, %s0] : !ring
      %t = tile.read %x : !b -> tensor<32xf32, #t>
      tile.release %ring[%s0] lanes : !ring
      tile.store %t, %a[%c0] : tensor<32xf32, #t>, !view
    }
  }
  tile.return
}

// -----

#t = #tile.layout<register = [], lane = [[1],[2],[4],[8],[16]]>
!view = !tile.view<?xf32>
!b = !tile.buffer<32xf32>

// Outside of puts: an engine stores one buffer, and lanes read the other.
tile.kernel @published_buffers(%a: !view) attributes {tile.warps = 1 : i64} {
  tile.warp_groups(%a : !view) {
    role #tile.role<"all", warps = 1> {
      %c0 = arith.constant 0 : index
      %x = tile.alloc : !b
      %y = tile.alloc : !b
      %t = tile.load %a[%c0] : !view -> tensor<32xf32, #t>
      tile.write %t, %x : tensor<32xf32, #t>, !b
      tile.barrier publish
      tile.one_thread {
        tile.copy_out %x, %a[%c0] {atom = #nvptx.tma} : !b, !view
      }
      tile.write %t, %y : tensor<32xf32, #t>, !b
      // expected-error@+1 {{expected no 'publish', since no engine reads what warps have written in front of it}}
      tile.barrier publish
      %u = tile.read %y : !b -> tensor<32xf32, #t>
      tile.one_thread {
        tile.wait_stores in_flight = 0
      }
      tile.store %u, %a[%c0] : tensor<32xf32, #t>, !view
    }
  }
  tile.return
}

// -----

!view = !tile.view<?xf32>
!b = !tile.buffer<32xf32>
!ring = !tile.channel<2, !b>

// Nobody has read a slot yet.
tile.kernel @early(%a: !view) attributes {tile.warps = 2 : i64} {
  %ring = tile.channel full = 1 empty = 1 : !ring
  // expected-note@+1 {{found for program 0 of 1}}
  tile.warp_groups(%a, %ring : !view, !ring) {
    role #tile.role<"load", warps = 1> {
      %s0 = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      tile.put %ring[%s0, %s0] bytes = 128 : !ring {
      ^bb0(%x: !b):
        tile.copy_in %a[%c0], %x {atom = #nvptx.tma} : !view, !b
      }
    }
    role #tile.role<"use", warps = 1> {
      %s0 = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %x = tile.get %ring[%s0, %s0] : !ring
      // expected-error@+1 {{expected a slot that warps of another role have copied into, or one of an engine's that lanes have read, got none}}
      tile.fence shared
      %t = tile.read %x : !b -> tensor<32xf32>
      tile.fence shared
      tile.release %ring[%s0] lanes : !ring
      tile.store %t, %a[%c0] : tensor<32xf32>, !view
    }
  }
  tile.return
}

// -----

!view = !tile.view<?xf32>
!b = !tile.buffer<32xf32>
!ring = !tile.channel<2, !b>

tile.kernel @twice(%a: !view) attributes {tile.warps = 2 : i64} {
  %ring = tile.channel full = 1 empty = 1 : !ring
  // expected-note@+1 {{found for program 0 of 1}}
  tile.warp_groups(%a, %ring : !view, !ring) {
    role #tile.role<"load", warps = 1> {
      %s0 = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      tile.put %ring[%s0, %s0] bytes = 128 : !ring {
      ^bb0(%x: !b):
        tile.copy_in %a[%c0], %x {atom = #nvptx.tma} : !view, !b
      }
    }
    role #tile.role<"use", warps = 1> {
      %s0 = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %x = tile.get %ring[%s0, %s0] : !ring
      %t = tile.read %x : !b -> tensor<32xf32>
      tile.fence shared
      // expected-error@+1 {{expected an access that it orders, got none since the fence in front of it}}
      tile.fence shared
      tile.release %ring[%s0] lanes : !ring
      tile.store %t, %a[%c0] : tensor<32xf32>, !view
    }
  }
  tile.return
}
