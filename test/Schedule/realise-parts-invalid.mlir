// RUN: tile-opt %s --tile-realise-parts -split-input-file -verify-diagnostics

#sum = #tile.layout<register = [[0,1],[8,0]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0]]>
#a = #tile.layout<register = [[0,1],[8,0],[0,8]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0]]>
#b = #tile.layout<register = [[1,0],[8,0]], lane = [[2,0],[4,0],[0,1],[0,2],[0,4]], warp = [[0,0]]>
#mma = #nvptx.mma_sync<"m16n8k16", f16, f32>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
tile.kernel @of_other_warps(%x: !tile.view<32x16xf16>, %y: !tile.view<16x8xf16>, %z: !tile.view<32x8xf32>)
    attributes {tile.warps = 2 : i64} {
  %c0 = arith.constant 0 : index
  %ta = tile.load %x[%c0, %c0] : !tile.view<32x16xf16> -> tensor<32x16xf16, #a>
  %tb = tile.load %y[%c0, %c0] : !tile.view<16x8xf16> -> tensor<16x8xf16, #b>
  %s = tile.load %z[%c0, %c0] : !tile.view<32x8xf32> -> tensor<32x8xf32, #sum>
  // expected-error @+1 {{expected parts each of which every thread has a share of, got parts of [16, 16] of 'tensor<32x16xf16}}
  %d = tile.dot %ta, %tb, %s {atom = #mma, parts = array<i64: 2, 1, 1>} : tensor<32x16xf16, #a>, tensor<16x8xf16, #b> -> tensor<32x8xf32, #sum>
  tile.store %d, %z[%c0, %c0] : tensor<32x8xf32, #sum>, !tile.view<32x8xf32>
  tile.return
}
}

// -----

#sum = #tile.layout<register = [[0,1],[8,0]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = []>
#a = #tile.layout<register = [[0,1],[8,0],[0,8]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = []>
#b = #tile.layout<register = [[1,0],[8,0]], lane = [[2,0],[4,0],[0,1],[0,2],[0,4]], warp = []>
#mma = #nvptx.mma_sync<"m16n8k16", f16, f32>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
tile.kernel @below_the_atom(%x: !tile.view<16x16xf16>, %y: !tile.view<16x8xf16>, %z: !tile.view<16x8xf32>)
    attributes {tile.warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %ta = tile.load %x[%c0, %c0] : !tile.view<16x16xf16> -> tensor<16x16xf16, #a>
  %tb = tile.load %y[%c0, %c0] : !tile.view<16x8xf16> -> tensor<16x8xf16, #b>
  %s = tile.load %z[%c0, %c0] : !tile.view<16x8xf32> -> tensor<16x8xf32, #sum>
  // expected-error @+1 {{expected parts of a multiple of 16 along k for #nvptx.mma_sync<"m16n8k16", f16, f32>, got parts of 8}}
  %d = tile.dot %ta, %tb, %s {atom = #mma, parts = array<i64: 1, 1, 2>} : tensor<16x16xf16, #a>, tensor<16x8xf16, #b> -> tensor<16x8xf32, #sum>
  tile.store %d, %z[%c0, %c0] : tensor<16x8xf32, #sum>, !tile.view<16x8xf32>
  tile.return
}
}

// -----

// Half of 192 columns is a piece of a row and a half.
#swizzled = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[1,8],[2,16],[4,32],[8,0],[16,0],[32,0],[0,64],[0,128]]>
#sum = #tile.layout<register = [[0,1],[8,0],[0,8],[0,16],[0,32]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0],[32,0]]>
!buffer = !tile.buffer<64x192xf16, #swizzled>
#wgmma = #nvptx.wgmma<"m64n64k16", f16, f32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @pieces_and_a_half(%z: !tile.view<64x64xf32>) attributes {tile.warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %x = tile.alloc : !buffer
  %s = arith.constant dense<0.0> : tensor<64x64xf32, #sum>
  // expected-error @+1 {{expected 'parts' of so many rows and columns of an operand that the order of its buffer adds up where they begin, as it does powers of two, got [64, 96] of}}
  %d = tile.dot %x, %x, %s transpose_b {atom = #wgmma, in_flight = 0 : i64, parts = array<i64: 1, 1, 2>} : !buffer, !buffer -> tensor<64x64xf32, #sum>
  tile.store %d, %z[%c0, %c0] : tensor<64x64xf32, #sum>, !tile.view<64x64xf32>
  tile.return
}
}

// -----

#swizzled = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[1,8],[2,16],[4,32],[8,0],[16,0],[32,0]]>
#sum = #tile.layout<register = [[0,1],[8,0],[0,8],[0,16],[0,32]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0],[32,0]]>
!buffer = !tile.buffer<64x64xf16, #swizzled>
#wgmma = #nvptx.wgmma<"m64n64k16", f16, f32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @promoted_late(%z: !tile.view<64x64xf32>) attributes {tile.warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %x = tile.alloc : !buffer
  %s = arith.constant dense<0.0> : tensor<64x64xf32, #sum>
  // expected-error @+1 {{expected an in_flight of less than the parts along k, 1, since 'promote' adds them up in their trip, got 1}}
  %d = tile.dot %x, %x, %s transpose_b {atom = #wgmma, in_flight = 1 : i64, promote = true} : !buffer, !buffer -> tensor<64x64xf32, #sum>
  tile.store %d, %z[%c0, %c0] : tensor<64x64xf32, #sum>, !tile.view<64x64xf32>
  tile.return
}
}

// -----

#swizzled = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[1,8],[2,16],[4,32],[8,0],[16,0],[32,0]]>
#sum = #tile.layout<register = [[0,1],[8,0],[0,8],[0,16],[0,32]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0],[32,0]]>
!buffer = !tile.buffer<64x64xf16, #swizzled>
#wgmma = #nvptx.wgmma<"m64n64k16", f16, f32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @reads_itself(%z: !tile.view<64x64xf32>) attributes {tile.warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %x = tile.alloc : !buffer
  %s = arith.constant dense<0.0> : tensor<64x64xf32, #sum>
  // expected-error @+1 {{expected no 'reads_ahead' of a dot that reads its buffers itself}}
  %d = tile.dot %x, %x, %s transpose_b {atom = #wgmma, in_flight = 0 : i64, parts = array<i64: 1, 1, 2>, reads_ahead = 1 : i64} : !buffer, !buffer -> tensor<64x64xf32, #sum>
  tile.store %d, %z[%c0, %c0] : tensor<64x64xf32, #sum>, !tile.view<64x64xf32>
  tile.return
}
}

// -----

#sum = #tile.layout<register = [[0,1],[8,0]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = []>
#a = #tile.layout<register = [[0,1],[8,0],[0,8],[0,16]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = []>
#b = #tile.layout<register = [[1,0],[8,0],[16,0]], lane = [[2,0],[4,0],[0,1],[0,2],[0,4]], warp = []>
#mma = #nvptx.mma_sync<"m16n8k16", f16, f32>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
tile.kernel @in_registers(%x: !tile.view<16x32xf16>, %y: !tile.view<32x8xf16>, %z: !tile.view<16x8xf32>) attributes {tile.warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %s = arith.constant dense<0.0> : tensor<16x8xf32, #sum>
  %a = tile.load %x[%c0, %c0] : !tile.view<16x32xf16> -> tensor<16x32xf16, #a>
  %b = tile.load %y[%c0, %c0] : !tile.view<32x8xf16> -> tensor<32x8xf16, #b>
  // expected-error @+1 {{expected operands that are read out of shared memory part by part, since 'reads_ahead' is decided}}
  %d = tile.dot %a, %b, %s {atom = #mma, parts = array<i64: 1, 1, 2>, reads_ahead = 1 : i64} : tensor<16x32xf16, #a>, tensor<32x8xf16, #b> -> tensor<16x8xf32, #sum>
  tile.store %d, %z[%c0, %c0] : tensor<16x8xf32, #sum>, !tile.view<16x8xf32>
  tile.return
}
}

// -----

#sum = #tile.layout<register = [[0,1],[8,0]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = []>
#a = #tile.layout<register = [[0,1],[8,0],[0,8],[0,16]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = []>
#b = #tile.layout<register = [[1,0],[8,0],[16,0]], lane = [[2,0],[4,0],[0,1],[0,2],[0,4]], warp = []>
#mma = #nvptx.mma_sync<"m16n8k16", f16, f32>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
tile.kernel @without_part_stages(%x: !tile.view<16x32xf16>, %y: !tile.view<32x8xf16>, %z: !tile.view<16x8xf32>) attributes {tile.warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %s = arith.constant dense<0.0> : tensor<16x8xf32, #sum>
  %a = tile.load %x[%c0, %c0] : !tile.view<16x32xf16> -> tensor<16x32xf16, #a>
  %b = tile.load %y[%c0, %c0] : !tile.view<32x8xf16> -> tensor<32x8xf16, #b>
  // expected-error @+1 {{expected 'stage', since 'part_stages' is decided}}
  %d = tile.dot %a, %b, %s {atom = #mma, parts = array<i64: 1, 1, 2>, part_stages = array<i64: 0, 0, 0, 0>} : tensor<16x32xf16, #a>, tensor<32x8xf16, #b> -> tensor<16x8xf32, #sum>
  tile.store %d, %z[%c0, %c0] : tensor<16x8xf32, #sum>, !tile.view<16x8xf32>
  tile.return
}
}

// -----

#sum = #tile.layout<register = [[0,1],[8,0]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = []>
#a = #tile.layout<register = [[0,1],[8,0],[0,8],[0,16]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = []>
#b = #tile.layout<register = [[1,0],[8,0],[16,0]], lane = [[2,0],[4,0],[0,1],[0,2],[0,4]], warp = []>
#mma = #nvptx.mma_sync<"m16n8k16", f16, f32>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
tile.kernel @without_order(%x: !tile.view<16x32xf16>, %y: !tile.view<32x8xf16>, %z: !tile.view<16x8xf32>) attributes {tile.warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %s = arith.constant dense<0.0> : tensor<16x8xf32, #sum>
  %a = tile.load %x[%c0, %c0] : !tile.view<16x32xf16> -> tensor<16x32xf16, #a>
  %b = tile.load %y[%c0, %c0] : !tile.view<32x8xf16> -> tensor<32x8xf16, #b>
  // expected-error @+1 {{expected 'stage' and 'order', since 'part_orders' is decided}}
  %d = tile.dot %a, %b, %s {atom = #mma, parts = array<i64: 1, 1, 2>, stage = 0 : i64, part_orders = array<i64: 0, 1, 2, 3>} : tensor<16x32xf16, #a>, tensor<32x8xf16, #b> -> tensor<16x8xf32, #sum>
  tile.store %d, %z[%c0, %c0] : tensor<16x8xf32, #sum>, !tile.view<16x8xf32>
  tile.return
}
}

// -----

// What a dot in flight reads it reads itself: no other place is that of its reads.
#swizzled = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[1,8],[2,16],[4,32],[8,0],[16,0],[32,0]]>
#sum = #tile.layout<register = [[0,1],[8,0],[0,8],[0,16],[0,32]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0],[32,0]]>
!buffer = !tile.buffer<64x64xf16, #swizzled>
#wgmma = #nvptx.wgmma<"m64n32k16", f16, f32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @reads_elsewhere(%z: !tile.view<64x64xf32>) attributes {tile.warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %x = tile.alloc : !buffer
  %s = arith.constant dense<0.0> : tensor<64x64xf32, #sum>
  // expected-error @+1 {{expected 'part_orders' by which the dot of part 0 comes behind no reads, at the place right in front of it}}
  %d = tile.dot %x, %x, %s transpose_b {atom = #wgmma, in_flight = 0 : i64, stage = 0 : i64, order = 0 : i64,
      parts = array<i64: 1, 2, 1>, part_orders = array<i64: 0, 2, 1, 3>} : !buffer, !buffer -> tensor<64x64xf32, #sum>
  tile.store %d, %z[%c0, %c0] : tensor<64x64xf32, #sum>, !tile.view<64x64xf32>
  tile.return
}
}
