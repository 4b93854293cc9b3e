// RUN: tile-opt %s --tile-expand-arg-reduce | FileCheck %s

// CHECK-LABEL: func.func @argmax(
// CHECK-SAME:    %[[X:.*]]: tensor<64x32xf32>)
// CHECK:         %[[AT:.*]] = tile.iota 1 : tensor<64x32xi32>
// CHECK:         %[[R:.*]]:2 = tile.reduce %[[X]], %[[AT]] axis = 1 : tensor<64x32xf32>, tensor<64x32xi32> -> tensor<64xf32>, tensor<64xi32>
// CHECK:         ^bb0(%[[BEST:.*]]: f32, %[[I:.*]]: i32, %[[NEXT:.*]]: f32, %[[J:.*]]: i32):
// CHECK-NEXT:      %[[WINS:.*]] = arith.cmpf ogt, %[[NEXT]], %[[BEST]] : f32
// CHECK-NEXT:      %[[V:.*]] = arith.select %[[WINS]], %[[NEXT]], %[[BEST]] : f32
// CHECK-NEXT:      %[[P:.*]] = arith.select %[[WINS]], %[[J]], %[[I]] : i32
// CHECK-NEXT:      tile.yield %[[V]], %[[P]] : f32, i32
// CHECK:         return %[[R]]#0, %[[R]]#1
func.func @argmax(%x: tensor<64x32xf32>) -> (tensor<64xf32>, tensor<64xi32>) {
  %v, %i = tile.arg_reduce %x axis = 1 : tensor<64x32xf32> -> tensor<64xf32>, tensor<64xi32> {
  ^bb0(%best: f32, %next: f32):
    %wins = arith.cmpf ogt, %next, %best : f32
    tile.yield %wins : i1
  }
  return %v, %i : tensor<64xf32>, tensor<64xi32>
}

// What stands for the op obeys what was decided of it.
// CHECK-LABEL: tile.kernel @winner(
tile.kernel @winner(%x: !tile.view<?x256xf32>, %best: !tile.view<?xf32>) attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : !tile.view<?x256xf32> -> tensor<1x256xf32>
  // CHECK: tile.reduce {{.*}} {order = 1 : i64, role = "all", stage = 2 : i64, tile.triggers}
  %v, %p = tile.arg_reduce %t axis = 1 {role = "all", stage = 2 : i64, order = 1 : i64, tile.triggers} : tensor<1x256xf32> -> tensor<1xf32>, tensor<1xi32> {
  ^bb0(%left: f32, %right: f32):
    %wins = arith.cmpf ogt, %right, %left : f32
    tile.yield %wins : i1
  }
  tile.store %v, %best[%c0] : tensor<1xf32>, !tile.view<?xf32>
  tile.return
}
