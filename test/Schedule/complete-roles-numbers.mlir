// Numbers that no role's tensors tell: each role asserts of them where it is, and the last one reads,
// writes and prints them.
// RUN: tile-opt %s --tile-complete-roles | FileCheck %s --check-prefix=ROLES
// RUN: tile-opt %s --tile-complete-roles --tile-realise-rings --tile-realise-warp-groups | FileCheck %s
!view = !tile.view<?x?xf16>
!numbers = !tile.view<?xi32>
!tile_ = !tile.buffer<32x32xf16>

// ROLES: tile.assert %{{.*}}, "wide" : i1
// ROLES: tile.load %{{.*}} {role = "sum"} : !tile.view<?xi32> -> tensor<1xi32>
// ROLES: tile.store %{{.*}} {role = "sum"} : tensor<1xi32>, !tile.view<?xi32>

// CHECK: role #tile.role<"load", warps = 4> {
// CHECK: tile.assert %{{.*}}, "wide"
// CHECK: scf.for
// CHECK: tile.assert %{{.*}}, "near"
// CHECK-NOT: tensor<1xi32>
// CHECK-NOT: "apart"
// CHECK: role #tile.role<"sum", warps = 4> {
// CHECK: tile.assert %{{.*}}, "wide"
// CHECK: scf.for
// CHECK: tile.assert %{{.*}}, "near"
// CHECK: tile.store %{{.*}} : tensor<1xi32>, !tile.view<?xi32>
// CHECK: scf.if
// CHECK: tile.assert %{{.*}}, "apart"
tile.kernel @numbers(%a: !view, %n: !numbers, %k: index)
    attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"sum", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf16>
  %wide = arith.cmpi sgt, %k, %c32 : index
  tile.assert %wide, "wide" : i1
  %r = scf.for %i = %c0 to %k step %c32 iter_args(%s = %zero) -> tensor<32x32xf16> {
    %near = arith.cmpi slt, %i, %k : index
    tile.assert %near, "near" : i1
    %x = tile.load %a[%c0, %i] {atom = #nvptx.cp_async<16>, buffer = !tile_, role = "load"} : !view -> tensor<32x32xf16>
    %m = arith.addf %s, %x {tile.role = "sum"} : tensor<32x32xf16>
    scf.yield %m : tensor<32x32xf16>
  } {tile.depth = 2}
  %old = tile.load %n[%c0] : !numbers -> tensor<1xi32>
  tile.store %old, %n[%c1] : tensor<1xi32>, !numbers
  scf.if %wide {
    %apart = arith.cmpi ne, %k, %c32 : index
    tile.assert %apart, "apart" : i1
    tile.store %r, %a[%c0, %c32] {role = "sum"} : tensor<32x32xf16>, !view
  }
  tile.return
}
