// What roles do not find when they begin: channels and tensor memory that nobody has told of.
// RUN: tile-opt %s --tile-check-protocol -split-input-file -verify-diagnostics

!ring = !tile.channel<2, !tile.buffer<64x64xf16>>
tile.kernel @not_told() attributes {tile.warps = 4 : i64} {
  %ring = tile.channel full = 1 empty = 4 : !ring
  tile.one_thread {
    tile.init %ring : !ring
  }
  tile.barrier
  // expected-error@+1 {{expected a tile.fence barriers behind what makes channels, and a tile.barrier behind that}}
  tile.warp_groups(%ring : !ring) {
    role #tile.role<"all", warps = 4> {
    }
  }
  tile.return
}

// -----

!ring = !tile.channel<2, !tile.buffer<64x64xf16>>
tile.kernel @not_met() attributes {tile.warps = 4 : i64} {
  %ring = tile.channel full = 1 empty = 4 : !ring
  tile.one_thread {
    tile.init %ring : !ring
    tile.fence barriers
  }
  // expected-error@+1 {{expected a tile.fence barriers behind what makes channels, and a tile.barrier behind that}}
  tile.warp_groups(%ring : !ring) {
    role #tile.role<"all", warps = 4> {
    }
  }
  tile.return
}

// -----

!ring = !tile.channel<2, !tile.buffer<64x64xf16>>
tile.kernel @told_before() attributes {tile.warps = 4 : i64} {
  %ring = tile.channel full = 1 empty = 4 : !ring
  tile.one_thread {
    tile.fence barriers
    tile.init %ring : !ring
  }
  tile.barrier
  // expected-error@+1 {{expected a tile.fence barriers behind what makes channels, and a tile.barrier behind that}}
  tile.warp_groups(%ring : !ring) {
    role #tile.role<"all", warps = 4> {
    }
  }
  tile.return
}

// -----

!ring = !tile.channel<2, !tile.buffer<64x64xf16>>
tile.kernel @made_twice() attributes {tile.warps = 4 : i64} {
  // expected-error@+1 {{expected one tile.init, got 2}}
  %ring = tile.channel full = 1 empty = 4 : !ring
  tile.one_thread {
    tile.init %ring : !ring
    tile.init %ring : !ring
    tile.fence barriers
  }
  tile.barrier
  tile.warp_groups(%ring : !ring) {
    role #tile.role<"all", warps = 4> {
    }
  }
  tile.return
}

// -----

!ring = !tile.channel<2, !tile.buffer<64x64xf16>>
tile.kernel @not_all() attributes {tile.warps = 4 : i64} {
  %ring = tile.channel full = 1 empty = 4 : !ring
  // expected-error@+1 {{expected one tile.init, got 0}}
  %other = tile.channel full = 1 empty = 4 : !ring
  tile.one_thread {
    tile.init %ring : !ring
    tile.fence barriers
  }
  tile.barrier
  tile.warp_groups(%ring, %other : !ring, !ring) {
    role #tile.role<"all", warps = 4> {
    }
  }
  tile.return
}

// -----

#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!sums = !tile.channel<1, !tile.pending<tensor<128x16xf32, #sum>, tensor_memory>>
tile.kernel @tensors_not_told() attributes {tile.warps = 4 : i64} {
  %sums = tile.channel full = 1 empty = 4 : !sums
  tile.one_thread {
    tile.init %sums : !sums
    tile.fence barriers
  }
  // expected-error@+1 {{expected a tile.fence tensor_before, a tile.barrier and a tile.fence tensor_after between it and the roles}}
  tile.alloc_tensor %sums : !sums
  tile.barrier
  tile.fence tensor_after
  tile.warp_groups(%sums : !sums) {
    role #tile.role<"all", warps = 4> {
    }
  }
  tile.fence tensor_before
  tile.barrier
  tile.fence tensor_after
  tile.free_tensor %sums : !sums
  tile.return
}

// -----

#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!sums = !tile.channel<1, !tile.pending<tensor<128x16xf32, #sum>, tensor_memory>>
tile.kernel @tensors_kept() attributes {tile.warps = 4 : i64} {
  %sums = tile.channel full = 1 empty = 4 : !sums
  tile.one_thread {
    tile.init %sums : !sums
    tile.fence barriers
  }
  // expected-error@+1 {{expected a tile.fence tensor_before, a tile.barrier, a tile.fence tensor_after and a tile.free_tensor of the same behind the roles}}
  tile.alloc_tensor %sums : !sums
  tile.fence tensor_before
  tile.barrier
  tile.fence tensor_after
  tile.warp_groups(%sums : !sums) {
    role #tile.role<"all", warps = 4> {
    }
  }
  tile.fence tensor_before
  tile.barrier
  tile.fence tensor_after
  tile.return
}

// -----

#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!sums = !tile.channel<1, !tile.pending<tensor<128x16xf32, #sum>, tensor_memory>>
tile.kernel @tensors_freed_early() attributes {tile.warps = 4 : i64} {
  %sums = tile.channel full = 1 empty = 4 : !sums
  tile.one_thread {
    tile.init %sums : !sums
    tile.fence barriers
  }
  // expected-error@+1 {{expected a tile.fence tensor_before, a tile.barrier, a tile.fence tensor_after and a tile.free_tensor of the same behind the roles}}
  tile.alloc_tensor %sums : !sums
  tile.fence tensor_before
  tile.barrier
  tile.fence tensor_after
  tile.warp_groups(%sums : !sums) {
    role #tile.role<"all", warps = 4> {
    }
  }
  tile.fence tensor_before
  tile.free_tensor %sums : !sums
  tile.return
}

// -----

#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!sums = !tile.channel<1, !tile.pending<tensor<128x16xf32, #sum>, tensor_memory>>
tile.kernel @ends() attributes {tile.warps = 4 : i64} {
  %sums = tile.channel full = 1 empty = 4 : !sums
  tile.one_thread {
    // expected-error@+1 {{expected 'tile.ends' to count the threads that end dots by the channel, 1, got 2}}
    tile.init %sums {tile.ends = 2 : i64} : !sums
    tile.fence barriers
  }
  tile.barrier
  tile.warp_groups(%sums : !sums) {
    role #tile.role<"mma", warps = 4> {
      tile.one_thread {
        tile.end_dots %sums : !sums
      }
    }
  }
  tile.return
}

// -----

!ring = !tile.channel<2, own, !tile.buffer<32x64xbf16>>
module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
tile.kernel @instructions(%a: !tile.view<?x?xbf16>) attributes {tile.warps = 4 : i64} {
  %ring = tile.channel full = 4 empty = 4 : !ring
  tile.warp_groups(%ring, %a : !ring, !tile.view<?x?xbf16>) {
    role #tile.role<"all", warps = 4> {
      %c0 = arith.constant 0 : index
      %z = arith.constant 0 : i32
      tile.put %ring[%z, %z] bytes = 0 : !ring {
      ^bb0(%x: !tile.buffer<32x64xbf16>):
        tile.copy_in %a[%c0, %c0], %x {atom = #amdgcn.load_to_lds<"gfx942", 4>} : !tile.view<?x?xbf16>, !tile.buffer<32x64xbf16>
      }
      // expected-error@+1 {{expected 'tile.instructions' of at most 4, since the smallest put of the role is so many of a warp, got 5}}
      tile.wait_puts in_flight = 1 {tile.instructions = 5 : i64}
    }
  }
  tile.return
}
}

// -----

// Who meets must be all who have to, at a barrier that the chip has.
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @too_few() attributes {tile.warps = 4 : i64} {
  tile.warp_groups() {
    role #tile.role<"two", warps = 2, copies = 2> {
      // expected-error@+1 {{expected copies each of which meets alone, since 'tile.meets' is "copy" in role "two"}}
      tile.barrier all_copies {tile.meets = "copy"}
    }
  }
  tile.return
}
}

// -----

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @too_many_warps() attributes {tile.warps = 4 : i64} {
  tile.warp_groups() {
    role #tile.role<"two", warps = 2, copies = 2> {
      // expected-error@+1 {{expected copies of one warp, each of which meets alone, since 'tile.meets' is "lanes" in role "two"}}
      tile.barrier {tile.meets = "lanes"}
    }
  }
  tile.return
}
}

// -----

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @others() attributes {tile.warps = 4 : i64} {
  tile.warp_groups() {
    role #tile.role<"one", warps = 2> {
      // expected-error@+1 {{expected a role of all 4 warps, since 'tile.meets' is "all" in role "one"}}
      tile.barrier {tile.meets = "all"}
    }
    role #tile.role<"other", warps = 2> {
      %c0 = arith.constant 0 : index
    }
  }
  tile.return
}
}

// -----

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @half_decided() attributes {tile.warps = 4 : i64} {
  tile.warp_groups() {
    role #tile.role<"all", warps = 4> {
      tile.barrier {tile.meets = "all"}
      // expected-error@+1 {{expected 'tile.meets' to be decided}}
      tile.barrier
    }
  }
  tile.return
}
}

// -----

// Copies that do not come to a barrier of all as often as others wait forever.
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @alone() attributes {tile.warps = 4 : i64} {
  // expected-note@+1 {{found for program 0 of 1}}
  tile.warp_groups() {
    role #tile.role<"two", warps = 2, copies = 2> {
      %c0 = arith.constant 0 : index
      %copy = tile.copy_id
      %first = arith.cmpi eq, %copy, %c0 : index
      scf.if %first {
        // expected-error@+1 {{expected not to wait forever, got a wait of role "two" that nothing ends}}
        tile.barrier {tile.meets = "all"}
      }
    }
  }
  tile.return
}
}
