// In a persistent kernel what is the same in all programs is computed in each: LLVM hoists nothing
// out of their loop, where it would take registers that the programs' own loops need.
// RUN: tile-compile %s --target nvptx:sm_90a --emit llvmir -o - | FileCheck %s
// RUN: tile-compile %s --target nvptx:sm_90a --emit asm -o %t.ptx
// RUN: %ptxas -arch=sm_90a %t.ptx -o %t.cubin

// CHECK-LABEL: @numbers
// CHECK: br i1 {{.*}} !llvm.loop [[PROGRAMS:![0-9]+]]
// CHECK: [[PROGRAMS]] = distinct !{[[PROGRAMS]], [[DISABLED:![0-9]+]]}
// CHECK: [[DISABLED]] = !{!"llvm.licm.disable"}
tile.kernel @numbers(%a: !tile.view<?xi32>, %n: index, %m: index) attributes {
    tile.persistent = #tile.persistent<programs = 8>} grid {
  tile.grid %m
} {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %x = tile.program_id x
  %zero = arith.constant dense<0> : tensor<512xi32>
  %most = scf.for %j = %c0 to %n step %c512 iter_args(%most = %zero) -> tensor<512xi32> {
    %from = arith.index_cast %j : index to i32
    %first = tile.splat %from : tensor<512xi32>
    %column = tile.iota 0 : tensor<512xi32>
    %at = arith.addi %first, %column : tensor<512xi32>
    %next = arith.maxsi %most, %at : tensor<512xi32>
    scf.yield %next : tensor<512xi32>
  }
  %to = arith.muli %x, %c512 : index
  tile.store %most, %a[%to] : tensor<512xi32>, !tile.view<?xi32>
  tile.return
}
