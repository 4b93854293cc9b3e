// Copies that lag, over rings of three and four slots, of which the dot reads the oldest: they are
// proven, and in the loop neither LLVM nor the schedule waits for the loads that should be under way.
// RUN: tile-compile %s --target amdgpu:gfx942 --emit schedule | FileCheck %s
// RUN: tile-compile %s --target amdgpu:gfx942 --emit asm | tile-check-isa
// RUN: sed 's/stage = 2/stage = 3/; s/depth = 3/depth = 4/' %s > %t.mlir
// RUN: tile-compile %t.mlir --target amdgpu:gfx942 --emit asm | tile-check-isa
// RUN: tile-compile %t.mlir --target amdgpu:gfx950 --emit asm | tile-check-isa

// Each trip in front of the loop, and behind it, stands in the one without which it is not there.
// CHECK: role #tile.role<"all"
// CHECK: scf.if
// CHECK: tile.put %{{.*}}
// CHECK: scf.if
// CHECK: scf.if
// CHECK: tile.put %{{.*}}
// CHECK: tile.wait_puts in_flight = 0
// CHECK: scf.for
// CHECK: tile.wait_puts in_flight = 1
// CHECK: %[[ALL:.*]] = scf.if %{{.*}} -> (tensor<64x64xf32
// CHECK: %[[FIRST:.*]] = tile.dot
// CHECK: scf.if %{{.*}} -> (tensor<64x64xf32
// CHECK: %[[SECOND:.*]] = tile.dot {{.*}}, %[[FIRST]]
// CHECK: scf.if %{{.*}} -> (tensor<64x64xf32
// CHECK: %[[THIRD:.*]] = tile.dot {{.*}}, %[[SECOND]]
// CHECK: scf.if %{{.*}} -> (tensor<64x64xf32
// CHECK: tile.dot {{.*}}, %[[THIRD]]
// CHECK: else
// CHECK-NEXT: scf.yield %[[THIRD]]
// CHECK: else
// CHECK-NEXT: scf.yield %[[SECOND]]
// CHECK: else
// CHECK-NEXT: scf.yield %[[FIRST]]
// CHECK: tile.store %[[ALL]]
!view = !tile.view<?x?xbf16>
!out = !tile.view<?x?xf32>

tile.kernel @skewed(
    %a: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32, noalias>},
    %b: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32, noalias>},
    %c: !out {tile.facts = #tile.facts<pointer = 16, strides = [16, 4], extents = [16, 16], index32, noalias>})
    attributes {tile.roles = [#tile.role<"all", warps = 4, copies = 2, skew = 1>]} grid {
  %c1 = arith.constant 1 : index
  tile.grid %c1
} {
  %zero = arith.constant dense<0.000000e+00> : tensor<128x64xf32>
  %k = tile.dim %a, 1 : !view
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%s = %zero) -> (tensor<128x64xf32>) {
    %x = tile.load %a[%c0, %i] {role = "all", stage = 0 : i64, tile.atom = "load_to_lds"} : !view -> tensor<128x32xbf16>
    %y = tile.load %b[%c0, %i] {role = "all", stage = 0 : i64, tile.atom = "load_to_lds"} : !view -> tensor<64x32xbf16>
    %d = tile.dot %x, %y, %s transpose_b {role = "all", stage = 2 : i64, tile.atom = "matrix"} : tensor<128x32xbf16>, tensor<64x32xbf16> -> tensor<128x64xf32>
    scf.yield %d : tensor<128x64xf32>
  } {tile.depth = 3 : i64}
  tile.store %sum, %c[%c0, %c0] {role = "all"} : tensor<128x64xf32>, !out
  tile.return
}
