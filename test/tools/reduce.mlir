// What has nothing to do with the sort goes: whole kernels, stores, ops in the middle of a chain.
// RUN: tile-reduce %s --reduce-ops='test=%S/Inputs/has-sort.sh' | FileCheck %s
// RUN: tile-reduce %s --reduction-tree='traversal-mode=0 test=%S/Inputs/has-sort.sh' \
// RUN:   | FileCheck %s --check-prefix=TREE
// RUN: not tile-reduce %s --reduce-ops='test=%S/Inputs/has-nothing.sh' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=DULL

// DULL: error: expected a module that the script finds interesting, got exit code 0 from '{{.*}}has-nothing.sh'

// TREE-NOT: tile.kernel @copy
// TREE: tile.kernel @sort

// CHECK: module {
// CHECK-NEXT: tile.kernel @sort
// CHECK-NEXT: %[[I:.*]] = tile.program_id
// CHECK-NEXT: %[[T:.*]] = tile.load
// CHECK-NEXT: tile.sort %[[T]]
// CHECK-NEXT: tile.return
// CHECK-NEXT: }
// CHECK-NEXT: }
tile.kernel @copy(%x: !tile.view<?xf32>, %y: !tile.view<?xf32>) {
  %i = tile.program_id x
  %t = tile.load %x[%i] : !tile.view<?xf32> -> tensor<128xf32>
  tile.store %t, %y[%i] : tensor<128xf32>, !tile.view<?xf32>
  tile.return
}

tile.kernel @sort(%x: !tile.view<?xf32>, %y: !tile.view<?xf32>) {
  %i = tile.program_id x
  %t = tile.load %x[%i] : !tile.view<?xf32> -> tensor<128xf32>
  %e = math.exp %t : tensor<128xf32>
  tile.store %e, %y[%i] : tensor<128xf32>, !tile.view<?xf32>
  %s = tile.sort %e axis = 0 : tensor<128xf32> -> tensor<128xf32>
  tile.store %s, %y[%i] : tensor<128xf32>, !tile.view<?xf32>
  tile.return
}

tile.kernel @empty(%x: !tile.view<?xf32>) {
  tile.return
}
