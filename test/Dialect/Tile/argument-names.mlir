// An argument keeps its name: in the text, and in the generic form as an attribute.
// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC
// RUN: tile-opt %s --mlir-print-op-generic | tile-opt | FileCheck %s

// CHECK-LABEL: tile.kernel @named(%gate: !tile.view<?xf32> {tile.facts = #tile.facts<pointer = 16>}, %up_2: f32) grid {
// CHECK-NEXT:    tile.dim %gate, 0
// GENERIC: arg_attrs = [{tile.facts = #tile.facts<pointer = 16>, tile.name = "gate"}, {tile.name = "up_2"}]
tile.kernel @named(%gate: !tile.view<?xf32> {tile.facts = #tile.facts<pointer = 16>}, %up_2: f32) grid {
  %n = tile.dim %gate, 0 : !tile.view<?xf32>
  tile.grid %n
} {
  tile.return
}

// A number is no name, and a name that the text cannot show is printed as an attribute.
// CHECK-LABEL: tile.kernel @unnamed(%arg0: f32, %{{.*}}: f32 {tile.name = "a b"})
tile.kernel @unnamed(%0: f32, %1: f32 {tile.name = "a b"}) {
  tile.return
}
