// The last tiles of a persistent grid, whose trips its programs share out evenly: which a program
// runs, what it leaves of a part, and what the last one of a tile does.
// RUN: tile-opt %s --tile-realise-streams | FileCheck %s

!a = !tile.view<?x?xf32>

// CHECK: tile.metadata = {own_grid = true, persistent_per_core = 2 : i64, programs = 7 : i64, streams = true}
// Two pieces of the workspace and a counter for each program.
// CHECK-LABEL: tile.kernel @product
// CHECK-SAME: %[[WORK:[a-z0-9]+]]: !tile.pointer<f32> {tile.facts = #tile.facts<pointer = 16, noalias>, tile.workspace = 16384 : i64}
// CHECK-SAME: %[[COUNTERS:[a-z0-9]+]]: !tile.pointer<i32> {tile.counter = 4 : i64, tile.facts = #tile.facts<pointer = 16, noalias>}
// CHECK-NOT: tile.persistent
tile.kernel @product(%a: !a, %b: !a, %c: !a, %m: index, %n: index) attributes {
    tile.persistent = #tile.persistent<programs = 7, group = 4>} grid {
  // CHECK: %[[TILES:.*]] = arith.muli %m, %n : index
  // CHECK: tile.grid %[[TILES]]
  tile.grid %m, %n
} {
  // CHECK: %[[TILES:.*]] = arith.muli %m, %n : index
  // CHECK: %[[P:.*]] = tile.program_id x
  // CHECK: %[[ALL:.*]] = tile.num_programs x
  // What bounds the loop comes in front of all tiles.
  // CHECK: %[[C0:.*]] = arith.constant 0 : index
  // CHECK: %[[C32:.*]] = arith.constant 32 : index
  // CHECK: %[[K:.*]] = tile.dim %a, 1
  %i = tile.program_id x
  %j = tile.program_id y
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %k = tile.dim %a, 1 : !a
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  // Each tile has one trip at least to tell who runs it.
  // CHECK: %[[TRIPS:.*]] = arith.divui %{{.*}}, %[[C32]] : index
  // CHECK: %[[LENGTH:.*]] = arith.maxui %[[TRIPS]], %{{.*}} : index
  // Of as many tiles as there are programs, and those that are left.
  // CHECK: %[[FEW:.*]] = arith.remui %[[TILES]], %[[ALL]] : index
  // CHECK: %[[MORE:.*]] = arith.addi %[[FEW]], %[[ALL]] : index
  // CHECK: %[[MOST:.*]] = arith.minui %[[TILES]], %[[MORE]] : index
  // CHECK: %[[ANY:.*]] = arith.cmpi ult, %{{.*}}, %[[FEW]] : index
  // CHECK: %[[CUT:.*]] = arith.select %[[ANY]], %[[MOST]], %{{.*}} : index
  // CHECK: %[[WHOLE:.*]] = arith.subi %[[TILES]], %[[CUT]] : index
  // CHECK: %[[TURNS:.*]] = arith.divui %[[WHOLE]], %[[ALL]] : index
  // CHECK: %[[SPAN:.*]] = arith.muli %[[CUT]], %[[LENGTH]] : index
  // CHECK: %[[EACH:.*]] = arith.divui %[[SPAN]], %[[ALL]] : index
  // CHECK: %[[LEFT:.*]] = arith.remui %[[SPAN]], %[[ALL]] : index
  // CHECK: %[[D:.*]] = arith.muli %[[P]], %[[EACH]] : index
  // CHECK: %[[E:.*]] = arith.minui %[[P]], %[[LEFT]] : index
  // CHECK: %[[BEGIN:.*]] = arith.addi %[[D]], %[[E]] : index
  // CHECK: %[[END:.*]] = arith.addi %[[BEGIN]], %{{.*}} : index
  // CHECK: %[[FIRST:.*]] = arith.divui %[[BEGIN]], %[[LENGTH]] : index
  // CHECK: %[[WORKS:.*]] = tile.view_from_pointer %[[WORK]] extents [%{{.*}}] strides []
  // CHECK-SAME: -> !tile.view<?x32xf32, strides [32, 1]>
  // CHECK: %[[COUNTED:.*]] = tile.view_from_pointer %[[COUNTERS]] extents [%[[ALL]]]
  // CHECK: %[[F:.*]] = arith.divui %{{.*}}, %[[LENGTH]] : index
  // CHECK: %[[PARTS:.*]] = arith.select
  // CHECK: %[[UP:.*]] = arith.addi %[[TURNS]], %[[PARTS]] : index
  // CHECK: scf.for %[[T:.*]] = %{{.*}} to %[[UP]] step
  // CHECK: %[[ISWHOLE:.*]] = arith.cmpi ult, %[[T]], %[[TURNS]] : index
  // CHECK: %[[G:.*]] = arith.muli %[[T]], %[[ALL]] : index
  // CHECK: %[[INTURN:.*]] = arith.addi %[[G]], %[[P]] : index
  // CHECK: %[[H:.*]] = arith.subi %[[T]], %[[TURNS]] : index
  // CHECK: %[[AT:.*]] = arith.addi %[[FIRST]], %[[H]] : index
  // CHECK: %[[STREAMED:.*]] = arith.addi %[[WHOLE]], %[[AT]] : index
  // CHECK: %[[TILE:.*]] = arith.select %[[ISWHOLE]], %[[INTURN]], %[[STREAMED]] : index
  // CHECK: %[[TILEBEGIN:.*]] = arith.muli %[[AT]], %[[LENGTH]] : index
  // CHECK: %[[TILEEND:.*]] = arith.addi %[[TILEBEGIN]], %[[LENGTH]] : index
  // CHECK: %[[I:.*]] = arith.maxui %[[BEGIN]], %[[TILEBEGIN]] : index
  // CHECK: %[[J:.*]] = arith.subi %[[I]], %[[TILEBEGIN]] : index
  // CHECK: %[[L:.*]] = arith.minui %[[END]], %[[TILEEND]] : index
  // CHECK: %[[M:.*]] = arith.subi %[[L]], %[[TILEBEGIN]] : index
  // CHECK: %[[FROM:.*]] = arith.select %[[ISWHOLE]], %{{.*}}, %[[J]] : index
  // CHECK: %[[TO:.*]] = arith.select %[[ISWHOLE]], %[[LENGTH]], %[[M]] : index
  // CHECK: %[[OWN:.*]] = arith.subi %[[TO]], %[[FROM]] : index
  // CHECK: %[[ISPART:.*]] = arith.cmpi ne, %[[OWN]], %[[LENGTH]] : index
  // CHECK: %[[LAST:.*]] = arith.minui %[[TO]], %[[TRIPS]] : index
  // CHECK: %[[IN:.*]] = arith.divui %[[TILE]], %{{.*}} : index
  // CHECK: %[[N:.*]] = arith.muli %[[FROM]], %[[C32]] : index
  // CHECK: %[[LOWER:.*]] = arith.addi %[[C0]], %[[N]] : index
  // CHECK: %[[ISEND:.*]] = arith.cmpi eq, %[[LAST]], %[[TRIPS]] : index
  // CHECK: %[[UPPER:.*]] = arith.select %[[ISEND]], %[[K]], %{{.*}} : index
  // CHECK: %[[SUM:.*]] = scf.for %{{.*}} = %[[LOWER]] to %[[UPPER]] step %[[C32]]
  // CHECK-NOT: tile.share
  %sum = scf.for %kk = %c0 to %k step %c32 iter_args(%s = %zero) -> tensor<64x32xf32> {
    %x = tile.load %a[%i, %kk] : !a -> tensor<64x32xf32>
    %y = tile.load %b[%kk, %j] : !a -> tensor<32x32xf32>
    %d = tile.dot %x, %y, %s : tensor<64x32xf32>, tensor<32x32xf32> -> tensor<64x32xf32>
    scf.yield %d : tensor<64x32xf32>
  } {tile.share = "stream"}
  // CHECK: %[[IF:.*]]:3 = scf.if %[[ISPART]] -> (i1, index, index) {
  // CHECK: %[[BEGINS:.*]] = arith.cmpi eq, %[[P]], %[[RUNNER:.*]] : index
  // CHECK: %[[PIECE:.*]] = arith.select %[[BEGINS]]
  // CHECK: tile.store %[[SUM]], %[[WORKS]][%{{.*}}, %{{.*}}] : tensor<64x32xf32>
  // CHECK: %[[BEHIND:.*]] = arith.subi %[[END2:.*]], %[[RUNNER]] : index
  // CHECK: %[[CAST:.*]] = arith.index_cast %[[BEHIND]] : index to i32
  // CHECK: %[[BEFORE:.*]] = tile.atomic_rmw addi %[[COUNTED]][%[[RUNNER]]], %{{.*}} :
  // CHECK: %[[IS:.*]] = arith.cmpi eq, %[[BEFORE]], %[[CAST]] : i32
  // CHECK: %[[PAST:.*]] = arith.addi %[[END2]], %{{.*}} : index
  // CHECK: scf.yield %[[IS]], %[[RUNNER]], %[[PAST]]
  // CHECK: } else {
  // CHECK: scf.yield %true
  // CHECK: scf.if %[[IF]]#0 {
  // CHECK: %[[START:.*]] = scf.if %[[ISPART]]
  // CHECK: tile.atomic_rmw exch %[[COUNTED]][%[[IF]]#1], %{{.*}} order = relaxed
  // CHECK: %[[NULL:.*]] = arith.constant dense<0.000000e+00> : tensor<64x32xf32>
  // CHECK: scf.yield %[[NULL]]
  // CHECK: } else {
  // CHECK: scf.yield %[[SUM]]
  // CHECK: %[[TOTAL:.*]] = scf.for %[[Q:.*]] = %[[IF]]#1 to %[[IF]]#2 step {{.*}} iter_args(%[[SO:.*]] = %[[START]])
  // CHECK: arith.cmpi eq, %[[Q]], %[[IF]]#1 : index
  // CHECK: %[[NEXT:.*]] = tile.load %[[WORKS]]
  // CHECK: arith.addf %[[SO]], %[[NEXT]] : tensor<64x32xf32>
  // CHECK: %[[OUT:.*]] = arith.negf %[[TOTAL]] : tensor<64x32xf32>
  // CHECK: tile.store %[[OUT]], %c[
  // CHECK: }
  // CHECK: } {tile.programs}
  // CHECK: tile.return
  %out = arith.negf %sum : tensor<64x32xf32>
  tile.store %out, %c[%i, %j] : tensor<64x32xf32>, !a
  tile.return
}

// All add to one piece, of whoever begins the tile, which holds zeros before and behind. What is
// said of a program is said of the tile's, and who runs the sums runs what is added.
// CHECK-LABEL: tile.kernel @atomic
// CHECK-SAME: !tile.pointer<i32> {tile.counter = 256 : i64, tile.facts = #tile.facts<pointer = 16, noalias>}
tile.kernel @atomic(%x: !tile.view<?xi32>, %y: !tile.view<?xi32>, %n: i32, %m: index) attributes {
    tile.persistent = #tile.persistent<programs = 0>, tile.per_core = 2 : i64} grid {
  // CHECK: tile.grid %m
  tile.grid %m
} {
  %i = tile.program_id x
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %none = arith.constant dense<0> : tensor<64xi32>
  // CHECK: scf.for %[[T:.*]] = %{{.*}} to %{{.*}} step %{{.*}} {
  // CHECK: %[[SUM:.*]] = scf.for {{.*}} : i32
  %sum = scf.for %k = %zero to %n step %one iter_args(%s = %none) -> tensor<64xi32> : i32 {
    %at = arith.index_cast %k : i32 to index
    %t = tile.load %x[%at] {role = "all"} : !tile.view<?xi32> -> tensor<64xi32>
    %a = arith.addi %t, %s {tile.role = "all"} : tensor<64xi32>
    scf.yield %a : tensor<64xi32>
  } {tile.share = "stream", tile.share_atomic}
  // CHECK: scf.if
  // CHECK: tile.atomic_rmw addi %[[ALL:.*]][%{{.*}}], %[[SUM]] order = relaxed {role = "all"}
  // CHECK-SAME: [tensor<64xi64>], tensor<64xi32>
  // CHECK: tile.atomic_rmw addi %{{.*}}[%{{.*}}], %{{.*}} {role = "all"}
  // CHECK: %[[TOTAL:.*]] = scf.if
  // CHECK: tile.atomic_rmw exch
  // CHECK: tile.load %[[ALL]]
  // CHECK: tile.store %{{.*}}, %[[ALL]]
  // CHECK: tile.print "sum" program [%{{.*}}, %{{.*}}, %{{.*}}]
  // CHECK: tile.store %[[TOTAL]], %y
  tile.print "sum"
  tile.store %sum, %y[%i] : tensor<64xi32>, !tile.view<?xi32>
  tile.return
}
