// RUN: tile-opt %s --tile-expand-tf32 | FileCheck %s
// RUN: tile-opt %s --tile-expand-tf32 | FileCheck %s --check-prefix NONE

// NONE-NOT: xtf32
// CHECK-LABEL: tile.kernel @arithmetic(
tile.kernel @arithmetic(%v: !tile.view<64xf32>, %w: !tile.view<64xf64>, %n: i32) {
  %c0 = arith.constant 0 : index
  // CHECK: %[[ONE:.*]] = arith.constant dense<1.000000e+00> : tensor<64xf32>
  %one = arith.constant dense<1.0> : tensor<64xtf32>
  %x = tile.load %v[%c0] : !tile.view<64xf32> -> tensor<64xf32>
  // Ties go to even: half a unit less one, and the last bit that stays.
  // CHECK: %[[BITS:.*]] = arith.bitcast %{{.*}} : tensor<64xf32> to tensor<64xi32>
  // CHECK: arith.constant dense<4095> : tensor<64xi32>
  // CHECK: arith.constant dense<-8192> : tensor<64xi32>
  // CHECK: %[[NAN:.*]] = arith.cmpf uno
  // CHECK: %[[Y:.*]] = arith.select %[[NAN]]
  %y = arith.truncf %x : tensor<64xf32> to tensor<64xtf32>
  // CHECK: %[[SUM:.*]] = arith.addf %[[Y]], %[[ONE]] : tensor<64xf32>
  // CHECK: arith.bitcast %[[SUM]]
  %s = arith.addf %y, %one : tensor<64xtf32>
  %wide = arith.extf %s : tensor<64xtf32> to tensor<64xf32>
  // CHECK: %[[R:.*]] = tile.reduce %{{.*}} : tensor<64xf32> -> tensor<f32>
  // CHECK: arith.addf %{{.*}} : f32
  // CHECK: arith.bitcast %{{.*}} : f32 to i32
  %r = tile.reduce %s axis = 0 : tensor<64xtf32> -> tensor<tf32> {
  ^bb0(%left: tf32, %right: tf32):
    %t = arith.addf %left, %right : tf32
    tile.yield %t : tf32
  }
  // What an f32 has no bit for is gathered in its last one, so that the second rounding is the only
  // one.
  // CHECK: %[[SOME:.*]] = arith.cmpi ne
  // CHECK: arith.select %[[SOME]]
  // CHECK: %[[ODD:.*]] = arith.ori
  // CHECK: arith.sitofp %[[ODD]] : i32 to f32
  %i = arith.sitofp %n : i32 to tf32
  %d = arith.extf %s : tensor<64xtf32> to tensor<64xf64>
  tile.store %wide, %v[%c0] : tensor<64xf32>, !tile.view<64xf32>
  tile.store %d, %w[%c0] : tensor<64xf64>, !tile.view<64xf64>
  tile.return
}

// CHECK-LABEL: tile.kernel @dot(
// CHECK: tile.dot %{{.*}} precision = tf32 : tensor<16x16xf32>, tensor<16x16xf32>
tile.kernel @dot(%v: !tile.view<16x16xf32>) {
  %a = arith.constant dense<1.0> : tensor<16x16xtf32>
  %c = arith.constant dense<1.0> : tensor<16x16xf32>
  %d = tile.dot %a, %a, %c : tensor<16x16xtf32>, tensor<16x16xtf32> -> tensor<16x16xf32>
  tile.return
}
