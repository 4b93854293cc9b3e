// An order is a place among the ops of a role in the loop: one that is said alone sends the others
// round it, as in the source.
// RUN: tile-opt %s --tile-decide-stages | FileCheck %s
!view = !tile.view<?x?xf16>
#buffer = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[1,0],[2,0],[4,0],[8,0],[16,0]]>
!tile_ = !tile.buffer<32x32xf16, #buffer>
#roles = [#tile.role<"load", warps = 4>, #tile.role<"sum", warps = 4>]

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// CHECK-LABEL: tile.kernel @loads
// CHECK: tile.load %{{.*}} {{{.*}}order = 2 : i64, ring = "x"
// CHECK: tile.load %{{.*}} {{{.*}}order = 0 : i64, ring = "y"
// CHECK: tile.load %{{.*}} {{{.*}}order = 1 : i64, ring = "z"
// Roles of which nobody says an order have none.
// CHECK: arith.addf
// CHECK-NOT: order
// CHECK: scf.yield
tile.kernel @loads(%a: !view, %k: index) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf16>
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%s = %zero) -> tensor<32x32xf16> {
    %x = tile.load %a[%c0, %i] {atom = #nvptx.cp_async<16>, buffer = !tile_, role = "load", ring = "x", order = 2} : !view -> tensor<32x32xf16>
    %y = tile.load %a[%c32, %i] {atom = #nvptx.cp_async<16>, buffer = !tile_, role = "load", ring = "y"} : !view -> tensor<32x32xf16>
    %z = tile.load %a[%i, %c32] {atom = #nvptx.cp_async<16>, buffer = !tile_, role = "load", ring = "z"} : !view -> tensor<32x32xf16>
    %1 = arith.addf %x, %y {tile.role = "sum"} : tensor<32x32xf16>
    %2 = arith.addf %1, %z {tile.role = "sum"} : tensor<32x32xf16>
    %3 = arith.addf %2, %s {tile.role = "sum"} : tensor<32x32xf16>
    scf.yield %3 : tensor<32x32xf16>
  } {tile.depth = 2}
  tile.store %sum, %a[%c0, %c0] {role = "sum"} : tensor<32x32xf16>, !view
  tile.return
}

// What contradicts what an op needs is refused where the trip is written.
// CHECK-LABEL: tile.kernel @contradicted
// CHECK: arith.addf {{.*}}tile.order = 1
// CHECK: arith.mulf {{.*}}tile.order = 0
tile.kernel @contradicted(%a: !view, %k: index) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf16>
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%s = %zero) -> tensor<32x32xf16> {
    %x = tile.load %a[%c0, %i] {atom = #nvptx.cp_async<16>, buffer = !tile_, role = "load"} : !view -> tensor<32x32xf16>
    %1 = arith.addf %x, %s {tile.role = "sum"} : tensor<32x32xf16>
    %2 = arith.mulf %1, %1 {tile.role = "sum", tile.order = 0} : tensor<32x32xf16>
    scf.yield %2 : tensor<32x32xf16>
  } {tile.depth = 2}
  tile.store %sum, %a[%c0, %c0] {role = "sum"} : tensor<32x32xf16>, !view
  tile.return
}
}
