// What the lowering of roles, channels and copies refuses, at the op that asks for it.
// RUN: tile-opt %s --tile-realise-fences --tile-realise-threads --tile-prepare-roles --tile-plan-shared-memory --tile-lower-to-threads -split-input-file -verify-diagnostics

#rows = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[1,8],[2,16],[4,32],[8,0],[16,0],[32,0]]>
!ring = !tile.channel<2, !tile.buffer<64x64xf16, #rows>>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @warps() attributes {tile.warps = 4 : i64} {
  %ring = tile.channel full = 1 empty = 4 : !ring
  // expected-error@+1 {{expected roles of the kernel's 4 warps, got 8}}
  tile.warp_groups(%ring : !ring) {
    role #tile.role<"load", warps = 4> {}
    role #tile.role<"mma", warps = 4> {}
  }
  tile.return
}
}

// -----

// Rows of 136 bytes are no box's.
#rows = #tile.layout<offset = [[1,0],[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[2,0],[4,0],[8,0],[16,0],[32,0]]>
!buffer = !tile.buffer<64x64xf16, #rows>
!ring = !tile.channel<2, !buffer>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @box(%a: !tile.view<?x?xf16>) attributes {tile.warps = 4 : i64} {
  %ring = tile.channel full = 1 empty = 4 : !ring
  tile.warp_groups(%ring, %a : !ring, !tile.view<?x?xf16>) {
    role #tile.role<"load", warps = 4> {
      %c0 = arith.constant 0 : index
      %s = arith.constant 0 : i32
      tile.put %ring[%s, %s] bytes = 8192 : !ring {
      ^bb0(%x: !buffer):
        // expected-error@+1 {{expected a buffer that #nvptx.tma can copy}}
        tile.copy_in %a[%c0, %c0], %x {atom = #nvptx.tma} : !tile.view<?x?xf16>, !buffer
      }
    }
  }
  tile.return
}
}

// -----

#rows = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[1,8],[2,16],[4,32],[8,0],[16,0],[32,0]]>
#acc = #tile.layout<register = [[0,1],[8,0],[0,8],[0,16],[0,32]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0],[32,0]]>
!buffer = !tile.buffer<64x64xf16, #rows>
!ring = !tile.channel<2, !buffer, !buffer>
!pending = !tile.pending<tensor<64x64xf32, #acc>>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @shape() attributes {tile.warps = 4 : i64} {
  %ring = tile.channel full = 1 empty = 4 : !ring
  tile.warp_groups(%ring : !ring) {
    role #tile.role<"mma", warps = 4> {
      %s = arith.constant 0 : i32
      %x, %y = tile.get %ring[%s, %s] : !ring
      %none = ub.poison : !pending
      // expected-error@+1 {{expected operands and an accumulator that lie as}}
      %dot = tile.start_dot %x, %y, %none transpose_b {atom = #nvptx.wgmma<"m64n256k16", f16, f32>}
           : !buffer, !buffer -> !pending
    }
  }
  tile.return
}
}

// -----

#rows = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[1,8],[2,16],[4,32],[8,0],[16,0],[32,0]]>
!buffer = !tile.buffer<64x64xf16, #rows>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @columns(%c: !tile.view<?x?xf16> {tile.facts = #tile.facts<pointer = 16, strides = [16, 2]>})
    attributes {tile.warps = 4 : i64} {
  tile.warp_groups(%c : !tile.view<?x?xf16>) {
    role #tile.role<"store", warps = 4> {
      %c0 = arith.constant 0 : index
      %x = tile.alloc : !buffer
      // expected-error@+1 {{expected a last extent that is known to be a multiple of 16 bytes, which is what is written at once for #nvptx.tma}}
      tile.copy_out %x, %c[%c0, %c0] {atom = #nvptx.tma} : !buffer, !tile.view<?x?xf16>
    }
  }
  tile.return
}
}

// -----

#rows = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[1,8],[2,16],[4,32],[8,0],[16,0],[32,0]]>
!ring = !tile.channel<2, !tile.buffer<64x64xf16, #rows>>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @address(%a: !tile.view<?x?xf16>) attributes {tile.warps = 4 : i64} {
  %ring = tile.channel full = 1 empty = 4 : !ring
  tile.warp_groups(%ring, %a : !ring, !tile.view<?x?xf16>) {
    role #tile.role<"load", warps = 4> {
      %c0 = arith.constant 0 : index
      %s = arith.constant 0 : i32
      tile.put %ring[%s, %s] bytes = 8192 : !ring {
      ^bb0(%x: !tile.buffer<64x64xf16, #rows>):
        // expected-error@+1 {{expected an address that is known to be a multiple of 16 bytes for #nvptx.tma}}
        tile.copy_in %a[%c0, %c0], %x {atom = #nvptx.tma} : !tile.view<?x?xf16>, !tile.buffer<64x64xf16, #rows>
      }
    }
  }
  tile.return
}
}

// -----

// Each thread has a row, not a column.
#sum = #tile.layout<register = [[1,0],[2,0],[4,0],[8,0]], lane = [[0,1],[0,2],[0,4],[0,8],[16,0]], warp = [[32,0],[64,0]]>
!pending = !tile.pending<tensor<128x16xf32, #sum>, tensor_memory>
!sums = !tile.channel<1, !pending>
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
tile.kernel @lies_otherwise(%s: i32) attributes {tile.warps = 4 : i64} {
  %sums = tile.channel full = 1 empty = 4 : !sums
  tile.warp_groups(%sums, %s : !sums, i32) {
    role #tile.role<"mma", warps = 4> {
      %p = tile.get %sums[%s, %s] : !sums
      // expected-error@+1 {{expected an accumulator that lies as #nvptx.tcgen05<"m128n16k16", f16, f32> has it, got}}
      %t = tile.fetch %p {atom = #nvptx.tcgen05<"m128n16k16", f16, f32>} : !pending
    }
  }
  tile.return
}
}

// -----

#sum = #tile.layout<register = [[0,1],[8,0],[0,8]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0],[32,0]]>
!pending = !tile.pending<tensor<64x16xf32, #sum>, tensor_memory>
!sums = !tile.channel<1, !pending>
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
tile.kernel @waits(%s: i32) attributes {tile.warps = 4 : i64} {
  %sums = tile.channel full = 1 empty = 4 : !sums
  tile.warp_groups(%sums, %s : !sums, i32) {
    role #tile.role<"mma", warps = 4> {
      %p = tile.acquire %sums[%s, %s] : !sums
      // expected-error@+1 {{expected tile.get and tile.fetch of an accumulator in tensor memory}}
      %t = tile.wait %p in_flight = 0 : !pending -> tensor<64x16xf32, #sum>
    }
  }
  tile.return
}
}

// -----

!ring = !tile.channel<2, own, !tile.buffer<64x64xf16>>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
tile.kernel @slot() attributes {tile.warps = 4 : i64} {
  %ring = tile.channel full = 1 empty = 4 : !ring
  tile.warp_groups(%ring : !ring) {
    role #tile.role<"all", warps = 4> {
      %s = arith.constant 2 : i32
      // expected-error@+1 {{expected a slot from 0 to 1 of '!tile.channel<2, own, !tile.buffer<64x64xf16>>', got 2}}
      %x = tile.get %ring[%s, %s] : !ring
    }
  }
  tile.return
}
}

// -----

// Barriers that count no bytes serve channels, and no engine.
!ring = !tile.channel<2, !tile.buffer<64x64xf16>>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
tile.kernel @engine(%s: i32) attributes {tile.warps = 4 : i64} {
  %ring = tile.channel full = 1 empty = 4 : !ring
  tile.one_thread {
    tile.init %ring : !ring
  }
  tile.warp_groups(%ring, %s : !ring, i32) {
    role #tile.role<"load", warps = 4> {
      // expected-error@+1 {{expected no engines and no products in flight}}
      tile.put %ring[%s, %s] bytes = 8192 : !ring {
      ^bb0(%x: !tile.buffer<64x64xf16>):
      }
    }
  }
  tile.return
}
}
