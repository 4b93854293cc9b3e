// Warps share out each part of a product that is cut along m and n: registers choose among the parts.
// Where a part has no share for each warp, they share out the whole.
// RUN: tile-opt %s --tile-decide-layouts | FileCheck %s

#mma = #nvptx.mma_sync<"m16n8k16", f16, f32>
!left = tensor<64x16xf16>
!right = tensor<16x64xf16>
!sum = tensor<64x64xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  // CHECK-DAG: #[[WHOLE:.*]] = #tile.layout<register = {{\[}}[0,1],[8,0],[0,8],[0,16],[16,0]], lane = {{\[}}[0,2],[0,4],[1,0],[2,0],[4,0]], warp = {{\[}}[32,0],[0,32]]>
  // CHECK-DAG: #[[PARTS:.*]] = #tile.layout<register = {{\[}}[0,1],[8,0],[0,8],[32,0],[0,32]], lane = {{\[}}[0,2],[0,4],[1,0],[2,0],[4,0]], warp = {{\[}}[16,0],[0,16]]>

  // CHECK-LABEL: tile.kernel @dots
  tile.kernel @dots(%a: !tile.view<?x?xf16>, %b: !tile.view<?x?xf16>, %c: !tile.view<?x?xf32>) attributes {tile.warps = 4 : i64} {
    %i = arith.constant 0 : index
    %s = arith.constant dense<0.0> : !sum
    %x = tile.load %a[%i, %i] : !tile.view<?x?xf16> -> !left
    %y = tile.load %b[%i, %i] : !tile.view<?x?xf16> -> !right
    // CHECK: tile.dot {{.*}} -> tensor<64x64xf32, #[[WHOLE]]>
    // CHECK: tile.dot {{.*}}parts = array<i64: 2, 2, 1>{{.*}} -> tensor<64x64xf32, #[[PARTS]]>
    // CHECK: tile.dot {{.*}}parts = array<i64: 4, 8, 1>{{.*}} -> tensor<64x64xf32, #[[WHOLE]]>
    %d = tile.dot %x, %y, %s {atom = #mma} : !left, !right -> !sum
    %p = tile.dot %x, %y, %s {atom = #mma, parts = array<i64: 2, 2, 1>} : !left, !right -> !sum
    %q = tile.dot %x, %y, %s {atom = #mma, parts = array<i64: 4, 8, 1>} : !left, !right -> !sum
    tile.store %d, %c[%i, %i] : !sum, !tile.view<?x?xf32>
    tile.store %p, %c[%i, %i] : !sum, !tile.view<?x?xf32>
    tile.store %q, %c[%i, %i] : !sum, !tile.view<?x?xf32>
    tile.return
  }
}
