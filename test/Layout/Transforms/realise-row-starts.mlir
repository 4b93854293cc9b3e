// Tiles of rows that begin where memory's vectors do.
// RUN: tile-opt %s --tile-realise-row-starts | FileCheck %s
// RUN: tile-opt %s --tile-realise-row-starts --tile-decide-chunks --tile-realise-chunks | FileCheck %s --check-prefix=CHUNKS

// By how much the row that is stored begins behind a multiple of 16 bytes, in elements. Positions
// are turned as far.
// CHECK-LABEL: tile.kernel @norm
// CHECK-NOT: tile.row_starts
// CHECK: %[[I:.*]] = tile.program_id x
// CHECK: %[[STRIDE:.*]] = tile.stride %[[B:.*]], 0
// CHECK: %[[ROW:.*]] = arith.muli %[[I]], %[[STRIDE]]
// CHECK: %[[AT:.*]] = tile.address %[[B]]
// CHECK: %[[LOW:.*]] = arith.andi
// CHECK: %[[SHIFT:.*]] = arith.divui %[[LOW]]
// CHECK: %[[START:.*]] = arith.subi %{{.*}}, %[[SHIFT]]
// CHECK: tile.load %{{.*}}[%[[I]], %[[START]]] {tile.ragged = 65536 : i64}
// CHECK: %[[IOTA:.*]] = tile.iota
// CHECK: %[[SUM:.*]] = arith.addi %[[IOTA]]
// CHECK: %[[TURNED:.*]] = arith.andi %[[SUM]]
// CHECK: arith.cmpi slt, %[[TURNED]]
// CHECK: tile.store %{{.*}}, %[[B]][%[[I]], %[[START]]] {tile.ragged = 65536 : i64}

// Chunks of them end where the mask does, which is turned as far.
// CHUNKS-LABEL: tile.kernel @norm
// CHUNKS: %[[FORTH:.*]] = arith.subi %c65536
// CHUNKS: arith.addi %{{.*}}, %[[FORTH]]
// CHUNKS: arith.ceildivui
// CHUNKS: scf.for
// CHUNKS: tile.load {{.*}} {tile.ragged = 65536 : i64}
// CHUNKS: scf.for
// CHUNKS: tile.store {{.*}} {tile.ragged = 65536 : i64}
!view = !tile.view<?x?xf32>
#any = #tile.facts<pointer = 16, strides = [4, 4], extents = [0, 1], noalias>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @norm(%a: !view {tile.facts = #any}, %b: !view {tile.facts = #any}, %n: i32)
    attributes {tile.row_starts = true} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<1x65536xf32>
  %i = tile.program_id x
  %x = tile.load %a[%i, %c0] : !view -> tensor<1x65536xf32>
  %at = tile.iota 1 : tensor<1x65536xi32>
  %ns = tile.splat %n : tensor<1x65536xi32>
  %inside = arith.cmpi slt, %at, %ns : tensor<1x65536xi32>
  %y = arith.select %inside, %x, %zero : tensor<1x65536xi1>, tensor<1x65536xf32>
  %sum = tile.reduce %y axis = 1 : tensor<1x65536xf32> -> tensor<1xf32> {
  ^bb0(%left: f32, %right: f32):
    %s = arith.addf %left, %right : f32
    tile.yield %s : f32
  }
  %sums = tile.reshape %sum : tensor<1xf32> -> tensor<1x1xf32>
  %all = tile.broadcast %sums : tensor<1x1xf32> -> tensor<1x65536xf32>
  %z = arith.mulf %y, %all : tensor<1x65536xf32>
  tile.store %z, %b[%i, %c0] : tensor<1x65536xf32>, !view
  tile.return
}
}
