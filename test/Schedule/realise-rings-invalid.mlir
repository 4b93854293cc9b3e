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
    %x = tile.load %a[%c0, %i] {atom = "copy", buffer = !tile_, stage = 0, role = "load"} : !view -> tensor<32x32xf16>
    %d = tile.dot %x, %x, %s {atom = "mma", stage = 1, role = "mma", in_flight = 0}
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
    %x = tile.load %a[%c0, %i] {atom = "copy", buffer = !tile_, role = "load"} : !view -> tensor<32x32xf16>
    %d = tile.dot %x, %x, %s {atom = "mma", stage = 1, role = "mma", in_flight = 0}
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
    %x = tile.load %a[%c0, %i] {atom = "copy", buffer = !tile_, stage = 0} : !view -> tensor<32x32xf16>
    %d = tile.dot %x, %x, %s {atom = "mma", stage = 1, role = "mma", in_flight = 0}
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
    %d = tile.dot %x, %x, %s {atom = "mma", stage = 1, role = "mma", in_flight = 0}
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
    %x = tile.load %a[%c0, %i] {atom = "copy", buffer = !tile_, stage = 0, role = "store"} : !view -> tensor<32x32xf16>
    %d = tile.dot %x, %x, %s {atom = "mma", stage = 1, role = "mma", in_flight = 0}
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
    // expected-error@+1 {{expected no padding value, since '"copy"' copies zeros there}}
    %x = tile.load %a[%c0, %i] pad(%p : f16) {atom = "copy", buffer = !tile_, stage = 0, role = "load"} : !view -> tensor<32x32xf16>
    %d = tile.dot %x, %x, %s {atom = "mma", stage = 1, role = "mma", in_flight = 0}
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
    %x = tile.load %a[%c0, %i] {atom = "copy", stage = 0, role = "load"} : !view -> tensor<32x32xf16>
    %d = tile.dot %x, %x, %s {atom = "mma", stage = 1, role = "mma", in_flight = 0}
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
    %x = tile.load %a[%c0, %i] {atom = "copy", buffer = !tile_, stage = 0, role = "load"} : !view -> tensor<32x32xf16>
    // expected-error@+1 {{expected 'stage' to be decided}}
    %d = tile.dot %x, %x, %s {atom = "mma", role = "mma", in_flight = 0}
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
    %x = tile.load %a[%c0, %i] {atom = "copy", buffer = !tile_, stage = 0, role = "load"} : !view -> tensor<32x32xf16>
    // expected-error@+1 {{expected 'role' to be decided}}
    %d = tile.dot %x, %x, %s {atom = "mma", stage = 1, in_flight = 0}
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
    %x = tile.load %a[%c0, %i] {atom = "copy", buffer = !tile_, stage = 0, role = "load"} : !view -> tensor<32x32xf16>
    // expected-error@+1 {{expected 'atom' to be decided}}
    %d = tile.dot %x, %x, %s {stage = 1, role = "mma", in_flight = 0}
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
    %x = tile.load %a[%c0, %i] {atom = "copy", buffer = !tile_, stage = 0, role = "load"} : !view -> tensor<32x32xf16>
    // expected-error@+1 {{expected in_flight below the depth of the loop, 2, got 2}}
    %d = tile.dot %x, %x, %s {atom = "mma", stage = 1, role = "mma", in_flight = 2}
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
    %x = tile.load %a[%c0, %i] {atom = "copy", buffer = !tile_, stage = 0, role = "load"} : !view -> tensor<32x32xf16>
    // expected-error@+1 {{expected in_flight of at most 0, the dots of its role that start before its result is used, got 1}}
    %d = tile.dot %x, %x, %zero {atom = "mma", stage = 1, role = "mma", in_flight = 1}
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
    %x = tile.load %a[%c0, %i] {atom = "copy", buffer = !tile_, stage = 0, role = "load"} : !view -> tensor<32x32xf16>
    // expected-error@+1 {{expected a stage from 0 to 1, as the depth of the loop allows, got 2}}
    %d = tile.dot %x, %x, %s {atom = "mma", stage = 2, role = "mma", in_flight = 0}
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
    %x = tile.load %a[%c0, %i] {atom = "copy", buffer = !tile_, stage = 3, role = "load"} : !view -> tensor<32x32xf16>
    // expected-error@+1 {{expected a stage from 3 to 4, as the depth of the loop allows, got 1}}
    %d = tile.dot %x, %x, %s {atom = "mma", stage = 1, role = "mma", in_flight = 0}
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
    %x = tile.load %a[%c0, %i] {atom = "copy", buffer = !tile_, stage = 0, role = "all"} : !view -> tensor<32x32xf16>
    // expected-error@+1 {{expected a stage from 1 to 1, as the depth of the loop allows, got 0}}
    %d = tile.dot %x, %x, %s {atom = "mma", stage = 0, role = "all"}
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
    %x = tile.load %a[%c0, %i] {atom = "copy", buffer = !tile_, stage = 0, role = "all"} : !view -> tensor<32x32xf16>
    // expected-error@+1 {{expected no dot in flight in a loop whose role fills its own ring}}
    %d = tile.dot %x, %x, %s {atom = "mma", stage = 1, role = "all", in_flight = 1}
       : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
    scf.yield %d : tensor<32x32xf32>
  } {tile.depth = 2}
  tile.return
}
