// RUN: tile-opt %s --tile-decide-runs | FileCheck %s

!table = !tile.view<?x?xf32, strides [?, 1]>

// CHECK-LABEL: tile.kernel @rows
// CHECK: tile.gather {{.*}}tile.run = array<i64: 1, 4>
// CHECK: tile.scatter {{.*}}tile.run = array<i64: 1, 4>
tile.kernel @rows(
    %x: !table {tile.facts = #tile.facts<pointer = 16, strides = [16, 4], extents = [0, 8]>},
    %ids: !tile.view<?xi32>) {
  %c0 = arith.constant 0 : index
  %id = tile.load %ids[%c0] : !tile.view<?xi32> -> tensor<16xi32>
  %column = tile.reshape %id : tensor<16xi32> -> tensor<16x1xi32>
  %rows = tile.broadcast %column : tensor<16x1xi32> -> tensor<16x64xi32>
  %columns = tile.iota 1 : tensor<16x64xi32>
  %t = tile.gather %x[%rows, %columns] : !table, [tensor<16x64xi32>, tensor<16x64xi32>] -> tensor<16x64xf32>
  tile.scatter %t, %x[%rows, %columns] : tensor<16x64xf32>, !table, [tensor<16x64xi32>, tensor<16x64xi32>]
  tile.return
}

// Rows end anywhere, or begin at four bytes; the indices are one past a multiple; or each element
// is chosen by itself.
// CHECK-LABEL: tile.kernel @none
// CHECK-NOT: tile.run
tile.kernel @none(
    %x: !table {tile.facts = #tile.facts<pointer = 16, strides = [16, 4]>},
    %y: !table {tile.facts = #tile.facts<pointer = 4, strides = [16, 4], extents = [0, 8]>},
    %z: !table {tile.facts = #tile.facts<pointer = 16, strides = [16, 4], extents = [0, 8]>}) {
  %rows = tile.iota 0 : tensor<16x64xi32>
  %columns = tile.iota 1 : tensor<16x64xi32>
  %one = arith.constant dense<1> : tensor<16x64xi32>
  %next = arith.addi %columns, %one : tensor<16x64xi32>
  %a = tile.gather %x[%rows, %columns] : !table, [tensor<16x64xi32>, tensor<16x64xi32>] -> tensor<16x64xf32>
  %b = tile.gather %y[%rows, %columns] : !table, [tensor<16x64xi32>, tensor<16x64xi32>] -> tensor<16x64xf32>
  %c = tile.gather %z[%rows, %next] : !table, [tensor<16x64xi32>, tensor<16x64xi32>] -> tensor<16x64xf32>
  %odd = arith.cmpi sle, %columns, %one : tensor<16x64xi32>
  %d = tile.gather %z[%rows, %columns] mask(%odd : tensor<16x64xi1>) : !table, [tensor<16x64xi32>, tensor<16x64xi32>] -> tensor<16x64xf32>
  %e = arith.addf %a, %b : tensor<16x64xf32>
  %f = arith.addf %c, %d : tensor<16x64xf32>
  %g = arith.addf %e, %f : tensor<16x64xf32>
  %c0 = arith.constant 0 : index
  tile.store %g, %x[%c0, %c0] : tensor<16x64xf32>, !table
  tile.return
}
