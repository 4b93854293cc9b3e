// Rings whose loads stand in several places: slot and phase go from each to the next. Dots that
// overlap: each is waited for where its result is used.
// RUN: tile-opt %s --tile-realise-rings | FileCheck %s

#rows = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[1,0],[2,8],[4,16],[8,0],[16,0]]>
!view = !tile.view<?x?xf16>
!tile_ = !tile.buffer<32x32xf16, #rows>
!t = tensor<32x32xf16>
!sums = tensor<32x32xf32>
#copy = #nvptx.tma
#roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>, #tile.role<"more", warps = 8>]

// What comes once a tile is a ring of one slot, got in front of the loop that uses it and released
// behind it; its phase goes from tile to tile.
// CHECK-LABEL: tile.kernel @once
tile.kernel @once(%q: !view, %k: !view, %n: index) attributes {tile.roles = #roles} {
  // CHECK: %[[Q:.*]] = tile.channel full = 1 empty = 4 : !tile.channel<1, !tile.buffer<32x32xf16, #{{.*}}>>
  // CHECK: %[[K:.*]] = tile.channel full = 1 empty = 4 : !tile.channel<2, !tile.buffer<32x32xf16, #{{.*}}>>
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : !sums
  // CHECK: scf.for {{.*}} iter_args(%[[S:.*]] = %[[C:.*]], %[[P:.*]] = %[[C]], %[[KS:.*]] = %[[C]], %[[KP:.*]] = %[[C]])
  scf.for %t = %c0 to %n step %c32 {
    // CHECK: tile.put %[[Q]][%[[S]], %[[P]]] bytes = 2048 {role = "load"}
    // CHECK: %[[X:.*]] = tile.get %[[Q]][%[[S]], %[[P]]] {role = "mma"}
    %x = tile.load %q[%t, %c0] {atom = #copy, buffer = !tile_, role = "load"} : !view -> !t
    // CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[KS1:.*]] = %[[KS]], %[[KP1:.*]] = %[[KP]])
    %sum = scf.for %i = %c0 to %n step %c32 iter_args(%s = %zero) -> !sums {
      // CHECK: %[[Y:.*]] = tile.get %[[K]][%[[KS1]], %[[KP1]]] {role = "mma"}
      %y = tile.load %k[%i, %c0] {atom = #copy, buffer = !tile_, stage = 0, role = "load"} : !view -> !t
      // CHECK: tile.start_dot %[[X]], %[[Y]]
      // CHECK: tile.release %[[K]][%[[KS1]]]
      %d = tile.dot %x, %y, %s transpose_b {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, stage = 0, role = "mma", in_flight = 0}
         : !t, !t -> !sums
      scf.yield %d : !sums
    } {tile.depth = 2}
    // CHECK: tile.wait %{{.*}} in_flight = 0 {{.*}} -> tensor<32x32xf32>
    // CHECK: tile.release %[[Q]][%[[S]]] {role = "mma"}
    // CHECK: %[[S2:.*]], %[[P2:.*]] = tile.advance %[[S]], %[[P]] of %[[Q]]
    // CHECK: scf.yield %[[S2]], %[[P2]],
    %r = arith.truncf %sum : !sums to !t
    tile.store %r, %q[%t, %c0] {role = "mma"} : !t, !view
  }
  tile.return
}

// Two loops and what stands in front of them and behind go on where the one before stopped.
// CHECK-LABEL: tile.kernel @split
tile.kernel @split(%k: !view, %m: index, %n: index) attributes {tile.roles = #roles} {
  // CHECK-COUNT-1: tile.channel
  // CHECK-SAME: !tile.channel<3,
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : !sums
  // CHECK: %[[C:.*]] = arith.constant 0 : i32
  // CHECK: tile.put %[[K:.*]][%[[C]], %[[C]]]
  // CHECK: tile.get
  // CHECK: tile.start_dot
  // CHECK: %[[S1:.*]], %[[P1:.*]] = tile.advance %[[C]], %[[C]] of %[[K]]
  // CHECK: tile.wait
  // CHECK: tile.release %[[K]][%[[C]]]
  %x = tile.load %k[%c0, %c0] {atom = #copy, buffer = !tile_, role = "load", ring = "keys"} : !view -> !t
  %first = tile.dot %x, %x, %zero transpose_b {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, role = "mma", in_flight = 0} : !t, !t -> !sums
  // CHECK: %[[A:.*]]:3 = scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[S2:.*]] = %[[S1]], %[[P2:.*]] = %[[P1]])
  %full = scf.for %i = %c32 to %m step %c32 iter_args(%s = %first) -> !sums {
    // CHECK: tile.put %[[K]][%[[S2]], %[[P2]]]
    %y = tile.load %k[%i, %c0] {atom = #copy, buffer = !tile_, stage = 0, role = "load", ring = "keys"} : !view -> !t
    %d = tile.dot %y, %y, %zero transpose_b {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, stage = 0, role = "mma", in_flight = 0} : !t, !t -> !sums
    %e = arith.addf %d, %s : !sums
    scf.yield %e : !sums
  } {tile.depth = 3}
  // CHECK: %[[B:.*]]:3 = scf.for {{.*}} iter_args(%{{.*}} = %[[A]]#0, %{{.*}} = %[[A]]#1, %{{.*}} = %[[A]]#2)
  %all = scf.for %i = %m to %n step %c32 iter_args(%s = %full) -> !sums {
    %y = tile.load %k[%i, %c0] {atom = #copy, buffer = !tile_, stage = 0, role = "load", ring = "keys"} : !view -> !t
    %d = tile.dot %y, %y, %zero transpose_b {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, stage = 0, role = "mma", in_flight = 0} : !t, !t -> !sums
    %e = arith.subf %d, %s : !sums
    scf.yield %e : !sums
  } {tile.depth = 3}
  // A condition goes on too, or hands on what it got.
  // CHECK: %[[I:.*]]:3 = scf.if
  // CHECK: tile.put %[[K]][%[[B]]#1, %[[B]]#2]
  // CHECK: %[[S3:.*]], %[[P3:.*]] = tile.advance %[[B]]#1, %[[B]]#2 of
  // CHECK: scf.yield %{{.*}}, %[[S3]], %[[P3]]
  // CHECK: } else {
  // CHECK: scf.yield %[[B]]#0, %[[B]]#1, %[[B]]#2
  %some = arith.cmpi ult, %m, %n : index
  %end = scf.if %some -> !sums {
    %y = tile.load %k[%n, %c0] {atom = #copy, buffer = !tile_, role = "load", ring = "keys"} : !view -> !t
    %d = tile.dot %y, %y, %all transpose_b {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, role = "mma", in_flight = 0} : !t, !t -> !sums
    scf.yield %d : !sums
  } else {
    scf.yield %all : !sums
  }
  // CHECK: tile.put %[[K]][%[[I]]#1, %[[I]]#2]
  %z = tile.load %k[%m, %c0] {atom = #copy, buffer = !tile_, role = "load", ring = "keys"} : !view -> !t
  %last = tile.dot %z, %z, %end transpose_b {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, role = "mma", in_flight = 0} : !t, !t -> !sums
  %r = arith.truncf %last : !sums to !t
  tile.store %r, %k[%c0, %c0] {role = "mma"} : !t, !view
  tile.return
}

// Scores in two parts, then the product of the last weights: the scores are waited for while that
// product runs. Each buffer goes back behind the first wait that is for its dot too.
// CHECK-LABEL: tile.kernel @overlap
tile.kernel @overlap(%k: !view, %v: !view, %n: index, %w0: f16) attributes {tile.roles = #roles} {
  // CHECK: %[[K:.*]] = tile.channel {{.*}} : !tile.channel<2,
  // CHECK: %[[V:.*]] = tile.channel {{.*}} : !tile.channel<4,
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : !sums
  %w00 = tile.splat %w0 : !t
  %r:2 = scf.for %i = %c0 to %n step %c32 iter_args(%acc = %zero, %w = %w00) -> (!sums, !t) {
    // CHECK: %[[X:.*]] = tile.get %[[K]]
    %x = tile.load %k[%i, %c0] {atom = #copy, buffer = !tile_, stage = 0, role = "load"} : !view -> !t
    // CHECK: %[[D0:.*]] = tile.start_dot %[[X]], %[[X]], %{{.*}} when %{{.*}} transpose_b
    // CHECK-NEXT: %[[D1:.*]] = tile.start_dot %[[X]], %[[X]], %[[D0]] {
    %s0 = tile.dot %x, %x, %zero transpose_b {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, stage = 0, role = "mma", in_flight = 1} : !t, !t -> !sums
    %s1 = tile.dot %x, %x, %s0 {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, stage = 0, role = "mma", in_flight = 1} : !t, !t -> !sums
    // CHECK: %[[Y:.*]] = tile.get %[[V]]
    // CHECK: %[[ACC:.*]] = tile.pend
    // CHECK: %[[D2:.*]] = tile.start_dot %{{.*}}, %[[Y]], %[[ACC]]
    // CHECK-NEXT: %[[T:.*]] = tile.wait %[[D1]] in_flight = 1
    // CHECK-NEXT: tile.release %[[K]]
    // CHECK-NEXT: arith.truncf %[[T]]
    %y = tile.load %v[%i, %c0] {atom = #copy, buffer = !tile_, stage = 0, order = 0, depth = 4, ring = "values", role = "load"} : !view -> !t
    %d = tile.dot %w, %y, %acc {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, stage = 0, role = "mma", in_flight = 0} : !t, !t -> !sums
    %next = arith.truncf %s1 : !sums to !t
    // CHECK-NEXT: %[[O:.*]] = tile.wait %[[D2]] in_flight = 0
    // CHECK-NEXT: tile.release %[[V]]
    // CHECK-NEXT: arith.negf %[[O]]
    %o = arith.negf %d : !sums
    scf.yield %o, %next : !sums, !t
  } {tile.depth = 2}
  %e = arith.truncf %r#0 : !sums to !t
  tile.store %e, %k[%c0, %c0] {role = "mma"} : !t, !view
  tile.return
}

// Two roles use what a third loads: each gets and releases it.
// CHECK-LABEL: tile.kernel @readers
tile.kernel @readers(%a: !view, %b: !view, %n: index) attributes {tile.roles = #roles} {
  // CHECK: %[[R:.*]] = tile.channel full = 1 empty = 12
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  scf.for %i = %c0 to %n step %c32 {
    // CHECK: tile.put %[[R]]
    // CHECK: %[[X:.*]] = tile.get %[[R]]{{.*}} {role = "mma"}
    // CHECK-NEXT: tile.read %[[X]] {role = "mma"}
    // CHECK-NEXT: tile.release %[[R]]{{.*}} {role = "mma"}
    // CHECK-NEXT: %[[Y:.*]] = tile.get %[[R]]{{.*}} {role = "more"}
    // CHECK-NEXT: tile.read %[[Y]] {role = "more"}
    // CHECK-NEXT: tile.release %[[R]]{{.*}} {role = "more"}
    %x = tile.load %a[%i, %c0] {atom = #copy, buffer = !tile_, stage = 0, role = "load"} : !view -> !t
    tile.store %x, %a[%i, %c32] {stage = 0, role = "mma"} : !t, !view
    tile.store %x, %b[%i, %c0] {stage = 0, role = "more"} : !t, !view
  } {tile.depth = 3}
  tile.return
}

// Copies with a skew start their dots in turns: the second is one barrier behind.
// CHECK-LABEL: tile.kernel @turns
tile.kernel @turns(%a: !view, %n: index)
    attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4, copies = 2, skew = 1>]} {
  // CHECK: %[[COPY:.*]] = tile.copy_id
  // CHECK: %[[LAG:.*]] = arith.muli %[[COPY]]
  // CHECK: %[[LATE:.*]] = arith.cmpi ugt, %[[LAG]]
  // CHECK: scf.if %[[LATE]] {
  // CHECK-NEXT: tile.barrier all_copies {role = "mma"}
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : !sums
  %r = scf.for %i = %c0 to %n step %c32 iter_args(%s = %zero) -> !sums {
    // CHECK: tile.get
    // CHECK: tile.barrier all_copies {role = "mma"}
    // CHECK-NEXT: tile.start_dot
    // CHECK-NEXT: tile.barrier all_copies {role = "mma"}
    // CHECK-NEXT: tile.wait
    // CHECK: scf.yield
    %x = tile.load %a[%i, %c0] {atom = #copy, buffer = !tile_, stage = 0, role = "load"} : !view -> !t
    %d = tile.dot %x, %x, %s transpose_b {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, stage = 0, role = "mma", in_flight = 0} : !t, !t -> !sums
    scf.yield %d : !sums
  } {tile.depth = 2}
  %e = arith.truncf %r : !sums to !t
  tile.store %e, %a[%c0, %c0] {role = "mma"} : !t, !view
  // CHECK: arith.cmpi ult
  // CHECK-NEXT: scf.if
  // CHECK-NEXT: tile.barrier all_copies {role = "mma"}
  // CHECK: tile.return
  tile.return
}
