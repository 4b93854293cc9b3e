// What a source says of a schedule in part gets the roles and instructions that it lacks, and keeps
// what it says.
// RUN: tile-opt --tile-complete-pins --split-input-file %s | FileCheck %s
#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>
!view = !tile.view<?x?xbf16, strides [?, 1]>
!out = !tile.view<?x?xf32>

// A product's instruction: an engine brings what it reads, by a role of its own.
// CHECK-LABEL: @product_alone
// CHECK-SAME: tile.roles = [#tile.role<"compute", warps = 4, copies = 2>, #tile.role<"load", warps = 1>]
// CHECK: tile.load {{.*}} {role = "load", tile.atom = "tma"}
// CHECK: tile.load {{.*}} {role = "load", tile.atom = "tma"}
// CHECK: tile.dot {{.*}} {role = "compute", tile.atom = "wgmma"}
// CHECK: tile.store {{.*}} {role = "compute"}
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @product_alone(%a: !view {tile.facts = #facts}, %b: !view {tile.facts = #facts}, %c: !out) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %k = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<128x64xf32> {
    %x = tile.load %a[%c0, %kk] : !view -> tensor<128x64xbf16>
    %y = tile.load %b[%c0, %kk] : !view -> tensor<64x64xbf16>
    %d = tile.dot %x, %y, %s transpose_b {tile.atom = "wgmma"}
       : tensor<128x64xbf16>, tensor<64x64xbf16> -> tensor<128x64xf32>
    scf.yield %d : tensor<128x64xf32>
  }
  tile.store %sum, %c[%c0, %c0] : tensor<128x64xf32>, !out
  tile.return
}
}

// -----

#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>
!view = !tile.view<?x?xbf16, strides [?, 1]>
!out = !tile.view<?x?xf32>

// A copy by lanes, and the role of one op: that role loads for itself.
// CHECK-LABEL: @copy_alone
// CHECK-SAME: tile.roles = [#tile.role<"mine", warps = {{[0-9]+}}>]
// CHECK: tile.load {{.*}} {role = "mine", tile.atom = "cp_async"}
// CHECK: tile.dot {{.*}} {role = "mine"}
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
tile.kernel @copy_alone(%a: !view {tile.facts = #facts}, %c: !out) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %k = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<64x64xf32> {
    %x = tile.load %a[%c0, %kk] {tile.atom = "cp_async"} : !view -> tensor<64x64xbf16>
    %d = tile.dot %x, %x, %s transpose_b {role = "mine"}
       : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %sum, %c[%c0, %c0] : tensor<64x64xf32>, !out
  tile.return
}
}

// -----

#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>
!view = !tile.view<?x?xbf16, strides [?, 1]>
!out = !tile.view<?x?xf32>

// The kernel's own roles: the one with more warps computes.
// CHECK-LABEL: @roles_alone
// CHECK-SAME: tile.roles = [#tile.role<"few", warps = 4>, #tile.role<"many", warps = 4, copies = 2>]
// CHECK: tile.load {{.*}} {depth = 3 : i64, role = "few", tile.atom = "tma"}
// CHECK: tile.dot {{.*}} {in_flight = 1 : i64, role = "many", tile.atom = "wgmma"}
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @roles_alone(%a: !view {tile.facts = #facts}, %c: !out)
    attributes {tile.roles = [#tile.role<"few", warps = 4>, #tile.role<"many", warps = 4, copies = 2>]} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %k = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<128x128xf32> {
    %x = tile.load %a[%c0, %kk] {depth = 3} : !view -> tensor<128x64xbf16>
    %d = tile.dot %x, %x, %s transpose_b {in_flight = 1}
       : tensor<128x64xbf16>, tensor<128x64xbf16> -> tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  tile.store %sum, %c[%c0, %c0] : tensor<128x128xf32>, !out
  tile.return
}
}

// -----

!view = !tile.view<?x?xf32>
// What says nothing stays as it is.
// CHECK-LABEL: @plain
// CHECK-NOT: role
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @plain(%a: !view, %c: !view) {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0, %c0] : !view -> tensor<64x64xf32>
  tile.store %x, %c[%c0, %c0] : tensor<64x64xf32>, !view
  tile.return
}
}
