// What cannot go from role to role as decided.
// RUN: tile-opt %s --tile-realise-rings --tile-decide-hand-overs --tile-realise-hand-overs -split-input-file -verify-diagnostics

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
