// Sums in tensor memory that no role can fetch, or that nothing counts: before anything is realised.
// RUN: tile-opt %s --tile-check-schedule -split-input-file -verify-diagnostics

#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!view = !tile.view<?x?xf16>
!t = tensor<128x32xf32, #sum>
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
tile.kernel @warps(%a: !view, %b: !tile.view<?x?xf32>)
    attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>, #tile.role<"use", warps = 8>]} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : !t
  %x = tile.load %a[%c0, %c0] {atom = #nvptx.tma, buffer = !tile.buffer<128x32xf16>, role = "load"} : !view -> tensor<128x32xf16>
  %y = tile.load %a[%c0, %c0] {atom = #nvptx.tma, buffer = !tile.buffer<32x32xf16>, role = "load"} : !view -> tensor<32x32xf16>
  // expected-error@+1 {{expected a role of 4 warps to use the result, since #nvptx.tcgen05<"m128n32k16", f16, f32> has it in tensor memory, got role "use" of 8}}
  %d = tile.dot %x, %y, %zero {atom = #nvptx.tcgen05<"m128n32k16", f16, f32>, role = "mma", in_flight = 1} : tensor<128x32xf16>, tensor<32x32xf16> -> !t
  tile.store %d, %b[%c0, %c0] {role = "use"} : !t, !tile.view<?x?xf32>
  tile.return
}
}

// -----

#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0],[128,0]]>
!view = !tile.view<?x?xf16>
!t = tensor<256x32xf32, #sum>
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
tile.kernel @copies(%a: !view, %b: !tile.view<?x?xf32>)
    attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4, copies = 2>, #tile.role<"use", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : !t
  %x = tile.load %a[%c0, %c0] {atom = #nvptx.tma, buffer = !tile.buffer<256x32xf16>, role = "load"} : !view -> tensor<256x32xf16>
  %y = tile.load %a[%c0, %c0] {atom = #nvptx.tma, buffer = !tile.buffer<32x32xf16>, role = "load"} : !view -> tensor<32x32xf16>
  // expected-error@+1 {{expected as many copies of role "use" as of role "mma", 2, since each fetches what one of these has in tensor memory by #nvptx.tcgen05<"m128n32k16", f16, f32>, got 1}}
  %d = tile.dot %x, %y, %zero {atom = #nvptx.tcgen05<"m128n32k16", f16, f32>, role = "mma", in_flight = 1} : tensor<256x32xf16>, tensor<32x32xf16> -> !t
  tile.store %d, %b[%c0, %c0] {role = "use"} : !t, !tile.view<?x?xf32>
  tile.return
}
}

// -----

// A commit tells of each dot by itself, so nothing counts those in flight.
!view = !tile.view<?x?xf16>
!x = !tile.buffer<128x32xf16>
#roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>]
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
tile.kernel @counted(%a: !view, %k: index) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %x = tile.load %a[%c0, %c0] {atom = #nvptx.tma, buffer = !x, role = "load"} : !view -> tensor<128x32xf16>
  // expected-error@+1 {{expected in_flight of 0, since #nvptx.tcgen05<"m128n128k16", f16, f32> tells of each dot by itself when it ends, and no other role fetches the result there, got 1}}
  %d = tile.dot %x, %x, %zero transpose_b {atom = #nvptx.tcgen05<"m128n128k16", f16, f32>, role = "mma", in_flight = 1} : tensor<128x32xf16>, tensor<128x32xf16> -> tensor<128x128xf32>
  %t = arith.truncf %d : tensor<128x128xf32> to tensor<128x128xf16>
  tile.store %t, %a[%c0, %c0] {role = "mma"} : tensor<128x128xf16>, !view
  tile.return
}
}
