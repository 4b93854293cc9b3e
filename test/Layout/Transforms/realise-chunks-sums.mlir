// How loops over chunks combine elements: in any order, by position, or chunk after chunk.
// RUN: tile-opt %s -split-input-file --tile-realise-chunks | FileCheck %s

// CHECK-LABEL: tile.kernel @winner
// CHECK:         %[[LOOP:.*]]:2 = scf.for %[[AT:.*]] = {{.*}} iter_args(%[[BEST:.*]] = %{{.*}}, %[[WHERE:.*]] = %{{.*}}) -> (tensor<4x256xf32>, tensor<4x256xi32>)
// CHECK:           %[[FIRST:.*]] = arith.cmpi eq, %[[AT]], %{{.*}} : index
// CHECK:           %[[X:.*]] = tile.load
// CHECK:           %[[BEATS:.*]] = arith.cmpf ogt, %[[X]], %[[BEST]] : tensor<4x256xf32>
// CHECK:           %[[FIRSTS:.*]] = tile.splat %[[FIRST]]
// CHECK:           %[[WINS:.*]] = arith.ori %[[BEATS]], %[[FIRSTS]]
// CHECK:           arith.select %[[WINS]], %[[X]], %[[BEST]]
// CHECK:           arith.select %[[WINS]], %{{.*}}, %[[WHERE]]
// CHECK:         %[[PLACES:.*]] = tile.iota 1 : tensor<4x256xi32>
// CHECK:         arith.addi %[[LOOP]]#1, %[[PLACES]]
// CHECK:         tile.reduce %[[LOOP]]#0, %{{.*}} axis = 1
// CHECK:           arith.cmpf ogt
// CHECK:           arith.cmpf ogt
// CHECK:           arith.cmpi slt
// CHECK-NOT:     tile.arg_reduce
!view = !tile.view<?x?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @winner(%a: !view, %b: !tile.view<?xi32>)
    attributes {tile.chunk = array<i64: 256, 1>} {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0, %c0] : !view -> tensor<4x8192xf32>
  %most, %at = tile.arg_reduce %x axis = 1 : tensor<4x8192xf32> -> tensor<4xf32>, tensor<4xi32> {
  ^bb0(%best: f32, %next: f32):
    %wins = arith.cmpf ogt, %next, %best : f32
    tile.yield %wins : i1
  }
  tile.store %at, %b[%c0] : tensor<4xi32>, !tile.view<?xi32>
  tile.return
}
}

// -----

// A combination that nobody knows keeps the order of chunks; what it takes from outside is the same
// for all elements.
// CHECK-LABEL: tile.kernel @line
// CHECK:         scf.for {{.*}} iter_args(%[[SLOPE:.*]] = %{{.*}}, %[[SHIFT:.*]] = %{{.*}}) -> (tensor<f32>, tensor<f32>)
// CHECK:           %[[OWN:.*]]:2 = tile.reduce %{{.*}}, %{{.*}} axis = 0 : tensor<1024xf32>, tensor<1024xf32> -> tensor<f32>, tensor<f32>
// CHECK:           %[[BOTH:.*]] = arith.mulf %[[SLOPE]], %[[OWN]]#0 : tensor<f32>
// CHECK:           arith.mulf %[[SHIFT]], %[[OWN]]#0 : tensor<f32>
// CHECK:           arith.addf %{{.*}}, %[[OWN]]#1 : tensor<f32>
// CHECK:           arith.select %{{.*}}, %[[OWN]]#0, %[[BOTH]] : tensor<i1>, tensor<f32>
!row = !tile.view<?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @line(%a: !row, %b: !row, %c: !row) attributes {tile.chunk = array<i64: 1024, 1>} {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0] : !row -> tensor<8192xf32>
  %y = tile.load %b[%c0] : !row -> tensor<8192xf32>
  %slope, %shift = tile.reduce %x, %y axis = 0
      : tensor<8192xf32>, tensor<8192xf32> -> tensor<f32>, tensor<f32> {
  ^bb0(%s: f32, %t: f32, %u: f32, %v: f32):
    %m = arith.mulf %s, %u : f32
    %n = arith.mulf %t, %u : f32
    %o = arith.addf %n, %v : f32
    tile.yield %m, %o : f32, f32
  }
  %one = tile.reshape %shift : tensor<f32> -> tensor<1xf32>
  tile.store %one, %c[%c0] : tensor<1xf32>, !row
  tile.return
}
}

// -----

// Sums of columns of a tile that is cut along its rows; what is summed along the others is cut, too.
// CHECK-LABEL: tile.kernel @columns
// CHECK:         scf.for %[[AT:[^ ]*]] = {{.*}} -> (tensor<512x8xf32>)
// CHECK:           %[[X:.*]] = tile.load %{{.*}}[%[[AT]], %{{.*}}] : {{.*}} -> tensor<512x8xf32>
// CHECK-DAG:       %[[OF_ROWS:.*]] = tile.reduce %[[X]] axis = 1 : tensor<512x8xf32> -> tensor<512xf32>
// CHECK-DAG:       arith.addf
// CHECK-DAG:       tile.store %[[OF_ROWS]], %{{.*}}[%[[AT]]] : tensor<512xf32>
// CHECK:         tile.reduce %{{.*}} axis = 0 : tensor<512x8xf32> -> tensor<8xf32>
!view = !tile.view<?x?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @columns(%a: !view {tile.facts = #tile.facts<noalias>}, %b: !tile.view<?xf32>,
                     %c: !tile.view<?xf32>)
    attributes {tile.chunk = array<i64: 512, 1>} {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0, %c0] : !view -> tensor<4096x8xf32>
  %rows = tile.reduce %x axis = 1 : tensor<4096x8xf32> -> tensor<4096xf32> {
  ^bb0(%left: f32, %right: f32):
    %s = arith.addf %left, %right : f32
    tile.yield %s : f32
  }
  %columns = tile.reduce %x axis = 0 : tensor<4096x8xf32> -> tensor<8xf32> {
  ^bb0(%left: f32, %right: f32):
    %s = arith.addf %left, %right : f32
    tile.yield %s : f32
  }
  tile.store %rows, %b[%c0] : tensor<4096xf32>, !tile.view<?xf32>
  tile.store %columns, %c[%c0] : tensor<8xf32>, !tile.view<?xf32>
  tile.return
}
}
