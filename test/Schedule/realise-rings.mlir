// Loads of another role become puts and gets of a channel; each role counts its own uses.
// RUN: tile-opt %s --tile-realise-rings --tile-decide-hand-overs --tile-realise-hand-overs | FileCheck %s

!view = !tile.view<?x?xf16>
// 32 columns are 64 bytes.
#rows = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[1,0],[2,8],[4,16],[8,0],[16,0]]>
!tile_ = !tile.buffer<32x32xf16, #rows>
!t = tensor<32x32xf16>
!sums = tensor<32x32xf32>
#copy = #nvptx.tma
#roles = [#tile.role<"load", warps = 1>, #tile.role<"mma", warps = 4>, #tile.role<"more", warps = 8>]

// Loads that stand together are one put, in their order; a dot in flight reads the buffers. Stages
// and orders stay.
// CHECK-LABEL: tile.kernel @together
tile.kernel @together(%a: !view, %b: !view, %k: index) attributes {tile.roles = #roles} {
  // CHECK: %[[RING:.*]] = tile.channel full = 1 empty = 4 : !tile.channel<2, !tile.buffer<32x32xf16, #{{.*}}>, !tile.buffer<32x32xf16, #{{.*}}>>
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : !sums
  // CHECK: scf.for %{{.*}} iter_args(%[[ACC:.*]] = %{{.*}})
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%s = %zero) -> !sums {
    // CHECK: %[[S:.*]], %[[P:.*]] = tile.next %[[RING]] {role = "load"}
    // CHECK: tile.put %[[RING]][%[[S]], %[[P]]] bytes = 4096 {order = 0 : i64, role = "load", stage = 1 : i64}
    // CHECK: ^bb0(%[[X:.*]]: !tile.buffer<32x32xf16, #{{.*}}>, %[[Y:.*]]: !tile.buffer
    // CHECK: tile.copy_in %b[{{.*}}], %[[X]] evict = last
    // CHECK: tile.copy_in %a[{{.*}}], %[[Y]] {atom
    %x = tile.load %a[%c0, %i] {atom = #copy, buffer = !tile_, stage = 1, order = 1, role = "load"} : !view -> !t
    %y = tile.load %b[%c0, %i] evict = last {atom = #copy, buffer = !tile_, stage = 1, order = 0, role = "load"} : !view -> !t
    // CHECK: %[[T:.*]], %[[Q:.*]] = tile.next %[[RING]] {role = "mma"}
    // CHECK: %[[G:.*]]:2 = tile.get %[[RING]][%[[T]], %[[Q]]] {role = "mma"}
    // CHECK: tile.dot %[[G]]#1, %[[G]]#0, %[[ACC]] transpose_b {{.*}}in_flight = 0 : i64{{.*}}stage = 0
    %d = tile.dot %x, %y, %s transpose_b {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, stage = 0, role = "mma", in_flight = 0}
       : !t, !t -> !sums
    scf.yield %d : !sums
  } {tile.depth = 2}
  %t = arith.truncf %sum : !sums to !t
  tile.store %t, %a[%c0, %c0] {role = "mma"} : !t, !view
  tile.return
}

// Two rings are two channels. What is no dot in flight reads the buffer into registers.
// CHECK-LABEL: tile.kernel @rings
tile.kernel @rings(%q: !view, %k: !view, %n: index) attributes {tile.roles = #roles} {
  // CHECK: %[[QS:.*]] = tile.channel full = 1 empty = 4 : !tile.channel<2, !tile.buffer<32x32xf16, #{{.*}}>>
  // CHECK: %[[KS:.*]] = tile.channel full = 1 empty = 4 : !tile.channel<4, !tile.buffer<32x32xf16, #{{.*}}>>
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : !sums
  %sum = scf.for %i = %c0 to %n step %c32 iter_args(%s = %zero) -> !sums {
    // CHECK: tile.put %[[QS]]
    // CHECK: tile.get %[[QS]]
    %x = tile.load %q[%c0, %i] {atom = #copy, buffer = !tile_, stage = 0, role = "load", ring = "queries"} : !view -> !t
    %score = tile.dot %x, %x, %zero transpose_b {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, stage = 0, role = "mma", in_flight = 0}
       : !t, !t -> !sums
    %weights = arith.truncf %score : !sums to !t
    // CHECK: tile.put %[[KS]]
    // CHECK: %[[V:.*]] = tile.get %[[KS]]
    // CHECK-NEXT: %[[T:.*]] = tile.read %[[V]] {role = "mma"}
    // CHECK-NEXT: tile.dot %{{.*}}, %[[T]]
    %y = tile.load %k[%c0, %i] {atom = #copy, buffer = !tile_, stage = 0, depth = 4, role = "load", ring = "keys"} : !view -> !t
    %d = tile.dot %weights, %y, %s {atom = #tile.fma, stage = 0, role = "mma"} : !t, !t -> !sums
    scf.yield %d : !sums
  } {tile.depth = 2}
  %t = arith.truncf %sum : !sums to !t
  tile.store %t, %q[%c0, %c0] {role = "mma"} : !t, !view
  tile.return
}

// One ring's loads stand in several places; what comes once a tile is a ring of one slot.
// CHECK-LABEL: tile.kernel @places
tile.kernel @places(%q: !view, %k: !view, %n: index) attributes {tile.roles = #roles} {
  // CHECK: %[[Q:.*]] = tile.channel full = 1 empty = 4 : !tile.channel<1,
  // CHECK: %[[K:.*]] = tile.channel full = 1 empty = 4 : !tile.channel<3,
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  // CHECK: tile.put %[[Q]]
  // CHECK: tile.put %[[K]]
  %x = tile.load %q[%c0, %c0] {atom = #copy, buffer = !tile_, role = "load"} : !view -> !t
  %y = tile.load %k[%c0, %c0] {atom = #copy, buffer = !tile_, role = "load", ring = "keys"} : !view -> !t
  tile.store %y, %q[%c0, %c32] {role = "mma"} : !t, !view
  scf.for %i = %c32 to %n step %c32 {
    // CHECK: scf.for
    // CHECK: tile.put %[[K]]
    // CHECK: tile.get %[[K]]
    %z = tile.load %k[%i, %c0] {atom = #copy, buffer = !tile_, stage = 0, role = "load", ring = "keys"} : !view -> !t
    tile.store %z, %q[%i, %c32] {stage = 0, role = "mma"} : !t, !view
  } {tile.depth = 3}
  tile.store %x, %q[%c32, %c32] {role = "mma"} : !t, !view
  tile.return
}

// Each of two roles uses one of two tiles that take turns in a ring: it passes by the other's.
// CHECK-LABEL: tile.kernel @passes_by
tile.kernel @passes_by(%a: !view, %b: !view, %n: index) attributes {tile.roles = #roles} {
  // CHECK: %[[R:.*]] = tile.channel full = 1 empty = 12
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  scf.for %i = %c0 to %n step %c32 {
    // CHECK: tile.put %[[R]]
    // CHECK: tile.get %[[R]]{{.*}} {role = "mma"}
    // CHECK-NEXT: tile.read {{.*}}role = "mma"
    // CHECK-NEXT: tile.next %[[R]] {role = "more"}
    // CHECK-NEXT: tile.get %[[R]]{{.*}} {role = "more"}
    // CHECK-NOT: tile.read
    // CHECK: tile.put %[[R]]
    // CHECK-NOT: tile.read
    // CHECK: tile.get %[[R]]{{.*}} {role = "mma"}
    // CHECK-NEXT: tile.next %[[R]] {role = "more"}
    // CHECK-NEXT: tile.get %[[R]]{{.*}} {role = "more"}
    // CHECK-NEXT: tile.read {{.*}}role = "more"
    %x = tile.load %a[%i, %c0] {atom = #copy, buffer = !tile_, role = "load", ring = "all"} : !view -> !t
    tile.store %x, %a[%i, %c32] {role = "mma"} : !t, !view
    %y = tile.load %b[%i, %c0] {atom = #copy, buffer = !tile_, role = "load", ring = "all"} : !view -> !t
    tile.store %y, %b[%i, %c32] {role = "more"} : !t, !view
  } {tile.depth = 3}
  tile.return
}

// Two roles use what a third loads: each gets it.
// CHECK-LABEL: tile.kernel @readers
tile.kernel @readers(%a: !view, %b: !view, %n: index) attributes {tile.roles = #roles} {
  // CHECK: %[[R:.*]] = tile.channel full = 1 empty = 12
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  scf.for %i = %c0 to %n step %c32 {
    // CHECK: tile.put %[[R]]
    // CHECK: tile.next %[[R]] {role = "mma"}
    // CHECK-NEXT: %[[X:.*]] = tile.get %[[R]]{{.*}} {role = "mma"}
    // CHECK-NEXT: tile.read %[[X]] {role = "mma"}
    // CHECK-NEXT: tile.next %[[R]] {role = "more"}
    // CHECK-NEXT: %[[Y:.*]] = tile.get %[[R]]{{.*}} {role = "more"}
    // CHECK-NEXT: tile.read %[[Y]] {role = "more"}
    %x = tile.load %a[%i, %c0] {atom = #copy, buffer = !tile_, stage = 0, role = "load"} : !view -> !t
    tile.store %x, %a[%i, %c32] {stage = 0, role = "mma"} : !t, !view
    tile.store %x, %b[%i, %c0] {stage = 1, role = "more"} : !t, !view
    tile.store %x, %b[%i, %c32] {stage = 0, role = "more"} : !t, !view
  } {tile.depth = 3}
  tile.return
}

// Of two tiles of one place's loads, which nobody puts into one ring, each role's has a ring of its own.
// CHECK-LABEL: tile.kernel @apart
tile.kernel @apart(%a: !view, %b: !view, %n: index) attributes {tile.roles = #roles} {
  // CHECK: %[[X:.*]] = tile.channel full = 1 empty = 4
  // CHECK: %[[Y:.*]] = tile.channel full = 1 empty = 8
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  scf.for %i = %c0 to %n step %c32 {
    // CHECK: tile.put %[[X]]
    // CHECK: tile.get %[[X]]{{.*}} {role = "mma"}
    // CHECK-NOT: tile.get
    // CHECK: tile.put %[[Y]]
    // CHECK: tile.get %[[Y]]{{.*}} {role = "more"}
    // CHECK-NOT: tile.get
    %x = tile.load %a[%i, %c0] {atom = #copy, buffer = !tile_, role = "load"} : !view -> !t
    tile.store %x, %a[%i, %c32] {role = "mma"} : !t, !view
    %y = tile.load %b[%i, %c0] {atom = #copy, buffer = !tile_, role = "load"} : !view -> !t
    tile.store %y, %b[%i, %c32] {role = "more"} : !t, !view
  } {tile.depth = 3}
  tile.return
}
