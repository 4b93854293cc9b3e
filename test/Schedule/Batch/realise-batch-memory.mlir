// How programs that run in step access memory: as one tile where their tiles lie side by side, else
// element by element.
// RUN: tile-opt %s -split-input-file --tile-realise-batch | FileCheck %s

// Tiles of several elements along the dimension; in front of it another one.
// CHECK-LABEL: tile.kernel @columns
// CHECK: %[[FIRST:.*]] = arith.muli %{{.*}}, %c4
// CHECK: %[[AT:.*]] = arith.muli %{{.*}}, %c8
// CHECK: %[[T:.*]] = tile.load %x[%c0, %[[AT]]] : {{.*}} -> tensor<16x8xf32>
// CHECK: %[[SPLIT:.*]] = tile.reshape %[[T]] : tensor<16x8xf32> -> tensor<16x4x2xf32>
// CHECK: %[[OWN:.*]] = tile.transpose %[[SPLIT]] [1, 0, 2] : tensor<16x4x2xf32> -> tensor<4x16x2xf32>
// CHECK: %[[E:.*]] = math.exp %[[OWN]]
// CHECK: %[[BACK:.*]] = tile.transpose %[[E]] [1, 0, 2] : tensor<4x16x2xf32> -> tensor<16x4x2xf32>
// CHECK: %[[TILE:.*]] = tile.reshape %[[BACK]] : tensor<16x4x2xf32> -> tensor<16x8xf32>
// CHECK: %[[LEFT:.*]] = arith.subi %{{.*}}, %[[FIRST]]
// CHECK: %[[WIDTH:.*]] = arith.muli %[[LEFT]], %c2
// CHECK: arith.addi %[[AT]], %[[WIDTH]]
// CHECK: tile.store %[[TILE]], %{{.*}}[%c0, %[[AT]]] : tensor<16x8xf32>
!view = !tile.view<?x?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @columns(%x: !view, %y: !view) attributes {tile.batch = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %i = tile.program_id x
  %at = arith.muli %i, %c2 : index
  %t = tile.load %x[%c0, %at] : !view -> tensor<16x2xf32>
  %e = math.exp %t : tensor<16x2xf32>
  tile.store %e, %y[%c0, %at] : tensor<16x2xf32>, !view
  tile.return
}
}

// -----

// Rows that a table names are gathered; a row that is stored backwards is scattered, where its
// program is there. Hints stay.
// CHECK-LABEL: tile.kernel @table
// CHECK: %[[ID:.*]] = tile.load %ids[%[[FIRST:.*]]] : {{.*}} -> tensor<4xi32>
// CHECK: %[[PLACE:.*]] = arith.index_cast %[[ID]] : tensor<4xi32> to tensor<4xindex>
// CHECK: %[[ROW:.*]] = tile.reshape %[[PLACE]] : tensor<4xindex> -> tensor<4x1x1xindex>
// CHECK: %[[ROWS:.*]] = tile.broadcast %[[ROW]] : tensor<4x1x1xindex> -> tensor<4x1x8xindex>
// CHECK: %[[COLUMNS:.*]] = arith.addi %{{.*}}, %{{.*}} : tensor<4x1x8xindex>
// CHECK: tile.gather %table[%[[ROWS]], %[[COLUMNS]]] cache = streaming : {{.*}} -> tensor<4x1x8xf32>
// CHECK: %[[LEFT:.*]] = arith.subi %{{arg[0-9]+}}, %[[FIRST]]
// CHECK: %[[ALL:.*]] = tile.splat %[[LEFT]] : tensor<4xindex>
// CHECK: %[[IS:.*]] = arith.cmpi slt, %{{.*}}, %[[ALL]] : tensor<4xindex>
// CHECK: tile.reshape %[[IS]] : tensor<4xi1> -> tensor<4x1x1xi1>
// CHECK: tile.scatter %{{.*}}, %y[{{.*}}] mask(%{{.*}} : tensor<4x1x8xi1>)
!view = !tile.view<?x?xf32>
!list = !tile.view<?xi32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @table(%table: !view, %ids: !list, %y: !view) attributes {tile.batch = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c99 = arith.constant 99 : index
  %i = tile.program_id x
  %id = tile.load %ids[%i] : !list -> tensor<1xi32>
  %number = tile.to_scalar %id : tensor<1xi32>
  %place = arith.index_cast %number : i32 to index
  %row = tile.load %table[%place, %c3] cache = streaming : !view -> tensor<1x8xf32>
  %back = arith.subi %c99, %i : index
  tile.store %row, %y[%back, %c0] : tensor<1x8xf32>, !view
  tile.return
}
}

// -----

// What is stored to is loaded of the same view, so that both are known to be at the same place.
// CHECK-LABEL: tile.kernel @inplace
// CHECK: %[[VIEW:.*]] = tile.subview %x
// CHECK-NOT: tile.subview
// CHECK: tile.load %[[VIEW]][%[[FIRST:.*]], %c0]
// CHECK-NOT: tile.subview
// CHECK: tile.store %{{.*}}, %[[VIEW]][%[[FIRST]], %c0]
!view = !tile.view<?x?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @inplace(%x: !view) attributes {tile.batch = 4 : i64} {
  %c0 = arith.constant 0 : index
  %i = tile.program_id x
  %t = tile.load %x[%i, %c0] : !view -> tensor<1x8xf32>
  %e = math.exp %t : tensor<1x8xf32>
  tile.store %e, %x[%i, %c0] : tensor<1x8xf32>, !view
  tile.return
}
}

// -----

// Tiles that overlap, as of a window, are gathered. What a gather has stays.
// CHECK-LABEL: tile.kernel @window
// CHECK: tile.gather %x[%{{.*}}] : {{.*}} -> tensor<4x16xf32>
// CHECK: tile.gather %x[%{{.*}}] mask(%{{.*}} : tensor<4x16xi1>) pad(%{{.*}} : f32) : {{.*}} -> tensor<4x16xf32>
// CHECK: tile.scatter %{{.*}}, %y[%{{.*}}] mask(%{{.*}} : tensor<4x16xi1>)
!view = !tile.view<?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @window(%x: !view, %y: !view, %least: f32) attributes {tile.batch = 4 : i64} {
  %c8 = arith.constant 8 : index
  %c40 = arith.constant dense<40> : tensor<16xindex>
  %i = tile.program_id x
  %at = arith.muli %i, %c8 : index
  %t = tile.load %x[%at] : !view -> tensor<16xf32>
  %iota = tile.iota 0 : tensor<16xindex>
  %start = tile.splat %at : tensor<16xindex>
  %places = arith.addi %iota, %start : tensor<16xindex>
  %mask = arith.cmpi slt, %places, %c40 : tensor<16xindex>
  %u = tile.gather %x[%places] mask(%mask : tensor<16xi1>) pad(%least : f32) : !view, [tensor<16xindex>] -> tensor<16xf32>
  %sum = arith.addf %t, %u : tensor<16xf32>
  tile.scatter %sum, %y[%places] mask(%mask : tensor<16xi1>) : tensor<16xf32>, !view, [tensor<16xindex>]
  tile.return
}
}
