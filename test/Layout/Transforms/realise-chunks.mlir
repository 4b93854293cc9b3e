// Loops over chunks of tiles, one for each reduction that waits for another.
// RUN: tile-opt %s -split-input-file --tile-realise-chunks | FileCheck %s

// The row is loaded once: the first loop keeps it. What is stored comes last, with its hint.
// CHECK-LABEL: tile.kernel @softmax
// CHECK-NOT:     tile.chunk
// CHECK:         %[[KEPT:.*]] = tile.alloc : !tile.buffer<8x512xbf16>
// CHECK:         %[[MOST:.*]] = scf.for %[[AT:.*]] = %{{.*}} to %[[END:.*]] step %{{.*}} iter_args(%[[ACC:.*]] = %{{.*}}) -> (tensor<1x512xf32>)
// CHECK:           %[[X:.*]] = tile.load %{{.*}}[%{{.*}}, %[[AT]]] pad(%{{.*}} : bf16) : {{.*}} -> tensor<1x512xbf16>
// CHECK:           %[[C512:.*]] = arith.constant 512 : index
// CHECK:           %[[NUMBER:.*]] = arith.divui %[[AT]], %[[C512]]
// CHECK:           %[[PART:.*]] = tile.part %[[KEPT]][%[[NUMBER]], %{{.*}}] : !tile.buffer<8x512xbf16> -> !tile.buffer<1x512xbf16>
// CHECK:           tile.write %[[X]], %[[PART]]
// CHECK:           %[[F:.*]] = arith.extf %[[X]] : tensor<1x512xbf16> to tensor<1x512xf32>
// CHECK:           %[[NEXT:.*]] = arith.maximumf %[[ACC]], %[[F]] : tensor<1x512xf32>
// CHECK:           scf.yield %[[NEXT]]
// CHECK:         tile.reduce %[[MOST]] axis = 1
// CHECK:         scf.for
// CHECK-NOT:       tile.load
// CHECK:           tile.read
// CHECK:           math.exp
// CHECK:           arith.addf
// CHECK:         tile.reduce
// CHECK:         scf.for %[[LAST:.*]] = %{{.*}} to
// CHECK-NOT:       tile.load
// CHECK:           %[[Y:.*]] = arith.divf
// CHECK:           tile.store %{{.*}}, %{{.*}}[%{{.*}}, %[[LAST]]] cache = streaming
// CHECK-NOT:     tile.reduce
// CHECK:         tile.return
!view = !tile.view<?x?xbf16>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @softmax(%a: !view, %b: !view) attributes {tile.chunk = array<i64: 512, 1>} {
  %c0 = arith.constant 0 : index
  %least = arith.constant 0xFF80 : bf16
  %i = tile.program_id x
  %x = tile.load %a[%i, %c0] pad(%least : bf16) {tile.kept = "shared"}
     : !view -> tensor<1x4096xbf16>
  %f = arith.extf %x : tensor<1x4096xbf16> to tensor<1x4096xf32>
  %most = tile.reduce %f axis = 1 : tensor<1x4096xf32> -> tensor<1xf32> {
  ^bb0(%left: f32, %right: f32):
    %m = arith.maximumf %left, %right : f32
    tile.yield %m : f32
  }
  %column = tile.reshape %most : tensor<1xf32> -> tensor<1x1xf32>
  %row = tile.broadcast %column : tensor<1x1xf32> -> tensor<1x4096xf32>
  %d = arith.subf %f, %row : tensor<1x4096xf32>
  %e = math.exp %d : tensor<1x4096xf32>
  %sum = tile.reduce %e axis = 1 : tensor<1x4096xf32> -> tensor<1xf32> {
  ^bb0(%left: f32, %right: f32):
    %s = arith.addf %left, %right : f32
    tile.yield %s : f32
  }
  %sums = tile.reshape %sum : tensor<1xf32> -> tensor<1x1xf32>
  %all = tile.broadcast %sums : tensor<1x1xf32> -> tensor<1x4096xf32>
  %y = arith.divf %e, %all : tensor<1x4096xf32>
  %out = arith.truncf %y : tensor<1x4096xf32> to tensor<1x4096xbf16>
  tile.store %out, %b[%i, %c0] cache = streaming : tensor<1x4096xbf16>, !view
  tile.return
}
}

// -----

// Loaded again: the hint is for the last time. Two chunks at once are asked for together. Positions
// count from the chunk on; what has no long dimension stays, in front of the loop that needs it.
// CHECK-LABEL: tile.kernel @centred
// CHECK-NOT:     tile.alloc
// CHECK:         scf.for %[[AT:.*]] = %{{.*}} to %{{.*}} step
// CHECK:           %[[SECOND:.*]] = arith.addi %[[AT]], %{{.*}} : index
// CHECK:           tile.load %{{.*}}[%[[AT]]] : {{.*}} -> tensor<1024xf32>
// CHECK:           tile.load %{{.*}}[%[[SECOND]]] : {{.*}} -> tensor<1024xf32>
// CHECK:           arith.addf
// CHECK:           arith.addf
// CHECK:         tile.reduce
// CHECK:         tile.to_scalar
// CHECK:         scf.for %[[AT:.*]] = %{{.*}} to %{{.*}} step
// CHECK:           tile.load %{{.*}}[%[[AT]]] cache = streaming
// CHECK:           tile.load %{{.*}} cache = streaming
// CHECK:           %[[PLACES:.*]] = tile.iota 0 : tensor<1024xi32>
// CHECK:           %[[BEGIN:.*]] = arith.index_cast %[[AT]] : index to i32
// CHECK:           %[[BEGINS:.*]] = tile.splat %[[BEGIN]]
// CHECK:           arith.addi %[[PLACES]], %[[BEGINS]] : tensor<1024xi32>
// CHECK:           tile.store
// CHECK:           tile.store
!row = !tile.view<?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @centred(%a: !row {tile.facts = #tile.facts<noalias>}, %b: !row, %n: i32)
    attributes {tile.chunk = array<i64: 1024, 2>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<8192xf32>
  %x = tile.load %a[%c0] cache = streaming : !row -> tensor<8192xf32>
  %sum = tile.reduce %x axis = 0 : tensor<8192xf32> -> tensor<f32> {
  ^bb0(%left: f32, %right: f32):
    %s = arith.addf %left, %right : f32
    tile.yield %s : f32
  }
  %scalar = tile.to_scalar %sum : tensor<f32>
  %places = tile.iota 0 : tensor<8192xi32>
  %ends = tile.splat %n : tensor<8192xi32>
  %inside = arith.cmpi slt, %places, %ends : tensor<8192xi32>
  %sums = tile.splat %scalar : tensor<8192xf32>
  %d = arith.subf %x, %sums : tensor<8192xf32>
  %y = arith.select %inside, %d, %zero : tensor<8192xi1>, tensor<8192xf32>
  tile.store %y, %b[%c0] : tensor<8192xf32>, !row
  tile.return
}
}

// -----

// Nobody has cut this one, or has said not to.
// CHECK-LABEL: tile.kernel @whole
// CHECK-NOT:     tile.chunk
// CHECK-NOT:     scf.for
!row = !tile.view<?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @whole(%a: !row) attributes {tile.chunk = false} {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0] : !row -> tensor<8192xf32>
  tile.store %x, %a[%c0] : tensor<8192xf32>, !row
  tile.return
}
}

// -----

// A host has loops of its own.
// CHECK-LABEL: tile.kernel @host
// CHECK-NOT:     tile.chunk
// CHECK-NOT:     tile.kept
// CHECK-NOT:     scf.for
!row = !tile.view<?xf32>
module attributes {tile.target = #cpu.target<vector_bits = 256, registers = 16>} {
tile.kernel @host(%a: !row) attributes {tile.chunk = array<i64: 1024, 1>} {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0] {tile.kept = "shared"} : !row -> tensor<8192xf32>
  tile.store %x, %a[%c0] : tensor<8192xf32>, !row
  tile.return
}
}
