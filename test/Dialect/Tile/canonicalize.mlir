// Folds and patterns of checks, hints and of ops along an axis.
// RUN: tile-opt %s -canonicalize -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @true_checks
// CHECK-NEXT:    return
func.func @true_checks() {
  %true = arith.constant true
  %mask = arith.constant dense<true> : tensor<8xi1>
  tile.assert %true, "holds" : i1
  tile.assert %mask, "holds" : tensor<8xi1>
  tile.assume %true
  return
}

// -----

// CHECK-LABEL: func.func @unknown_checks
// CHECK:         tile.assert
// CHECK:         tile.assert
// CHECK:         tile.assume
// CHECK:         tile.print
func.func @unknown_checks(%c: i1) {
  %mask = arith.constant dense<[true, false]> : tensor<2xi1>
  tile.assert %c, "may hold" : i1
  tile.assert %mask, "does not hold" : tensor<2xi1>
  tile.assume %c
  tile.print "here"
  return
}

// -----

// CHECK-LABEL: func.func @multiples(
// CHECK-SAME:    %[[X:.*]]: index)
// CHECK-DAG:     %[[C:.*]] = arith.constant 48 : index
// CHECK-DAG:     %[[M:.*]] = tile.multiple_of %[[X]], 16 : index
// CHECK-DAG:     %[[N:.*]] = tile.multiple_of %[[M]], 24 : index
// CHECK:         return %[[C]], %[[X]], %[[M]], %[[N]]
func.func @multiples(%x: index) -> (index, index, index, index) {
  %c48 = arith.constant 48 : index
  %0 = tile.multiple_of %c48, 16 : index
  %1 = tile.multiple_of %x, 1 : index
  %2 = tile.multiple_of %x, 16 : index
  %3 = tile.multiple_of %2, 8 : index
  %4 = tile.multiple_of %2, 24 : index
  return %0, %1, %3, %4 : index, index, index, index
}

// -----

// Along an axis of one element there is nothing to combine or to order.
// CHECK-LABEL: func.func @one_element(
// CHECK-SAME:    %[[X:.*]]: tensor<8x1xf32>, %[[Y:.*]]: tensor<8x1xi32>)
// CHECK-DAG:     %[[R:.*]] = tile.reshape %[[X]] : tensor<8x1xf32> -> tensor<8xf32>
// CHECK-DAG:     %[[S:.*]] = tile.reshape %[[Y]] : tensor<8x1xi32> -> tensor<8xi32>
// CHECK:         return %[[R]], %[[S]], %[[X]], %[[X]], %[[Y]]
func.func @one_element(%x: tensor<8x1xf32>, %y: tensor<8x1xi32>)
    -> (tensor<8xf32>, tensor<8xi32>, tensor<8x1xf32>, tensor<8x1xf32>, tensor<8x1xi32>) {
  %0:2 = tile.reduce %x, %y axis = 1
       : tensor<8x1xf32>, tensor<8x1xi32> -> tensor<8xf32>, tensor<8xi32> {
  ^bb0(%a: f32, %b: i32, %c: f32, %d: i32):
    %s = arith.addf %a, %c : f32
    tile.yield %s, %d : f32, i32
  }
  %1 = tile.scan %x axis = 1 : tensor<8x1xf32> -> tensor<8x1xf32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  }
  %2:2 = tile.sort %x, %y axis = 1
       : tensor<8x1xf32>, tensor<8x1xi32> -> tensor<8x1xf32>, tensor<8x1xi32>
  return %0#0, %0#1, %1, %2#0, %2#1
    : tensor<8xf32>, tensor<8xi32>, tensor<8x1xf32>, tensor<8x1xf32>, tensor<8x1xi32>
}

// -----

// A combination that is not used goes; constants move out of the region, which may use them.
// CHECK-LABEL: func.func @reduce
// CHECK-NEXT:    arith.constant 2.0
// CHECK-NEXT:    tile.reduce
// CHECK-NOT:     tile.scan
func.func @reduce(%x: tensor<8xf32>) -> tensor<f32> {
  %0 = tile.reduce %x axis = 0 : tensor<8xf32> -> tensor<f32> {
  ^bb0(%a: f32, %b: f32):
    %two = arith.constant 2.0 : f32
    %s = arith.addf %a, %b : f32
    %t = arith.mulf %s, %two : f32
    tile.yield %t : f32
  }
  %1 = tile.scan %x axis = 0 : tensor<8xf32> -> tensor<8xf32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  }
  return %0 : tensor<f32>
}
