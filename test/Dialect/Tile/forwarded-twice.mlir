// A loop's condition forwards the result of an `if` twice: the loop's body takes what the branch gave
// that the condition stands for. MLIR 22's own pattern gives it the other branch's value
// (llvm/llvm-project#219456).
// RUN: tile-opt %s --tile-simplify | FileCheck %s
// RUN: tile-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: tile.kernel @twice
// CHECK: scf.while
// CHECK: %[[VALUE:.*]] = {{scf.if|arith.select}} %[[AGAIN:[^ ,]*]]
// CHECK: scf.condition(%[[AGAIN]]) %[[VALUE]], %{{.*}} :
// CHECK: ^bb0(%[[SECOND:.*]]: index, %{{.*}}: index):
// CHECK: scf.yield %[[SECOND]] : index
tile.kernel @twice(%out: !tile.view<?xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c20 = arith.constant 20 : index
  %result:3 = scf.while (%state = %c0) : (index) -> (index, index, index) {
    %continue = arith.cmpi slt, %state, %c1 : index
    %value = scf.if %continue -> index {
      %next = arith.addi %state, %c2 : index
      scf.yield %next : index
    } else {
      scf.yield %c20 : index
    }
    scf.condition(%continue) %value, %value, %state : index, index, index
  } do {
  ^bb0(%first: index, %second: index, %old: index):
    scf.yield %second : index
  }
  %last = arith.index_cast %result#2 : index to i64
  %tile = tile.splat %last : tensor<1xi64>
  tile.store %tile, %out[%c0] : tensor<1xi64>, !tile.view<?xi64>
  tile.return
}
