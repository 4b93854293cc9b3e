// Rings of several places, and dots that overlap, whose decisions contradict one another.
// RUN: tile-opt %s --tile-realise-rings --tile-decide-hand-overs --tile-realise-hand-overs -split-input-file -verify-diagnostics

!view = !tile.view<?x?xf16>
!tile_ = !tile.buffer<32x32xf16>
#roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>]
tile.kernel @depths(%a: !view, %k: index) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %x = tile.load %a[%c0, %c0] {atom = #nvptx.cp_async<16>, buffer = !tile_, role = "load", ring = "keys", depth = 3} : !view -> tensor<32x32xf16>
  tile.store %x, %a[%c0, %c32] {role = "mma"} : tensor<32x32xf16>, !view
  scf.for %i = %c0 to %k step %c32 {
    // expected-error@+1 {{expected the depth of the other loads of the ring, 3, got 2}}
    %y = tile.load %a[%c0, %i] {atom = #nvptx.cp_async<16>, buffer = !tile_, stage = 0, role = "load", ring = "keys"} : !view -> tensor<32x32xf16>
    tile.store %y, %a[%c0, %i] {stage = 0, role = "mma"} : tensor<32x32xf16>, !view
  } {tile.depth = 2}
  tile.return
}

// -----

!view = !tile.view<?x?xf16>
!tile_ = !tile.buffer<32x32xf16>
#roles = [#tile.role<"load", warps = 4>, #tile.role<"fetch", warps = 4>, #tile.role<"mma", warps = 4>]
tile.kernel @producers(%a: !view) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %x = tile.load %a[%c0, %c0] {atom = #nvptx.cp_async<16>, buffer = !tile_, role = "load", ring = "keys"} : !view -> tensor<32x32xf16>
  // expected-error@+1 {{expected loads of one ring to be of one role, got "load" and "fetch"}}
  %y = tile.load %a[%c0, %c0] {atom = #nvptx.cp_async<16>, buffer = !tile_, role = "fetch", ring = "keys"} : !view -> tensor<32x32xf16>
  tile.store %x, %a[%c0, %c32] {role = "mma"} : tensor<32x32xf16>, !view
  tile.store %y, %a[%c0, %c32] {role = "mma"} : tensor<32x32xf16>, !view
  tile.return
}

// -----

!view = !tile.view<?x?xf16>
!tile_ = !tile.buffer<32x32xf16>
!half = !tile.buffer<16x32xf16>
#roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>]
tile.kernel @buffers(%a: !view) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %x = tile.load %a[%c0, %c0] {atom = #nvptx.cp_async<16>, buffer = !tile_, role = "load", ring = "keys"} : !view -> tensor<32x32xf16>
  tile.store %x, %a[%c0, %c32] {role = "mma"} : tensor<32x32xf16>, !view
  // expected-error@+1 {{expected the 1 buffers of the ring's other loads, beginning with '!tile.buffer<32x32xf16>', got 1, beginning with '!tile.buffer<16x32xf16>'}}
  %y = tile.load %a[%c0, %c0] {atom = #nvptx.cp_async<16>, buffer = !half, role = "load", ring = "keys"} : !view -> tensor<16x32xf16>
  tile.store %y, %a[%c0, %c32] {role = "mma"} : tensor<16x32xf16>, !view
  tile.return
}

// -----

!view = !tile.view<?x?xf16>
!tile_ = !tile.buffer<32x32xf16>
#roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>]
tile.kernel @counts(%a: !view) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %x = tile.load %a[%c0, %c0] {atom = #nvptx.cp_async<16>, buffer = !tile_, role = "load", ring = "keys"} : !view -> tensor<32x32xf16>
  // expected-error@+1 {{expected atoms of one kind of completion in one ring, got #nvptx.tma}}
  %y = tile.load %a[%c0, %c0] {atom = #nvptx.tma, buffer = !tile_, role = "load", ring = "keys"} : !view -> tensor<32x32xf16>
  tile.store %x, %a[%c0, %c32] {role = "mma"} : tensor<32x32xf16>, !view
  tile.store %y, %a[%c0, %c32] {role = "mma"} : tensor<32x32xf16>, !view
  tile.return
}

// -----

!view = !tile.view<?x?xf16>
!tile_ = !tile.buffer<32x32xf16>
#roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>, #tile.role<"store", warps = 4>]
tile.kernel @handed_on(%a: !view, %k: index) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf16>
  %r = scf.for %i = %c0 to %k step %c32 iter_args(%t = %zero) -> tensor<32x32xf16> {
    // expected-error@+1 {{expected one role to use what the loop hands on to its next trip, got "store" and "mma"}}
    %x = tile.load %a[%c0, %i] {atom = #nvptx.cp_async<16>, buffer = !tile_, stage = 0, role = "load"} : !view -> tensor<32x32xf16>
    tile.store %t, %a[%c0, %c32] {stage = 0, role = "mma"} : tensor<32x32xf16>, !view
    scf.yield %x : tensor<32x32xf16>
  } {tile.depth = 2}
  tile.store %r, %a[%c32, %c32] {role = "store"} : tensor<32x32xf16>, !view
  tile.return
}

// -----

!view = !tile.view<?x?xf16>
!tile_ = !tile.buffer<32x32xf16>
tile.kernel @skewed(%a: !view) attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4, copies = 2, skew = 1>]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  // expected-error@+1 {{expected dots in flight of role "mma", which has a skew and whose ring another fills}}
  %x = tile.load %a[%c0, %c0] {atom = #nvptx.cp_async<16>, buffer = !tile_, role = "load"} : !view -> tensor<32x32xf16>
  tile.store %x, %a[%c0, %c32] {role = "mma"} : tensor<32x32xf16>, !view
  tile.return
}
