// Copies that step over uses of others and have no order, or one that a barrier's parity does not keep.
// RUN: tile-opt %s --tile-realise-turns --tile-order-turns --tile-realise-slots --tile-realise-fences --tile-check-protocol -o /dev/null
// RUN: not tile-opt %s --tile-realise-turns --tile-realise-slots --tile-realise-fences --tile-check-protocol -o /dev/null 2>&1 | FileCheck %s

// As many slots of the turn as copies: with one the copy behind the next is two phases off.
// RUN: tile-opt %s --tile-realise-turns --tile-order-turns --tile-realise-slots --tile-realise-fences \
// RUN:   | sed 's/!tile.channel<3>/!tile.channel<1>/g' | not tile-opt --tile-check-protocol -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TURN

// CHECK: [[@LINE+38]]:{{.*}}error: 'tile.get' op expected copy 0 of role "mma" to know that use 1 of the ring is full when it waits for use 3 in the same slot, since a barrier's parity does not tell phases that are two apart, got nothing that orders them
// CHECK: [[@LINE+8]]:{{.*}}note: the ring
// CHECK: note: found for program 0 of 1, where argument 0 is 64x64
// TURN: error: 'tile.get' op expected copy 2 of role "mma" to know that use 0 of the ring is full when it waits for use 1 in the same slot

!tile_ = !tile.buffer<64x64xbf16>
!ring = !tile.channel<2, !tile_>
!view = !tile.view<?x?xbf16>
tile.kernel @three(%a: !view) attributes {tile.turns = {mma = 3 : i64}, tile.warps = 5 : i64} {
  %ring = tile.channel full = 1 empty = 4 : !ring
  tile.warp_groups(%a, %ring : !view, !ring) {
    role #tile.role<"load", warps = 1> {
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %first = tile.program_id x
      %step = tile.num_programs x
      %end = tile.dim %a, 0 : !view
      %n = tile.dim %a, 1 : !view
      scf.for %p = %first to %end step %step {
        scf.for %k = %c0 to %n step %c64 {
          %s, %ph = tile.next %ring : !ring
          tile.put %ring[%s, %ph] bytes = 8192 : !ring {
          ^bb0(%x: !tile_):
            tile.copy_in %a[%p, %k], %x {atom = #nvptx.tma} : !view, !tile_
          }
        }
      } {tile.programs}
    }
    role #tile.role<"mma", warps = 4> {
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %first = tile.program_id x
      %step = tile.num_programs x
      %end = tile.dim %a, 0 : !view
      %n = tile.dim %a, 1 : !view
      scf.for %p = %first to %end step %step {
        scf.for %k = %c0 to %n step %c64 {
          %s, %ph = tile.next %ring : !ring
          %x = tile.get %ring[%s, %ph] : !ring
          tile.release %ring[%s] lanes : !ring
        }
      } {tile.programs}
    }
  }
  tile.return
}
