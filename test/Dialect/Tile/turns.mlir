// Copies that take programs in turn: how many, and channels that only say whose turn it is.
// RUN: tile-opt %s | tile-opt | FileCheck %s

// CHECK-LABEL: tile.kernel @turns
// CHECK-SAME: tile.turns = {mma = 2 : i64}
tile.kernel @turns(%n: i32) attributes {tile.turns = {mma = 2 : i64}} {
  // CHECK: %[[TURN:.*]] = tile.channel full = 4 empty = 4 : !tile.channel<2>
  %turn = tile.channel full = 4 empty = 4 : !tile.channel<2>
  tile.warp_groups(%turn, %n : !tile.channel<2>, i32) {
    role #tile.role<"mma", warps = 4, copies = 2> {
      // CHECK: tile.put %[[TURN]][%n, %n] bytes = 0 : !tile.channel<2> {
      // CHECK-NEXT: }
      tile.put %turn[%n, %n] bytes = 0 : !tile.channel<2> {}
      // CHECK: tile.get %[[TURN]][%n, %n] : !tile.channel<2>
      tile.get %turn[%n, %n] : !tile.channel<2>
      // CHECK: tile.release %[[TURN]][%n] lanes : !tile.channel<2>
      tile.release %turn[%n] lanes : !tile.channel<2>
    }
  }
  tile.return
}
