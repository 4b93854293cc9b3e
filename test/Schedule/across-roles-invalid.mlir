// Accesses of two roles to one argument whose order nothing that is handed over keeps.
// RUN: tile-opt %s --tile-realise-warp-groups --split-input-file --verify-diagnostics

#rows = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[1,0],[2,0],[4,0],[8,0],[16,0],[32,0]]>
#l = #tile.layout<register = [[1,0],[2,0],[4,0],[8,0]], lane = [[0,1],[0,2],[0,4],[0,8],[0,16]], warp = [[16,0],[32,0]]>
!view = !tile.view<?x?xf32>
!box = !tile.buffer<64x32xf32, #rows>
!t = tensor<64x32xf32, #l>
!one = !tile.channel<1, !box>
#roles = [#tile.role<"load", warps = 4>, #tile.role<"use", warps = 4>]

// A tile that goes the other way orders nothing: its slot is given back in front of the store.
tile.kernel @other_way(%a: !view, %c: !view) attributes {tile.roles = #roles} {
  %ring = tile.channel full = 1 empty = 4 : !one
  %c0 = arith.constant 0 : index
  %s, %p = tile.next %ring {role = "load"} : !one
  tile.put %ring[%s, %p] bytes = 8192 {role = "load"} : !one {
  ^bb0(%to: !box):
    tile.copy_in %a[%c0, %c0], %to {atom = #nvptx.tma} : !view, !box
  }
  %q, %r = tile.next %ring {role = "use"} : !one
  %b = tile.get %ring[%q, %r] {role = "use"} : !one
  %t = tile.read %b {role = "use"} : !box -> !t
  // expected-note @below {{this is the other access}}
  tile.store %t, %c[%c0, %c0] {role = "use"} : !t, !view
  %u, %o = tile.next %ring {role = "load"} : !one
  tile.put %ring[%u, %o] bytes = 8192 {role = "load"} : !one {
  ^bb0(%to: !box):
    // expected-error @below {{expected one role to make both accesses of an argument that may meet, or a tile that role "use" hands over behind its own and role "load" gets in front of this one, got nothing that orders them}}
    tile.copy_in %c[%c0, %c0], %to {atom = #nvptx.tma} : !view, !box
  }
  tile.return
}

// -----

#rows = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[1,0],[2,0],[4,0],[8,0],[16,0],[32,0]]>
#l = #tile.layout<register = [[1,0],[2,0],[4,0],[8,0]], lane = [[0,1],[0,2],[0,4],[0,8],[0,16]], warp = [[16,0],[32,0]]>
!view = !tile.view<?x?xf32>
!box = !tile.buffer<64x32xf32, #rows>
!t = tensor<64x32xf32, #l>
!two = !tile.channel<2, !box>
#roles = [#tile.role<"load", warps = 4>, #tile.role<"use", warps = 4>]

// A ring of two slots is filled a trip ahead of what is stored for it.
tile.kernel @next_trip(%c: !view, %n: index) attributes {tile.roles = #roles} {
  %ring = tile.channel full = 1 empty = 4 : !two
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %n step %c64 {
    %s, %p = tile.next %ring {role = "load"} : !two
    tile.put %ring[%s, %p] bytes = 8192 {role = "load"} : !two {
    ^bb0(%to: !box):
      // expected-error @below {{expected one role to make both accesses of an argument that may meet, or a tile that role "use" hands over behind its own and role "load" gets in front of this one of a later trip, got nothing that orders them}}
      tile.copy_in %c[%i, %c0], %to {atom = #nvptx.tma} : !view, !box
    }
    %q, %r = tile.next %ring {role = "use"} : !two
    %b = tile.get %ring[%q, %r] {role = "use"} : !two
    %t = tile.read %b {role = "use"} : !box -> !t
    %j = arith.addi %i, %c64 : index
    // expected-note @below {{this is the other access}}
    tile.store %t, %c[%j, %c0] {role = "use"} : !t, !view
  }
  tile.return
}

// -----

#rows = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[1,0],[2,0],[4,0],[8,0],[16,0],[32,0]]>
#l = #tile.layout<register = [[1,0],[2,0],[4,0],[8,0]], lane = [[0,1],[0,2],[0,4],[0,8],[0,16]], warp = [[16,0],[32,0]]>
!view = !tile.view<?x?xf32>
!box = !tile.buffer<64x32xf32, #rows>
!t = tensor<64x32xf32, #l>
!one = !tile.channel<1, !box>
#roles = [#tile.role<"load", warps = 4>, #tile.role<"use", warps = 4>]

// By its stage the store comes behind the put of a later trip.
tile.kernel @stages(%c: !view, %n: index) attributes {tile.roles = #roles} {
  %ring = tile.channel full = 4 empty = 4 : !one
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = arith.constant dense<1.0> : !t
  scf.for %i = %c0 to %n step %c1 {
    // expected-note @below {{this is the other access}}
    tile.store %v, %c[%c0, %c0] {role = "use", stage = 1} : !t, !view
    %s, %p = tile.next %ring {role = "use", stage = 0} : !one
    tile.put %ring[%s, %p] bytes = 0 {role = "use", stage = 0} : !one {
    ^bb0(%to: !box):
      tile.write %v, %to : !t, !box
    }
    %q, %r = tile.next %ring {role = "load"} : !one
    %b = tile.get %ring[%q, %r] {role = "load"} : !one
    %t = tile.read %b {role = "load"} : !box -> !t
    // expected-error @below {{role "load" gets in front of this one, got nothing that orders them}}
    %u = tile.load %c[%c0, %c0] {role = "load"} : !view -> !t
  }
  tile.return
}

// -----

#rows = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[1,0],[2,0],[4,0],[8,0],[16,0],[32,0]]>
#l = #tile.layout<register = [[1,0],[2,0],[4,0],[8,0]], lane = [[0,1],[0,2],[0,4],[0,8],[0,16]], warp = [[16,0],[32,0]]>
!view = !tile.view<?x?xf32>
!box = !tile.buffer<64x32xf32, #rows>
!t = tensor<64x32xf32, #l>
!one = !tile.channel<1, !box>
#roles = [#tile.role<"load", warps = 4>, #tile.role<"use", warps = 4>]

// Where the condition does not hold, nothing is handed over.
tile.kernel @sometimes(%c: !view, %n: index, %holds: i1) attributes {tile.roles = #roles} {
  %ring = tile.channel full = 4 empty = 4 : !one
  %c0 = arith.constant 0 : index
  %v = arith.constant dense<1.0> : !t
  // expected-note @below {{this is the other access}}
  tile.store %v, %c[%c0, %c0] {role = "use"} : !t, !view
  scf.if %holds {
    %s, %p = tile.next %ring {role = "use"} : !one
    tile.put %ring[%s, %p] bytes = 0 {role = "use"} : !one {
    ^bb0(%to: !box):
      tile.write %v, %to : !t, !box
    }
    %q, %r = tile.next %ring {role = "load"} : !one
    %b = tile.get %ring[%q, %r] {role = "load"} : !one
    %t = tile.read %b {role = "load"} : !box -> !t
    %u = tile.load %c[%c0, %c0] {role = "load"} : !view -> !t
  }
  // expected-error @below {{role "load" gets in front of this one, got nothing that orders them}}
  %w = tile.load %c[%c0, %c0] {role = "load"} : !view -> !t
  tile.return
}

// -----

!view = !tile.view<?x?xf32>
#l = #tile.layout<register = [[1,0],[2,0],[4,0],[8,0]], lane = [[0,1],[0,2],[0,4],[0,8],[0,16]], warp = [[16,0],[32,0]]>
!t = tensor<64x32xf32, #l>

// Another program that acquires the count would read what role "a" has not stored yet.
tile.kernel @told_by_atomic(%c: !view, %n: !tile.view<?xi32>)
    attributes {tile.roles = [#tile.role<"a", warps = 4>, #tile.role<"b", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %v = arith.constant dense<1.0> : !t
  // expected-note @below {{this is the other access}}
  tile.store %v, %c[%c0, %c0] {role = "a"} : !t, !view
  %relaxed = tile.atomic_rmw addi %n[%c0], %one order = relaxed {role = "b"} : !tile.view<?xi32>, [index], i32
  // expected-error @below {{expected an atomic whose order is "relaxed", one role to make both accesses, or a tile that role "a" hands over behind its own and role "b" gets in front of this one, got nothing that orders them}}
  %old = tile.atomic_rmw addi %n[%c0], %one {role = "b"} : !tile.view<?xi32>, [index], i32
  tile.return
}
