// A mask that only some trips make has its select's place in a trip, and what it needs has none.
// RUN: tile-opt %s --tile-guard-masks | FileCheck %s
// CHECK: %[[D:.*]] = arith.negf
// CHECK: scf.if
// CHECK-NOT: stage
// CHECK: arith.select {{.*}} {tile.role = "all"}
// CHECK: } {tile.order = 2 : i64, tile.split_loop, tile.stage = 1 : i64}
tile.kernel @placed(%n: i32, %end: index, %c: !tile.view<?x?xf32>)
    attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %j = %c0 to %end step %c64 iter_args(%s = %zero) -> tensor<64x64xf32> {
    %at = arith.index_cast %j : index to i32
    %from = tile.splat %at : tensor<64x64xi32>
    %column = tile.iota 1 : tensor<64x64xi32>
    %keys = arith.addi %from, %column : tensor<64x64xi32>
    %ns = tile.splat %n : tensor<64x64xi32>
    %seen = arith.cmpi slt, %keys, %ns {tile.stage = 1 : i64} : tensor<64x64xi32>
    %d = arith.negf %s {tile.role = "all", tile.stage = 0 : i64} : tensor<64x64xf32>
    %m = arith.select %seen, %d, %zero {tile.role = "all", tile.stage = 1 : i64, tile.order = 2 : i64, tile.guarded = true} : tensor<64x64xi1>, tensor<64x64xf32>
    scf.yield %m : tensor<64x64xf32>
  }
  tile.store %sum, %c[%c0, %c0] {role = "all"} : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}
