// What is decided of a trip that several roles run.
// RUN: tile-opt %s --split-input-file --tile-pipeline=stop-after=layout --tile-decide-stages | FileCheck %s

// A role that reads what it copies ahead runs all else as late; what another does has no stage.
#facts = #tile.facts<noalias, pointer = 16, strides = [16, 2], extents = [16, 16], index32>
!view = !tile.view<?x?xbf16>
!out = !tile.view<?x?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
// CHECK-LABEL: @ahead
// CHECK: tile.load {{.*}}stage = 0 : i64
// CHECK: tile.dot {{.*}}role = "mma", stage = 3 : i64
// CHECK: arith.mulf {{.*}}{tile.role = "store"}
// CHECK: tile.store {{.*}}{role = "store"}
// CHECK: arith.addf {{.*}}tile.role = "mma", tile.stage = 3 : i64
tile.kernel @ahead(%a: !view {tile.facts = #facts}, %c: !out, %d: !out)
    attributes {tile.roles = [#tile.role<"mma", warps = 4>, #tile.role<"store", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %k = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %two = arith.constant dense<2.0> : tensor<128x128xf32>
  %r = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<128x128xf32> {
    %x = tile.load %a[%c0, %kk] {tile.atom = "cp_async", role = "mma"} : !view -> tensor<128x64xbf16>
    %p = tile.dot %x, %x, %zero transpose_b {tile.atom = "tcgen05", in_flight = 0, role = "mma"}
       : tensor<128x64xbf16>, tensor<128x64xbf16> -> tensor<128x128xf32>
    %q = arith.mulf %p, %two {tile.role = "store"} : tensor<128x128xf32>
    tile.store %q, %c[%c0, %kk] {role = "store"} : tensor<128x128xf32>, !out
    %t = arith.addf %s, %p : tensor<128x128xf32>
    scf.yield %t : tensor<128x128xf32>
  }
  tile.store %r, %d[%c0, %c0] {role = "mma"} : tensor<128x128xf32>, !out
  tile.return
}
}

// -----

// What one role hands to another through shared memory, 64 KB here, leaves less for rings: five slots
// of 32 KB.
#facts = #tile.facts<noalias, pointer = 16, strides = [16, 2], extents = [16, 16], index32>
!view = !tile.view<?x?xbf16>
!out = !tile.view<?x?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
// CHECK-LABEL: @room
// CHECK-COUNT-2: tile.load {{.*}}depth = 5 : i64
tile.kernel @room(%a: !view {tile.facts = #facts}, %b: !view {tile.facts = #facts}, %c: !out)
    attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>, #tile.role<"store", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %k = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %two = arith.constant dense<2.0> : tensor<128x128xf32>
  %r = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<128x128xf32> {
    %x = tile.load %a[%c0, %kk] {tile.atom = "tma", role = "load"} : !view -> tensor<128x64xbf16>
    %y = tile.load %b[%c0, %kk] {tile.atom = "tma", role = "load"} : !view -> tensor<128x64xbf16>
    %t = arith.mulf %s, %two {tile.role = "mma"} : tensor<128x128xf32>
    %p = tile.dot %x, %y, %t transpose_b {tile.atom = "tcgen05", in_flight = 0, role = "mma"}
       : tensor<128x64xbf16>, tensor<128x64xbf16> -> tensor<128x128xf32>
    scf.yield %p : tensor<128x128xf32>
  }
  tile.store %r, %c[%c0, %c0] {role = "store"} : tensor<128x128xf32>, !out
  tile.return
}
}
