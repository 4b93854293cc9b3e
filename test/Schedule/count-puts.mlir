// How many instructions of a warp the puts are that are waited for: of two, the smaller one's.
// RUN: tile-opt %s --tile-count-puts | FileCheck %s

!large = !tile.channel<2, own, !tile.buffer<64x64xbf16>>
!small = !tile.channel<2, own, !tile.buffer<32x64xbf16>>
!view = !tile.view<?x?xbf16>

module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
// Four warps of 64 lanes copy 4 bytes each: 32 rows of 128 bytes are four instructions.
// CHECK-LABEL: tile.kernel @puts
// CHECK: tile.wait_puts in_flight = 1 {tile.instructions = 4 : i64}
// CHECK: tile.wait_puts in_flight = 0{{$}}
tile.kernel @puts(%a: !view) attributes {tile.warps = 4 : i64} {
  %large = tile.channel full = 4 empty = 4 : !large
  %small = tile.channel full = 4 empty = 4 : !small
  tile.warp_groups(%large, %small, %a : !large, !small, !view) {
    role #tile.role<"all", warps = 4> {
      %c0 = arith.constant 0 : index
      %z = arith.constant 0 : i32
      tile.put %large[%z, %z] bytes = 0 : !large {
      ^bb0(%x: !tile.buffer<64x64xbf16>):
        tile.copy_in %a[%c0, %c0], %x {atom = #amdgcn.load_to_lds<"gfx942", 4>} : !view, !tile.buffer<64x64xbf16>
      }
      tile.put %small[%z, %z] bytes = 0 : !small {
      ^bb0(%x: !tile.buffer<32x64xbf16>):
        tile.copy_in %a[%c0, %c0], %x {atom = #amdgcn.load_to_lds<"gfx942", 4>} : !view, !tile.buffer<32x64xbf16>
      }
      tile.wait_puts in_flight = 1
      tile.wait_puts in_flight = 0
    }
  }
  tile.return
}

// Where no copy is counted so, none.
// CHECK-LABEL: tile.kernel @none
// CHECK: tile.wait_puts in_flight = 1 {tile.instructions = 0 : i64}
tile.kernel @none() attributes {tile.warps = 4 : i64} {
  tile.warp_groups() {
    role #tile.role<"all", warps = 4> {
      tile.wait_puts in_flight = 1
    }
  }
  tile.return
}
}
