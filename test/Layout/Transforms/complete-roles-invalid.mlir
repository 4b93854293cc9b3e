// Ops whose role nothing tells, or several things do.
// RUN: tile-opt %s --tile-complete-roles --split-input-file --verify-diagnostics

!view = !tile.view<?xf32>
tile.kernel @makers(%a: !view) attributes {tile.roles = [#tile.role<"x", warps = 1>, #tile.role<"y", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0] {role = "x"} : !view -> tensor<64xf32>
  %y = tile.load %a[%c0] {role = "y"} : !view -> tensor<64xf32>
  %s = arith.addf %x, %y : tensor<64xf32>
  // expected-error@+1 {{expected 'role' to be decided, since roles "x" and "y" make its operands}}
  tile.store %s, %a[%c0] : tensor<64xf32>, !view
  tile.return
}

// -----

!view = !tile.view<?xf32>
tile.kernel @users(%a: !view) attributes {tile.roles = [#tile.role<"x", warps = 1>, #tile.role<"y", warps = 4>]} {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{expected 'role' to be decided, since roles "x" and "y" use its results}}
  %x = tile.load %a[%c0] : !view -> tensor<64xf32>
  tile.store %x, %a[%c0] {role = "x"} : tensor<64xf32>, !view
  tile.store %x, %a[%c0] {role = "y"} : tensor<64xf32>, !view
  tile.return
}

// -----

!view = !tile.view<?xf32>
tile.kernel @nobody(%a: !view) attributes {tile.roles = [#tile.role<"x", warps = 1>, #tile.role<"y", warps = 4>]} {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{expected 'role' to be decided, since no role makes its operands or uses its results}}
  %x = tile.load %a[%c0] : !view -> tensor<64xf32>
  tile.store %x, %a[%c0] : tensor<64xf32>, !view
  tile.return
}

// -----

!view = !tile.view<?xf32>
tile.kernel @unknown(%a: !view) attributes {tile.roles = [#tile.role<"x", warps = 1>]} {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0] : !view -> tensor<64xf32>
  // expected-error@+1 {{expected one of the kernel's roles, got "z"}}
  %y = arith.negf %x {tile.role = "z"} : tensor<64xf32>
  tile.store %y, %a[%c0] : tensor<64xf32>, !view
  tile.return
}

// -----

!view = !tile.view<?xf32>
// expected-error@+1 {{expected something for each role to do, got nothing for "idle"}}
tile.kernel @idle(%a: !view) attributes {tile.roles = [#tile.role<"x", warps = 1>, #tile.role<"idle", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0] {role = "x"} : !view -> tensor<64xf32>
  tile.store %x, %a[%c0] : tensor<64xf32>, !view
  tile.return
}

// -----

// No channel carries from trip to trip what another role makes.
!view = !tile.view<?xf32>
tile.kernel @carried(%a: !view, %n: index) attributes {tile.roles = [#tile.role<"x", warps = 1>, #tile.role<"y", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  // expected-error@+1 {{expected 'tile.role' to be a role that makes what the loop carries, "y", got "x"}}
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> tensor<64xf32> {
    %y = tile.load %a[%i] {role = "y"} : !view -> tensor<64xf32>
    %more = arith.addf %s, %y {tile.role = "y"} : tensor<64xf32>
    scf.yield %more : tensor<64xf32>
  } {tile.role = "x"}
  tile.store %sum, %a[%c0] {role = "y"} : tensor<64xf32>, !view
  tile.return
}

// -----

!view = !tile.view<?xf32>
tile.kernel @placed(%a: !view, %n: index) attributes {tile.roles = [#tile.role<"x", warps = 1>, #tile.role<"y", warps = 1>]} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  // expected-error@+1 {{expected to stand in a loop, since 'tile.stage' is decided}}
  scf.for %i = %c0 to %n step %c64 {
    %t = tile.load %a[%i] {role = "x"} : !view -> tensor<64xf32>
    tile.store %t, %a[%i] {role = "x"} : tensor<64xf32>, !view
    %u = tile.load %a[%c64] {role = "y"} : !view -> tensor<64xf32>
    tile.store %u, %a[%c64] {role = "y"} : tensor<64xf32>, !view
  } {tile.stage = 0 : i64}
  tile.return
}
