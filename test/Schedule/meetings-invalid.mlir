// Warps that do not come together.
// RUN: tile-opt %s --tile-order-shared -verify-diagnostics

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @counted(%n: !tile.view<1xi32>) attributes {tile.warps = 4 : i64} {
    tile.warp_groups(%n : !tile.view<1xi32>) {
      role #tile.role<"two", warps = 2, copies = 2, skew = 1> {
        %c0 = arith.constant 0 : index
        %one = arith.constant 1 : i32
        // expected-error@+1 {{expected a role whose copies come to it together, got role "two" with a skew of 1}}
        %old = tile.atomic_rmw addi %n[%c0], %one : !tile.view<1xi32>, [index], i32
      }
    }
    tile.return
  }
}
