// Loops whose decisions are missing or contradict one another.
// RUN: tile-opt %s --tile-realise-rings -split-input-file -verify-diagnostics

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
    // expected-error@+1 {{expected 'stage' to be decided}}
    %x = tile.load %a[%c0, %i] {atom = #nvptx.cp_async<16>, buffer = !tile_, role = "load"} : !view -> tensor<32x32xf16>
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
    // expected-error@+1 {{expected loads with 'buffer' in a loop with 'tile.depth'}}
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%s = %zero) -> tensor<32x32xf32> {
    %x = tile.load %a[%c0, %i] {atom = #nvptx.cp_async<16>, stage = 0, role = "load"} : !view -> tensor<32x32xf16>
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
    %x = tile.load %a[%c0, %i] {atom = #nvptx.cp_async<16>, buffer = !tile_, stage = 0, role = "load"} : !view -> tensor<32x32xf16>
    // expected-error@+1 {{expected 'stage' to be decided}}
    %d = tile.dot %x, %x, %s {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, role = "mma", in_flight = 0}
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
!tile_ = !tile.buffer<32x32xf16>
tile.kernel @k(%a: !view, %k: index, %p: f16) attributes {tile.roles = [#tile.role<"load", warps = 1>, #tile.role<"mma", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%s = %zero) -> tensor<32x32xf32> {
    %x = tile.load %a[%c0, %i] {atom = #nvptx.cp_async<16>, buffer = !tile_, stage = 0, role = "load"} : !view -> tensor<32x32xf16>
    // expected-error@+1 {{expected in_flight below the depth of the loop, 2, got 2}}
    %d = tile.dot %x, %x, %s {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, stage = 0, role = "mma", in_flight = 2}
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
    // expected-error@+1 {{expected in_flight of at most 0, the dots of its role that start before its result is used, got 1}}
    %d = tile.dot %x, %x, %zero {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, stage = 0, role = "mma", in_flight = 1}
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
    // expected-error@+1 {{expected stage 0, since how far role "load" runs ahead of role "mma" is the ring's depth alone, got 2}}
    %d = tile.dot %x, %x, %s {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, stage = 2, role = "mma", in_flight = 0}
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
    // expected-error@+1 {{expected stage 0, since the stages of role "load" begin with its loads, got 3}}
    %x = tile.load %a[%c0, %i] {atom = #nvptx.cp_async<16>, buffer = !tile_, stage = 3, role = "load"} : !view -> tensor<32x32xf16>
    %d = tile.dot %x, %x, %s {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, stage = 0, role = "mma", in_flight = 0}
       : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
    scf.yield %d : tensor<32x32xf32>
  } {tile.depth = 2}
  tile.return
}

// -----

!view = !tile.view<?x?xf16>
!tile_ = !tile.buffer<32x32xf16>
tile.kernel @no_lead(%a: !view, %k: index) attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%s = %zero) -> tensor<32x32xf32> {
    %x = tile.load %a[%c0, %i] {atom = #nvptx.cp_async<16>, buffer = !tile_, stage = 0, role = "all"} : !view -> tensor<32x32xf16>
    // expected-error@+1 {{expected a stage from 1 to 1, as the depth of the loop allows, got 0}}
    %d = tile.dot %x, %x, %s {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, stage = 0, role = "all"}
       : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
    scf.yield %d : tensor<32x32xf32>
  } {tile.depth = 2}
  tile.return
}

// -----

!view = !tile.view<?x?xf16>
!tile_ = !tile.buffer<32x32xf16>
tile.kernel @in_flight(%a: !view, %k: index) attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%s = %zero) -> tensor<32x32xf32> {
    %x = tile.load %a[%c0, %i] {atom = #nvptx.cp_async<16>, buffer = !tile_, stage = 0, role = "all"} : !view -> tensor<32x32xf16>
    // expected-error@+1 {{expected no dot in flight in a loop whose role fills its own ring}}
    %d = tile.dot %x, %x, %s {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, stage = 1, role = "all", in_flight = 1}
       : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
    scf.yield %d : tensor<32x32xf32>
  } {tile.depth = 2}
  tile.return
}

// -----

!view = !tile.view<?x?xf16>
!tile_ = !tile.buffer<32x32xf16>
tile.kernel @k(%a: !view, %k: index) attributes {tile.roles = [#tile.role<"load", warps = 1>, #tile.role<"mma", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%s = %zero) -> tensor<32x32xf32> {
    %x = tile.load %a[%c0, %i] {atom = #nvptx.cp_async<16>, buffer = !tile_, stage = 0, role = "load"} : !view -> tensor<32x32xf16>
    %d = tile.dot %x, %x, %s {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, stage = 0, role = "mma", in_flight = 0}
       : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
    // expected-error@+1 {{expected stage 0, that of the other ops of role "mma" in its loop, got 1}}
    %e = arith.addf %d, %d {tile.stage = 1, tile.role = "mma"} : tensor<32x32xf32>
    scf.yield %e : tensor<32x32xf32>
  } {tile.depth = 2}
  tile.return
}

// -----

!view = !tile.view<?x?xf16>
!tile_ = !tile.buffer<32x32xf16>
tile.kernel @k(%a: !view, %k: index) attributes {tile.roles = [#tile.role<"load", warps = 1>, #tile.role<"mma", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%s = %zero) -> tensor<32x32xf32> {
    // expected-error@+1 {{expected order 0, its place among the ops of its role and stage that have one, got 1}}
    %x = tile.load %a[%c0, %i] {atom = #nvptx.cp_async<16>, buffer = !tile_, stage = 0, order = 1, role = "load"} : !view -> tensor<32x32xf16>
    %d = tile.dot %x, %x, %s {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, stage = 0, role = "mma", in_flight = 0}
       : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
    %e = arith.addf %d, %d : tensor<32x32xf32>
    scf.yield %e : tensor<32x32xf32>
  } {tile.depth = 2}
  tile.return
}

// -----

tile.kernel @k(%a: f32) attributes {tile.roles = [#tile.role<"mma", warps = 4>]} {
  // expected-error@+1 {{expected to stand in a loop with 'tile.depth', since 'tile.stage' is decided}}
  %e = arith.addf %a, %a {tile.stage = 0, tile.role = "mma"} : f32
  tile.return
}

// -----

// expected-error@+1 {{expected loads with 'buffer' that role "mma" uses, since it has a skew}}
tile.kernel @k(%a: f32) attributes {tile.roles = [#tile.role<"mma", warps = 4, copies = 2, skew = 1>]} {
  %e = arith.addf %a, %a {tile.role = "mma"} : f32
  tile.return
}
