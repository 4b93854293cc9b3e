// Stages and orders that contradict what ops need of one another, or one another.
// RUN: tile-opt %s --tile-rotate-loops --tile-realise-rings --tile-decide-hand-overs --tile-realise-hand-overs --tile-realise-warp-groups --tile-complete-stages --tile-realise-stages -split-input-file -verify-diagnostics

!view = !tile.view<?xf32>
!t = tensor<128xf32>
tile.kernel @before(%a: !view, %b: !view, %n: index) attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  scf.for %i = %c0 to %n step %c128 {
    %t = tile.load %a[%i] {stage = 1, role = "all"} : !view -> !t
    // expected-error@+1 {{expected a stage of at least 1, as 'tile.load', which it needs, is at stage 1, got 0}}
    tile.store %t, %b[%i] {stage = 0, role = "all"} : !t, !view
  }
  tile.return
}

// -----

!view = !tile.view<?xf32>
!t = tensor<128xf32>
tile.kernel @least(%a: !view, %b: !view, %n: index) attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  scf.for %i = %c0 to %n step %c128 {
    // expected-error@+1 {{expected stages that begin with 0 in its role, got 1 as the least}}
    %t = tile.load %a[%i] {stage = 1, role = "all"} : !view -> !t
    tile.store %t, %b[%i] {stage = 2, role = "all"} : !t, !view
  }
  tile.return
}

// -----

!view = !tile.view<?xf32>
!t = tensor<128xf32>
tile.kernel @order(%a: !view, %b: !view, %n: index) attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  scf.for %i = %c0 to %n step %c128 {
    // expected-note@+1 {{'tile.load' of stage 0}}
    %t = tile.load %a[%i] {stage = 0, order = 1, role = "all"} : !view -> !t
    %u = arith.negf %t : !t
    // expected-error@+1 {{expected an order of more than 1, that of 'tile.load', which it needs in the same trip by their stages, got 0}}
    tile.store %u, %b[%i] {stage = 0, order = 0, role = "all"} : !t, !view
  }
  tile.return
}

// -----

// Of the two, the load is what is out of the order of the source, also with regard to others.
!view = !tile.view<?xf32>
!t = tensor<128xf32>
tile.kernel @late(%a: !view, %b: !view, %n: index) attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  scf.for %i = %c0 to %n step %c128 {
    // expected-error@+1 {{expected an order of less than 1, that of 'tile.store', which needs it in the same trip by their stages, got 2}}
    %t = tile.load %a[%i] {stage = 0, order = 2, role = "all"} : !view -> !t
    %u = tile.load %a[%i] {stage = 0, order = 0, role = "all"} : !view -> !t
    %v = arith.addf %t, %u : !t
    // expected-note@+1 {{'tile.store' of stage 0}}
    tile.store %v, %b[%i] {stage = 0, order = 1, role = "all"} : !t, !view
  }
  tile.return
}

// -----

!view = !tile.view<?xf32>
!t = tensor<128xf32>
tile.kernel @twice(%a: !view, %b: !view, %n: index) attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  scf.for %i = %c0 to %n step %c128 {
    %t = tile.load %a[%i] {stage = 0, order = 0, role = "all"} : !view -> !t
    // expected-error@+1 {{expected an order from 0 to 1 that no other op of role "all" has in this loop, got 0}}
    tile.store %t, %b[%i] {stage = 0, order = 0, role = "all"} : !t, !view
  }
  tile.return
}

// -----

!view = !tile.view<?xf32>
!t = tensor<128xf32>
tile.kernel @nowhere(%a: !view, %b: !view) attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{expected to stand in a loop, since 'stage' is decided}}
  %t = tile.load %a[%c0] {stage = 0, role = "all"} : !view -> !t
  tile.store %t, %b[%c0] {role = "all"} : !t, !view
  tile.return
}

// -----

// A store to what the next iteration's load reads would come too late.
!view = !tile.view<?xf32>
!t = tensor<128xf32>
tile.kernel @memory(%a: !view, %n: index) attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  scf.for %i = %c0 to %n step %c128 {
    // expected-note@+1 {{this op does; 'noalias' among the facts of an argument says that no other reaches its memory}}
    %t = tile.load %a[%i] {stage = 0, role = "all"} : !view -> !t
    // expected-error@+1 {{expected a stage and an order that leave it behind what may access the same memory before it, and in front of that in the next iteration}}
    tile.store %t, %a[%i] {stage = 1, role = "all"} : !t, !view
  }
  tile.return
}

// -----

!view = !tile.view<?x?xf16>
!b = !tile.buffer<32x32xf16, #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[1,0],[2,8],[4,16],[8,0],[16,0]]>>
!t = tensor<32x32xf16>
!sums = tensor<32x32xf32>
tile.kernel @held(%a: !view, %k: index) attributes {tile.roles = [#tile.role<"load", warps = 1>, #tile.role<"mma", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : !sums
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%s = %zero) -> !sums {
    // expected-error@+1 {{expected a ring of more than 2 slots ('depth'), as many as are held when the next one is got, got 2}}
    %x = tile.load %a[%c0, %i] {atom = #nvptx.tma, buffer = !b, stage = 0, role = "load"} : !view -> !t
    %d = tile.dot %x, %x, %s {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, stage = 0, role = "mma", in_flight = 2} : !t, !t -> !sums
    scf.yield %d : !sums
  } {tile.depth = 2}
  %t = arith.truncf %sum : !sums to !t
  tile.store %t, %a[%c0, %c0] {role = "mma"} : !t, !view
  tile.return
}

// -----

!view = !tile.view<?x?xf16>
!b = !tile.buffer<32x32xf16, #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[1,0],[2,8],[4,16],[8,0],[16,0]]>>
!t = tensor<32x32xf16>
!sums = tensor<32x32xf32>
tile.kernel @early(%a: !view, %k: index) attributes {tile.roles = [#tile.role<"load", warps = 1>, #tile.role<"mma", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : !sums
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%s = %zero) -> !sums {
    %x = tile.load %a[%c0, %i] {atom = #nvptx.tma, buffer = !b, stage = 0, role = "load"} : !view -> !t
    // expected-error@+1 {{expected in_flight of at most 0, the dots of its role that start before its result is used, got 1}}
    %d = tile.dot %x, %x, %zero {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, stage = 0, role = "mma", in_flight = 1} : !t, !t -> !sums
    %e = arith.addf %d, %s : !sums
    scf.yield %e : !sums
  } {tile.depth = 2}
  %t = arith.truncf %sum : !sums to !t
  tile.store %t, %a[%c0, %c0] {role = "mma"} : !t, !view
  tile.return
}

// -----

// The role that loads would fill the ring in another order than the one that reads it, which cannot
// tell in front of the condition whether there is another slot.
!view = !tile.view<?x?xf16>
!b = !tile.buffer<32x32xf16>
!t = tensor<32x32xf16>
tile.kernel @ring(%a: !view, %b: !view {tile.facts = #tile.facts<noalias>}, %c: !view {tile.facts = #tile.facts<noalias>}, %f: i1, %k: index) attributes {tile.roles = [#tile.role<"load", warps = 1>, #tile.role<"use", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  scf.for %i = %c0 to %k step %c32 {
    %x = tile.load %a[%c0, %i] {atom = #nvptx.tma, buffer = !b, stage = 0, role = "load", ring = "r"} : !view -> !t
    tile.store %x, %b[%c0, %i] {stage = 1, role = "use"} : !t, !view
    scf.if %f {
      // expected-error@+1 {{expected uses of one ring, one of which stands in a condition or a loop of the trip, to have one stage and the order of the source; loads of another ring are free of these}}
      %y = tile.load %a[%c32, %i] {atom = #nvptx.tma, buffer = !b, role = "load", ring = "r"} : !view -> !t
      tile.store %y, %c[%c32, %i] {role = "use"} : !t, !view
    } {tile.role = "use", tile.stage = 0}
  } {tile.depth = 2}
  tile.return
}

// -----

!view = !tile.view<?x?xf16>
!tile_ = !tile.buffer<32x32xf16, #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[1,0],[2,8],[4,16],[8,0],[16,0]]>>
#roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>]
tile.kernel @unused(%a: !view) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %x = tile.load %a[%c0, %c0] {atom = #nvptx.tma, buffer = !tile_, role = "load"} : !view -> tensor<32x32xf16>
  // expected-error@+1 {{expected a use, since 'in_flight' is decided}}
  %d = tile.dot %x, %x, %zero {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, role = "mma", in_flight = 0} : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
  tile.return
}

// -----

!view = !tile.view<?x?xf16>
!tile_ = !tile.buffer<32x32xf16, #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[1,0],[2,8],[4,16],[8,0],[16,0]]>>
#roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>]
tile.kernel @between(%a: !view, %k: index) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %x = tile.load %a[%c0, %c0] {atom = #nvptx.tma, buffer = !tile_, role = "load"} : !view -> tensor<32x32xf16>
  %d = tile.dot %x, %x, %zero {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, role = "mma", in_flight = 0} : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
  // expected-error@+1 {{expected no dots in flight in what stands between a dot in flight and the first use of its result}}
  %e = scf.for %i = %c0 to %k step %c32 iter_args(%s = %zero) -> tensor<32x32xf32> {
    %f = tile.dot %x, %x, %s {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, role = "mma", in_flight = 0} : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
    scf.yield %f : tensor<32x32xf32>
  }
  %g = arith.addf %d, %e : tensor<32x32xf32>
  %t = arith.truncf %g : tensor<32x32xf32> to tensor<32x32xf16>
  tile.store %t, %a[%c0, %c32] {role = "mma"} : tensor<32x32xf16>, !view
  tile.return
}

// -----

// Two arguments may be of one memory.
!view = !tile.view<?xf32>
!t = tensor<128xf32>
tile.kernel @arguments(%a: !view, %b: !view, %n: index) attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  scf.for %i = %c0 to %n step %c128 {
    // expected-note@+1 {{this op does; 'noalias' among the facts of an argument says that no other reaches its memory}}
    %t = tile.load %a[%i] {stage = 0, role = "all"} : !view -> !t
    // expected-error@+1 {{expected a stage and an order that leave it behind what may access the same memory before it, and in front of that in the next iteration}}
    tile.store %t, %b[%i] {stage = 1, role = "all"} : !t, !view
  }
  tile.return
}

// -----

// What says whether an scf.while goes on is known before the next trip begins.
!view = !tile.view<?xf32>
!t = tensor<128xf32>
tile.kernel @condition(%a: !view, %b: !view {tile.facts = #tile.facts<noalias>}, %n: index) attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %end = scf.while (%i = %c0) : (index) -> index {
    // expected-error@+1 {{expected stage 0, since it says whether the scf.while goes on before the next trip begins, got 1}}
    %goes = arith.cmpi slt, %i, %n : index
    scf.condition(%goes) %i : index
  } do {
  ^bb0(%i: index):
    %t = tile.load %a[%i] {stage = 0, role = "all"} : !view -> !t
    tile.store %t, %b[%i] {stage = 1, role = "all"} : !t, !view
    // expected-note@+1 {{it follows from this op of stage 1}}
    %next = arith.addi %i, %c128 {tile.stage = 1, tile.role = "all"} : index
    scf.yield %next : index
  }
  tile.return
}
