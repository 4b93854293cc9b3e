// Loads that the programs of a cluster would not make alike.
// RUN: tile-opt %s --tile-check-schedule -split-input-file -verify-diagnostics

// Tiles that lie at the program's own place, computed through a loop.
!view = !tile.view<?x?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @tile(%a: !view, %n: index) attributes {tile.cluster = array<i64: 2, 1, 1>,
    tile.roles = [#tile.role<"load", warps = 1>, #tile.role<"use", warps = 1>]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %x = tile.program_id x
  %last = scf.for %k = %c0 to %n step %c32 iter_args(%at = %c0) -> index {
    // expected-error@+1 {{expected the same tile for all programs of a cluster along ["x"], since 'multicast' is decided, got an offset along dimension 0 that may differ from program to program}}
    %t = tile.load %a[%at, %k] {atom = #nvptx.tma, buffer = !tile.buffer<32x32xf32>, role = "load",
      multicast = ["x"]} : !view -> tensor<32x32xf32>
    tile.store %t, %a[%k, %c0] {role = "use"} : tensor<32x32xf32>, !view
    %next = arith.addi %at, %x : index
    scf.yield %next : index
  } {tile.depth = 2 : i64}
  tile.return
}
}

// -----

// A place that memory says, which the kernel writes: who reads it later may find another number.
!view = !tile.view<?x?xf32>
!table = !tile.view<?xi32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @table(%a: !view, %places: !table) attributes {tile.cluster = array<i64: 2, 1, 1>,
    tile.roles = [#tile.role<"load", warps = 1>, #tile.role<"use", warps = 1>]} {
  %c0 = arith.constant 0 : index
  %one = tile.load %places[%c0] {role = "load"} : !table -> tensor<1xi32>
  %flat = tile.reshape %one {role = "load"} : tensor<1xi32> -> tensor<i32>
  %number = tile.to_scalar %flat {role = "load"} : tensor<i32>
  %at = arith.index_cast %number : i32 to index
  // expected-error@+1 {{got an offset along dimension 0 that may differ from program to program}}
  %t = tile.load %a[%at, %c0] {atom = #nvptx.tma, buffer = !tile.buffer<32x32xf32>, role = "load",
    ring = "r", multicast = ["x"]} : !view -> tensor<32x32xf32>
  tile.store %t, %a[%c0, %c0] {role = "use"} : tensor<32x32xf32>, !view
  tile.store %one, %places[%c0] {role = "load"} : tensor<1xi32>, !table
  tile.return
}
}

// -----

// One of two loads of a ring stands under a condition that parts the programs.
!view = !tile.view<?x?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @condition(%a: !view) attributes {tile.cluster = array<i64: 2, 1, 1>,
    tile.roles = [#tile.role<"load", warps = 1>, #tile.role<"use", warps = 1>]} {
  %c0 = arith.constant 0 : index
  %x = tile.program_id x
  %t = tile.load %a[%c0, %c0] {atom = #nvptx.tma, buffer = !tile.buffer<32x32xf32>, role = "load",
    ring = "r", multicast = ["x"]} : !view -> tensor<32x32xf32>
  tile.store %t, %a[%c0, %c0] {role = "use"} : tensor<32x32xf32>, !view
  %is = arith.cmpi eq, %x, %c0 : index
  // expected-note@+1 {{the condition}}
  scf.if %is {
    // expected-error@+1 {{expected programs that share the ring's tiles out to fill it alike, since 'multicast' is decided, got a condition that may differ from program to program}}
    %u = tile.load %a[%c0, %c0] {atom = #nvptx.tma, buffer = !tile.buffer<32x32xf32>, role = "load",
      ring = "r"} : !view -> tensor<32x32xf32>
    tile.store %u, %a[%c0, %c0] {role = "use"} : tensor<32x32xf32>, !view
  }
  tile.return
}
}

// -----

// Tiles that are the same along y are shared along y, whatever lies along x.
!view = !tile.view<?x?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @fits(%a: !view) attributes {tile.cluster = array<i64: 2, 2, 1>,
    tile.roles = [#tile.role<"load", warps = 1>, #tile.role<"use", warps = 1>]} {
  %c0 = arith.constant 0 : index
  %x = tile.program_id x
  %t = tile.load %a[%x, %c0] {atom = #nvptx.tma, buffer = !tile.buffer<32x32xf32>, role = "load",
    ring = "r", multicast = ["y"]} : !view -> tensor<32x32xf32>
  tile.store %t, %a[%c0, %c0] {role = "use"} : tensor<32x32xf32>, !view
  tile.return
}
}

// -----

// The kernel writes by an argument that may be of the same memory as the table.
!view = !tile.view<?x?xf32>
!table = !tile.view<?xi32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @alias(%a: !view, %places: !table, %same: !table) attributes {tile.cluster = array<i64: 2, 1, 1>,
    tile.roles = [#tile.role<"load", warps = 1>, #tile.role<"use", warps = 1>]} {
  %c0 = arith.constant 0 : index
  %one = tile.load %places[%c0] {role = "load"} : !table -> tensor<1xi32>
  %flat = tile.reshape %one {role = "load"} : tensor<1xi32> -> tensor<i32>
  %number = tile.to_scalar %flat {role = "load"} : tensor<i32>
  %at = arith.index_cast %number : i32 to index
  // expected-error@+1 {{got an offset along dimension 0 that may differ from program to program}}
  %t = tile.load %a[%at, %c0] {atom = #nvptx.tma, buffer = !tile.buffer<32x32xf32>, role = "load",
    ring = "r", multicast = ["x"]} : !view -> tensor<32x32xf32>
  tile.store %t, %a[%c0, %c0] {role = "use"} : tensor<32x32xf32>, !view
  tile.store %one, %same[%c0] {role = "load"} : tensor<1xi32>, !table
  tile.return
}
}
