// Rings and slots of one role of which nobody says all: what is left open is decided so that what is
// said can be obeyed.
// RUN: tile-opt %s --tile-pipeline=stop-after=layout --tile-decide-stages | FileCheck %s --check-prefix=RINGS
// RUN: tile-opt %s --tile-pipeline=stop-after=layout --tile-decide-stages --tile-realise-rings \
// RUN:   --tile-decide-hand-overs --tile-realise-hand-overs --tile-realise-warp-groups \
// RUN:   --tile-complete-stages | FileCheck %s --check-prefix=STAGES
#copy = #nvptx.cp_async<16>
#mma = #nvptx.wgmma<"m64n32k16", bf16, f32>
#facts = #tile.facts<noalias, pointer = 16, strides = [16, 2], extents = [16, 16], index32>
!view = !tile.view<?x?xbf16, strides [?, 1]>
!out = !tile.view<?x?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// The second load stands behind a use of the first: in one ring of three slots neither would be far
// enough ahead.
// RINGS-LABEL: tile.kernel @apart
// RINGS: scf.for
// RINGS: tile.load {{.*}}depth = 3 : i64
// RINGS-NOT: ring
// RINGS: arith.addf
// RINGS: tile.load {{.*}}depth = 3 : i64{{.*}}ring = "apart0"
// STAGES-LABEL: tile.kernel @apart
tile.kernel @apart(%a: !view {tile.facts = #facts}, %b: !view {tile.facts = #facts}, %c: !out)
    attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %k = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<64x32xbf16>
  %sum = scf.for %kk = %c0 to %k step %c32 iter_args(%s = %zero) -> tensor<64x32xbf16> {
    %x = tile.load %a[%c0, %kk] {atom = #copy, role = "all", stage = 0} : !view -> tensor<64x32xbf16>
    %u = arith.addf %s, %x {tile.stage = 2 : i64, tile.role = "all"} : tensor<64x32xbf16>
    %y = tile.load %b[%c0, %kk] {atom = #copy, role = "all", stage = 0} : !view -> tensor<64x32xbf16>
    %v = arith.mulf %u, %y {tile.stage = 2 : i64, tile.role = "all"} : tensor<64x32xbf16>
    scf.yield %v : tensor<64x32xbf16>
  }
  %wide = arith.extf %sum : tensor<64x32xbf16> to tensor<64x32xf32>
  tile.store %wide, %c[%c0, %c0] {role = "all"} : tensor<64x32xf32>, !out
  tile.return
}

// One slot: warps write it in the trip in which the product has read what was there. What they
// write is made a trip before.
// RINGS-LABEL: tile.kernel @late
// STAGES-LABEL: tile.kernel @late
// STAGES: arith.addf {{.*}}tile.stage = 0
// STAGES: tile.put {{.*}}stage = 1 : i64} : !tile.channel<1, own,
// STAGES: tile.get {{.*}}stage = 1
// STAGES: tile.dot {{.*}}stage = 1
tile.kernel @late(%a: !view {tile.facts = #facts}, %c: !out)
    attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %k = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<64x32xf32> {
    %x = tile.load %a[%c0, %kk] {role = "all"} : !view -> tensor<32x64xbf16>
    %y = arith.addf %x, %x {tile.stage = 0 : i64, tile.role = "all"} : tensor<32x64xbf16>
    %z = tile.load %a[%c0, %kk] {role = "all"} : !view -> tensor<64x64xbf16>
    %d = tile.dot %z, %y, %s transpose_b {atom = #mma, role = "all", stage = 1, in_flight = 0}
       : tensor<64x64xbf16>, tensor<32x64xbf16> -> tensor<64x32xf32>
    scf.yield %d : tensor<64x32xf32>
  }
  tile.store %sum, %c[%c0, %c0] {role = "all"} : tensor<64x32xf32>, !out
  tile.return
}
}
