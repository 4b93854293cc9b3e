// Sums that a role hands to another out of tensor memory, and those that its warps have by then.
// RUN: tile-opt %s --tile-decide-hand-overs | FileCheck %s

#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
#dot = #nvptx.tcgen05<"m128n32k16", f16, f32>
#half = #nvptx.tcgen05<"m128n16k16", f16, f32>
#roles = [#tile.role<"mma", warps = 4>, #tile.role<"use", warps = 4>]
!s = tensor<128x32xf32, #sum>
!a = !tile.buffer<128x32xf16>
!b = !tile.buffer<32x32xf16>
!view = !tile.view<?x?xf32>

module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
// Dots alone add to it from trip to trip.
// CHECK-LABEL: tile.kernel @stays
// CHECK: %[[R:.*]] = scf.for
// CHECK: scf.yield
// CHECK-NEXT: }
// CHECK-NEXT: tile.convert_layout %[[R]] {role = "mma", tile.handed = !tile.channel<2, !tile.pending<
tile.kernel @stays(%c: !view, %n: index) attributes {tile.roles = #roles} {
  %x = tile.alloc : !a
  %y = tile.alloc : !b
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : !s
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %zero) -> !s {
    %d = tile.dot %x, %y, %t {atom = #dot, role = "mma", in_flight = 1} : !a, !b -> !s
    %e = tile.dot %x, %y, %d {atom = #dot, role = "mma", in_flight = 1} : !a, !b -> !s
    scf.yield %e : !s
  }
  tile.store %r, %c[%c0, %c0] {role = "use"} : !s, !view
  tile.return
}

// The trip fetches it to hand it on.
// CHECK-LABEL: tile.kernel @twice
// CHECK: %[[R:.*]] = scf.for
// CHECK: %[[D:.*]] = tile.dot
// CHECK-NEXT: tile.convert_layout %[[D]] {role = "mma", tile.handed = !tile.channel<2, !tile.pending<
// CHECK: scf.yield
// CHECK-NEXT: }
// CHECK-NEXT: tile.convert_layout %[[R]] {role = "mma", tile.handed = !tile.channel<1, !tile.buffer<
tile.kernel @twice(%c: !view, %n: index) attributes {tile.roles = #roles} {
  %x = tile.alloc : !a
  %y = tile.alloc : !b
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : !s
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %zero) -> !s {
    %d = tile.dot %x, %y, %t {atom = #dot, role = "mma", in_flight = 1} : !a, !b -> !s
    tile.store %d, %c[%i, %c0] {role = "use"} : !s, !view
    scf.yield %d : !s
  }
  tile.store %r, %c[%c0, %c0] {role = "use"} : !s, !view
  tile.return
}

// The trip changes it; the next trip does not add to it; another loop around goes on with it.
// CHECK-LABEL: tile.kernel @changed
// CHECK: tile.handed = !tile.channel<1, !tile.buffer<
// CHECK: tile.handed = !tile.channel<1, !tile.buffer<
// CHECK: tile.handed = !tile.channel<1, !tile.buffer<
tile.kernel @changed(%c: !view, %n: index) attributes {tile.roles = #roles} {
  %x = tile.alloc : !a
  %y = tile.alloc : !b
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : !s
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %zero) -> !s {
    %u = arith.addf %t, %t {tile.role = "mma"} : !s
    %d = tile.dot %x, %y, %u {atom = #dot, role = "mma", in_flight = 0} : !a, !b -> !s
    scf.yield %d : !s
  }
  tile.store %r, %c[%c0, %c0] {role = "use"} : !s, !view
  %l = scf.for %i = %c0 to %n step %c1 iter_args(%t = %zero) -> !s {
    %d = tile.dot %x, %y, %zero {atom = #dot, role = "mma", in_flight = 0} : !a, !b -> !s
    scf.yield %d : !s
  }
  tile.store %l, %c[%c0, %c0] {role = "use"} : !s, !view
  %o = scf.for %i = %c0 to %n step %c1 iter_args(%t = %zero) -> !s {
    %in = scf.for %j = %c0 to %n step %c1 iter_args(%v = %t) -> !s {
      %d = tile.dot %x, %y, %v {atom = #dot, role = "mma", in_flight = 0} : !a, !b -> !s
      scf.yield %d : !s
    }
    scf.yield %in : !s
  }
  tile.store %o, %c[%c0, %c0] {role = "use"} : !s, !view
  tile.return
}

// Warps add what is promoted, and put parts together.
// CHECK-LABEL: tile.kernel @put_together
// CHECK: tile.handed = !tile.channel<1, !tile.buffer<
// CHECK: tile.handed = !tile.channel<1, !tile.buffer<
tile.kernel @put_together(%c: !view) attributes {tile.roles = #roles} {
  %x = tile.alloc : !a
  %y = tile.alloc : !b
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : !s
  %d = tile.dot %x, %y, %zero {atom = #dot, role = "mma", in_flight = 0, promote = true} : !a, !b -> !s
  tile.store %d, %c[%c0, %c0] {role = "use"} : !s, !view
  %e = tile.dot %x, %y, %zero {atom = #half, role = "mma", in_flight = 0, parts = array<i64: 1, 2, 1>} : !a, !b -> !s
  tile.store %e, %c[%c0, %c0] {role = "use"} : !s, !view
  tile.return
}
}
