// A product in flight reads an operand out of registers until it is waited for, a trip later: trips
// take turns with two sets. A round has one trip of each, and behind whole rounds a trip may be left.
// RUN: tile-opt %s --tile-pipeline="stop-after=schedule" | FileCheck %s

!view = !tile.view<?x?xbf16>
#facts = #tile.facts<pointer = 16, strides = [16, 2]>

// CHECK-LABEL: tile.kernel @product
// CHECK: %[[TRIPS:.*]] = arith.ceildivui
// CHECK: %[[REST:.*]] = arith.remui %[[TRIPS]], %c2
// CHECK: %[[ROUNDS:.*]]:4 = scf.for %{{.*}} = %c0 to %{{.*}} step %{{.*}} iter_args(%[[SUM:.*]] = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}})
// CHECK: %[[X0:.*]] = tile.read {{.*}}ldmatrix
// CHECK: %[[D0:.*]] = tile.start_dot %[[X0]], %{{.*}}, %[[SUM]] when
// CHECK: %[[W0:.*]] = tile.wait %[[D0]] in_flight = 1
// CHECK: %[[X1:.*]] = tile.read {{.*}}ldmatrix
// CHECK: %[[D1:.*]] = tile.start_dot %[[X1]], %{{.*}}, %[[W0]] when
// CHECK: %[[W1:.*]] = tile.wait %[[D1]] in_flight = 1
// CHECK: scf.yield %[[W1]],
// CHECK: %[[LEFT:.*]] = arith.cmpi ugt, %[[REST]], %c0
// CHECK: %[[ALL:.*]]:4 = scf.if %[[LEFT]]
// CHECK: %[[X2:.*]] = tile.read {{.*}}ldmatrix
// CHECK: tile.start_dot %[[X2]], %{{.*}}, %[[ROUNDS]]#0 when
// CHECK: tile.wait %{{.*}} in_flight = 1
// CHECK: else
// CHECK: scf.yield %[[ROUNDS]]#0,
// CHECK: tile.wait %[[ALL]]#0 in_flight = 0
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @product(%a: !view {tile.facts = #facts}, %b: !view {tile.facts = #facts}, %c: !tile.view<?x?xf32>)
    attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %k = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %sum = scf.for %at = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<64x128xf32> {
    %x = tile.load %a[%c0, %at] {atom = #nvptx.tma, role = "load", tile.residency = "registers"}
       : !view -> tensor<64x64xbf16>
    %y = tile.load %b[%c0, %at] {atom = #nvptx.tma, role = "load"} : !view -> tensor<128x64xbf16>
    %d = tile.dot %x, %y, %s transpose_b {tile.atom = "wgmma", role = "mma", in_flight = 1}
       : tensor<64x64xbf16>, tensor<128x64xbf16> -> tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  } {tile.depth = 4}
  tile.store %sum, %c[%c0, %c0] {role = "mma"} : tensor<64x128xf32>, !tile.view<?x?xf32>
  tile.return
}
}
