// Stages and orders that are not pinned.
// RUN: tile-opt %s --tile-realise-rings --tile-decide-hand-overs --tile-realise-hand-overs --tile-realise-warp-groups --tile-complete-stages | FileCheck %s

// The store follows what makes its value, at its stage, though that has moved in front of another op;
// what follows from the loop's variable alone has no stage.
// CHECK-LABEL: tile.kernel @rest
// CHECK: scf.for
// CHECK-NEXT: %[[AT:.*]] = arith.addi {{[^{]*}} : index
// CHECK-NEXT: tile.load {{.*}} {order = 0 : i64, stage = 0 : i64}
// CHECK-NEXT: arith.negf {{.*}} {tile.order = 3 : i64, tile.stage = 0 : i64}
// CHECK-NEXT: arith.mulf {{.*}} {tile.order = 1 : i64, tile.stage = 1 : i64}
// CHECK-NEXT: tile.store {{.*}} {order = 2 : i64, stage = 1 : i64}
!view = !tile.view<?xf32>
!t = tensor<128xf32>
tile.kernel @rest(%a: !view, %b: !view, %n: index) attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  scf.for %i = %c0 to %n step %c128 {
    %at = arith.addi %i, %c128 : index
    %t = tile.load %a[%at] {stage = 0, order = 0, role = "all"} : !view -> !t
    %u = arith.negf %t {tile.stage = 0, tile.order = 2, tile.role = "all"} : !t
    %v = arith.mulf %u, %u {tile.stage = 1, tile.order = 1, tile.role = "all"} : !t
    tile.store %v, %b[%i] {role = "all"} : !t, !view
  }
  tile.return
}

// A tile is got as late as its users let it, but not behind an access of memory that who puts it may
// have had to access first.
// CHECK-LABEL: tile.kernel @meets
// CHECK: role #tile.role<"use"
// CHECK: tile.get {{.*}} {order = [[#GET:]]
// CHECK: tile.read {{.*}} {order = [[#READ:]]
// CHECK: tile.store {{.*}} {order = [[#GET+1]]
// CHECK: arith.negf {{.*}} {tile.order = [[#READ+1]]
#rows = #tile.layout<offset = [[1],[2],[4],[8],[16],[32],[64]]>
#l = #tile.layout<register = [], lane = [[1],[2],[4],[8],[16]], warp = [[32],[64]]>
!tile = tensor<128xf32, #l>
tile.kernel @meets(%a: !view, %b: !view) attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"use", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %v = arith.constant dense<1.0> : !tile
  %t = tile.load %a[%c0] {atom = #nvptx.tma, buffer = !tile.buffer<128xf32, #rows>, role = "load"} : !view -> !tile
  tile.store %v, %a[%c0] {role = "use"} : !tile, !view
  %u = arith.negf %t {tile.role = "use"} : !tile
  tile.store %u, %b[%c0] {role = "use"} : !tile, !view
  tile.return
}

// What waits behind an access is of its trip.
// CHECK-LABEL: tile.kernel @waits
// CHECK: tile.store {{.*}} {order = [[#STORE:]] : i64, stage = 1 : i64}
// CHECK: tile.barrier global {order = [[#STORE+1]] : i64, stage = 1 : i64}
tile.kernel @waits(%a: !view, %b: !view, %n: index) attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  scf.for %i = %c0 to %n step %c128 {
    %t = tile.load %a[%i] {stage = 0, role = "all"} : !view -> !t
    %v = arith.mulf %t, %t {tile.stage = 1, tile.role = "all"} : !t
    tile.store %v, %b[%i] {role = "all"} : !t, !view
    tile.barrier global {role = "all"}
  }
  tile.return
}

// A sum that its own role fetches out of the slot which it hands over has been made by then.
// CHECK-LABEL: tile.kernel @own_sum
// CHECK: tile.next {{.*}}stage = 3 : i64
// CHECK: tile.commit {{.*}}stage = 3 : i64
// CHECK: tile.get {{.*}}stage = 3 : i64
// CHECK: tile.store {{.*}}stage = 3 : i64
#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!s = tensor<128x32xf32, #sum>
!out = !tile.view<?x?xf32>
tile.kernel @own_sum(%a: !view, %b: !out, %c: !out, %n: index)
    attributes {tile.roles = [#tile.role<"mma", warps = 4>, #tile.role<"use", warps = 4>]} {
  %x = tile.alloc : !tile.buffer<128x32xf16>
  %y = tile.alloc : !tile.buffer<32x32xf16>
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant dense<0.0> : !s
  scf.for %i = %c0 to %n step %c128 {
    %t = tile.load %a[%i] {stage = 0, role = "mma"} : !view -> !t
    tile.store %t, %a[%i] {stage = 0, role = "mma"} : !t, !view
    %d = tile.dot %x, %y, %zero {atom = #nvptx.tcgen05<"m128n32k16", f16, f32>, stage = 3, role = "mma", in_flight = 0}
       : !tile.buffer<128x32xf16>, !tile.buffer<32x32xf16> -> !s
    tile.store %d, %b[%i, %c0] {role = "use"} : !s, !out
    tile.store %d, %c[%i, %c0] {role = "mma"} : !s, !out
  }
  tile.return
}

// Outside of a loop no trip's copy waits for a store over what it brings.
// CHECK-LABEL: tile.kernel @one_trip
// CHECK: tile.put {{.*}} {order = [[#PUT:]] : i64, stage = 0 : i64
// CHECK: tile.get
// CHECK: tile.store {{.*}} stage = 0 : i64
tile.kernel @one_trip(%a: !view) attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %t = tile.load %a[%c0] {atom = #nvptx.tma, buffer = !tile.buffer<128xf32, #rows>, role = "all"} : !view -> !tile
  %u = arith.negf %t {tile.role = "all"} : !tile
  tile.store %u, %a[%c0] {role = "all"} : !tile, !view
  tile.return
}
