// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s --mlir-print-op-generic | tile-opt | FileCheck %s

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
