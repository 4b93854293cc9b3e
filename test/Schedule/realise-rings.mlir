// Loads of another role become puts and gets of a channel; dots in flight become starts and waits.
// RUN: tile-opt %s --tile-realise-rings | FileCheck %s

!view = !tile.view<?x?xf16>
// 32 columns are 64 bytes.
#rows = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[1,0],[2,8],[4,16],[8,0],[16,0]]>
!tile_ = !tile.buffer<32x32xf16, #rows>
#roles = [#tile.role<"load", warps = 1>, #tile.role<"mma", warps = 4>]

// Nothing in flight when a trip ends: the slot goes back in its own trip.
// CHECK-LABEL: tile.kernel @waits
tile.kernel @waits(%a: !view, %b: !view, %k: index) attributes {tile.roles = #roles} {
  // CHECK: %[[RING:.*]] = tile.channel full = 1 empty = 4 : !tile.channel<2, !tile.buffer<32x32xf16, #{{.*}}>, !tile.buffer<32x32xf16, #{{.*}}>>
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  // CHECK: scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}, %[[S:.*]] = %{{.*}}, %[[P:.*]] = %{{.*}}) -> (!tile.pending<tensor<32x32xf32>>, i32, i32)
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%s = %zero) -> tensor<32x32xf32> {
    // CHECK: tile.put %[[RING]][%[[S]], %[[P]]] bytes = 4096 {role = "load"}
    %x = tile.load %a[%c0, %i] {atom = #nvptx.tma, buffer = !tile_, stage = 0, role = "load"} : !view -> tensor<32x32xf16>
    %y = tile.load %b[%c0, %i] evict = last {atom = #nvptx.tma, buffer = !tile_, stage = 0, role = "load"} : !view -> tensor<32x32xf16>
    // CHECK: tile.copy_in %b[{{.*}}], %{{.*}} evict = last
    // CHECK: tile.get %[[RING]][%[[S]], %[[P]]] {role = "mma"}
    // CHECK: tile.start_dot
    // CHECK: tile.wait %{{.*}} in_flight = 0 {role = "mma"} : {{.*}} -> !tile.pending
    // CHECK-NEXT: tile.release %[[RING]][%[[S]]] {role = "mma"}
    %d = tile.dot %x, %y, %s transpose_b {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, stage = 0, role = "mma", in_flight = 0}
       : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
    scf.yield %d : tensor<32x32xf32>
  } {tile.depth = 2}
  // CHECK: tile.wait %{{.*}} in_flight = 0 {{.*}} -> tensor<32x32xf32>
  // CHECK-NEXT: scf.yield
  %t = arith.truncf %sum : tensor<32x32xf32> to tensor<32x32xf16>
  tile.store %t, %a[%c0, %c0] {role = "mma"} : tensor<32x32xf16>, !view
  tile.return
}

// Two in flight: the loop holds the slots of two trips, and those after it are released if there
// were as many trips. An accumulator that is not zero is pending from the start.
// CHECK-LABEL: tile.kernel @two
tile.kernel @two(%a: !view, %k: index) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %ones = arith.constant dense<1.0> : tensor<32x32xf32>
  // CHECK: %[[START:.*]] = tile.pend
  // CHECK: scf.for %[[I:.*]] = %{{.*}} iter_args(%[[ACC:.*]] = %[[START]], %[[S:.*]] = %{{.*}}, %[[P:.*]] = %{{.*}}, %[[OLD:.*]] = %{{.*}}, %[[OLDER:.*]] = %{{.*}})
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%s = %ones) -> tensor<32x32xf32> {
    %x = tile.load %a[%c0, %i] {atom = #nvptx.tma, buffer = !tile_, stage = 0, role = "load"} : !view -> tensor<32x32xf16>
    // CHECK: tile.start_dot %[[X:.*]], %[[X]], %[[ACC]] transpose_b
    // CHECK: tile.wait %{{.*}} in_flight = 2
    // CHECK: %[[TWO:.*]] = arith.cmpi slt, %{{.*}}, %[[I]]
    // CHECK: scf.if %[[TWO]] {
    // CHECK-NEXT: tile.release %{{.*}}[%[[OLDER]]]
    // CHECK: scf.yield %{{.*}}, %{{.*}}, %{{.*}}, %[[S]], %[[OLD]]
    %d = tile.dot %x, %x, %s transpose_b {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, stage = 0, role = "mma", in_flight = 2}
       : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
    scf.yield %d : tensor<32x32xf32>
  } {tile.depth = 3}
  // CHECK: scf.if
  // CHECK-NEXT: tile.release
  // CHECK: tile.release
  %t = arith.truncf %sum : tensor<32x32xf32> to tensor<32x32xf16>
  tile.store %t, %a[%c0, %c0] {role = "mma"} : tensor<32x32xf16>, !view
  tile.return
}

// Two rings are two channels. A dot that its trip needs is waited for at once, and one without
// in_flight reads the buffer into registers.
// CHECK-LABEL: tile.kernel @rings
tile.kernel @rings(%q: !view, %k: !view, %n: index) attributes {tile.roles = #roles} {
  // CHECK-COUNT-2: tile.channel full = 1 empty = 4 : !tile.channel<2, !tile.buffer<32x32xf16, #{{.*}}>>
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %sum = scf.for %i = %c0 to %n step %c32 iter_args(%s = %zero) -> tensor<32x32xf32> {
    // CHECK: tile.put
    // CHECK: %[[K:.*]] = tile.get
    // CHECK-COUNT-1: tile.start_dot %[[K]], %[[K]]
    // CHECK-NEXT: %[[SCORES:.*]] = tile.wait %{{.*}} in_flight = 0 {{.*}} -> tensor<32x32xf32>
    // CHECK-NEXT: tile.release
    %x = tile.load %q[%c0, %i] {atom = #nvptx.tma, buffer = !tile_, stage = 0, role = "load", ring = "queries"} : !view -> tensor<32x32xf16>
    %score = tile.dot %x, %x, %zero transpose_b {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, stage = 0, role = "mma", in_flight = 0}
       : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
    %weights = arith.truncf %score : tensor<32x32xf32> to tensor<32x32xf16>
    // CHECK: tile.put
    // CHECK: %[[V:.*]] = tile.get
    // CHECK-NEXT: %[[T:.*]] = tile.read %[[V]]
    // CHECK-NEXT: tile.release
    // CHECK-NEXT: tile.dot %{{.*}}, %[[T]]
    %y = tile.load %k[%c0, %i] {atom = #nvptx.tma, buffer = !tile_, stage = 0, role = "load", ring = "keys"} : !view -> tensor<32x32xf16>
    %d = tile.dot %weights, %y, %s {atom = #tile.fma, stage = 0, role = "mma"}
       : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
    scf.yield %d : tensor<32x32xf32>
  } {tile.depth = 2}
  %t = arith.truncf %sum : tensor<32x32xf32> to tensor<32x32xf16>
  tile.store %t, %q[%c0, %c0] {role = "mma"} : tensor<32x32xf16>, !view
  tile.return
}
