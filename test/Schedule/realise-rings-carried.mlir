// A loop that hands a tile of a ring on to its next trip: who uses it there reads the slot into
// registers in the trip that brings it, and the slot goes back.
// RUN: tile-opt %s --tile-realise-rings | FileCheck %s
!view = !tile.view<?x?xf16>
!tile_ = !tile.buffer<32x32xf16>
#roles = [#tile.role<"load", warps = 4>, #tile.role<"sum", warps = 4>]

// CHECK-LABEL: tile.kernel @counted
// CHECK: scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}, %[[BEFORE:.*]] = %{{.*}})
// CHECK: %[[GOT:.*]] = tile.get {{.*}} {role = "sum"}
// CHECK: %[[NOW:.*]] = tile.read %[[GOT]] {role = "sum"}
// CHECK: %[[NEXT:.*]] = arith.addf %[[SUM]], %[[BEFORE]]
// CHECK: scf.yield %[[NEXT]], %[[NOW]]
tile.kernel @counted(%a: !view, %k: index) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf16>
  %r:2 = scf.for %i = %c0 to %k step %c32 iter_args(%s = %zero, %t = %zero) -> (tensor<32x32xf16>, tensor<32x32xf16>) {
    %x = tile.load %a[%c0, %i] {atom = #nvptx.cp_async<16>, buffer = !tile_, role = "load"} : !view -> tensor<32x32xf16>
    %n = arith.addf %s, %t {tile.role = "sum"} : tensor<32x32xf16>
    scf.yield %n, %x : tensor<32x32xf16>, tensor<32x32xf16>
  } {tile.depth = 2}
  tile.store %r#0, %a[%c0, %c32] {role = "sum"} : tensor<32x32xf16>, !view
  tile.return
}

// A role that fills the ring for itself reads a slot at the stage of the next trip's user and one.
// CHECK-LABEL: tile.kernel @own
// CHECK: tile.get {{.*}} {role = "all", stage = 2 : i64}
// CHECK: tile.read {{.*}} {role = "all", stage = 2 : i64}
tile.kernel @own(%a: !view, %k: index) attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf16>
  %r:2 = scf.for %i = %c0 to %k step %c32 iter_args(%s = %zero, %t = %zero) -> (tensor<32x32xf16>, tensor<32x32xf16>) {
    %x = tile.load %a[%c0, %i] {atom = #nvptx.cp_async<16>, buffer = !tile_, role = "all", stage = 0} : !view -> tensor<32x32xf16>
    %n = arith.addf %s, %t {tile.role = "all", tile.stage = 1} : tensor<32x32xf16>
    scf.yield %n, %x : tensor<32x32xf16>, tensor<32x32xf16>
  } {tile.depth = 4}
  tile.store %r#0, %a[%c0, %c32] {role = "all"} : tensor<32x32xf16>, !view
  tile.return
}

// Nobody counts the trips.
// CHECK-LABEL: tile.kernel @asked
// CHECK: scf.while
// CHECK: do
// CHECK: %[[NOW:.*]] = tile.read {{.*}} {role = "all"
// CHECK: scf.yield %{{.*}}, %{{.*}}, %[[NOW]]
tile.kernel @asked(%a: !view, %k: index) attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf16>
  %r:3 = scf.while (%i = %c0, %s = %zero, %t = %zero) : (index, tensor<32x32xf16>, tensor<32x32xf16>) -> (index, tensor<32x32xf16>, tensor<32x32xf16>) {
    %more = arith.cmpi slt, %i, %k : index
    scf.condition(%more) %i, %s, %t : index, tensor<32x32xf16>, tensor<32x32xf16>
  } do {
  ^bb0(%i: index, %s: tensor<32x32xf16>, %t: tensor<32x32xf16>):
    %x = tile.load %a[%c0, %i] {atom = #nvptx.cp_async<16>, buffer = !tile_, role = "all", depth = 2} : !view -> tensor<32x32xf16>
    %n = arith.addf %s, %t {tile.role = "all"} : tensor<32x32xf16>
    %next = arith.addi %i, %c32 : index
    scf.yield %next, %n, %x : index, tensor<32x32xf16>, tensor<32x32xf16>
  }
  tile.store %r#1, %a[%c0, %c32] {role = "all"} : tensor<32x32xf16>, !view
  tile.return
}
