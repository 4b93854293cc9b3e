// How many trips loops surely have, as the kernel's grid and constants tell.
// RUN: tile-opt %s --tile-count-trips | FileCheck %s

!view = !tile.view<?x?xf32>

// A persistent kernel runs the tiles that its grid has: so n is at least 1.
// CHECK-LABEL: @by_grid
// CHECK: scf.for
// CHECK: } {tile.least_trips = 1 : i64}
// CHECK: scf.for
// CHECK: } {tile.least_trips = 1 : i64}
// Up to m, of which nothing is known, and up to a remainder.
// CHECK: scf.for
// CHECK-NOT: least_trips
// CHECK: scf.for
// CHECK-NOT: least_trips
// CHECK: tile.return
tile.kernel @by_grid(%a: !view, %n: i64, %m: index)
    attributes {tile.roles = [#tile.role<"all", warps = 4>],
                tile.persistent = #tile.persistent<programs = 8>} grid {
  %c128 = arith.constant 128 : i64
  %c127 = arith.constant 127 : index
  %tiles = arith.ceildivsi %n, %c128 : i64
  %x = arith.index_cast %tiles : i64 to index
  %y = tile.dim %a, 0 : !view
  tile.grid %x, %y
} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %end = arith.index_cast %n : i64 to index
  scf.for %i = %c0 to %end step %c128 {
  }
  // Causal: keys up to the tile's last row.
  %tile = tile.program_id x
  %next = arith.addi %tile, %c1 : index
  %after = arith.muli %next, %c128 : index
  %reach = arith.minsi %end, %after : index
  scf.for %i = %c0 to %reach step %c128 {
  }
  scf.for %i = %c0 to %m step %c128 {
  }
  %rest = arith.remsi %end, %c128 : index
  scf.for %i = %c0 to %rest step %c128 {
  }
  tile.return
}

// n of a grid of (n + 127) / 128 programs; of (n - 200) / 64 it is at least 264, which are 5 trips of
// 64 from 0 and 2 from 150.
// CHECK-LABEL: @by_arithmetic
// CHECK: } {tile.least_trips = 1 : i64}
// CHECK: } {tile.least_trips = 5 : i64}
// CHECK: } {tile.least_trips = 2 : i64}
tile.kernel @by_arithmetic(%a: !view, %n: index, %m: index)
    attributes {tile.roles = [#tile.role<"all", warps = 4>],
                tile.persistent = #tile.persistent<programs = 8>} grid {
  %c64 = arith.constant 64 : index
  %c127 = arith.constant 127 : index
  %c128 = arith.constant 128 : index
  %c200 = arith.constant 200 : index
  %up = arith.addi %n, %c127 : index
  %x = arith.divsi %up, %c128 : index
  %down = arith.subi %m, %c200 : index
  %y = arith.divsi %down, %c64 : index
  tile.grid %x, %y
} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c150 = arith.constant 150 : index
  scf.for %i = %c0 to %n step %c64 {
  }
  scf.for %i = %c0 to %m step %c64 {
  }
  scf.for %i = %c150 to %m step %c64 {
  }
  tile.return
}

// Of 32 bits a quotient without signs may be of a negative number; nothing is known either without
// a grid, of more numbers than one, and of loops whose counter has no sign.
// CHECK-LABEL: @unknown
// CHECK-NOT: least_trips
// CHECK-LABEL: @constant
tile.kernel @unknown(%a: !view, %n: i32, %p: index, %q: index)
    attributes {tile.roles = [#tile.role<"all", warps = 4>],
                tile.persistent = #tile.persistent<programs = 8>} grid {
  %c128 = arith.constant 128 : i32
  %tiles = arith.ceildivui %n, %c128 : i32
  %x = arith.index_cast %tiles : i32 to index
  %y = arith.muli %p, %q : index
  tile.grid %x, %y
} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  %end = arith.index_cast %n : i32 to index
  scf.for %i = %c0 to %end step %c128 {
  }
  scf.for %i = %c0 to %p step %c128 {
  }
  scf.for unsigned %i = %c0 to %c8 step %c128 {
  }
  tile.return
}

// A kernel without roles has no loops that overlap.
// CHECK: } {tile.least_trips = 2 : i64}
// CHECK-LABEL: @without_roles
// CHECK-NOT: least_trips
tile.kernel @constant(%a: !view) attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  scf.for %i = %c0 to %c9 step %c8 {
  }
  tile.return
}
tile.kernel @without_roles(%a: !view) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c8 {
  }
  tile.return
}

// A kernel that is not persistent may be launched on a grid of the caller's, where n is 0.
// CHECK-LABEL: @launched
// CHECK-NOT: least_trips
tile.kernel @launched(%n: index) attributes {tile.roles = [#tile.role<"all", warps = 4>]} grid {
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %n step %c8 {
  }
  tile.return
}
