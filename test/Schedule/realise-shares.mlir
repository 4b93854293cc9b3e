// A loop whose trips several programs share out: what each leaves, and what the last does.
// RUN: tile-opt %s --tile-realise-shares | FileCheck %s

!a = !tile.view<?x?xf32>

// CHECK: tile.metadata = {own_grid = true}
// CHECK-LABEL: tile.kernel @product
// CHECK-SAME: %[[WORK:[a-z0-9]+]]: !tile.pointer<f32> {tile.facts = #tile.facts<pointer = 16, noalias>, tile.workspace = 8192 : i64}
// CHECK-SAME: %[[COUNTERS:[a-z0-9]+]]: !tile.pointer<i32> {tile.counter = 4 : i64, tile.facts = #tile.facts<pointer = 16, noalias>}
tile.kernel @product(%a: !a, %b: !a, %c: !a, %m: index, %n: index, %end: index) grid {
  // CHECK: %[[FOUR:.*]] = arith.constant 4 : index
  // CHECK: %[[WIDE:.*]] = arith.muli %n, %[[FOUR]] : index
  // CHECK: tile.grid %m, %[[WIDE]]
  tile.grid %m, %n
} {
  // CHECK: %[[X:.*]] = tile.program_id x
  // CHECK: %[[NX:.*]] = tile.num_programs x
  // CHECK: %[[PY:.*]] = tile.program_id y
  // CHECK: %[[WIDE:.*]] = tile.num_programs y
  // CHECK: %[[UP:.*]] = arith.addi %[[WIDE]], %{{.*}} : index
  // CHECK: %[[NY:.*]] = arith.divui %[[UP]], %{{.*}} : index
  // CHECK: %[[PART:.*]] = arith.divui %[[PY]], %[[NY]] : index
  // CHECK: %[[Y:.*]] = arith.remui %[[PY]], %[[NY]] : index
  // CHECK: %[[ROW:.*]] = arith.muli %[[Y]], %[[NX]] : index
  // CHECK: %[[TILE:.*]] = arith.addi %[[ROW]], %[[X]] : index
  // CHECK: %[[TILES:.*]] = arith.muli %[[NY]], %[[NX]] : index
  %i = tile.program_id x
  %j = tile.program_id y
  %all = tile.num_programs y
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  // Consecutive trips, one more for the first programs where four do not divide them.
  // CHECK: %[[ANY:.*]] = arith.cmpi sgt, %end, %[[C0:.*]] : index
  // CHECK: %[[LENGTH:.*]] = arith.subi %end, %[[C0]] : index
  // CHECK: %[[SPAN:.*]] = arith.select %[[ANY]], %[[LENGTH]], %{{.*}} : index
  // CHECK: %[[TRIPS:.*]] = arith.divui %{{.*}}, %[[C32:.*]] : index
  // CHECK: %[[EACH:.*]] = arith.divui %[[TRIPS]], %{{.*}} : index
  // CHECK: %[[LEFT:.*]] = arith.remui %[[TRIPS]], %{{.*}} : index
  // CHECK: %[[D:.*]] = arith.muli %[[PART]], %[[EACH]] : index
  // CHECK: %[[E:.*]] = arith.minui %[[PART]], %[[LEFT]] : index
  // CHECK: %[[FIRST:.*]] = arith.addi %[[D]], %[[E]] : index
  // CHECK: %[[MORE:.*]] = arith.cmpi ult, %[[PART]], %[[LEFT]] : index
  // CHECK: %[[COUNT:.*]] = arith.select %[[MORE]], %{{.*}}, %[[EACH]] : index
  // CHECK: %[[UPTO:.*]] = arith.addi %[[FIRST]], %[[COUNT]] : index
  // CHECK: %[[F:.*]] = arith.muli %[[FIRST]], %[[C32]] : index
  // CHECK: %[[BEGIN:.*]] = arith.addi %[[C0]], %[[F]] : index
  // CHECK: %[[ISEND:.*]] = arith.cmpi eq, %[[UPTO]], %[[TRIPS]] : index
  // CHECK: %[[G:.*]] = arith.muli %[[UPTO]], %[[C32]] : index
  // CHECK: %[[H:.*]] = arith.addi %[[C0]], %[[G]] : index
  // CHECK: %[[LAST:.*]] = arith.select %[[ISEND]], %end, %[[H]] : index
  // CHECK: %[[WORKS:.*]] = tile.view_from_pointer %[[WORK]] extents [%{{.*}}] strides []
  // CHECK-SAME: -> !tile.view<?x32xf32, strides [32, 1]>
  // CHECK: %[[COUNTED:.*]] = tile.view_from_pointer %[[COUNTERS]] extents [%[[TILES]]]
  // CHECK: %[[SUM:.*]] = scf.for %{{.*}} = %[[BEGIN]] to %[[LAST]] step %[[C32]]
  // CHECK-NOT: tile.share
  %sum = scf.for %k = %c0 to %end step %c32 iter_args(%s = %zero) -> tensor<64x32xf32> {
    %x = tile.load %a[%i, %k] : !a -> tensor<64x32xf32>
    %y = tile.load %b[%k, %j] : !a -> tensor<32x32xf32>
    %d = tile.dot %x, %y, %s : tensor<64x32xf32>, tensor<32x32xf32> -> tensor<64x32xf32>
    scf.yield %d : tensor<64x32xf32>
  } {tile.share = 4 : i64}
  // CHECK: %[[H:.*]] = arith.muli %[[TILE]], %{{.*}} : index
  // CHECK: %[[PIECE:.*]] = arith.addi %[[H]], %[[PART]] : index
  // CHECK: tile.store %[[SUM]], %[[WORKS]][%{{.*}}, %{{.*}}] : tensor<64x32xf32>
  // CHECK: %[[THREE:.*]] = arith.index_cast %{{.*}} : index to i32
  // CHECK: %[[BEFORE:.*]] = tile.atomic_rmw addi %[[COUNTED]][%[[TILE]]], %{{.*}} :
  // CHECK: %[[IS:.*]] = arith.cmpi eq, %[[BEFORE]], %[[THREE]] : i32
  // CHECK: scf.if %[[IS]] {
  // CHECK: tile.atomic_rmw exch %[[COUNTED]][%[[TILE]]], %{{.*}} order = relaxed
  // CHECK: %[[NULL:.*]] = arith.constant dense<0.000000e+00> : tensor<64x32xf32>
  // CHECK: %[[TOTAL:.*]] = scf.for {{.*}} iter_args(%[[SO:.*]] = %[[NULL]])
  // CHECK: %[[NEXT:.*]] = tile.load %[[WORKS]]
  // CHECK: %[[ADDED:.*]] = arith.addf %[[SO]], %[[NEXT]] : tensor<64x32xf32>
  // CHECK: scf.yield %[[ADDED]]
  // CHECK: %[[OUT:.*]] = arith.negf %[[TOTAL]] : tensor<64x32xf32>
  // CHECK: tile.store %[[OUT]], %c[%[[X]], %[[NY]]]
  // CHECK: }
  // CHECK: tile.return
  %out = arith.negf %sum : tensor<64x32xf32>
  tile.store %out, %c[%i, %all] : tensor<64x32xf32>, !a
  tile.return
}

// All add to one tensor of zeros; the last reads it and leaves zeros. What is said of a program is
// said of the tile's, and who runs the sums runs what is added.
// CHECK-LABEL: tile.kernel @atomic
// CHECK-SAME: !tile.pointer<i32> {tile.counter = 256 : i64, tile.facts = #tile.facts<pointer = 16, noalias>}
tile.kernel @atomic(%x: !tile.view<?xi32>, %y: !tile.view<?xi32>, %n: i32, %m: index) grid {
  // CHECK: tile.grid %{{.*}}
  tile.grid %m
} {
  %i = tile.program_id x
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %none = arith.constant dense<0> : tensor<64xi32>
  // CHECK: %[[ZERO:.*]] = arith.constant 0 : index
  // CHECK: %[[SUM:.*]] = scf.for {{.*}} : i32
  %sum = scf.for %k = %zero to %n step %one iter_args(%s = %none) -> tensor<64xi32> : i32 {
    %at = arith.index_cast %k : i32 to index
    %t = tile.load %x[%at] {role = "all"} : !tile.view<?xi32> -> tensor<64xi32>
    %a = arith.addi %t, %s {tile.role = "all"} : tensor<64xi32>
    scf.yield %a : tensor<64xi32>
  } {tile.share = 2 : i64, tile.share_atomic}
  // CHECK: tile.atomic_rmw addi %[[ALL:.*]][%{{.*}}], %[[SUM]] order = relaxed {role = "all"}
  // CHECK-SAME: [tensor<64xi64>], tensor<64xi32>
  // CHECK: tile.atomic_rmw addi %{{.*}}[%{{.*}}], %{{.*}} {role = "all"}
  // CHECK: scf.if
  // CHECK: tile.atomic_rmw exch
  // CHECK: %[[TOTAL:.*]] = tile.load %[[ALL]]
  // CHECK: tile.store %{{.*}}, %[[ALL]]
  // CHECK: tile.print "sum" program [%{{.*}}, %{{.*}}, %{{.*}}]
  // CHECK: tile.store %[[TOTAL]], %y
  tile.print "sum"
  tile.store %sum, %y[%i] : tensor<64xi32>, !tile.view<?xi32>
  tile.return
}
