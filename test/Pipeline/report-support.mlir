// What a target says of each op: the query behind docs/reference/support.md.
// RUN: tile-opt %s --tile-report-support="target=cpu" -o /dev/null 2>&1 | FileCheck %s
// RUN: not tile-opt %s --tile-report-support="target=abacus" 2>&1 | FileCheck %s --check-prefix=BAD
// BAD: error: expected a target ({{.*}}), got 'abacus'

// CHECK: remark: 'tile.load' is native
// CHECK: remark: 'arith.extf' is emulated
// CHECK: remark: 'arith.addf' is native
// CHECK: remark: 'arith.truncf' is emulated
// CHECK: remark: 'tile.store' is native
// CHECK: remark: 'tile.atomic_rmw' is emulated
tile.kernel @k(%x: !tile.view<?xbf16>, %y: !tile.view<?xf32>, %i: index, %v: f32) {
  %t = tile.load %x[%i] : !tile.view<?xbf16> -> tensor<8xbf16>
  %w = arith.extf %t : tensor<8xbf16> to tensor<8xf32>
  %s = arith.addf %w, %w : tensor<8xf32>
  %n = arith.truncf %s : tensor<8xf32> to tensor<8xbf16>
  tile.store %n, %x[%i] : tensor<8xbf16>, !tile.view<?xbf16>
  %old = tile.atomic_rmw addf %y[%i], %v : !tile.view<?xf32>, [index], f32
  tile.return
}
