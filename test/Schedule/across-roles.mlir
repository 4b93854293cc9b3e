// Accesses of two roles to one argument that what is handed over orders as the source does, and what
// waits behind an access that another role's follows.
// RUN: tile-opt %s --tile-realise-warp-groups | FileCheck %s

#rows = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[1,0],[2,0],[4,0],[8,0],[16,0],[32,0]]>
#l = #tile.layout<register = [[1,0],[2,0],[4,0],[8,0]], lane = [[0,1],[0,2],[0,4],[0,8],[0,16]], warp = [[16,0],[32,0]]>
!view = !tile.view<?x?xf32>
!box = !tile.buffer<64x32xf32, #rows>
!t = tensor<64x32xf32, #l>
!one = !tile.channel<1, !box>
!two = !tile.channel<2, !box>
#roles = [#tile.role<"load", warps = 4>, #tile.role<"use", warps = 4>]

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// What is loaded in a trip is stored behind the get, and other trips have other rows.
// CHECK-LABEL: tile.kernel @in_place
// CHECK-NOT: tile.barrier
// CHECK: tile.return
tile.kernel @in_place(%c: !view, %n: index) attributes {tile.roles = #roles} {
  %ring = tile.channel full = 1 empty = 4 : !two
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %n step %c64 {
    %s, %p = tile.next %ring {role = "load"} : !two
    tile.put %ring[%s, %p] bytes = 8192 {role = "load"} : !two {
    ^bb0(%to: !box):
      tile.copy_in %c[%i, %c0], %to {atom = #nvptx.tma} : !view, !box
    }
    %q, %r = tile.next %ring {role = "use"} : !two
    %b = tile.get %ring[%q, %r] {role = "use"} : !two
    %t = tile.read %b {role = "use"} : !box -> !t
    tile.store %t, %c[%i, %c0] {role = "use"} : !t, !view
  }
  tile.return
}

// An engine of the other role's sees what warps have stored once these have met and let it.
// CHECK-LABEL: tile.kernel @told
// CHECK: role #tile.role<"use"
// CHECK: tile.store
// CHECK-NEXT: tile.barrier publish global{{$}}
// CHECK: tile.put
tile.kernel @told(%c: !view) attributes {tile.roles = #roles} {
  %ring = tile.channel full = 4 empty = 4 : !one
  %next = tile.channel full = 1 empty = 4 : !one
  %c0 = arith.constant 0 : index
  %v = arith.constant dense<1.0> : !t
  tile.store %v, %c[%c0, %c0] {role = "use"} : !t, !view
  %s, %p = tile.next %ring {role = "use"} : !one
  tile.put %ring[%s, %p] bytes = 0 {role = "use"} : !one {
  ^bb0(%to: !box):
    tile.write %v, %to : !t, !box
  }
  %q, %r = tile.next %ring {role = "load"} : !one
  %b = tile.get %ring[%q, %r] {role = "load"} : !one
  %t = tile.read %b {role = "load"} : !box -> !t
  %u, %o = tile.next %next {role = "load"} : !one
  tile.put %next[%u, %o] bytes = 8192 {role = "load"} : !one {
  ^bb0(%to: !box):
    tile.copy_in %c[%c0, %c0], %to {atom = #nvptx.tma} : !view, !box
  }
  %w, %x = tile.next %next {role = "use"} : !one
  %d = tile.get %next[%w, %x] {role = "use"} : !one
  %e = tile.read %d {role = "use"} : !box -> !t
  tile.return
}

// Another program learns by the other role's atomic of what this one has stored.
// CHECK-LABEL: tile.kernel @told_by_atomic
// CHECK: role #tile.role<"use"
// CHECK: tile.store
// CHECK-NEXT: tile.barrier global{{$}}
// CHECK: tile.put
tile.kernel @told_by_atomic(%c: !view, %n: !tile.view<?xi32>) attributes {tile.roles = #roles} {
  %ring = tile.channel full = 4 empty = 4 : !one
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %v = arith.constant dense<1.0> : !t
  tile.store %v, %c[%c0, %c0] {role = "use"} : !t, !view
  %s, %p = tile.next %ring {role = "use"} : !one
  tile.put %ring[%s, %p] bytes = 0 {role = "use"} : !one {
  ^bb0(%to: !box):
    tile.write %v, %to : !t, !box
  }
  %q, %r = tile.next %ring {role = "load"} : !one
  %b = tile.get %ring[%q, %r] {role = "load"} : !one
  %t = tile.read %b {role = "load"} : !box -> !t
  %old = tile.atomic_rmw addi %n[%c0], %one {role = "load"} : !tile.view<?xi32>, [index], i32
  tile.return
}

// What an engine stores is waited for; what lanes load, no engine must see.
// CHECK-LABEL: tile.kernel @stored_by_engine
// CHECK: role #tile.role<"load"
// CHECK: tile.load
// CHECK-NEXT: tile.barrier global{{$}}
// CHECK: role #tile.role<"use"
// CHECK: tile.copy_out
// CHECK-NEXT: tile.wait_stores in_flight = 0 written
// CHECK-NEXT: tile.barrier global{{$}}
tile.kernel @stored_by_engine(%c: !view) attributes {tile.roles = #roles} {
  %ring = tile.channel full = 4 empty = 4 : !one
  %back = tile.channel full = 4 empty = 4 : !one
  %c0 = arith.constant 0 : index
  %v = arith.constant dense<1.0> : !t
  %y = tile.load %c[%c0, %c0] {role = "load"} : !view -> !t
  %s, %p = tile.next %ring {role = "load"} : !one
  tile.put %ring[%s, %p] bytes = 0 {role = "load"} : !one {
  ^bb0(%to: !box):
    tile.write %v, %to : !t, !box
  }
  %q, %r = tile.next %ring {role = "use"} : !one
  %b = tile.get %ring[%q, %r] {role = "use"} : !one
  tile.copy_out %b, %c[%c0, %c0] {atom = #nvptx.tma, role = "use"} : !box, !view
  tile.wait_stores in_flight = 0 {role = "use"}
  %u, %o = tile.next %back {role = "use"} : !one
  tile.put %back[%u, %o] bytes = 0 {role = "use"} : !one {
  ^bb0(%to: !box):
    tile.write %v, %to : !t, !box
  }
  %w, %x = tile.next %back {role = "load"} : !one
  %d = tile.get %back[%w, %x] {role = "load"} : !one
  %e = tile.read %d {role = "load"} : !box -> !t
  %z = tile.load %c[%c0, %c0] {role = "load"} : !view -> !t
  tile.return
}

// The slot of one is filled again behind its release, and that comes behind its last reader.
// CHECK-LABEL: tile.kernel @released
// CHECK: role #tile.role<"use"
// CHECK: tile.store
// CHECK-NEXT: tile.barrier publish global{{$}}
tile.kernel @released(%a: !view, %c: !view) attributes {tile.roles = #roles} {
  %ring = tile.channel full = 1 empty = 4 : !one
  %c0 = arith.constant 0 : index
  %s, %p = tile.next %ring {role = "load"} : !one
  tile.put %ring[%s, %p] bytes = 8192 {role = "load"} : !one {
  ^bb0(%to: !box):
    tile.copy_in %a[%c0, %c0], %to {atom = #nvptx.tma} : !view, !box
  }
  %q, %r = tile.next %ring {role = "use"} : !one
  %b = tile.get %ring[%q, %r] {role = "use"} : !one
  %v = arith.constant dense<1.0> : !t
  tile.store %v, %c[%c0, %c0] {role = "use"} : !t, !view
  %t = tile.read %b {role = "use"} : !box -> !t
  %u, %o = tile.next %ring {role = "load"} : !one
  tile.put %ring[%u, %o] bytes = 8192 {role = "load"} : !one {
  ^bb0(%to: !box):
    tile.copy_in %c[%c0, %c0], %to {atom = #nvptx.tma} : !view, !box
  }
  tile.return
}

// Programs have no order; and a loop that has a trip tells behind it, too.
// CHECK-LABEL: tile.kernel @trips
// CHECK-NOT: tile.barrier
// CHECK: tile.return
tile.kernel @trips(%c: !view, %n: index) attributes {tile.roles = #roles} {
  %ring = tile.channel full = 1 empty = 4 : !two
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %v = arith.constant dense<1.0> : !t
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %c64 step %c64 {
      %s, %p = tile.next %ring {role = "load"} : !two
      tile.put %ring[%s, %p] bytes = 8192 {role = "load"} : !two {
      ^bb0(%to: !box):
        tile.copy_in %c[%j, %c0], %to {atom = #nvptx.tma} : !view, !box
      }
      %q, %r = tile.next %ring {role = "use"} : !two
      %b = tile.get %ring[%q, %r] {role = "use"} : !two
      %t = tile.read %b {role = "use"} : !box -> !t
    } {tile.least_trips = 1 : i64}
    tile.store %v, %c[%c0, %c0] {role = "use"} : !t, !view
  } {tile.programs}
  tile.return
}
}
