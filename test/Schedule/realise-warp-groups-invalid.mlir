// Programs that cannot be sliced by role.
// RUN: tile-opt %s --tile-realise-warp-groups -split-input-file -verify-diagnostics

#roles = [#tile.role<"load", warps = 1>, #tile.role<"add", warps = 4>]
tile.kernel @none(%a: !tile.view<?xf32>, %n: index) attributes {tile.roles = #roles} {
  // expected-error@+1 {{expected 'role' to be decided}}
  %t = tile.load %a[%n] : !tile.view<?xf32> -> tensor<32xf32>
  tile.store %t, %a[%n] {role = "add"} : tensor<32xf32>, !tile.view<?xf32>
  tile.return
}

// -----

#roles = [#tile.role<"load", warps = 1>, #tile.role<"add", warps = 4>]
tile.kernel @unknown(%a: !tile.view<?xf32>, %n: index) attributes {tile.roles = #roles} {
  // expected-error@+1 {{expected one of the kernel's roles, got "sub"}}
  %t = tile.load %a[%n] {role = "sub"} : !tile.view<?xf32> -> tensor<32xf32>
  tile.store %t, %a[%n] {role = "add"} : tensor<32xf32>, !tile.view<?xf32>
  tile.return
}

// -----

#roles = [#tile.role<"load", warps = 1>, #tile.role<"add", warps = 4>]
tile.kernel @nameless(%n: !tile.view<?xi32>) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  // expected-error@+1 {{expected one of the kernel's roles, got ""}}
  %old = tile.atomic_rmw addi %n[%c0], %one {role = ""} : !tile.view<?xi32>, [index], i32
  tile.return
}

// -----

#roles = [#tile.role<"load", warps = 1>, #tile.role<"add", warps = 4>]
tile.kernel @crosses(%a: !tile.view<?xf32>, %n: index) attributes {tile.roles = #roles} {
  // expected-error@+1 {{expected a result that role "load" alone uses, since no channel carries it; role "add" uses it too}}
  %t = tile.load %a[%n] {role = "load"} : !tile.view<?xf32> -> tensor<32xf32>
  tile.store %t, %a[%n] {role = "add"} : tensor<32xf32>, !tile.view<?xf32>
  tile.return
}

// -----

// expected-error@+1 {{expected tile.warps to be that of all roles, 4, got 8}}
tile.kernel @warps() attributes {tile.roles = [#tile.role<"all", warps = 4>], tile.warps = 8 : i64} {
  tile.return
}

// -----

// Each role might find another number.
tile.kernel @changed(%n: !tile.view<?xi32>, %b: !tile.view<?xi32>) attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{expected 'role' to be decided}}
  %t = tile.load %n[%c0] : !tile.view<?xi32> -> tensor<1xi32>
  tile.store %t, %n[%c0] {role = "all"} : tensor<1xi32>, !tile.view<?xi32>
  tile.return
}
