// A number that only one role can make is written to a slot of one element, and each role that uses
// it reads its own from there; what becomes of the number, each computes for itself.
// RUN: tile-opt %s --tile-realise-warp-groups | FileCheck %s

!numbers = !tile.view<?xi32>
!view = !tile.view<?xf32>

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// CHECK-LABEL: tile.kernel @popped
// CHECK: %[[RING:.*]] = tile.channel full = 1 empty = 8 : !tile.channel<1, !tile.buffer<1xi32, #{{.*}}>>
// CHECK: role #tile.role<"pop", warps = 1> {
// CHECK: scf.while
// CHECK: %[[OLD:.*]] = tile.atomic_rmw addi
// CHECK-NEXT: %[[ONE:.*]] = tile.splat %[[OLD]] : tensor<1xi32, #{{.*}}>
// CHECK-NEXT: %[[S:.*]], %[[P:.*]] = tile.next %[[RING]]
// CHECK-NEXT: tile.put %[[RING]][%[[S]], %[[P]]] bytes = 0
// CHECK-NEXT: ^bb0(%[[B:.*]]: !tile.buffer
// CHECK-NEXT: tile.write %[[ONE]], %[[B]]
// CHECK: arith.addi %[[OLD]],
// CHECK-NOT: tile.get
// CHECK: role #tile.role<"work", warps = 4, copies = 2> {
// CHECK: scf.while
// CHECK-NOT: tile.atomic_rmw
// CHECK: %[[G:.*]] = tile.get %[[RING]]
// CHECK-NEXT: %[[T:.*]] = tile.read %[[G]] : !tile.buffer<1xi32, #{{.*}}> -> tensor<1xi32, #{{.*}}>
// CHECK-NEXT: %[[E:.*]] = tile.reshape %[[T]]
// CHECK-NEXT: %[[N:.*]] = tile.to_scalar %[[E]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[N]],
// CHECK: scf.yield %[[NEXT]]
tile.kernel @popped(%counter: !numbers, %a: !view, %n: i32) attributes {
    tile.roles = [#tile.role<"pop", warps = 1>, #tile.role<"work", warps = 4, copies = 2>]} {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<32xf32>
  %last = scf.while (%t = %one) : (i32) -> i32 {
    %more = arith.cmpi slt, %t, %n : i32
    scf.condition(%more) %t : i32
  } do {
  ^bb0(%t: i32):
    %at = arith.index_cast %t : i32 to index
    tile.store %zero, %a[%at] {role = "work"} : tensor<32xf32>, !view
    %old = tile.atomic_rmw addi %counter[%c0], %one order = relaxed {role = "pop"} : !numbers, [index], i32
    %next = arith.addi %old, %one : i32
    scf.yield %next : i32
  }
  tile.return
}

// What becomes of a tensor as a number is of who makes the tensor. Bits have a byte each, indices
// eight.
// CHECK-LABEL: tile.kernel @bits
// CHECK: tile.channel full = 1 empty = 1 : !tile.channel<1, !tile.buffer<1xi8, #{{.*}}>>
// CHECK: role #tile.role<"load", warps = 1> {
// CHECK: %[[BIT:.*]] = tile.to_scalar %{{.*}} : tensor<i1>
// CHECK-NEXT: %[[BYTE:.*]] = arith.extui %[[BIT]] : i1 to i8
// CHECK-NEXT: tile.splat %[[BYTE]]
// CHECK: role #tile.role<"add", warps = 1> {
// CHECK: %[[BYTE:.*]] = tile.to_scalar %{{.*}} : tensor<i8, #{{.*}}>
// CHECK-NEXT: %[[BIT:.*]] = arith.trunci %[[BYTE]] : i8 to i1
// CHECK-NEXT: scf.if %[[BIT]]
tile.kernel @bits(%flags: !numbers, %a: !view) attributes {
    tile.roles = [#tile.role<"load", warps = 1>, #tile.role<"add", warps = 1>]} {
  %c0 = arith.constant 0 : index
  %none = arith.constant dense<0> : tensor<1xi32>
  %zero = arith.constant dense<0.0> : tensor<32xf32>
  %t = tile.load %flags[%c0] {role = "load"} : !numbers -> tensor<1xi32>
  tile.store %none, %flags[%c0] {role = "load"} : tensor<1xi32>, !numbers
  %s = arith.cmpi ne, %t, %none : tensor<1xi32>
  %r = tile.reshape %s : tensor<1xi1> -> tensor<i1>
  %is = tile.to_scalar %r : tensor<i1>
  scf.if %is {
    tile.store %zero, %a[%c0] {role = "add"} : tensor<32xf32>, !view
  }
  tile.return
}

// What copies of a role make, each of them has: each says it, and they pop one number together.
// CHECK-LABEL: tile.kernel @copies
// CHECK: tile.channel full = 2 empty = 4 : !tile.channel<1, !tile.buffer<1xi32, #{{.*}}>>
// CHECK: role #tile.role<"pop", warps = 1, copies = 2> {
// CHECK: %[[OLD:.*]] = tile.atomic_rmw addi
// CHECK-NEXT: %[[ONE:.*]] = tile.splat %[[OLD]] : tensor<1xi32, #{{.*}}>
// CHECK: tile.put
// CHECK: tile.write %[[ONE]],
// CHECK: role #tile.role<"work", warps = 4> {
// CHECK: tile.get
tile.kernel @copies(%n: !numbers, %b: !view) attributes {
    tile.roles = [#tile.role<"pop", warps = 1, copies = 2>, #tile.role<"work", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<32xf32>
  %old = tile.atomic_rmw addi %n[%c0], %one {role = "pop"} : !numbers, [index], i32
  %at = arith.index_cast %old : i32 to index
  tile.store %zero, %b[%at] {role = "work"} : tensor<32xf32>, !view
  tile.return
}
}
