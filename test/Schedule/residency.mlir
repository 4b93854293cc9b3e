// An author says where a product reads an operand that an engine brings: out of its slot, as it does
// unasked, or out of registers, into which the warps read it first.
// RUN: sed "s/PLACE/shared/" %s | tile-opt - --tile-pipeline="stop-after=schedule" | FileCheck %s --check-prefix=SHARED
// RUN: sed "s/PLACE/registers/" %s | tile-opt - --tile-pipeline="stop-after=schedule" | FileCheck %s --check-prefix=REGISTERS

!view = !tile.view<?x?xbf16>
#facts = #tile.facts<pointer = 16, strides = [16, 2]>

// SHARED-LABEL: tile.kernel @product
// SHARED: %[[X:.*]]:2 = tile.get
// SHARED-NOT: tile.read
// SHARED: tile.start_dot %[[X]]#0, %[[X]]#1,

// REGISTERS-LABEL: tile.kernel @product
// REGISTERS: %[[X:.*]]:2 = tile.get
// REGISTERS: %[[T:.*]] = tile.read %[[X]]#0 {atom = #nvptx.ldmatrix<4, 16>}
// REGISTERS: tile.start_dot %[[T]], %[[X]]#1,
// REGISTERS: tile.release %{{.*}} lanes
// REGISTERS-NOT: residency

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @product(%a: !view {tile.facts = #facts}, %b: !view {tile.facts = #facts}, %c: !tile.view<?x?xf32>)
    attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %k = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %sum = scf.for %at = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<64x128xf32> {
    %x = tile.load %a[%c0, %at] {atom = #nvptx.tma, role = "load", tile.residency = "PLACE"}
       : !view -> tensor<64x64xbf16>
    %y = tile.load %b[%c0, %at] {atom = #nvptx.tma, role = "load"} : !view -> tensor<128x64xbf16>
    %d = tile.dot %x, %y, %s transpose_b {tile.atom = "wgmma", role = "mma", in_flight = 0}
       : tensor<64x64xbf16>, tensor<128x64xbf16> -> tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  } {tile.depth = 4}
  tile.store %sum, %c[%c0, %c0] {role = "mma"} : tensor<64x128xf32>, !tile.view<?x?xf32>
  tile.return
}
}
