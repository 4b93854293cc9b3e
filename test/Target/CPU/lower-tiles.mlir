// RUN: tile-opt %s --cpu-decide-materialization --cpu-plan-scratch --cpu-lower-tiles --canonicalize --cse --split-input-file --verify-diagnostics | FileCheck %s

// One loop by vectors where the tiles lie inside and do not overlap; masks elsewhere.

module attributes {tile.target = #cpu.target<vector_bits = 256, registers = 16>} {
// CHECK-LABEL: tile.kernel @add(
// CHECK-DAG:     %[[STEP:.*]] = arith.constant 8 : index
// CHECK-DAG:     %[[X:.*]] = cpu.base %{{.*}} : !tile.view<?xf32> -> !llvm.ptr
// CHECK:         scf.if %{{.*}} {
// CHECK-NEXT:      scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %[[STEP]] {
// CHECK-NOT:         llvm.intr.masked
// CHECK:             %[[A:.*]] = llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
// CHECK:             %[[B:.*]] = llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
// CHECK:             %[[S:.*]] = arith.addf %[[A]], %[[B]] : vector<8xf32>
// CHECK:             llvm.store %[[S]], %{{.*}} {alignment = 4 : i64}
// CHECK-NEXT:      }
// CHECK-NEXT:    } else {
// CHECK:           llvm.intr.masked.load
// CHECK:           llvm.intr.masked.store
tile.kernel @add(%x: !tile.view<?xf32> {tile.facts = #tile.facts<noalias>},
                 %y: !tile.view<?xf32> {tile.facts = #tile.facts<noalias>},
                 %z: !tile.view<?xf32>) {
  %o = tile.program_id x
  %a = tile.load %x[%o] : !tile.view<?xf32> -> tensor<64xf32>
  %b = tile.load %y[%o] : !tile.view<?xf32> -> tensor<64xf32>
  %s = arith.addf %a, %b : tensor<64xf32>
  tile.store %s, %z[%o] : tensor<64xf32>, !tile.view<?xf32>
  tile.return
}
}

// -----

// The row's value is read once a row, in front of the loop over its columns; 11 columns are a
// vector and shorter ones.

module attributes {tile.target = #cpu.target<vector_bits = 256, registers = 16>} {
// CHECK-LABEL: tile.kernel @rows(
// CHECK:         scf.for
// CHECK:           %[[M:.*]] = llvm.load %{{.*}} : !llvm.ptr -> f32
// CHECK:           vector.broadcast %[[M]] : f32 to vector<8xf32>
// CHECK:           vector<8xf32>
// CHECK:           vector<2xf32>
// CHECK:           llvm.store %{{.*}} : f32, !llvm.ptr
tile.kernel @rows(%x: !tile.view<4x1xf32, strides [1, 1]>, %z: !tile.view<4x11xf32, strides [11, 1]>) {
  %c0 = arith.constant 0 : index
  %b = tile.alloc : !tile.buffer<4x1xf32>
  %r = tile.read %b : !tile.buffer<4x1xf32> -> tensor<4x1xf32>
  %w = tile.broadcast %r : tensor<4x1xf32> -> tensor<4x11xf32>
  tile.store %w, %z[%c0, %c0] : tensor<4x11xf32>, !tile.view<4x11xf32, strides [11, 1]>
  tile.return
}
}

// -----

// A dot: blocks of 8 rows by two vectors stay in registers while k runs.

module attributes {tile.target = #cpu.target<vector_bits = 512, registers = 32>} {
// CHECK-LABEL: tile.kernel @dot(
// CHECK:         %[[SUMS:.*]]:16 = scf.for
// CHECK-COUNT-16:  math.fma %{{.*}} : vector<16xf32>
// CHECK:           scf.yield
// CHECK-COUNT-16: llvm.store %[[SUMS]]#
tile.kernel @dot(%x: !tile.view<?x?xf32>, %z: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0, %c0] : !tile.view<?x?xf32> -> tensor<16x16xf32>
  %b = tile.load %x[%c0, %c0] : !tile.view<?x?xf32> -> tensor<16x32xf32>
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %d = tile.dot %a, %b, %zero : tensor<16x16xf32>, tensor<16x32xf32> -> tensor<16x32xf32>
  tile.store %d, %z[%c0, %c0] : tensor<16x32xf32>, !tile.view<?x?xf32>
  tile.return
}
}

// -----

// expected-error @+1 {{expected a module with a cpu target as tile.target}}
tile.kernel @untargeted() {
  tile.return
}

// -----

module attributes {tile.target = #cpu.target<vector_bits = 256, registers = 16>} {
tile.kernel @chosen(%x: !tile.view<?xf32>, %y: !tile.view<?xf32>, %c: i1) {
  %c0 = arith.constant 0 : index
  %v = arith.select %c, %x, %y : !tile.view<?xf32>
  // expected-error @+1 {{expected a view or pointer that is an argument of the kernel, or one that the kernel makes}}
  %a = tile.load %v[%c0] : !tile.view<?xf32> -> tensor<16xf32>
  tile.store %a, %x[%c0] : tensor<16xf32>, !tile.view<?xf32>
  tile.return
}
}

// -----

// A row by its number and all its columns: the row's place is computed once, and its elements are
// read as vectors. No element is gathered by itself.

module attributes {tile.target = #cpu.target<vector_bits = 256, registers = 16>} {
// CHECK-LABEL: tile.kernel @gather_rows(
// CHECK-NOT:     llvm.intr.masked.gather
// CHECK:         llvm.intr.masked.load %{{.*}} : (!llvm.ptr, vector<8xi1>, vector<8xf32>) -> vector<8xf32>
// CHECK-NOT:     llvm.intr.masked.gather
// CHECK:         tile.return
tile.kernel @gather_rows(%table: !tile.view<?x?xf32, strides [?, 1]>, %rows: !tile.view<?xi32>,
                         %out: !tile.view<?x?xf32, strides [?, 1]>) {
  %z = arith.constant 0 : index
  %i = tile.load %rows[%z] : !tile.view<?xi32> -> tensor<4xi32>
  %i1 = tile.reshape %i : tensor<4xi32> -> tensor<4x1xi32>
  %i2 = tile.broadcast %i1 : tensor<4x1xi32> -> tensor<4x64xi32>
  %j2 = tile.iota 1 : tensor<4x64xi32>
  %t = tile.gather %table[%i2, %j2] : !tile.view<?x?xf32, strides [?, 1]>, [tensor<4x64xi32>, tensor<4x64xi32>] -> tensor<4x64xf32>
  tile.store %t, %out[%z, %z] : tensor<4x64xf32>, !tile.view<?x?xf32, strides [?, 1]>
  tile.return
}
}

// -----

// Along its axis a reduction of a tuple combines the even lanes of two vectors with their odd ones.

module attributes {tile.target = #cpu.target<vector_bits = 256, registers = 16>} {
// CHECK-LABEL: tile.kernel @position_of_maximum(
// CHECK:         vector.shuffle %{{.*}} [0, 2, 4, 6, 8, 10, 12, 14] : vector<8xf32>, vector<8xf32>
// CHECK:         vector.shuffle %{{.*}} [1, 3, 5, 7, 9, 11, 13, 15] : vector<8xf32>, vector<8xf32>
// CHECK:         arith.cmpf ogt, %{{.*}} : vector<8xf32>
// CHECK:         arith.select %{{.*}} : vector<8xi1>, vector<8xi32>
tile.kernel @position_of_maximum(%x: !tile.view<?xf32>, %y: !tile.view<?xi32>) {
  %z = arith.constant 0 : index
  %a = tile.load %x[%z] : !tile.view<?xf32> -> tensor<64xf32>
  %i = tile.iota 0 : tensor<64xi32>
  %m, %p = tile.reduce %a, %i axis = 0 : tensor<64xf32>, tensor<64xi32> -> tensor<f32>, tensor<i32> {
  ^bb0(%la: f32, %li: i32, %ra: f32, %ri: i32):
    %w = arith.cmpf ogt, %ra, %la : f32
    %v = arith.select %w, %ra, %la : f32
    %at = arith.select %w, %ri, %li : i32
    tile.yield %v, %at : f32, i32
  }
  %s = tile.reshape %p : tensor<i32> -> tensor<1xi32>
  tile.store %s, %y[%z] : tensor<1xi32>, !tile.view<?xi32>
  tile.return
}
}
