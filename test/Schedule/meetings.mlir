// Who meets at barriers of roles, and within ops there that have scratch.
// RUN: tile-opt %s --tile-order-shared --split-input-file | FileCheck %s

#t = #tile.layout<register = [], lane = [[1],[2],[4],[8],[16]], warp = [[32]]>
#w = #tile.layout<register = [[32]], lane = [[1],[2],[4],[8],[16]]>
!t = tensor<64xf32, #t>
!i = tensor<64xi32, #t>

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  // Each copy at a barrier of its own, all copies at the role's; a role of one copy at that copy's.
  // CHECK-LABEL: tile.kernel @groups
  // CHECK: tile.take {{.*}} {tile.meets = "copy"
  // CHECK: tile.barrier {tile.meets = "copy"}
  // CHECK: tile.barrier all_copies {tile.meets = "role"}
  // CHECK: tile.barrier {tile.meets = "copy"}
  tile.kernel @groups() attributes {tile.warps = 5 : i64} {
    tile.warp_groups() {
      role #tile.role<"two", warps = 2, copies = 2> {
        %i = tile.iota 0 : !i
        %x = arith.constant dense<1.0> : !t
        %p = tile.take %x[%i] axis = 0 {tile.shared_offset = 0 : i64} : !t, !i -> !t
        tile.barrier
        tile.barrier all_copies
        tile.print "p" (%p) : !t
      }
      role #tile.role<"one", warps = 1> {
        tile.barrier
      }
    }
    tile.return
  }

  // A role of all warps at the barrier of all.
  // CHECK-LABEL: tile.kernel @all
  // CHECK: tile.barrier {tile.meets = "copy"}
  // CHECK: tile.barrier all_copies {tile.meets = "all"}
  tile.kernel @all() attributes {tile.warps = 4 : i64} {
    tile.warp_groups() {
      role #tile.role<"two", warps = 2, copies = 2> {
        tile.barrier
        tile.barrier all_copies
      }
    }
    tile.return
  }

  // Copies of one warp that are programs.
  // CHECK-LABEL: tile.kernel @programs
  // CHECK: tile.barrier {tile.meets = "lanes"}
  tile.kernel @programs(%n: index) attributes {tile.warps = 4 : i64, tile.block_programs = 4 : i64} grid {
    tile.grid %n
  } {
    tile.warp_groups() {
      role #tile.role<"all", warps = 1, copies = 4> {
        tile.barrier
      }
    }
    tile.return
  }
}

// -----

module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
  // Where all share one barrier, copies come to it together.
  // CHECK-LABEL: tile.kernel @one_barrier
  // CHECK: tile.barrier {tile.meets = "all"}
  tile.kernel @one_barrier() attributes {tile.warps = 4 : i64} {
    tile.warp_groups() {
      role #tile.role<"two", warps = 2, copies = 2> {
        tile.barrier
      }
    }
    tile.return
  }
}

// -----

module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
  // Those that lag do not: the warps of each meet in shared memory.
  // CHECK-LABEL: tile.kernel @lagging
  // CHECK: tile.barrier all_copies {tile.meets = "all"}
  // CHECK: tile.barrier {tile.meets = "copy"}
  tile.kernel @lagging() attributes {tile.warps = 4 : i64} {
    tile.warp_groups() {
      role #tile.role<"two", warps = 2, copies = 2, skew = 1> {
        tile.barrier all_copies
        tile.barrier
      }
    }
    tile.return
  }
}

// -----

module attributes {tile.target = #amdgcn.target<chip = "gfx1201">} {
  // Nor do roles beside one another; and one warp is a wave.
  // CHECK-LABEL: tile.kernel @beside
  // CHECK: tile.barrier all_copies {tile.meets = "role"}
  // CHECK: tile.barrier {tile.meets = "copy"}
  // CHECK: tile.barrier {tile.meets = "lanes"}
  tile.kernel @beside() attributes {tile.warps = 5 : i64} {
    tile.warp_groups() {
      role #tile.role<"two", warps = 2, copies = 2> {
        tile.barrier all_copies
        tile.barrier
      }
      role #tile.role<"one", warps = 1> {
        tile.barrier
      }
    }
    tile.return
  }
}
