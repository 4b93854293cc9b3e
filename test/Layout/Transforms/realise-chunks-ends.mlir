// Loops over chunks end where all that is loaded is padding, if what is computed of it counts once.
// RUN: tile-opt %s -split-input-file --tile-realise-chunks | FileCheck %s

// The farthest of what is loaded, stored and masked; at most the tile, in whole trips. The sum of squares takes one
// of the padding, if no trip has.
// CHECK-LABEL: tile.kernel @norm
// CHECK:         %[[ALL:.*]] = tile.dim %{{.*}}, 1
// CHECK:         %[[OFFSET:.*]] = arith.maxsi %{{.*}}, %{{.*}}
// CHECK:         %[[REACH:.*]] = arith.subi %[[ALL]], %[[OFFSET]]
// CHECK:         arith.maxsi %{{.*}}, %[[REACH]]
// CHECK:         tile.dim %{{.*}}, 1
// CHECK:         %[[END:.*]] = arith.minsi %{{.*}}, %{{.*}}
// CHECK:         %[[TRIPS:.*]] = arith.ceildivui %[[END]], %[[STEP:.*]] : index
// CHECK:         %[[COUNT:.*]] = arith.muli %[[TRIPS]], %[[STEP]] : index
// CHECK:         %[[LESS:.*]] = arith.cmpi ult, %[[COUNT]], %{{.*}}
// CHECK:         %[[LOOP:.*]] = scf.for %{{.*}} = %{{.*}} to %[[COUNT]]
// CHECK:         %[[SUM:.*]] = tile.reduce %[[LOOP]] axis = 1
// CHECK:         %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<1x1xf32>
// CHECK:         %[[SQUARE:.*]] = arith.mulf %[[ZERO]], %[[ZERO]] : tensor<1x1xf32>
// CHECK:         %[[ONE:.*]] = tile.reduce %[[SQUARE]] axis = 1
// CHECK:         %[[BOTH:.*]] = arith.addf %[[SUM]], %[[ONE]] : tensor<1xf32>
// CHECK:         %[[ASKED:.*]] = tile.splat %[[LESS]]
// CHECK:         arith.select %[[ASKED]], %[[BOTH]], %[[SUM]]
// CHECK:         scf.for %{{.*}} = %{{.*}} to %[[COUNT]]
!view = !tile.view<?x?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @norm(%a: !view {tile.facts = #tile.facts<noalias>}, %b: !view)
    attributes {tile.chunk = array<i64: 512, 1>} {
  %c0 = arith.constant 0 : index
  %i = tile.program_id x
  %x = tile.load %a[%i, %c0] : !view -> tensor<1x4096xf32>
  %d = arith.mulf %x, %x : tensor<1x4096xf32>
  %sum = tile.reduce %d axis = 1 : tensor<1x4096xf32> -> tensor<1xf32> {
  ^bb0(%left: f32, %right: f32):
    %s = arith.addf %left, %right : f32
    tile.yield %s : f32
  }
  %sums = tile.reshape %sum : tensor<1xf32> -> tensor<1x1xf32>
  %all = tile.broadcast %sums : tensor<1x1xf32> -> tensor<1x4096xf32>
  %y = arith.divf %x, %all : tensor<1x4096xf32>
  tile.store %y, %b[%i, %c0] : tensor<1x4096xf32>, !view
  tile.return
}
}

// -----

// Minus a maximum that is not known minus infinity is that or no number, whose exponential is zero
// or no number. A mask is false behind its number.
// CHECK-LABEL: tile.kernel @masked
// CHECK:         %[[NUMBER:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK:         %[[END:.*]] = arith.maxsi %{{.*}}, %[[NUMBER]]
// CHECK:         arith.minsi
// CHECK:         %[[COUNT:.*]] = arith.muli
// CHECK:         scf.for %{{.*}} = %{{.*}} to %[[COUNT]]
// CHECK:         %[[LEAST:.*]] = tile.splat %{{.*}} : tensor<1xf32>
// CHECK:         %[[FALSE:.*]] = arith.constant dense<false> : tensor<1xi1>
// CHECK:         %[[D:.*]] = arith.subf %[[LEAST]], %{{.*}} : tensor<1xf32>
// CHECK:         %[[E:.*]] = math.exp %[[D]] : tensor<1xf32>
// CHECK:         arith.select %[[FALSE]], %[[E]], %{{.*}} : tensor<1xi1>, tensor<1xf32>
// CHECK:         tile.reduce
// CHECK:         arith.select
!row = !tile.view<?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @masked(%a: !row, %b: !row, %n: i32, %most: f32)
    attributes {tile.chunk = array<i64: 1024, 1>} {
  %c0 = arith.constant 0 : index
  %least = arith.constant 0xFF800000 : f32
  %zero = arith.constant dense<0.0> : tensor<8192xf32>
  %x = tile.load %a[%c0] pad(%least : f32) : !row -> tensor<8192xf32>
  %places = tile.iota 0 : tensor<8192xi32>
  %ends = tile.splat %n : tensor<8192xi32>
  %inside = arith.cmpi slt, %places, %ends : tensor<8192xi32>
  %mosts = tile.splat %most : tensor<8192xf32>
  %d = arith.subf %x, %mosts : tensor<8192xf32>
  %e = math.exp %d : tensor<8192xf32>
  %y = arith.select %inside, %e, %zero : tensor<8192xi1>, tensor<8192xf32>
  %z = arith.addf %y, %e : tensor<8192xf32>
  %sum = tile.reduce %z axis = 0 : tensor<8192xf32> -> tensor<f32> {
  ^bb0(%left: f32, %right: f32):
    %s = arith.addf %left, %right : f32
    tile.yield %s : f32
  }
  %one = tile.reshape %sum : tensor<f32> -> tensor<1xf32>
  tile.store %one, %b[%c0] : tensor<1xf32>, !row
  tile.return
}
}

// -----

// Ones add up, positions differ, and a product is none of these.
// CHECK-LABEL: tile.kernel @ones
// CHECK:         scf.for %{{.*}} = %{{.*}} to %c4096
// CHECK-LABEL: tile.kernel @positions
// CHECK:         scf.for %{{.*}} = %{{.*}} to %c4096
// CHECK-LABEL: tile.kernel @product
// CHECK:         scf.for %{{.*}} = %{{.*}} to %c4096
!row = !tile.view<?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @ones(%a: !row, %b: !row) attributes {tile.chunk = array<i64: 1024, 1>} {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0] : !row -> tensor<4096xf32>
  %e = math.exp %x : tensor<4096xf32>
  %sum = tile.reduce %e axis = 0 : tensor<4096xf32> -> tensor<f32> {
  ^bb0(%left: f32, %right: f32):
    %s = arith.addf %left, %right : f32
    tile.yield %s : f32
  }
  %one = tile.reshape %sum : tensor<f32> -> tensor<1xf32>
  tile.store %one, %b[%c0] : tensor<1xf32>, !row
  tile.return
}
tile.kernel @positions(%a: !row, %b: !row) attributes {tile.chunk = array<i64: 1024, 1>} {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0] : !row -> tensor<4096xf32>
  %places = tile.iota 0 : tensor<4096xi32>
  %real = arith.sitofp %places : tensor<4096xi32> to tensor<4096xf32>
  %e = arith.subf %x, %real : tensor<4096xf32>
  %most = tile.reduce %e axis = 0 : tensor<4096xf32> -> tensor<f32> {
  ^bb0(%left: f32, %right: f32):
    %s = arith.maximumf %left, %right : f32
    tile.yield %s : f32
  }
  %one = tile.reshape %most : tensor<f32> -> tensor<1xf32>
  tile.store %one, %b[%c0] : tensor<1xf32>, !row
  tile.return
}
tile.kernel @product(%a: !row, %b: !row) attributes {tile.chunk = array<i64: 1024, 1>} {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0] : !row -> tensor<4096xf32>
  %all = tile.reduce %x axis = 0 : tensor<4096xf32> -> tensor<f32> {
  ^bb0(%left: f32, %right: f32):
    %s = arith.mulf %left, %right : f32
    tile.yield %s : f32
  }
  %one = tile.reshape %all : tensor<f32> -> tensor<1xf32>
  tile.store %one, %b[%c0] : tensor<1xf32>, !row
  tile.return
}
}
