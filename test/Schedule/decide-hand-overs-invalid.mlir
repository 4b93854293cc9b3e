// What cannot go from one role to another.
// RUN: tile-opt %s --tile-decide-hand-overs -split-input-file -verify-diagnostics

#four = #tile.layout<register = [[1],[2]], lane = [[4],[8],[16],[32],[64]], warp = [[128],[256]]>
!view = !tile.view<?xf32>
!t = tensor<512xf32, #four>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @warps(%a: !view, %b: !view) attributes {
    tile.roles = [#tile.role<"make", warps = 4>, #tile.role<"use", warps = 2>]} {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0] {role = "make"} : !view -> !t
  // expected-error@+1 {{expected 4 warps in role "use", as in role "make", whose tensor it uses as it lies, got 2}}
  tile.store %x, %b[%c0] {role = "use"} : !t, !view
  tile.return
}
}

// -----

#four = #tile.layout<register = [[1],[2]], lane = [[4],[8],[16],[32],[64]], warp = [[128],[256]]>
#other = #tile.layout<register = [[1],[256]], lane = [[4],[8],[16],[32],[64]], warp = [[128],[2]]>
!view = !tile.view<?xf32>
!t = tensor<512xf32, #four>
!u = tensor<512xf32, #other>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @own(%a: !view, %b: !view) attributes {tile.roles = [#tile.role<"use", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0] {role = "use"} : !view -> !t
  // expected-error@+1 {{expected to convert what another role makes, since 'role' is decided}}
  %y = tile.convert_layout %x {role = "use"} : !t -> !u
  tile.store %y, %b[%c0] {role = "use"} : !u, !view
  tile.return
}
}

// -----

// Slots of what no other role reads.
#four = #tile.layout<register = [[1],[2]], lane = [[4],[8],[16],[32],[64]], warp = [[128],[256]]>
!view = !tile.view<?xf32>
!t = tensor<512xf32, #four>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @kept(%a: !view, %b: !view) attributes {tile.roles = [#tile.role<"use", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0] {role = "use"} : !view -> !t
  // expected-error@+1 {{expected a tensor that another role uses or that products read from shared memory, since 'tile.depth' is decided}}
  %y = arith.addf %x, %x {tile.role = "use", tile.depth = 2 : i64} : !t
  tile.store %y, %b[%c0] {role = "use"} : !t, !view
  tile.return
}
}

// -----

// One tensor has one depth, whichever branch makes it.
#four = #tile.layout<register = [[1],[2]], lane = [[4],[8],[16],[32],[64]], warp = [[128],[256]]>
!view = !tile.view<?xf32>
!t = tensor<512xf32, #four>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @depths(%a: !view, %b: !view, %is: i1) attributes {
    tile.roles = [#tile.role<"make", warps = 4>, #tile.role<"use", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0] {role = "make"} : !view -> !t
  %r = scf.if %is -> !t {
    // expected-note @+1 {{the other}}
    %y = math.absf %x {tile.role = "make", tile.depth = 2 : i64} : !t
    scf.yield %y : !t
  } else {
    // expected-error @+1 {{expected one depth ('depth') of all that becomes one tensor, which is handed over by 2 slots, got 3}}
    %y = arith.negf %x {tile.role = "make", tile.depth = 3 : i64} : !t
    scf.yield %y : !t
  }
  tile.store %r, %b[%c0] {role = "use"} : !t, !view
  tile.return
}
}

// -----

// Of a sum in tensor memory in_flight says how many slots it has.
#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!s = tensor<128x32xf32, #sum>
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
tile.kernel @sums(%c: !tile.view<?x?xf32>) attributes {
    tile.roles = [#tile.role<"mma", warps = 4>, #tile.role<"use", warps = 4>]} {
  %x = tile.alloc : !tile.buffer<128x32xf16>
  %y = tile.alloc : !tile.buffer<32x32xf16>
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : !s
  // expected-error @+1 {{expected no 'tile.depth' of a sum in tensor memory, which has one slot more than 'in_flight' says, got 2}}
  %d = tile.dot %x, %y, %zero {atom = #nvptx.tcgen05<"m128n32k16", f16, f32>, role = "mma", in_flight = 1, tile.depth = 2 : i64}
    : !tile.buffer<128x32xf16>, !tile.buffer<32x32xf16> -> !s
  tile.store %d, %c[%c0, %c0] {role = "use"} : !s, !tile.view<?x?xf32>
  tile.return
}
}

// -----

#make = #tile.layout<register = [[0,1],[0,2],[0,16],[0,32]], lane = [[0,4],[0,8],[1,0],[2,0],[4,0]], warp = [[8,0],[0,0],[16,0],[32,0]]>
#use = #tile.layout<register = [[1,0],[2,0],[16,0],[32,0]], lane = [[4,0],[8,0],[0,1],[0,2],[0,4]], warp = [[0,8],[0,0],[0,16],[0,32]]>
!m = tensor<48x48xf32, #make>
!n = tensor<48x48xf32, #use>
!view = !tile.view<?x?xf32>

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// Columns of the one are rows of the other, and no order counts the odd factors of both.
tile.kernel @copies(%a: !view, %b: !view) attributes {
    tile.roles = [#tile.role<"make", warps = 4, copies = 3>, #tile.role<"use", warps = 4, copies = 3>]} {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0, %c0] {role = "make"} : !view -> !m
  // expected-note @+2 {{role "use" reads it by 3 copies; one copy ('copies') can read all of it}}
  // expected-error @+1 {{expected a tensor that copies ('copies') share out in one way, since each of role "make" writes a part of a buffer and others read theirs}}
  %u = tile.convert_layout %x {role = "use"} : !m -> !n
  tile.store %u, %b[%c0, %c0] {role = "use"} : !n, !view
  tile.return
}
}
