// RUN: tile-opt %s --tile-lower-to-threads --split-input-file --verify-diagnostics

module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  // expected-error @+1 {{expected 'tile.warps', which is decided with atoms}}
  tile.kernel @warps(%x: index) {
    tile.return
  }
}

// -----

module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  tile.kernel @layout(%x: f32) attributes {tile.warps = 1 : i64} {
    // expected-error @+1 {{expected a result with a layout}}
    %t = tile.splat %x : tensor<32xf32>
    tile.return
  }
}

// -----

module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  tile.kernel @place(%x: f32) attributes {tile.warps = 1 : i64} {
    // expected-error @+1 {{expected a place in shared memory}}
    %b = tile.alloc : !tile.buffer<32xf32>
    tile.return
  }
}

// -----

// The lanes of b are those of the transposed fragment.
#a = #tile.layout<register = [[0,1],[8,0],[0,8]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = []>
#b = #tile.layout<register = [[1,0],[8,0]], lane = [[0,1],[0,2],[0,4],[2,0],[4,0]], warp = []>
#c = #tile.layout<register = [[0,1],[8,0]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = []>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  tile.kernel @fragments(%x: bf16) attributes {tile.warps = 1 : i64} {
    %a = tile.splat %x : tensor<16x16xbf16, #a>
    %b = tile.splat %x : tensor<16x8xbf16, #b>
    %c = arith.constant dense<0.0> : tensor<16x8xf32, #c>
    // expected-error @+1 {{expected operands whose lanes hold what the fragments of #nvptx.mma_sync<"m16n8k16", bf16, f32> do, and whose warps those of the accumulator}}
    %d = tile.dot %a, %b, %c {atom = #nvptx.mma_sync<"m16n8k16", bf16, f32>} : tensor<16x16xbf16, #a>, tensor<16x8xbf16, #b> -> tensor<16x8xf32, #c>
    tile.return
  }
}

// -----

// The second warp has other rows of a than of the accumulator.
#a = #tile.layout<register = [[0,1],[8,0],[0,8],[16,0]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[0,0]]>
#b = #tile.layout<register = [[1,0],[8,0]], lane = [[2,0],[4,0],[0,1],[0,2],[0,4]], warp = [[0,0]]>
#c = #tile.layout<register = [[0,1],[8,0]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0]]>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  tile.kernel @rows(%x: bf16) attributes {tile.warps = 2 : i64} {
    %a = tile.splat %x : tensor<32x16xbf16, #a>
    %b = tile.splat %x : tensor<16x8xbf16, #b>
    %c = arith.constant dense<0.0> : tensor<32x8xf32, #c>
    // expected-error @+1 {{and whose warps those of the accumulator}}
    %d = tile.dot %a, %b, %c {atom = #nvptx.mma_sync<"m16n8k16", bf16, f32>} : tensor<32x16xbf16, #a>, tensor<16x8xbf16, #b> -> tensor<32x8xf32, #c>
    tile.return
  }
}

// -----

// expected-error @+1 {{expected a target whose programs are run by warps, got cpu}}
module attributes {tile.target = #cpu.target<vector_bits = 256, registers = 16>} {
  tile.kernel @host(%x: f32) attributes {tile.warps = 1 : i64} {
    tile.return
  }
}

// -----

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @fence() attributes {tile.warps = 4 : i64} {
    tile.warp_groups() {
      role #tile.role<"all", warps = 4> {
        // expected-error @+1 {{expected a chip that has tensor memory}}
        tile.fence tensor_before
      }
    }
    tile.return
  }
}

// -----

module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
  tile.kernel @waits() attributes {tile.warps = 4 : i64} {
    // expected-error @+1 {{expected to stand in a role of tile.warp_groups}}
    tile.wait_puts in_flight = 0
    tile.return
  }
}

// -----

!ring = !tile.channel<2, own, !tile.buffer<64x64xf16>>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @gets() attributes {tile.warps = 4 : i64} {
    %s = arith.constant 0 : i32
    %ring = tile.channel full = 4 empty = 4 {tile.shared_offset = 0 : i64} : !ring
    // expected-error @+1 {{expected to stand in a role of tile.warp_groups}}
    %b = tile.get %ring[%s, %s] : !ring
    tile.return
  }
}

// -----

!ring = !tile.channel<2, own, !tile.buffer<64x64xf16>>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @puts() attributes {tile.warps = 4 : i64} {
    %s = arith.constant 0 : i32
    %ring = tile.channel full = 4 empty = 4 {tile.shared_offset = 0 : i64} : !ring
    // expected-error @+1 {{expected to stand in a role of tile.warp_groups}}
    tile.put %ring[%s, %s] bytes = 0 : !ring {
    ^bb0(%b: !tile.buffer<64x64xf16>):
    }
    tile.return
  }
}

// -----

!ring = !tile.channel<2, !tile.buffer<64x64xf16>>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @made_by_nobody() attributes {tile.warps = 4 : i64} {
    // expected-error @+1 {{expected a tile.init, which makes its barriers}}
    %ring = tile.channel full = 1 empty = 4 {tile.shared_offset = 0 : i64} : !ring
    tile.warp_groups(%ring : !ring) {
      role #tile.role<"all", warps = 4> {
      }
    }
    tile.return
  }
}

// -----

#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!sums = !tile.channel<1, !tile.pending<tensor<128x16xf32, #sum>, tensor_memory>>
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
  tile.kernel @set_aside_by_nobody() attributes {tile.warps = 4 : i64} {
    // expected-error @+1 {{expected a tile.alloc_tensor, which sets its memory aside}}
    %sums = tile.channel full = 1 empty = 4 {tile.shared_offset = 0 : i64} : !sums
    tile.one_thread {
      tile.init %sums : !sums
    }
    tile.warp_groups(%sums : !sums) {
      role #tile.role<"all", warps = 4> {
      }
    }
    tile.return
  }
}

// -----

!ring = !tile.channel<2, !tile.buffer<64x64xf16>>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @made_by_all() attributes {tile.warps = 4 : i64} {
    %ring = tile.channel full = 1 empty = 4 {tile.shared_offset = 0 : i64} : !ring
    // expected-error @+1 {{expected to stand in tile.one_thread, since one thread does it for all}}
    tile.init %ring : !ring
    tile.return
  }
}

// -----

// Threads that wait in order to start something say which of them does; an op that says nothing is none of anybody's.
!ring = !tile.channel<2, !tile.buffer<64x64xf16>>
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
  tile.kernel @waited_for_by_all(%s: i32) attributes {tile.warps = 4 : i64} {
    %ring = tile.channel full = 1 empty = 4 {tile.shared_offset = 0 : i64} : !ring
    tile.one_thread {
      tile.init %ring : !ring
    }
    tile.warp_groups(%ring, %s : !ring, i32) {
      role #tile.role<"mma", warps = 4> {
        // expected-error @+1 {{expected to stand in tile.one_thread, since one thread does it for all}}
        %x = tile.get %ring[%s, %s] to_start : !ring
      }
    }
    tile.return
  }
}

// -----

#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!sums = !tile.channel<1, !tile.pending<tensor<128x16xf32, #sum>, tensor_memory>>
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
  tile.kernel @acquired_by_all(%s: i32) attributes {tile.warps = 4 : i64} {
    %sums = tile.channel full = 1 empty = 4 {tile.shared_offset = 0 : i64} : !sums
    tile.one_thread {
      tile.init %sums : !sums
    }
    tile.alloc_tensor %sums {tile.by_warp = 0 : i64} : !sums
    tile.warp_groups(%sums, %s : !sums, i32) {
      role #tile.role<"mma", warps = 4> {
        // expected-error @+1 {{expected to stand in tile.one_thread, since one thread does it for all}}
        %p = tile.acquire %sums[%s, %s] : !sums
      }
    }
    tile.return
  }
}

// -----

#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!pending = !tile.pending<tensor<128x16xf32, #sum>, tensor_memory>
!sums = !tile.channel<1, !pending>
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
  tile.kernel @started_by_all(%s: i32) attributes {tile.warps = 4 : i64} {
    %x = tile.alloc {tile.shared_offset = 0 : i64} : !tile.buffer<128x16xf16>
    %y = tile.alloc {tile.shared_offset = 4096 : i64} : !tile.buffer<16x16xf16>
    %sums = tile.channel full = 1 empty = 4 {tile.shared_offset = 8192 : i64} : !sums
    tile.one_thread {
      tile.init %sums : !sums
    }
    tile.alloc_tensor %sums {tile.by_warp = 0 : i64} : !sums
    tile.warp_groups(%sums, %s, %x, %y : !sums, i32, !tile.buffer<128x16xf16>, !tile.buffer<16x16xf16>) {
      role #tile.role<"mma", warps = 4> {
        %p = tile.acquire %sums[%s, %s] one_thread : !sums
        // expected-error @+1 {{expected to stand in tile.one_thread, since one thread does it for all}}
        %q = tile.start_dot %x, %y, %p transpose_b {atom = #nvptx.tcgen05<"m128n16k16", f16, f32>}
           : !tile.buffer<128x16xf16>, !tile.buffer<16x16xf16> -> !pending
      }
    }
    tile.return
  }
}

// -----

// Which of two programs does it, the op says, too.
!ring = !tile.channel<2, pair, !tile.buffer<64x64xf16>>
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
  tile.kernel @waited_for_by_both(%s: i32) attributes {tile.warps = 4 : i64, tile.cluster = array<i64: 2, 1, 1>} {
    %ring = tile.channel full = 1 empty = 4 {tile.shared_offset = 0 : i64} : !ring
    tile.one_thread {
      tile.init %ring : !ring
    }
    tile.warp_groups(%ring, %s : !ring, i32) {
      role #tile.role<"mma", warps = 4> {
        // expected-error @+1 {{expected 'tile.first_of_pair', since the first of two programs does it for both}}
        %x = tile.get %ring[%s, %s] to_start one_thread : !ring
      }
    }
    tile.return
  }
}

// -----

// Which warp sets tensor memory aside, how many end dots, and what a put is, has been decided.
#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!sums = !tile.channel<1, !tile.pending<tensor<128x16xf32, #sum>, tensor_memory>>
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
  tile.kernel @by_nobody() attributes {tile.warps = 4 : i64} {
    %sums = tile.channel full = 1 empty = 4 {tile.shared_offset = 0 : i64} : !sums
    tile.one_thread {
      tile.init %sums : !sums
    }
    // expected-error @+1 {{expected 'tile.by_warp' to be decided}}
    tile.alloc_tensor %sums : !sums
    tile.return
  }
}

// -----

#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!sums = !tile.channel<1, !tile.pending<tensor<128x16xf32, #sum>, tensor_memory>>
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
  tile.kernel @by_another() attributes {tile.warps = 4 : i64} {
    %sums = tile.channel full = 1 empty = 4 {tile.shared_offset = 0 : i64} : !sums
    tile.one_thread {
      tile.init %sums : !sums
    }
    // expected-error @+1 {{expected 'tile.by_warp' to be one of the program's 4 warps, got 4}}
    tile.alloc_tensor %sums {tile.by_warp = 4 : i64} : !sums
    tile.return
  }
}

// -----

#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!sums = !tile.channel<1, !tile.pending<tensor<128x16xf32, #sum>, tensor_memory>>
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
  tile.kernel @ended_untold() attributes {tile.warps = 4 : i64} {
    %sums = tile.channel full = 1 empty = 4 {tile.shared_offset = 0 : i64} : !sums
    tile.one_thread {
      tile.init %sums : !sums
    }
    tile.alloc_tensor %sums {tile.by_warp = 0 : i64} : !sums
    tile.warp_groups(%sums : !sums) {
      role #tile.role<"mma", warps = 4> {
        tile.one_thread {
          // expected-error @+1 {{expected 'tile.ends' on the tile.init of its channel, which makes its barrier}}
          tile.end_dots %sums : !sums
        }
      }
    }
    tile.return
  }
}

// -----

!ring = !tile.channel<2, own, !tile.buffer<32x64xbf16>>
module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
  tile.kernel @uncounted(%a: !tile.view<?x?xbf16>) attributes {tile.warps = 4 : i64} {
    %ring = tile.channel full = 4 empty = 4 {tile.shared_offset = 0 : i64} : !ring
    tile.warp_groups(%ring, %a : !ring, !tile.view<?x?xbf16>) {
      role #tile.role<"all", warps = 4> {
        %c0 = arith.constant 0 : index
        %z = arith.constant 0 : i32
        // expected-error @+1 {{expected 'tile.instructions' to be decided}}
        tile.wait_puts in_flight = 1
        tile.put %ring[%z, %z] bytes = 0 : !ring {
        ^bb0(%x: !tile.buffer<32x64xbf16>):
          tile.copy_in %a[%c0, %c0], %x {atom = #amdgcn.load_to_lds<"gfx942", 4>} : !tile.view<?x?xbf16>, !tile.buffer<32x64xbf16>
        }
      }
    }
    tile.return
  }
}

// -----

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @undecided() attributes {tile.warps = 4 : i64} {
    tile.warp_groups() {
      role #tile.role<"all", warps = 4> {
        // expected-error @+1 {{expected 'tile.meets' to be decided}}
        tile.barrier
      }
    }
    tile.return
  }
}

// -----

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @undecided_scratch() attributes {tile.warps = 4 : i64} {
    tile.warp_groups() {
      role #tile.role<"all", warps = 4> {
        %x = arith.constant dense<1.0> : tensor<128xf32, #tile.layout<register = [], lane = [[1],[2],[4],[8],[16]], warp = [[32],[64]]>>
        // expected-error @+1 {{expected 'tile.meets' to be decided}}
        %sum = tile.reduce %x axis = 0 {tile.shared_offset = 0 : i64} : tensor<128xf32, #tile.layout<register = [], lane = [[1],[2],[4],[8],[16]], warp = [[32],[64]]>> -> tensor<f32, #tile.layout<register = []>> {
        ^bb0(%l: f32, %r: f32):
          %s = arith.addf %l, %r : f32
          tile.yield %s : f32
        }
      }
    }
    tile.return
  }
}

// -----

module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
  tile.kernel @no_groups() attributes {tile.warps = 4 : i64} {
    tile.warp_groups() {
      role #tile.role<"all", warps = 2, copies = 2> {
        // expected-error @+1 {{expected a tile.channel of 'tile.meets_in', whose barriers these are, since 'tile.meets' is "copy" in role "all"}}
        tile.barrier {tile.meets = "copy"}
      }
    }
    tile.return
  }
}
