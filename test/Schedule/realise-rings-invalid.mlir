// Loops whose decisions are missing or contradict one another.
// RUN: tile-opt %s --tile-realise-rings --tile-decide-hand-overs --tile-realise-hand-overs -split-input-file -verify-diagnostics

!view = !tile.view<?x?xf16>
!tile_ = !tile.buffer<32x32xf16>
// expected-error@+1 {{expected 'tile.roles' to be decided}}
tile.kernel @k(%a: !view, %k: index, %p: f16) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%s = %zero) -> tensor<32x32xf32> {
    %x = tile.load %a[%c0, %i] {atom = #nvptx.cp_async<16>, buffer = !tile_, stage = 0, role = "load"} : !view -> tensor<32x32xf16>
    %d = tile.dot %x, %x, %s {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, stage = 0, role = "mma", in_flight = 0}
       : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
    scf.yield %d : tensor<32x32xf32>
  } {tile.depth = 2}
  tile.return
}

// -----

!view = !tile.view<?x?xf16>
!tile_ = !tile.buffer<32x32xf16>
tile.kernel @k(%a: !view, %k: index, %p: f16) attributes {tile.roles = [#tile.role<"load", warps = 1>, #tile.role<"mma", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%s = %zero) -> tensor<32x32xf32> {
    // expected-error@+1 {{expected 'role' to be decided}}
    %x = tile.load %a[%c0, %i] {atom = #nvptx.cp_async<16>, buffer = !tile_, stage = 0} : !view -> tensor<32x32xf16>
    %d = tile.dot %x, %x, %s {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, stage = 0, role = "mma", in_flight = 0}
       : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
    scf.yield %d : tensor<32x32xf32>
  } {tile.depth = 2}
  tile.return
}

// -----

!view = !tile.view<?x?xf16>
!tile_ = !tile.buffer<32x32xf16>
tile.kernel @k(%a: !view, %k: index, %p: f16) attributes {tile.roles = [#tile.role<"load", warps = 1>, #tile.role<"mma", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%s = %zero) -> tensor<32x32xf32> {
    // expected-error@+1 {{expected 'atom' to be decided}}
    %x = tile.load %a[%c0, %i] {buffer = !tile_, stage = 0, role = "load"} : !view -> tensor<32x32xf16>
    %d = tile.dot %x, %x, %s {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, stage = 0, role = "mma", in_flight = 0}
       : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
    scf.yield %d : tensor<32x32xf32>
  } {tile.depth = 2}
  tile.return
}

// -----

!view = !tile.view<?x?xf16>
!tile_ = !tile.buffer<32x32xf16>
tile.kernel @k(%a: !view, %k: index, %p: f16) attributes {tile.roles = [#tile.role<"load", warps = 1>, #tile.role<"mma", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%s = %zero) -> tensor<32x32xf32> {
    // expected-error@+1 {{expected one of the kernel's roles, got "store"}}
    %x = tile.load %a[%c0, %i] {atom = #nvptx.cp_async<16>, buffer = !tile_, stage = 0, role = "store"} : !view -> tensor<32x32xf16>
    %d = tile.dot %x, %x, %s {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, stage = 0, role = "mma", in_flight = 0}
       : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
    scf.yield %d : tensor<32x32xf32>
  } {tile.depth = 2}
  tile.return
}

// -----

!view = !tile.view<?x?xf16>
!tile_ = !tile.buffer<32x32xf16>
tile.kernel @k(%a: !view, %k: index, %p: f16) attributes {tile.roles = [#tile.role<"load", warps = 1>, #tile.role<"mma", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%s = %zero) -> tensor<32x32xf32> {
    // expected-error@+1 {{expected no padding value, since '#nvptx.cp_async<16>' copies zeros there}}
    %x = tile.load %a[%c0, %i] pad(%p : f16) {atom = #nvptx.cp_async<16>, buffer = !tile_, stage = 0, role = "load"} : !view -> tensor<32x32xf16>
    %d = tile.dot %x, %x, %s {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, stage = 0, role = "mma", in_flight = 0}
       : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
    scf.yield %d : tensor<32x32xf32>
  } {tile.depth = 2}
  tile.return
}

// -----

!view = !tile.view<?x?xf16>
!tile_ = !tile.buffer<32x32xf16>
tile.kernel @k(%a: !view, %k: index, %p: f16) attributes {tile.roles = [#tile.role<"load", warps = 1>, #tile.role<"mma", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
    // expected-error@+1 {{expected loads with 'atom' or 'buffer' in a loop with 'tile.depth', or tensors that one role makes and another uses}}
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%s = %zero) -> tensor<32x32xf32> {
    %x = tile.load %a[%c0, %i] {stage = 0, role = "mma"} : !view -> tensor<32x32xf16>
    %y = arith.extf %x {tile.role = "mma"} : tensor<32x32xf16> to tensor<32x32xf32>
    %d = arith.addf %s, %y {tile.role = "mma"} : tensor<32x32xf32>
    scf.yield %d : tensor<32x32xf32>
  } {tile.depth = 2}
  tile.return
}

// -----

!view = !tile.view<?x?xf16>
!tile_ = !tile.buffer<32x32xf16>
tile.kernel @lag(%a: !view, %k: index) attributes {tile.roles = [#tile.role<"all", warps = 4, copies = 4, skew = 1>]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%s = %zero) -> tensor<32x32xf32> {
    // expected-error@+1 {{expected the last copy of role "all" to lag by one barrier behind the first ('skew' by 'copies' - 1), since it fills the ring for itself, got 3}}
    %x = tile.load %a[%c0, %i] {atom = #nvptx.cp_async<16>, buffer = !tile_, role = "all"} : !view -> tensor<32x32xf16>
    %d = tile.dot %x, %x, %s {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, role = "all"}
       : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
    scf.yield %d : tensor<32x32xf32>
  } {tile.depth = 2}
  tile.return
}

// -----

!view = !tile.view<?x?xf16>
!tile_ = !tile.buffer<32x32xf16>
tile.kernel @k(%a: !view, %k: index, %p: f16) attributes {tile.roles = [#tile.role<"load", warps = 1>, #tile.role<"mma", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%s = %zero) -> tensor<32x32xf32> {
    %x = tile.load %a[%c0, %i] {atom = #nvptx.cp_async<16>, buffer = !tile_, stage = 0, role = "load"} : !view -> tensor<32x32xf16>
    // expected-error@+1 {{expected 'role' to be decided}}
    %d = tile.dot %x, %x, %s {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, stage = 0, in_flight = 0}
       : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
    scf.yield %d : tensor<32x32xf32>
  } {tile.depth = 2}
  tile.return
}

// -----

!view = !tile.view<?x?xf16>
!tile_ = !tile.buffer<32x32xf16>
tile.kernel @k(%a: !view, %k: index, %p: f16) attributes {tile.roles = [#tile.role<"load", warps = 1>, #tile.role<"mma", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%s = %zero) -> tensor<32x32xf32> {
    %x = tile.load %a[%c0, %i] {atom = #nvptx.cp_async<16>, buffer = !tile_, stage = 0, role = "load"} : !view -> tensor<32x32xf16>
    // expected-error@+1 {{expected 'atom' to be decided}}
    %d = tile.dot %x, %x, %s {stage = 0, role = "mma", in_flight = 0}
       : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
    scf.yield %d : tensor<32x32xf32>
  } {tile.depth = 2}
  tile.return
}

// -----

!view = !tile.view<?x?xf16>
!tile_ = !tile.buffer<32x32xf16, #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[1,0],[2,8],[4,16],[8,0],[16,0]]>>
tile.kernel @k(%a: !view, %k: index) attributes {tile.roles = [#tile.role<"load", warps = 1>, #tile.role<"mma", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%s = %zero) -> tensor<32x32xf32> {
    // expected-error@+1 {{expected an order from 0 to 0 that no other op of role "load" has in this loop, got 1}}
    %x = tile.load %a[%c0, %i] {atom = #nvptx.tma, buffer = !tile_, stage = 0, order = 1, role = "load"} : !view -> tensor<32x32xf16>
    %d = tile.dot %x, %x, %s {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, stage = 0, role = "mma", in_flight = 0}
       : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
    %e = arith.addf %d, %d : tensor<32x32xf32>
    scf.yield %e : tensor<32x32xf32>
  } {tile.depth = 2}
  tile.return
}

// -----

tile.kernel @k(%a: f32) attributes {tile.roles = [#tile.role<"mma", warps = 4>]} {
  // expected-error@+1 {{expected to stand in a loop, since 'tile.stage' is decided}}
  %e = arith.addf %a, %a {tile.stage = 0, tile.role = "mma"} : f32
  tile.return
}

// -----

// A conversion has the place of what it is for, of which the error is; what ends the loop is a tensor.
#row = #tile.layout<register = [], lane = [[1],[2],[4],[8],[16]]>
#turned = #tile.layout<register = [], lane = [[16],[8],[4],[2],[1]]>
tile.kernel @k(%a: f32) attributes {tile.roles = [#tile.role<"mma", warps = 1>]} {
  %t = tile.splat %a : tensor<32xf32, #row>
  %e = scf.while (%s = %t) : (tensor<32xf32, #row>) -> f32 {
    %r = tile.convert_layout %s {stage = 0, role = "mma"} : tensor<32xf32, #row> -> tensor<32xf32, #turned>
    // expected-error@+1 {{expected to stand in a loop whose trips are counted, or which numbers alone end, since 'tile.stage' is decided}}
    %u = math.exp %r {tile.stage = 0, tile.role = "mma"} : tensor<32xf32, #turned>
    %go = arith.cmpf olt, %a, %a : f32
    scf.condition(%go) %a : f32
  } do {
  ^bb0(%x: f32):
    scf.yield %t : tensor<32xf32, #row>
  }
  tile.return
}

// -----

// All that stands in a condition has the condition's stage.
tile.kernel @k(%a: f32, %n: index, %holds: i1) attributes {tile.roles = [#tile.role<"mma", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    // expected-note@+1 {{this is the condition}}
    scf.if %holds {
      scf.if %holds {
        // expected-error@+1 {{expected the condition that it stands in to have 'tile.stage', since all in it run at one place of a trip, got 'tile.stage'}}
        %e = arith.addf %a, %a {tile.stage = 1, tile.role = "mma"} : f32
      }
    }
  }
  tile.return
}

// -----

// expected-error@+1 {{expected loads with 'buffer' that role "mma" uses, since it has a skew}}
tile.kernel @k(%a: f32) attributes {tile.roles = [#tile.role<"mma", warps = 4, copies = 2, skew = 1>]} {
  %e = arith.addf %a, %a {tile.role = "mma"} : f32
  tile.return
}

// -----

!view = !tile.view<?x?xf16>
!tile_ = !tile.buffer<32x32xf16>
tile.kernel @together(%a: !view, %k: index) attributes {tile.roles = [#tile.role<"load", warps = 1>, #tile.role<"use", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  scf.for %i = %c0 to %k step %c32 {
    %x = tile.load %a[%c0, %i] {atom = #nvptx.tma, buffer = !tile_, stage = 0, role = "load", ring = "r"} : !view -> tensor<32x32xf16>
    // expected-error@+1 {{expected the stage of the loads that it is put together with, 0, got 1}}
    %y = tile.load %a[%c0, %i] {atom = #nvptx.tma, buffer = !tile_, stage = 1, role = "load", ring = "r"} : !view -> tensor<32x32xf16>
    tile.store %x, %a[%i, %c0] {stage = 0, role = "use"} : tensor<32x32xf16>, !view
    tile.store %y, %a[%i, %c32] {stage = 0, role = "use"} : tensor<32x32xf16>, !view
  } {tile.depth = 3}
  tile.return
}

// -----

!view = !tile.view<?x?xf16>
!tile_ = !tile.buffer<32x32xf16>
tile.kernel @apart(%a: !view, %k: index) attributes {tile.roles = [#tile.role<"load", warps = 1>, #tile.role<"use", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  scf.for %i = %c0 to %k step %c32 {
    %x = tile.load %a[%c0, %i] {atom = #nvptx.tma, buffer = !tile_, stage = 0, order = 0, role = "load", ring = "x"} : !view -> tensor<32x32xf16>
    // expected-error@+1 {{expected an order that follows those of the loads that it is put together with}}
    %y = tile.load %a[%c0, %i] {atom = #nvptx.tma, buffer = !tile_, stage = 0, order = 2, role = "load", ring = "x"} : !view -> tensor<32x32xf16>
    %z = tile.load %a[%c0, %i] {atom = #nvptx.tma, buffer = !tile_, stage = 0, order = 1, role = "load", ring = "z"} : !view -> tensor<32x32xf16>
    tile.store %x, %a[%i, %c0] {stage = 0, role = "use"} : tensor<32x32xf16>, !view
    tile.store %y, %a[%i, %c32] {stage = 0, role = "use"} : tensor<32x32xf16>, !view
    tile.store %z, %a[%i, %i] {stage = 0, role = "use"} : tensor<32x32xf16>, !view
  } {tile.depth = 3}
  tile.return
}

// -----

!view = !tile.view<?x?xf16>
!tile_ = !tile.buffer<32x32xf16>
!t = tensor<32x32xf16>
tile.kernel @most(%a: !view, %k: index) attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  scf.for %i = %c0 to %k step %c32 {
    %x = tile.load %a[%c0, %i] {stage = 0, role = "all"} : !view -> !t
    // expected-error@+1 {{expected a stage below 16, got 16}}
    tile.store %x, %a[%i, %c0] {stage = 16, role = "all"} : !t, !view
  }
  tile.return
}

// -----

!view = !tile.view<?x?xf16>
!tile_ = !tile.buffer<32x32xf16>
tile.kernel @written_by_engine(%a: !view, %k: index) attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"use", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  scf.for %i = %c0 to %k step %c32 {
    // expected-error@+1 {{expected no 'tile.write_stage', since '#nvptx.tma' writes the slot itself}}
    %x = tile.load %a[%c0, %i] {atom = #nvptx.tma, buffer = !tile_, stage = 0, tile.write_stage = 1 : i64, role = "load"} : !view -> tensor<32x32xf16>
    tile.store %x, %a[%i, %c0] {stage = 0, role = "use"} : tensor<32x32xf16>, !view
  }
  tile.return
}

// -----

!view = !tile.view<?x?xf16>
!tile_ = !tile.buffer<32x32xf16>
tile.kernel @written_first(%a: !view, %k: index) attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"use", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  scf.for %i = %c0 to %k step %c32 {
    // expected-error@+1 {{expected a 'tile.write_stage' from its stage on, 2, to 15, got 1}}
    %x = tile.load %a[%c0, %i] {atom = #tile.through_registers, buffer = !tile_, stage = 2, tile.write_stage = 1 : i64, role = "load"} : !view -> tensor<32x32xf16>
    tile.store %x, %a[%i, %c0] {stage = 0, role = "use"} : tensor<32x32xf16>, !view
  }
  tile.return
}

// -----

!view = !tile.view<?x?xf16>
!tile_ = !tile.buffer<32x32xf16>
tile.kernel @written_nowhere(%a: !view, %k: index) attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"use", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  // expected-error@+1 {{expected to stand in a loop, since 'tile.write_stage' is decided}}
  %x = tile.load %a[%c0, %c0] {atom = #tile.through_registers, buffer = !tile_, tile.write_stage = 1 : i64, role = "load"} : !view -> tensor<32x32xf16>
  tile.store %x, %a[%c32, %c0] {role = "use"} : tensor<32x32xf16>, !view
  tile.return
}

// -----

!view = !tile.view<?x?xf16>
!tile_ = !tile.buffer<32x32xf16>
tile.kernel @written_apart(%a: !view, %k: index) attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"use", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  scf.for %i = %c0 to %k step %c32 {
    %x = tile.load %a[%c0, %i] {atom = #tile.through_registers, buffer = !tile_, stage = 0, tile.write_stage = 1 : i64, role = "load"} : !view -> tensor<32x32xf16>
    // expected-error@+1 {{expected the 'tile.write_stage' of the loads that it is put together with, 1, got 0}}
    %y = tile.load %a[%c32, %i] {atom = #tile.through_registers, buffer = !tile_, stage = 0, tile.write_stage = 0 : i64, role = "load"} : !view -> tensor<32x32xf16>
    tile.store %x, %a[%i, %c0] {stage = 0, role = "use"} : tensor<32x32xf16>, !view
    tile.store %y, %a[%i, %c32] {stage = 0, role = "use"} : tensor<32x32xf16>, !view
  }
  tile.return
}
