// RUN: tile-opt %s --tile-pipeline="stop-after=tile" | FileCheck %s
// RUN: not tile-opt %s --tile-pipeline="target=abacus" 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not tile-opt %s --tile-pipeline="stop-after=asm" 2>&1 | FileCheck %s --check-prefix=STAGE

// TARGET: error: {{.*}}abacus
// STAGE: error: expected stop-after to be tile, layout, schedule, target or llvm, got 'asm'

// CHECK: module attributes {tile.target = #cpu.target
// The tile stage folds constants and hoists what a loop does not change.
// CHECK-LABEL: tile.kernel @twice(
// CHECK-NEXT:    %[[C3:.*]] = arith.constant 3 : index
// CHECK:         arith.muli %{{.*}}, %[[C3]]
// CHECK-NEXT:    scf.for
tile.kernel @twice(%x: !tile.view<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %n step %c1 {
    %c3 = arith.addi %c1, %c2 : index
    %offset = arith.muli %n, %c3 : index
    %t = tile.load %x[%offset] : !tile.view<?xf32> -> tensor<16xf32>
    tile.store %t, %x[%i] : tensor<16xf32>, !tile.view<?xf32>
  }
  tile.return
}
