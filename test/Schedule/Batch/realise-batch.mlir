// Several programs of the source as one: what depends on their number has one more dimension.
// RUN: tile-opt %s -split-input-file --tile-realise-batch | FileCheck %s

// A softmax: rows are loaded and stored as one tile, what is reduced along them is one number each.
// CHECK: tile.metadata = {programs_per_block = 16 : i64}
// CHECK-LABEL: tile.kernel @softmax
// CHECK-SAME: %[[N:[^ ]*]]: index {tile.grid_extent})
// CHECK-NOT: tile.batch
// CHECK: %[[BATCH:.*]] = tile.program_id x
// CHECK: %[[FIRST:.*]] = arith.muli %[[BATCH]], %c16
// CHECK: %[[X:.*]] = tile.load %x[%[[FIRST]], %c0] pad(%{{.*}} : bf16) : {{.*}} -> tensor<16x64xbf16>
// CHECK: %[[ROWS:.*]] = tile.reshape %[[X]] : tensor<16x64xbf16> -> tensor<16x1x64xbf16>
// CHECK: %[[WIDE:.*]] = arith.extf %[[ROWS]]
// CHECK: tile.reduce %[[WIDE]] axis = 2 : tensor<16x1x64xf32> -> tensor<16x1xf32>
// CHECK: tile.broadcast %{{.*}} : tensor<16x1x1xf32> -> tensor<16x1x64xf32>
// CHECK: math.exp %{{.*}} : tensor<16x1x64xf32>
// CHECK: arith.divf %{{.*}} : tensor<16x1x64xf32>
// There are as many rows as the launch says.
// CHECK: %[[INSIDE:.*]] = arith.maxsi %[[N]], %c0
// CHECK: %[[HEIGHT:.*]] = arith.minsi %{{.*}}, %[[INSIDE]]
// CHECK: %[[OUT:.*]] = tile.subview %y at %c0 extents [%[[HEIGHT]], %{{.*}}]
// CHECK: tile.store %{{.*}}, %[[OUT]][%[[FIRST]], %c0] : tensor<16x64xbf16>
!view = !tile.view<?x?xbf16>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @softmax(%x: !view, %y: !view) attributes {tile.batch = 16 : i64} grid {
  %n = tile.dim %x, 0 : !view
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %least = arith.constant 0xFF80 : bf16
  %i = tile.program_id x
  %row = tile.load %x[%i, %c0] pad(%least : bf16) : !view -> tensor<1x64xbf16>
  %wide = arith.extf %row : tensor<1x64xbf16> to tensor<1x64xf32>
  %max = tile.reduce %wide axis = 1 : tensor<1x64xf32> -> tensor<1xf32> {
  ^bb0(%a: f32, %b: f32):
    %m = arith.maximumf %a, %b : f32
    tile.yield %m : f32
  }
  %column = tile.reshape %max : tensor<1xf32> -> tensor<1x1xf32>
  %all = tile.broadcast %column : tensor<1x1xf32> -> tensor<1x64xf32>
  %less = arith.subf %wide, %all : tensor<1x64xf32>
  %e = math.exp %less : tensor<1x64xf32>
  %sum = tile.reduce %e axis = 1 : tensor<1x64xf32> -> tensor<1xf32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  }
  %by = tile.reshape %sum : tensor<1xf32> -> tensor<1x1xf32>
  %divisor = tile.broadcast %by : tensor<1x1xf32> -> tensor<1x64xf32>
  %weight = arith.divf %e, %divisor : tensor<1x64xf32>
  %out = arith.truncf %weight : tensor<1x64xf32> to tensor<1x64xbf16>
  tile.store %out, %y[%i, %c0] : tensor<1x64xbf16>, !view
  tile.return
}
}

// -----

// What does not depend on the number stays, and is repeated where it meets what does. Scalars
// become tensors; a loop carries them; the number of programs is the launch's.
// CHECK-LABEL: tile.kernel @mixed
// CHECK-SAME: %[[N:[^ ]*]]: index {tile.grid_extent})
// CHECK-DAG: %[[FIRST:.*]] = arith.muli %{{.*}}, %c4
// CHECK-DAG: %[[W:.*]] = tile.load %w[%c0] : !tile.view<?xf32> -> tensor<8xf32>
// CHECK-DAG: %[[STEPS:.*]] = tile.iota 0 : tensor<4xindex>
// CHECK-DAG: %[[SPLAT:.*]] = tile.splat %[[FIRST]] : tensor<4xindex>
// CHECK-DAG: %[[IDS:.*]] = arith.addi %[[SPLAT]], %[[STEPS]]
// CHECK: %[[SUM:.*]] = scf.for %[[K:.*]] = %c0 to %c16 step %c8 iter_args(%[[S:.*]] = %{{.*}}) -> (tensor<4x8xf32>) {
// CHECK:   tile.load %x[%[[FIRST]], %[[K]]] : {{.*}} -> tensor<4x8xf32>
// CHECK:   tile.reshape %[[W]] : tensor<8xf32> -> tensor<1x8xf32>
// CHECK:   tile.broadcast %{{.*}} : tensor<1x8xf32> -> tensor<4x8xf32>
// CHECK:   scf.yield %{{.*}} : tensor<4x8xf32>
// CHECK: arith.index_cast %[[IDS]] : tensor<4xindex> to tensor<4xi32>
// CHECK: arith.sitofp %{{.*}} : tensor<4xi32> to tensor<4xf32>
// CHECK: arith.index_cast %[[N]] : index to i32
// CHECK: tile.store %{{.*}} : tensor<4x8xf32>
!view = !tile.view<?x?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @mixed(%x: !view, %w: !tile.view<?xf32>, %y: !view) attributes {tile.batch = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %i = tile.program_id x
  %n = tile.num_programs x
  %weights = tile.load %w[%c0] : !tile.view<?xf32> -> tensor<8xf32>
  %sum = scf.for %k = %c0 to %c16 step %c8 iter_args(%s = %zero) -> tensor<8xf32> {
    %t = tile.load %x[%i, %k] : !view -> tensor<1x8xf32>
    %row = tile.reshape %t : tensor<1x8xf32> -> tensor<8xf32>
    %scaled = arith.mulf %row, %weights : tensor<8xf32>
    %next = arith.addf %s, %scaled : tensor<8xf32>
    scf.yield %next : tensor<8xf32>
  }
  %number = arith.index_cast %i : index to i32
  %real = arith.sitofp %number : i32 to f32
  %of = arith.index_cast %n : index to i32
  %ofReal = arith.sitofp %of : i32 to f32
  %part = arith.divf %real, %ofReal : f32
  %parts = tile.splat %part : tensor<8xf32>
  %out = arith.addf %sum, %parts : tensor<8xf32>
  %line = tile.reshape %out : tensor<8xf32> -> tensor<1x8xf32>
  tile.store %line, %y[%i, %c0] : tensor<1x8xf32>, !view
  tile.return
}
}

// -----

// A stream of random numbers is each program's own.
// CHECK-LABEL: tile.kernel @drawn
// CHECK-NOT: tile.philox
// CHECK: arith.mului_extended %{{.*}} : tensor<2x16xi32>
// CHECK: tile.store %{{.*}} : tensor<32xi32>
!view = !tile.view<?xi32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @drawn(%y: !view, %seed: i64) attributes {tile.batch = 2 : i64} {
  %c16 = arith.constant 16 : index
  %i = tile.program_id x
  %stream = arith.index_cast %i : index to i32
  %counter = tile.iota 0 : tensor<16xi32>
  %r0, %r1, %r2, %r3 = tile.philox %seed, %stream, %counter : tensor<16xi32>
  %at = arith.muli %i, %c16 : index
  tile.store %r0, %y[%at] : tensor<16xi32>, !view
  tile.return
}
}

// -----

// One is what the source says.
// CHECK-LABEL: tile.kernel @one
// CHECK-NOT: tile.grid_extent
// CHECK: tile.load %x[%{{.*}}] : !tile.view<?xf32> -> tensor<1xf32>
!view = !tile.view<?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @one(%x: !view) attributes {tile.batch = 1 : i64} {
  %i = tile.program_id x
  %t = tile.load %x[%i] : !view -> tensor<1xf32>
  tile.store %t, %x[%i] : tensor<1xf32>, !view
  tile.return
}
}

// -----

// A host runs programs as loops.
// CHECK-LABEL: tile.kernel @host
// CHECK-NOT: tile.grid_extent
// CHECK: tile.load %x[%{{.*}}] : !tile.view<?xf32> -> tensor<1xf32>
!view = !tile.view<?xf32>
module attributes {tile.target = #cpu.target<vector_bits = 256, registers = 16>} {
tile.kernel @host(%x: !view) attributes {tile.batch = 4 : i64} {
  %i = tile.program_id x
  %t = tile.load %x[%i] : !view -> tensor<1xf32>
  tile.store %t, %x[%i] : tensor<1xf32>, !view
  tile.return
}
}
