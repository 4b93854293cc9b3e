// RUN: tile-opt %s --tile-split-edges | FileCheck %s

!row = !tile.view<?xf32, strides [1]>

// CHECK-LABEL: tile.kernel @copy
// CHECK: %[[END:.*]] = arith.addi
// CHECK: %[[WHOLE:.*]] = arith.cmpi sle, %[[END]]
// CHECK: scf.if
// CHECK: tile.load {{.*}}tile.whole_rows
// CHECK: tile.store {{.*}}tile.whole_rows
// CHECK: } else {
// CHECK-NOT: tile.whole_rows
// CHECK: tile.load
// CHECK: tile.store
// CHECK: tile.return
tile.kernel @copy(%x: !row {tile.facts = #tile.facts<pointer = 16>},
                  %y: !row {tile.facts = #tile.facts<pointer = 16>}) {
  %c1024 = arith.constant 1024 : index
  %pid = tile.program_id x
  %at = arith.muli %pid, %c1024 : index
  %t = tile.load %x[%at] : !row -> tensor<1024xf32>
  tile.store %t, %y[%at] : tensor<1024xf32>, !row
  tile.return
}

// A turn of a loop that carries something.
// CHECK-LABEL: tile.kernel @sum
// CHECK: scf.for
// CHECK: %[[NEXT:.*]] = scf.if %{{.*}} -> (tensor<64xf32>) {
// CHECK: tile.load {{.*}}tile.whole_rows
// CHECK: scf.yield
// CHECK: } else {
// CHECK: scf.yield
// CHECK: scf.yield %[[NEXT]]
tile.kernel @sum(%x: !row {tile.facts = #tile.facts<pointer = 16>}, %y: !row) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = tile.dim %x, 0 : !row
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %total = scf.for %i = %c0 to %n step %c64 iter_args(%sum = %zero) -> tensor<64xf32> {
    %t = tile.load %x[%i] : !row -> tensor<64xf32>
    %s = arith.addf %sum, %t : tensor<64xf32>
    scf.yield %s : tensor<64xf32>
  }
  tile.store %total, %y[%c0] : tensor<64xf32>, !row
  tile.return
}

// Nothing would be wider: rows are multiples, or begin anywhere; or a tile may begin below zero.
// CHECK-LABEL: tile.kernel @stay
// CHECK-NOT: scf.if
tile.kernel @stay(%x: !row {tile.facts = #tile.facts<pointer = 16, extents = [16]>},
                  %y: !row {tile.facts = #tile.facts<pointer = 4>},
                  %z: !row {tile.facts = #tile.facts<pointer = 16>},
                  %at: index {tile.facts = #tile.facts<divisor = 16>}) {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0] : !row -> tensor<64xf32>
  tile.store %t, %y[%c0] : tensor<64xf32>, !row
  tile.store %t, %z[%at] : tensor<64xf32>, !row
  tile.return
}
