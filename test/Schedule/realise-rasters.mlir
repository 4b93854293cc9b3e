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

// Sections of about so many tiles, whole columns of x, are run through from the last place along x to
// the first. Every other whole round of the programs runs back.
// CHECK-LABEL: tile.kernel @longest
tile.kernel @longest(%m: index, %n: index, %l: index) attributes {
    tile.persistent = #tile.persistent<programs = 8, group = 64>, tile.raster = "longest_x"} grid {
  tile.grid %m, %n, %l
} {
  // CHECK: %[[ALL:.*]] = tile.num_programs x
  // CHECK: scf.for %[[T:.*]] = %{{.*}} to %{{.*}} step %[[ALL]] {
  // CHECK: %[[PLANE:.*]] = arith.muli %n, %l : index
  // CHECK: %[[SIZE:.*]] = arith.constant 64 : index
  // CHECK: %[[COLUMNS:.*]] = arith.divui %[[SIZE]], %m : index
  // CHECK: %[[SOME:.*]] = arith.maxui %[[COLUMNS]], %{{.*}} : index
  // CHECK: %[[WIDE:.*]] = arith.minui %[[SOME]], %[[PLANE]] : index
  // CHECK: %[[TILES:.*]] = arith.muli %[[WIDE]], %m : index
  // CHECK: %[[NUMBER:.*]] = arith.divui %[[T]], %[[TILES]] : index
  // CHECK: %[[FIRST:.*]] = arith.muli %[[NUMBER]], %[[WIDE]] : index
  // CHECK: %[[LEFT:.*]] = arith.subi %[[PLANE]], %[[FIRST]] : index
  // CHECK: %[[WIDTH:.*]] = arith.minui %[[LEFT]], %[[WIDE]] : index
  // CHECK-DAG: %[[IN:.*]] = arith.remui %[[T]], %[[TILES]] : index
  // CHECK-DAG: %[[COUNT:.*]] = arith.muli %[[WIDTH]], %m : index
  // CHECK: %[[ROUND:.*]] = arith.divui %[[IN]], %[[ALL]] : index
  // CHECK: %[[NEXT:.*]] = arith.addi %[[ROUND]], %{{.*}} : index
  // CHECK: %[[END:.*]] = arith.muli %[[NEXT]], %[[ALL]] : index
  // CHECK: %[[TURNED:.*]] = arith.addi %[[IN]], %{{.*}} : index
  // CHECK: %[[CUT:.*]] = arith.cmpi ult, %[[COUNT]], %[[END]] : index
  // CHECK: %[[PLACE:.*]] = arith.select %[[CUT]], %[[IN]], %[[TURNED]] : index
  // CHECK: %[[ONE:.*]] = arith.constant 1 : index
  // CHECK: %[[LAST:.*]] = arith.subi %m, %[[ONE]] : index
  // CHECK: %[[AT:.*]] = arith.divui %[[PLACE]], %[[WIDTH]] : index
  // CHECK: %[[X:.*]] = arith.subi %[[LAST]], %[[AT]] : index
  // CHECK: %[[BESIDE:.*]] = arith.remui %[[PLACE]], %[[WIDTH]] : index
  // CHECK: %[[YZ:.*]] = arith.addi %[[FIRST]], %[[BESIDE]] : index
  // CHECK: %[[Y:.*]] = arith.remui %[[YZ]], %n : index
  // CHECK: %[[Z:.*]] = arith.divui %[[YZ]], %n : index
  // CHECK: tile.print "tile" program [%[[X]], %[[Y]], %[[Z]]] (%[[X]]) : index
  %x = tile.program_id x
  tile.print "tile" (%x) : index
  tile.return
}

// Of one section of one axis there is nothing beside it.
// CHECK-LABEL: tile.kernel @row
tile.kernel @row(%m: index) attributes {
    tile.persistent = #tile.persistent<programs = 8>, tile.raster = "longest_x"} grid {
  tile.grid %m
} {
  // CHECK: scf.for %[[T:.*]] = %{{.*}} to %m step %{{.*}} {
  // CHECK: %[[PLACE:.*]] = arith.select
  // CHECK: %[[LAST:.*]] = arith.subi %m, %{{.*}} : index
  // CHECK: %[[X:.*]] = arith.subi %[[LAST]], %{{.*}} : index
  // CHECK: tile.print "tile" program [%[[X]],
  %x = tile.program_id x
  tile.print "tile" (%x) : index
  tile.return
}

}
