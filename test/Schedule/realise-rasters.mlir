// The orders in which a persistent grid runs its tiles, on a chip of several dies and on one of one.
// RUN: sed s/TARGET/amdgcn.target/ %s | sed s/CHIP/gfx942/ \
// RUN:   | tile-opt --tile-realise-persistence | FileCheck %s --check-prefixes=CHECK,DIES
// RUN: sed s/TARGET/nvptx.target/ %s | sed s/CHIP/sm_90a/ \
// RUN:   | tile-opt --tile-realise-persistence | FileCheck %s --check-prefixes=CHECK,ONE

// What a launch cuts the grid to.
// CHECK: persistent_per_core = 2 : i64
module attributes {tile.target = #TARGET<chip = "CHIP">} {

// The tiles that the programs of a die run follow one another. Of 8 dies a program is on the one of
// the rest of its number; behind the tiles of those in front of it are its own.
// CHECK-LABEL: tile.kernel @chiplets
tile.kernel @chiplets(%m: index, %n: index) attributes {
    tile.persistent = #tile.persistent<programs = 0, group = 4>,
    tile.raster = "chiplets", tile.per_core = 2 : i64} grid {
  tile.grid %m, %n
} {
  // CHECK: %[[TILES:.*]] = arith.muli %m, %n : index
  // CHECK: %[[P:.*]] = tile.program_id x
  // CHECK: %[[ALL:.*]] = tile.num_programs x
  // DIES: %[[EIGHT:.*]] = arith.constant 8 : index
  // DIES: %[[DIE:.*]] = arith.remui %[[P]], %[[EIGHT]] : index
  // DIES: %[[ROUNDS:.*]] = arith.divui %[[TILES]], %[[ALL]] : index
  // DIES: %[[REST:.*]] = arith.remui %[[TILES]], %[[ALL]] : index
  // DIES: %[[A:.*]] = arith.divui %[[ALL]], %[[EIGHT]] : index
  // DIES: %[[B:.*]] = arith.muli %[[DIE]], %[[A]] : index
  // DIES: %[[C:.*]] = arith.remui %[[ALL]], %[[EIGHT]] : index
  // DIES: %[[D:.*]] = arith.minui %[[DIE]], %[[C]] : index
  // DIES: %[[BEFORE:.*]] = arith.addi %[[B]], %[[D]] : index
  // DIES: %[[E:.*]] = arith.muli %[[ROUNDS]], %[[BEFORE]] : index
  // DIES: %[[F:.*]] = arith.divui %[[REST]], %[[EIGHT]] : index
  // DIES: %[[G:.*]] = arith.muli %[[DIE]], %[[F]] : index
  // DIES: %[[H:.*]] = arith.remui %[[REST]], %[[EIGHT]] : index
  // DIES: %[[I:.*]] = arith.minui %[[DIE]], %[[H]] : index
  // DIES: %[[J:.*]] = arith.addi %[[G]], %[[I]] : index
  // DIES: %[[K:.*]] = arith.addi %[[E]], %[[J]] : index
  // DIES: %[[L:.*]] = arith.divui %[[P]], %[[EIGHT]] : index
  // DIES: %[[FIRST:.*]] = arith.addi %[[K]], %[[L]] : index
  // DIES: %[[SEVEN:.*]] = arith.constant 7 : index
  // DIES: %[[M:.*]] = arith.addi %[[ALL]], %[[SEVEN]] : index
  // DIES: %[[N:.*]] = arith.subi %[[M]], %[[DIE]] : index
  // DIES: %[[STEP:.*]] = arith.divui %[[N]], %[[EIGHT]] : index
  // CHECK: scf.for %[[T:.*]] = %[[P]] to %[[TILES]] step %[[ALL]] {
  // DIES: %[[ROUND:.*]] = arith.divui %[[T]], %[[ALL]] : index
  // DIES: %[[O:.*]] = arith.muli %[[ROUND]], %[[STEP]] : index
  // DIES: %[[NUMBER:.*]] = arith.addi %[[FIRST]], %[[O]] : index
  // CHECK: %[[IN:.*]] = arith.muli %n, %{{.*}} : index
  // DIES: arith.divui %[[NUMBER]], %[[IN]] : index
  // ONE: arith.divui %[[T]], %[[IN]] : index
  %x = tile.program_id x
  tile.print "tile" (%x) : index
  tile.return
}

// The last place along x comes first; the others are grouped.
// CHECK-LABEL: tile.kernel @longest
tile.kernel @longest(%m: index, %n: index, %l: index) attributes {
    tile.persistent = #tile.persistent<programs = 8, group = 2>, tile.raster = "longest_x"} grid {
  tile.grid %m, %n, %l
} {
  // CHECK: scf.for %[[T:.*]] = %{{.*}} to %{{.*}} step %{{.*}} {
  // CHECK: %[[PLANE:.*]] = arith.muli %n, %l : index
  // CHECK: %[[AT:.*]] = arith.divui %[[T]], %[[PLANE]] : index
  // CHECK: %[[IN:.*]] = arith.remui %[[T]], %[[PLANE]] : index
  // CHECK: %[[ONE:.*]] = arith.constant 1 : index
  // CHECK: %[[LAST:.*]] = arith.subi %m, %[[ONE]] : index
  // CHECK: %[[X:.*]] = arith.subi %[[LAST]], %[[AT]] : index
  // CHECK: %[[TWO:.*]] = arith.constant 2 : index
  // CHECK: %[[ROW:.*]] = arith.muli %l, %[[TWO]] : index
  // CHECK: arith.divui %[[IN]], %[[ROW]] : index
  // CHECK: arith.subi %n, %{{.*}} : index
  // CHECK: tile.print "tile" program [%[[X]], %{{.*}}, %{{.*}}] (%[[X]]) : index
  %x = tile.program_id x
  tile.print "tile" (%x) : index
  tile.return
}

// Of one axis there is nothing beside it.
// CHECK-LABEL: tile.kernel @row
tile.kernel @row(%m: index) attributes {
    tile.persistent = #tile.persistent<programs = 8>, tile.raster = "longest_x"} grid {
  tile.grid %m
} {
  // CHECK: scf.for %[[T:.*]] = %{{.*}} to %m step %{{.*}} {
  // CHECK: %[[ONE:.*]] = arith.constant 1 : index
  // CHECK: %[[LAST:.*]] = arith.subi %m, %[[ONE]] : index
  // CHECK: %[[X:.*]] = arith.subi %[[LAST]], %[[T]] : index
  // CHECK: tile.print "tile" program [%[[X]],
  %x = tile.program_id x
  tile.print "tile" (%x) : index
  tile.return
}

}
