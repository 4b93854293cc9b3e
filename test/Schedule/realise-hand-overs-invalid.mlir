// What cannot go from role to role as decided, and sums in tensor memory that no role can fetch.
// RUN: tile-opt %s --tile-realise-rings --tile-decide-hand-overs --tile-realise-hand-overs -split-input-file -verify-diagnostics

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

#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!view = !tile.view<?x?xf16>
!t = tensor<128x32xf32, #sum>
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
tile.kernel @both(%a: !view, %b: !tile.view<?x?xf32>)
    attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>, #tile.role<"use", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : !t
  %x = tile.load %a[%c0, %c0] {atom = #nvptx.tma, buffer = !tile.buffer<128x32xf16>, role = "load"} : !view -> tensor<128x32xf16>
  %y = tile.load %a[%c0, %c0] {atom = #nvptx.tma, buffer = !tile.buffer<32x32xf16>, role = "load"} : !view -> tensor<32x32xf16>
  // expected-error@+1 {{expected a result that other roles alone use, since one does, and role "mma" has it in tensor memory}}
  %d = tile.dot %x, %y, %zero {atom = #nvptx.tcgen05<"m128n32k16", f16, f32>, role = "mma", in_flight = 1} : tensor<128x32xf16>, tensor<32x32xf16> -> !t
  tile.store %d, %b[%c0, %c0] {role = "use"} : !t, !tile.view<?x?xf32>
  tile.store %d, %b[%c0, %c0] {role = "mma"} : !t, !tile.view<?x?xf32>
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

#four = #tile.layout<register = [[1],[2]], lane = [[4],[8],[16],[32],[64]], warp = [[128],[256]]>
#two = #tile.layout<register = [[1],[2],[256]], lane = [[4],[8],[16],[32],[64]], warp = [[128]]>
!view = !tile.view<?xf32>
!t = tensor<512xf32, #four>
!u = tensor<512xf32, #two>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @no_sum(%a: !view, %b: !view) attributes {
    tile.roles = [#tile.role<"make", warps = 4>, #tile.role<"use", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0] {role = "make"} : !view -> !t
  // expected-error@+1 {{expected a sum that a dot has in tensor memory, since 'tile.handed' is '!tile.channel<1, !tile.pending<}}
  %h = tile.convert_layout %x {role = "make", tile.handed = !tile.channel<1, !tile.pending<!t, tensor_memory>>} : !t -> !t
  tile.store %h, %b[%c0] {role = "use"} : !t, !view
  tile.return
}
}

// -----

#four = #tile.layout<register = [[1],[2]], lane = [[4],[8],[16],[32],[64]], warp = [[128],[256]]>
#two = #tile.layout<register = [[1],[2],[256]], lane = [[4],[8],[16],[32],[64]], warp = [[128]]>
!view = !tile.view<?xf32>
!t = tensor<512xf32, #four>
!u = tensor<512xf32, #two>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @elements(%a: !view, %b: !view) attributes {
    tile.roles = [#tile.role<"make", warps = 4>, #tile.role<"use", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0] {role = "make"} : !view -> !t
  // expected-error@+1 {{expected 'tile.handed' to have slots of 'f32', got '!tile.buffer<512xf16>'}}
  %h = tile.convert_layout %x {role = "make", tile.handed = !tile.channel<1, !tile.buffer<512xf16>>} : !t -> !t
  tile.store %h, %b[%c0] {role = "use"} : !t, !view
  tile.return
}
}

// -----

// Lanes have the columns of each of the boxes.
#lanes = #tile.layout<register = [[1]], lane = [[2],[4],[8],[16],[32]]>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @boxes(%a: !tile.view<?xf32>) attributes {
    tile.roles = [#tile.role<"make", warps = 1>, #tile.role<"use", warps = 1>]} {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0] {role = "make"} : !tile.view<?xf32> -> tensor<64xf32, #lanes>
  // expected-error@+1 {{expected 'tile.handed' to have buffers of boxes that registers alone choose among, got '!tile.channel<1, !tile.buffer<32xf32>, !tile.buffer<32xf32>>' for 'tensor<64xf32>'}}
  %h = tile.convert_layout %x {role = "make", tile.handed = !tile.channel<1, !tile.buffer<32xf32>, !tile.buffer<32xf32>>} : tensor<64xf32, #lanes> -> tensor<64xf32, #lanes>
  tile.store %h, %a[%c0] {role = "use"} : tensor<64xf32, #lanes>, !tile.view<?xf32>
  tile.return
}
}
