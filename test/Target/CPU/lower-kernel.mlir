// RUN: tile-opt %s --cpu-lower-kernel --canonicalize --split-input-file --verify-diagnostics | FileCheck %s

// Parameters come from 8-byte slots: the pointer, the two dynamic extents, the dynamic stride,
// then the scalars, which lie in the low bytes.

// CHECK-LABEL: func.func @kiln_grid(
// CHECK-SAME:    %[[SLOTS:.*]]: !llvm.ptr, %[[GRID:.*]]: !llvm.ptr)
// CHECK:         %[[AT:.*]] = llvm.getelementptr %[[SLOTS]][1]
// CHECK:         %[[ROWS:.*]] = llvm.load %[[AT]] : !llvm.ptr -> i64
// CHECK:         llvm.store %[[ROWS]], %[[GRID]] : i64, !llvm.ptr

// CHECK-LABEL: func.func @kiln_entry(
// CHECK-SAME:    %[[SLOTS:.*]]: !llvm.ptr {llvm.noalias}, %[[FIRST:.*]]: i64, %[[LAST:.*]]: i64, %{{.*}}: !llvm.ptr {llvm.noalias}, %[[SCRATCH:.*]]: !llvm.ptr {llvm.noalias}, %{{.*}}: !llvm.ptr) -> i32
// CHECK:         %[[AT:.*]] = llvm.getelementptr %[[SLOTS]][4]
// CHECK:         %[[S:.*]] = llvm.load %[[AT]] : !llvm.ptr -> f32
// CHECK:         scf.for %[[I:.*]] = %{{.*}} to
// CHECK:           arith.remui %[[I]]
// CHECK:           llvm.store %[[S]],
// CHECK:         %[[FAILED:.*]] = llvm.load
// CHECK:         return %[[FAILED]] : i32
tile.kernel @scale(%x: !tile.view<?x?xf32>, %s: f32) grid {
  %m = tile.dim %x, 0 : !tile.view<?x?xf32>
  tile.grid %m
} {
  %i = tile.program_id x
  %p = cpu.base %x : !tile.view<?x?xf32> -> !llvm.ptr
  %n = arith.index_cast %i : index to i64
  %q = llvm.getelementptr %p[%n] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  llvm.store %s, %q : f32, !llvm.ptr
  tile.return
}

// -----

tile.kernel @one() {
  tile.return
}
// expected-error @+1 {{expected one kernel in the module, got 2}}
tile.kernel @two() {
  tile.return
}
