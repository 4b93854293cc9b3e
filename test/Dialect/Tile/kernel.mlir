// The kernel, its regions, arguments and positions, in text, generic form and bytecode.
// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s --mlir-print-op-generic | tile-opt | FileCheck %s
// RUN: tile-opt %s --emit-bytecode | tile-opt | FileCheck %s

// CHECK-LABEL: tile.kernel @copy(
// CHECK-SAME:    %[[X:.*]]: !tile.view<?xf32> {tile.facts = #tile.facts<pointer = 16, extents = [128], index32>},
// CHECK-SAME:    %[[Y:.*]]: !tile.view<?xf32>) grid {
// CHECK:         tile.dim %[[X]], 0 : !tile.view<?xf32>
// CHECK:         tile.grid %{{.*}}
// CHECK:       } {
// CHECK:         tile.load %[[X]][%{{.*}}] : !tile.view<?xf32> -> tensor<128xf32>
// CHECK:         tile.store %{{.*}}, %[[Y]][%{{.*}}] : tensor<128xf32>, !tile.view<?xf32>
tile.kernel @copy(%x: !tile.view<?xf32> {tile.facts = #tile.facts<pointer = 16, extents = [128], index32>},
                  %y: !tile.view<?xf32>) grid {
  %n = tile.dim %x, 0 : !tile.view<?xf32>
  %c128 = arith.constant 128 : index
  %programs = arith.ceildivui %n, %c128 : index
  tile.grid %programs
} {
  %i = tile.program_id x
  %c128 = arith.constant 128 : index
  %offset = arith.muli %i, %c128 : index
  %t = tile.load %x[%offset] : !tile.view<?xf32> -> tensor<128xf32>
  tile.store %t, %y[%offset] : tensor<128xf32>, !tile.view<?xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @pinned(%{{.*}}: !tile.view<?x8xi4, strides [1, ?]>) {
// CHECK-NEXT:    tile.return
tile.kernel @pinned(%x: !tile.view<?x8xi4, strides [1, ?]>) {
  tile.return
}

// CHECK-LABEL: tile.kernel @arguments(
// CHECK-SAME:    !tile.pointer<bf16> {tile.facts = #tile.facts<pointer = 16, noalias>}
// CHECK-SAME:    index {tile.facts = #tile.facts<divisor = 8>}
// CHECK-SAME:    f8E4M3FN, %{{.*}}: i4)
// CHECK-SAME:    attributes {tile.tunables = [#tile.tunable<"BLOCK" = 64 : i64 of [32, 64]>]}
tile.kernel @arguments(%p: !tile.pointer<bf16> {tile.facts = #tile.facts<pointer = 16, noalias>},
                       %n: index {tile.facts = #tile.facts<divisor = 8>}, %s: f8E4M3FN, %t: i4)
    attributes {tile.tunables = [#tile.tunable<"BLOCK" = 64 : i64 of [32, 64]>]} {
  // CHECK: tile.program_id y
  %i = tile.program_id y
  // CHECK: tile.num_programs z
  %d = tile.num_programs z
  tile.return
}

// CHECK-LABEL: tile.kernel @three(
// CHECK:         tile.grid %{{.*}}, %{{.*}}, %{{.*}}
tile.kernel @three(%n: index) grid {
  tile.grid %n, %n, %n
} {
  tile.return
}
