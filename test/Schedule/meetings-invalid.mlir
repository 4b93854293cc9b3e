// Warps that have no barrier at which they could meet.
// RUN: tile-opt %s --tile-order-shared --split-input-file -verify-diagnostics

module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
  tile.kernel @lagging() attributes {tile.warps = 4 : i64} {
    tile.warp_groups() {
      role #tile.role<"two", warps = 2, copies = 2, skew = 1> {
        tile.barrier all_copies
        // expected-error@+1 {{expected copies without a skew in role "two", since the warps of each copy meet here and amdgpu:gfx942 has one barrier for all warps, got a skew of 1}}
        tile.barrier
      }
    }
    tile.return
  }
}

// -----

#t = #tile.layout<register = [], lane = [[1],[2],[4],[8],[16],[32]], warp = [[64]]>
!t = tensor<128xf32, #t>
!i = tensor<128xi32, #t>

module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
  tile.kernel @programs(%n: index) attributes {tile.warps = 4 : i64, tile.block_programs = 2 : i64} grid {
    tile.grid %n
  } {
    tile.warp_groups() {
      role #tile.role<"all", warps = 2, copies = 2> {
        %i = tile.iota 0 : !i
        %x = arith.constant dense<1.0> : !t
        // expected-error@+1 {{expected 'tile.block_programs' of 1, one program in a block, in role "all", since the warps of each copy meet here and amdgpu:gfx942 has one barrier for all warps, got 2}}
        %p = tile.take %x[%i] axis = 0 {tile.shared_offset = 0 : i64} : !t, !i -> !t
        tile.print "p" (%p) : !t
      }
    }
    tile.return
  }
}

// -----

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
