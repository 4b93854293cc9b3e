// RUN: tile-opt %s --tile-multiply-divisions | FileCheck %s

!out = !tile.view<?xi32, strides [1]>

// The reciprocal is found in front of the loop; the remainder is made of the quotient.
// CHECK-LABEL: tile.kernel @loop
// CHECK: arith.divf %{{.*}} : f64
// CHECK: scf.for
// CHECK-NOT: arith.div
// CHECK-NOT: arith.rem
// CHECK: arith.mului_extended %{{.*}} : tensor<256xi32>
// CHECK: arith.shrui %{{.*}} : tensor<256xi32>
// CHECK: tile.store
tile.kernel @loop(%x: !out {tile.facts = #tile.facts<extents = [8], index32>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %n = tile.dim %x, 0 : !out
  %n32 = arith.index_cast %n : index to i32
  %ns = tile.splat %n32 : tensor<256xi32>
  %i = tile.iota 0 : tensor<256xi32>
  scf.for %turn = %c0 to %c9 step %c1 {
    %t32 = arith.index_cast %turn : index to i32
    %ts = tile.splat %t32 : tensor<256xi32>
    %at = arith.addi %i, %ts : tensor<256xi32>
    %q = arith.divui %at, %ns : tensor<256xi32>
    %r = arith.remui %at, %ns : tensor<256xi32>
    %s = arith.addi %q, %r : tensor<256xi32>
    tile.store %s, %x[%c0] : tensor<256xi32>, !out
  }
  tile.return
}

// A few elements are divided as they are, and so is what may be negative, and by constants.
// CHECK-LABEL: tile.kernel @stay
// CHECK: arith.divsi %{{.*}} : tensor<256xi32>
// CHECK: arith.divui %{{.*}} : tensor<16xi32>
// CHECK: arith.divui %{{.*}} : tensor<256xi32>
tile.kernel @stay(%a: i32, %x: !out {tile.facts = #tile.facts<extents = [8], index32>}) {
  %c0 = arith.constant 0 : index
  %as = tile.splat %a : tensor<256xi32>
  %i = tile.iota 0 : tensor<256xi32>
  %negative = arith.divsi %as, %i : tensor<256xi32>
  tile.store %negative, %x[%c0] : tensor<256xi32>, !out
  %n = tile.dim %x, 0 : !out
  %n32 = arith.index_cast %n : index to i32
  %few = tile.splat %n32 : tensor<16xi32>
  %j = tile.iota 0 : tensor<16xi32>
  %q = arith.divui %j, %few : tensor<16xi32>
  tile.store %q, %x[%c0] : tensor<16xi32>, !out
  %seven = arith.constant dense<7> : tensor<256xi32>
  %r = arith.divui %i, %seven : tensor<256xi32>
  tile.store %r, %x[%c0] : tensor<256xi32>, !out
  tile.return
}
