// A grid of tiles becomes one of a few programs, with and without groups.
// RUN: tile-opt %s --tile-realise-persistence | FileCheck %s

// A launch makes as many programs as are wanted of the tiles that the grid has.
// CHECK: module attributes {tile.metadata = {even_programs = true, own_cluster = true, persistent_per_core = 1 : i64, programs = 8 : i64}}

// CHECK-LABEL: tile.kernel @grouped
// CHECK-NOT: tile.persistent
tile.kernel @grouped(%m: index, %n: index) attributes {
    tile.persistent = #tile.persistent<programs = 8, group = 4>} grid {
  // CHECK: %[[TILES:.*]] = arith.muli %m, %n : index
  // CHECK: tile.grid %[[TILES]]
  tile.grid %m, %n
} {
  // CHECK: %[[TILES:.*]] = arith.muli %m, %n : index
  // CHECK: %[[FIRST:.*]] = tile.program_id x
  // CHECK: %[[STEP:.*]] = tile.num_programs x
  // CHECK: scf.for %[[T:.*]] = %[[FIRST]] to %[[TILES]] step %[[STEP]] {
  // CHECK: %[[FOUR:.*]] = arith.constant 4 : index
  // CHECK: %[[IN:.*]] = arith.muli %n, %[[FOUR]] : index
  // CHECK: %[[GROUP:.*]] = arith.divui %[[T]], %[[IN]] : index
  // CHECK: %[[BASE:.*]] = arith.muli %[[GROUP]], %[[FOUR]] : index
  // CHECK: %[[LEFT:.*]] = arith.subi %m, %[[BASE]] : index
  // CHECK: %[[WIDTH:.*]] = arith.minui %[[LEFT]], %[[FOUR]] : index
  // CHECK: %[[REST:.*]] = arith.remui %[[T]], %[[IN]] : index
  // CHECK: %[[DX:.*]] = arith.remui %[[REST]], %[[WIDTH]] : index
  // CHECK: %[[X:.*]] = arith.addi %[[BASE]], %[[DX]] : index
  // CHECK: %[[Y:.*]] = arith.divui %[[REST]], %[[WIDTH]] : index
  // CHECK: %[[Z:.*]] = arith.constant 0 : index
  %x = tile.program_id x
  %y = tile.program_id y
  %z = tile.program_id z
  %w = tile.num_programs y
  // What is said of a program is said of the tile's.
  // CHECK: tile.print "tile" program [%[[X]], %[[Y]], %[[Z]]] (%[[X]], %[[Y]], %[[Z]], %n) :
  tile.print "tile" (%x, %y, %z, %w) : index, index, index, index
  tile.return
}

// CHECK-LABEL: tile.kernel @row
tile.kernel @row(%m: index, %ok: i1) attributes {tile.persistent = #tile.persistent<programs = 2>} grid {
  tile.grid %m
} {
  // CHECK: scf.for %[[T:.*]] = %{{.*}} to %m step
  %x = tile.program_id x
  // CHECK: %[[ZERO:.*]] = arith.constant 0 : index
  // CHECK: %[[LAST:.*]] = arith.constant 0 : index
  // CHECK: tile.print "tile" program [%[[T]], %[[ZERO]], %[[LAST]]] (%[[T]]) : index
  tile.print "tile" (%x) : index
  scf.if %ok {
    // CHECK: tile.assert %ok, "nested" program [%[[T]], %[[ZERO]], %[[LAST]]] : i1
    tile.assert %ok, "nested" : i1
    // What names a program is left.
    // CHECK: tile.print "another" program [%m, %m, %m]
    tile.print "another" program [%m, %m, %m]
  }
  tile.return
}

// What lies at one place along z is run through before the next.
// CHECK-LABEL: tile.kernel @deep
tile.kernel @deep(%m: index, %n: index, %l: index) attributes {
    tile.persistent = #tile.persistent<programs = 2, group = 4>} grid {
  // CHECK: %[[PLANE:.*]] = arith.muli %m, %n : index
  // CHECK: %[[TILES:.*]] = arith.muli %[[PLANE]], %l : index
  // CHECK: tile.grid %[[TILES]]
  tile.grid %m, %n, %l
} {
  // CHECK: scf.for %[[T:.*]] = %{{.*}} to %{{.*}} step
  // CHECK: %[[EACH:.*]] = arith.muli %m, %n : index
  // CHECK: %[[Z:.*]] = arith.divui %[[T]], %[[EACH]] : index
  // CHECK: %[[IN:.*]] = arith.remui %[[T]], %[[EACH]] : index
  // CHECK: %[[REST:.*]] = arith.remui %[[IN]], %{{.*}} : index
  // CHECK: %[[Y:.*]] = arith.divui %[[REST]], %{{.*}} : index
  // CHECK: tile.print "tile" program [%{{.*}}, %[[Y]], %[[Z]]] (%[[Z]]) : index
  %z = tile.program_id z
  tile.print "tile" (%z) : index
  tile.return
}

// One program a core, or as few as take as many rounds: the launch cuts the grid.
// CHECK-LABEL: tile.kernel @cores
tile.kernel @cores(%m: index, %n: index) attributes {tile.persistent = #tile.persistent<programs = 0, even = true>} grid {
  // CHECK: %[[TILES:.*]] = arith.muli %m, %n : index
  // CHECK: tile.grid %[[TILES]]
  tile.grid %m, %n
} {
  // CHECK: scf.for
  %x = tile.program_id x
  tile.print "tile" (%x) : index
  tile.return
}

// Clusters of programs take clusters of tiles, each program the one at its own place. The grid is the
// tiles', which a launch holds against the clusters.
// CHECK-LABEL: tile.kernel @clustered
tile.kernel @clustered(%m: index, %n: index) attributes {tile.cluster = array<i64: 2, 2, 1>,
    tile.persistent = #tile.persistent<programs = 8, group = 4>} grid {
  // CHECK: tile.grid %m, %n
  tile.grid %m, %n
} {
  // CHECK: %[[ROWS:.*]] = arith.divui %m, %c2{{.*}} : index
  // CHECK: %[[COLUMNS:.*]] = arith.divui %n, %c2{{.*}} : index
  // CHECK: %[[CLUSTERS:.*]] = arith.muli %[[ROWS]], %[[COLUMNS]] : index
  // CHECK: %[[IDX:.*]] = tile.program_id x
  // CHECK: %[[OWNX:.*]] = arith.remui %[[IDX]], %c2
  // CHECK: %[[IDY:.*]] = tile.program_id y
  // CHECK: %[[OWNY:.*]] = arith.remui %[[IDY]], %c2
  // CHECK: %[[COUNT:.*]] = tile.num_programs x
  // CHECK: %[[FIRST:.*]] = arith.divui %[[IDX]], %c2
  // CHECK: %[[STEP:.*]] = arith.divui %[[COUNT]], %c2
  // CHECK: scf.for %{{.*}} = %[[FIRST]] to %[[CLUSTERS]] step %[[STEP]]
  // Groups are of two clusters.
  // CHECK: arith.constant 2 : index
  // CHECK: arith.constant 0 : index
  // CHECK: %[[ATX:.*]] = arith.muli %{{.*}}, %c2
  // CHECK: %[[X:.*]] = arith.addi %[[ATX]], %[[OWNX]] : index
  // CHECK: %[[ATY:.*]] = arith.muli %{{.*}}, %c2
  // CHECK: %[[Y:.*]] = arith.addi %[[ATY]], %[[OWNY]] : index
  %x = tile.program_id x
  %y = tile.program_id y
  // CHECK: tile.print "tile" program [%[[X]], %[[Y]], %{{.*}}] (%[[X]], %[[Y]]) :
  tile.print "tile" (%x, %y) : index, index
  tile.return
}
