// Each role gets its own ops and what they need; of loops, only the values it needs.
// RUN: tile-opt %s --tile-realise-warp-groups | FileCheck %s

!view = !tile.view<?xf32>
!ring = !tile.channel<2, !tile.buffer<32xf32>>

// CHECK-LABEL: tile.kernel @two
// CHECK-SAME: attributes {tile.warps = 9 : i64}
tile.kernel @two(%a: !view, %b: !view, %n: index) attributes {
    tile.roles = [#tile.role<"load", warps = 1>, #tile.role<"add", warps = 4, copies = 2>]} {
  // CHECK: %[[RING:.*]] = tile.channel
  // CHECK-NEXT: tile.warp_groups(%a, %b, %n, %[[RING]] :
  %ring = tile.channel full = 1 empty = 8 : !ring
  %s0 = arith.constant 0 : i32
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<32xf32>
  // CHECK: role #tile.role<"load", warps = 1> {
  // CHECK-NOT: dense
  // CHECK: scf.for %{{.*}} = %{{.*}} to %n step %{{.*}} iter_args(%[[S:.*]] = %{{.*}}, %[[P:.*]] = %{{.*}}) -> (i32, i32)
  // CHECK-NEXT: tile.put %[[RING]][%[[S]], %[[P]]] bytes = 128 : !tile.channel
  // CHECK-NOT: tile.get
  // CHECK: tile.advance
  // CHECK-NEXT: scf.yield %{{.*}}, %{{.*}} : i32, i32
  // CHECK: role #tile.role<"add", warps = 4, copies = 2> {
  // CHECK-NOT: tile.put
  // CHECK: scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (tensor<32xf32>, i32, i32)
  %loop:3 = scf.for %i = %c0 to %n step %c32 iter_args(%sum = %zero, %s = %s0, %p = %s0)
      -> (tensor<32xf32>, i32, i32) {
    tile.put %ring[%s, %p] bytes = 128 {role = "load"} : !ring {
    ^bb0(%x: !tile.buffer<32xf32>):
      tile.copy_in %a[%i], %x {atom = #nvptx.cp_async<16>} : !view, !tile.buffer<32xf32>
    }
    // CHECK: tile.get
    %x = tile.get %ring[%s, %p] {role = "add"} : !ring
    // CHECK: %[[T:.*]] = tile.read %{{.*}} : !tile.buffer<32xf32>
    %t = tile.read %x {role = "add"} : !tile.buffer<32xf32> -> tensor<32xf32>
    tile.release %ring[%s] {role = "add"} : !ring
    // CHECK: %[[NEXT:.*]] = arith.addf %[[SUM]], %[[T]] {tile.stage = 0 : i64} : tensor<32xf32>
    %next = arith.addf %sum, %t {tile.role = "add", tile.stage = 0} : tensor<32xf32>
    %s1, %p1 = tile.advance %s, %p of %ring : !ring
    scf.yield %next, %s1, %p1 : tensor<32xf32>, i32, i32
  }
  // CHECK: tile.store %{{.*}}, %b[%{{.*}}] : tensor<32xf32>
  %some = arith.cmpi sgt, %n, %c32 : index
  %half = scf.if %some -> tensor<32xf32> {
    scf.yield %loop#0 : tensor<32xf32>
  } else {
    scf.yield %zero : tensor<32xf32>
  }
  tile.store %half, %b[%c0] {role = "add"} : tensor<32xf32>, !view
  tile.return
}

// A number that no op of the kernel changes is loaded by each role that needs it.
// CHECK-LABEL: tile.kernel @numbers
// CHECK: role #tile.role<"load", warps = 1> {
// CHECK: tile.load %n[
// CHECK: scf.for
// CHECK: role #tile.role<"add", warps = 4> {
// CHECK: tile.load %n[
// CHECK: scf.for
tile.kernel @numbers(%n: !tile.view<?xi32>, %a: !view, %b: !view) attributes {
    tile.roles = [#tile.role<"load", warps = 1>, #tile.role<"add", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tile.load %n[%c0] : !tile.view<?xi32> -> tensor<1xi32>
  %r = tile.reshape %t : tensor<1xi32> -> tensor<i32>
  %s = tile.to_scalar %r : tensor<i32>
  %end = arith.index_cast %s : i32 to index
  scf.for %i = %c0 to %end step %c1 {
    %x = tile.load %a[%i] {role = "load"} : !view -> tensor<32xf32>
    tile.store %x, %a[%i] {role = "load"} : tensor<32xf32>, !view
    %y = tile.load %b[%i] {role = "add"} : !view -> tensor<32xf32>
    tile.store %y, %b[%i] {role = "add"} : tensor<32xf32>, !view
  }
  tile.return
}

// Products that run on beside their warps are a group's, which begins at a multiple of its warps: the
// roles of more warps come first in the block, and else the order is the author's.
// CHECK-LABEL: tile.kernel @order
// CHECK: role #tile.role<"add", warps = 4, copies = 2> {
// CHECK: role #tile.role<"mma", warps = 4> {
// CHECK: role #tile.role<"store", warps = 2> {
// CHECK: role #tile.role<"load", warps = 1> {
tile.kernel @order(%x: !view, %y: !view {tile.facts = #tile.facts<noalias>}, %z: !view {tile.facts = #tile.facts<noalias>}) attributes {
    tile.roles = [#tile.role<"load", warps = 1>, #tile.role<"mma", warps = 4>, #tile.role<"store", warps = 2>, #tile.role<"add", warps = 4, copies = 2>]} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %few = arith.constant dense<0.0> : tensor<32xf32>
  %a = arith.constant dense<1.0> : tensor<64x64xbf16>
  %d = tile.dot %a, %a, %zero {atom = #nvptx.wgmma<"m64n64k16", bf16, f32>, role = "mma", in_flight = 0}
     : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
  tile.store %few, %x[%c0] {role = "load"} : tensor<32xf32>, !view
  tile.store %few, %y[%c0] {role = "store"} : tensor<32xf32>, !view
  tile.store %few, %z[%c0] {role = "add"} : tensor<32xf32>, !view
  tile.return
}
