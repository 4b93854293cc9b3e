// A store of what another role makes is handed over: its value is written to a slot, and copied out
// of there by the role that stores.
// RUN: tile-opt %s --tile-realise-rings --tile-decide-hand-overs --tile-realise-hand-overs --split-input-file -verify-diagnostics | FileCheck %s

#rows = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[1,0],[2,8],[4,16],[8,0],[16,0]]>
#acc = #tile.layout<register = [[0,1],[8,0],[0,8],[0,16],[0,32]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0]]>
!view = !tile.view<?x?xf16>
!box = !tile.buffer<32x32xf16, #rows>
#tall = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[1,0],[2,8],[4,16],[8,0],[16,0],[32,0]]>
!tall = !tile.buffer<64x32xf16, #tall>
#roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 2, copies = 2>, #tile.role<"store", warps = 4>]

// CHECK-LABEL: tile.kernel @tiles
tile.kernel @tiles(%a: !view, %n: index) attributes {tile.roles = #roles} {
  // CHECK: %[[IN:.*]] = tile.channel full = 1 empty = 4 : !tile.channel<1,
  // CHECK: %[[OUT:.*]] = tile.channel full = 4 empty = 4 : !tile.channel<2, !tile.buffer<32x32xf16, #[[$B:.*]]>, !tile.buffer<32x32xf16, #[[$B]]>>
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<32x64xf32, #acc>
  // CHECK: scf.for
  scf.for %t = %c0 to %n step %c32 {
    %x = tile.load %a[%t, %c0] {atom = #nvptx.tma, buffer = !box, role = "load"} : !view -> tensor<32x32xf16>
    %b = tile.load %a[%c0, %c0] {atom = #nvptx.tma, buffer = !tall, role = "load"} : !view -> tensor<64x32xf16>
    %y = tile.dot %x, %b, %zero transpose_b {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, role = "mma", in_flight = 0} : tensor<32x32xf16>, tensor<64x32xf16> -> tensor<32x64xf32, #acc>
    // CHECK: %[[T:.*]] = arith.truncf
    %t16 = arith.truncf %y : tensor<32x64xf32, #acc> to tensor<32x64xf16, #acc>
    // CHECK-NEXT: %[[S:.*]], %[[P:.*]] = tile.next %[[OUT]] {role = "mma"}
    // CHECK-NEXT: tile.put %[[OUT]][%[[S]], %[[P]]] bytes = 0 {role = "mma"}
    // CHECK-NEXT: ^bb0(%[[X:.*]]: !tile.buffer<32x32xf16, #[[$B]]>, %[[Y:.*]]: !tile.buffer<32x32xf16, #[[$B]]>):
    // CHECK-NEXT: %[[L:.*]] = tile.slice %[[T]] [0, 0]
    // CHECK-NEXT: tile.write %[[L]], %[[X]]
    // CHECK-NEXT: %[[R:.*]] = tile.slice %[[T]] [0, 32]
    // CHECK-NEXT: tile.write %[[R]], %[[Y]]
    // CHECK: %[[T:.*]], %[[Q:.*]] = tile.next %[[OUT]] {role = "store"}
    // CHECK: %[[G:.*]]:2 = tile.get %[[OUT]][%[[T]], %[[Q]]] {role = "store"}
    // CHECK-NEXT: tile.copy_out %[[G]]#0, %a[%{{.*}}, %{{.*}}] {atom = #nvptx.tma, role = "store"}
    // CHECK: tile.copy_out %[[G]]#1, %a
    // CHECK-NEXT: tile.wait_stores in_flight = 0 {role = "store"}
    // CHECK-NOT: tile.store
    tile.store %t16, %a[%t, %c32] {atom = #nvptx.tma, buffer = !box, role = "store", in_flight = 1} : tensor<32x64xf16, #acc>, !view
  }
  tile.return
}

// -----

#rows = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[1,0],[2,8],[4,16],[8,0],[16,0]]>
#acc = #tile.layout<register = [[0,1],[8,0],[0,8],[0,16]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0]]>
!view = !tile.view<?x?xf16>
!box = !tile.buffer<32x32xf16, #rows>
tile.kernel @two_makers(%a: !view) attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 2>, #tile.role<"more", warps = 2>, #tile.role<"store", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf16, #acc>
  %x = tile.load %a[%c0, %c0] {atom = #nvptx.tma, buffer = !box, role = "load"} : !view -> tensor<32x32xf16>
  %y = tile.dot %x, %x, %zero {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, role = "mma", in_flight = 0} : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf16, #acc>
  %z = tile.dot %x, %x, %zero {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, role = "more", in_flight = 0} : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf16, #acc>
  %s = arith.addf %y, %z : tensor<32x32xf16, #acc>
  // expected-error@+1 {{expected a value that one role makes, got one of roles "more" and "mma"}}
  tile.store %s, %a[%c0, %c0] {atom = #nvptx.tma, buffer = !box, role = "store", in_flight = 0} : tensor<32x32xf16, #acc>, !view
  tile.return
}

// -----

#rows = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[1,0],[2,8],[4,16],[8,0],[16,0]]>
#acc = #tile.layout<register = [[0,1],[8,0],[0,8],[0,16]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0]]>
!view = !tile.view<?x?xf16>
!box = !tile.buffer<32x32xf16, #rows>
tile.kernel @copies(%a: !view) attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 2>, #tile.role<"store", warps = 4, copies = 2>]} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf16, #acc>
  %x = tile.load %a[%c0, %c0] {atom = #nvptx.tma, buffer = !box, role = "load"} : !view -> tensor<32x32xf16>
  %y = tile.dot %x, %x, %zero {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, role = "mma", in_flight = 0} : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf16, #acc>
  // expected-error@+1 {{expected a role of one copy to store what role "mma" makes, got 2 of "store"}}
  tile.store %y, %a[%c0, %c0] {atom = #nvptx.tma, buffer = !box, role = "store", in_flight = 0} : tensor<32x32xf16, #acc>, !view
  tile.return
}
