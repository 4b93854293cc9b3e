// A cast to a narrower type and back drops bits: MLIR 22's own patterns make it the value itself
// (llvm/llvm-project#90296). There and back by a type that holds every value is still nothing.
// RUN: tile-opt %s --split-input-file --tile-simplify | FileCheck %s
// RUN: tile-opt %s --split-input-file --canonicalize | FileCheck %s --check-prefix=SOUND
// RUN: tile-opt %s --split-input-file "--tile-pipeline=target=cpu" | FileCheck %s --check-prefix=HOST
// RUN: tile-opt %s --split-input-file "--tile-pipeline=target=nvptx:sm_90a" | FileCheck %s --check-prefix=DEVICE

// CHECK-LABEL: tile.kernel @narrow
// CHECK: arith.index_cast %{{.*}} : tensor<128xindex> to tensor<128xi8>
// CHECK: arith.index_cast %{{.*}} : tensor<128xi8> to tensor<128xindex>
// CHECK: arith.index_castui %{{.*}} : index to i8
// CHECK: arith.index_castui %{{.*}} : i8 to index
// CHECK: tile.return
// SOUND-LABEL: tile.kernel @narrow
// SOUND: arith.index_cast %{{.*}} : tensor<128xindex> to tensor<128xi8>
// SOUND: arith.index_cast %{{.*}} : tensor<128xi8> to tensor<128xindex>
// SOUND: arith.index_castui %{{.*}} : index to i8
// SOUND: arith.index_castui %{{.*}} : i8 to index
// HOST-LABEL: llvm.func @kiln_entry
// HOST: llvm.trunc %{{.*}} : i64 to i8
// HOST: llvm.zext %{{.*}} : i8 to i64
// HOST: llvm.trunc %{{.*}} to vector<8xi8>
// HOST: llvm.sext %{{.*}} : vector<8xi8>
// DEVICE-LABEL: llvm.func @narrow
// DEVICE: llvm.trunc %{{.*}} to vector<4xi8>
// DEVICE: llvm.sext %{{.*}} : vector<4xi8>
// DEVICE: llvm.trunc %{{.*}} : i64 to i8
// DEVICE: llvm.zext %{{.*}} : i8 to i64
tile.kernel @narrow(%x: index, %out: !tile.view<?xi64>) {
  %i = tile.iota 0 : tensor<128xindex>
  %at = tile.splat %x : tensor<128xindex>
  %sum = arith.addi %i, %at : tensor<128xindex>
  %byte = arith.index_cast %sum : tensor<128xindex> to tensor<128xi8>
  %back = arith.index_cast %byte : tensor<128xi8> to tensor<128xindex>
  %value = arith.index_cast %back : tensor<128xindex> to tensor<128xi64>
  %low = arith.index_castui %x : index to i8
  %from = arith.index_castui %low : i8 to index
  tile.store %value, %out[%from] : tensor<128xi64>, !tile.view<?xi64>
  tile.return
}

// -----

// CHECK-LABEL: tile.kernel @wide
// CHECK-SAME: (%[[X:.*]]: index, %[[Y:.*]]: i32)
// CHECK-NEXT: tile.print "values" (%[[X]], %[[X]])
tile.kernel @wide(%x: index, %y: i32) {
  %0 = arith.index_cast %x : index to i64
  %1 = arith.index_cast %0 : i64 to index
  %2 = arith.index_cast %y : i32 to index
  %3 = arith.index_cast %2 : index to i32
  %4 = arith.index_castui %x : index to i64
  %5 = arith.index_castui %4 : i64 to index
  %6 = arith.index_castui %y : i32 to index
  %7 = arith.index_castui %6 : index to i32
  tile.print "values" (%1, %5) : index, index
  tile.print "values" (%3, %7) : i32, i32
  tile.return
}
