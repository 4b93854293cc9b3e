// Who copies what of a role's own ring if its warps are no power of two: of 192 rows, 24 pieces of
// 512 bytes, each of twelve warps has two, those of four warps one behind another; of 64 rows, eight
// pieces, the first eight warps have one.
// RUN: tile-opt %s --tile-pipeline=stop-after=target | FileCheck %s

!view = !tile.view<?x?xbf16, strides [?, 1]>
!out = !tile.view<?x?xf32, strides [?, 1]>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
// CHECK: instructions = 2 : i64{{.*}}type = "tensor<192x32xbf16>"
// CHECK-SAME: instructions = 1 : i64{{.*}}type = "tensor<64x32xbf16>"
// CHECK: %[[WARP:.*]] = nvvm.shfl.sync
// CHECK: %[[FOUR:.*]] = arith.divui %[[WARP]], %c4_i32
// CHECK: %[[OWN:.*]] = arith.muli %[[WARP]], %c512_i32
// CHECK: %[[APART:.*]] = arith.muli %[[FOUR]], %c2048_i32
// CHECK: %[[AT:.*]] = arith.addi %[[OWN]], %[[APART]]
// CHECK: %[[LANE:.*]] = arith.addi %[[AT]], %{{.*}}
// CHECK: %[[FIRST:.*]] = llvm.getelementptr %{{.*}}[%[[LANE]]]
// CHECK: nvvm.cp.async.shared.global %[[FIRST]],
// CHECK: %[[SECOND:.*]] = llvm.getelementptr %[[FIRST]][2048]
// CHECK: nvvm.cp.async.shared.global %[[SECOND]],
// CHECK: %[[EIGHT:.*]] = arith.cmpi ult, %[[WARP]], %c8_i32
// CHECK-NEXT: scf.if %[[EIGHT]] {
// CHECK-NEXT: nvvm.cp.async.shared.global
// CHECK-NEXT: }
// CHECK-NEXT: nvvm.cp.async.commit.group
tile.kernel @k(%a: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [1, 8]>},
               %b: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [1, 8]>},
               %c: !out {tile.facts = #tile.facts<noalias>})
    attributes {tile.roles = [#tile.role<"all", warps = 4, copies = 3>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %k = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<192x64xf32>
  %acc = scf.for %h = %c0 to %k step %c32 iter_args(%s = %zero) -> tensor<192x64xf32> {
    %x = tile.load %a[%c0, %h] {atom = #nvptx.cp_async<16>, role = "all", stage = 0} : !view -> tensor<192x32xbf16>
    %y = tile.load %b[%c0, %h] {atom = #nvptx.cp_async<16>, role = "all", stage = 0} : !view -> tensor<64x32xbf16>
    %d = tile.dot %x, %y, %s transpose_b {tile.atom = "mma_sync", role = "all", stage = 1}
       : tensor<192x32xbf16>, tensor<64x32xbf16> -> tensor<192x64xf32>
    scf.yield %d : tensor<192x64xf32>
  } {tile.depth = 2}
  tile.store %acc, %c[%c0, %c0] {role = "all"} : tensor<192x64xf32>, !out
  tile.return
}
}
