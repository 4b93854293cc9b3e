// Dots in flight become starts and waits, and each slot goes back once what read it is done.
// RUN: tile-opt %s --tile-realise-rings --tile-decide-hand-overs --tile-realise-hand-overs --tile-realise-warp-groups --tile-complete-stages --tile-realise-stages | FileCheck %s

#rows = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[1,0],[2,8],[4,16],[8,0],[16,0]]>
!view = !tile.view<?x?xf16>
!tile_ = !tile.buffer<32x32xf16, #rows>
!t = tensor<32x32xf16>
!sums = tensor<32x32xf32>
#copy = #nvptx.tma
#roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>, #tile.role<"more", warps = 8>]

// What comes once a tile is got in front of the loop that uses it, and released behind the wait for
// the dots that do; or at once, if there are none.
// CHECK-LABEL: tile.kernel @once
// CHECK: %[[Q:.*]] = tile.channel {{.*}} : !tile.channel<1,
// CHECK: %[[K:.*]] = tile.channel {{.*}} : !tile.channel<2,
// CHECK: role #tile.role<"mma"
// CHECK: scf.for
// CHECK: %[[S:.*]], %{{.*}} = tile.next %[[Q]]
// CHECK: %[[X:.*]] = tile.get %[[Q]][%[[S]]
// CHECK: scf.if
// CHECK: %[[L:.*]] = scf.for
// CHECK: %[[T:.*]], %{{.*}} = tile.next %[[K]]
// CHECK: %[[Y:.*]] = tile.get %[[K]][%[[T]]
// CHECK: tile.start_dot %[[X]], %[[Y]]
// CHECK: tile.wait %{{.*}} in_flight = 0
// CHECK-NEXT: tile.release %[[K]][%[[T]]]
// CHECK: tile.wait %[[L]] in_flight = 0 {{.*}} -> tensor<32x32xf32>
// CHECK-NEXT: tile.release %[[Q]][%[[S]]]
// CHECK: } else {
// CHECK-NEXT: tile.release %[[Q]][%[[S]]]
tile.kernel @once(%q: !view, %k: !view, %n: index) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : !sums
  scf.for %t = %c0 to %n step %c32 {
    %x = tile.load %q[%t, %c0] {atom = #copy, buffer = !tile_, role = "load"} : !view -> !t
    %sum = scf.for %i = %c0 to %n step %c32 iter_args(%s = %zero) -> !sums {
      %y = tile.load %k[%i, %c0] {atom = #copy, buffer = !tile_, stage = 0, role = "load"} : !view -> !t
      %d = tile.dot %x, %y, %s transpose_b {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, stage = 0, role = "mma", in_flight = 0}
         : !t, !t -> !sums
      scf.yield %d : !sums
    } {tile.depth = 2}
    %r = arith.truncf %sum : !sums to !t
    tile.store %r, %q[%t, %c0] {role = "mma"} : !t, !view
  }
  tile.return
}

// Each place that a ring is used at has its own start, wait and release.
// CHECK-LABEL: tile.kernel @split
// CHECK: role #tile.role<"mma"
// CHECK: %[[X:.*]] = tile.get
// CHECK: %[[NONE:.*]] = ub.poison
// CHECK: tile.start_dot %[[X]], %[[X]], %[[NONE]] when %{{.*}} transpose_b
// CHECK-NEXT: %[[FIRST:.*]] = tile.wait %{{.*}} in_flight = 0 {{.*}} -> tensor<32x32xf32>
// CHECK-NEXT: tile.release
// CHECK: %[[A:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[FIRST]])
// CHECK: tile.get
// CHECK: tile.wait
// CHECK-NEXT: tile.release
// CHECK-NEXT: arith.addf
// CHECK: %[[B:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[A]])
// CHECK: tile.release
// CHECK-NEXT: arith.subf
// CHECK: scf.if
// CHECK: tile.pend %[[B]]
// CHECK: tile.release
// CHECK-NEXT: scf.yield
// CHECK: } else {
// CHECK-NEXT: scf.yield %[[B]]
// CHECK: tile.get
// CHECK: tile.release
// CHECK: tile.store
tile.kernel @split(%k: !view, %m: index, %n: index) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : !sums
  %x = tile.load %k[%c0, %c0] {atom = #copy, buffer = !tile_, role = "load", ring = "keys"} : !view -> !t
  %first = tile.dot %x, %x, %zero transpose_b {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, role = "mma", in_flight = 0} : !t, !t -> !sums
  %full = scf.for %i = %c32 to %m step %c32 iter_args(%s = %first) -> !sums {
    %y = tile.load %k[%i, %c0] {atom = #copy, buffer = !tile_, stage = 0, role = "load", ring = "keys"} : !view -> !t
    %d = tile.dot %y, %y, %zero transpose_b {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, stage = 0, role = "mma", in_flight = 0} : !t, !t -> !sums
    %e = arith.addf %d, %s : !sums
    scf.yield %e : !sums
  } {tile.depth = 3}
  %all = scf.for %i = %m to %n step %c32 iter_args(%s = %full) -> !sums {
    %y = tile.load %k[%i, %c0] {atom = #copy, buffer = !tile_, stage = 0, role = "load", ring = "keys"} : !view -> !t
    %d = tile.dot %y, %y, %zero transpose_b {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, stage = 0, role = "mma", in_flight = 0} : !t, !t -> !sums
    %e = arith.subf %d, %s : !sums
    scf.yield %e : !sums
  } {tile.depth = 3}
  // A condition goes on too, or hands on what it got.
  %some = arith.cmpi ult, %m, %n : index
  %end = scf.if %some -> !sums {
    %y = tile.load %k[%n, %c0] {atom = #copy, buffer = !tile_, role = "load", ring = "keys"} : !view -> !t
    %d = tile.dot %y, %y, %all transpose_b {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, role = "mma", in_flight = 0} : !t, !t -> !sums
    scf.yield %d : !sums
  } else {
    scf.yield %all : !sums
  }
  %z = tile.load %k[%m, %c0] {atom = #copy, buffer = !tile_, role = "load", ring = "keys"} : !view -> !t
  %last = tile.dot %z, %z, %end transpose_b {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, role = "mma", in_flight = 0} : !t, !t -> !sums
  %r = arith.truncf %last : !sums to !t
  tile.store %r, %k[%c0, %c0] {role = "mma"} : !t, !view
  tile.return
}

// Scores in two parts, then the product of the last weights: the scores are waited for while that
// product runs. Each buffer goes back behind the first wait that is for its dot too.
// CHECK-LABEL: tile.kernel @overlap
// CHECK: %[[K:.*]] = tile.channel {{.*}} : !tile.channel<2,
// CHECK: %[[V:.*]] = tile.channel {{.*}} : !tile.channel<4,
// CHECK: role #tile.role<"mma"
// CHECK: %[[X:.*]] = tile.get %[[K]]
// CHECK: %[[D0:.*]] = tile.start_dot %[[X]], %[[X]], %{{.*}} when %{{.*}} transpose_b
// CHECK-NEXT: %[[D1:.*]] = tile.start_dot %[[X]], %[[X]], %[[D0]] {
// CHECK: %[[Y:.*]] = tile.get %[[V]]
// CHECK: %[[ACC:.*]] = tile.pend
// CHECK: %[[D2:.*]] = tile.start_dot %{{.*}}, %[[Y]], %[[ACC]]
// CHECK-NEXT: %[[T:.*]] = tile.wait %[[D1]] in_flight = 1
// CHECK-NEXT: tile.release %[[K]]
// CHECK-NEXT: arith.truncf %[[T]]
// CHECK-NEXT: %[[O:.*]] = tile.wait %[[D2]] in_flight = 0
// CHECK-NEXT: tile.release %[[V]]
// CHECK-NEXT: arith.negf %[[O]]
tile.kernel @overlap(%k: !view, %v: !view, %n: index, %w0: f16) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : !sums
  %w00 = tile.splat %w0 : !t
  %r:2 = scf.for %i = %c0 to %n step %c32 iter_args(%acc = %zero, %w = %w00) -> (!sums, !t) {
    %x = tile.load %k[%i, %c0] {atom = #copy, buffer = !tile_, stage = 0, role = "load"} : !view -> !t
    %s0 = tile.dot %x, %x, %zero transpose_b {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, stage = 0, role = "mma", in_flight = 1} : !t, !t -> !sums
    %s1 = tile.dot %x, %x, %s0 {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, stage = 0, role = "mma", in_flight = 1} : !t, !t -> !sums
    %y = tile.load %v[%i, %c0] {atom = #copy, buffer = !tile_, stage = 0, order = 0, depth = 4, ring = "values", role = "load"} : !view -> !t
    %d = tile.dot %w, %y, %acc {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, stage = 0, role = "mma", in_flight = 0} : !t, !t -> !sums
    %next = arith.truncf %s1 : !sums to !t
    %o = arith.negf %d : !sums
    scf.yield %o, %next : !sums, !t
  } {tile.depth = 2}
  %e = arith.truncf %r#0 : !sums to !t
  tile.store %e, %k[%c0, %c0] {role = "mma"} : !t, !view
  tile.return
}

// Two in flight: the loop carries the slots of two trips, and those are released behind it, if there
// were as many trips. An accumulator that is not zero is pending from the start.
// CHECK-LABEL: tile.kernel @two
// CHECK: role #tile.role<"mma"
// CHECK: %[[START:.*]] = tile.pend
// CHECK: scf.if
// CHECK: %[[L:.*]]:3 = scf.for %[[I:.*]] = %{{.*}} iter_args(%[[ACC:.*]] = %[[START]], %[[OLD:.*]] = %{{.*}}, %[[OLDER:.*]] = %{{.*}})
// CHECK: %[[S:.*]], %{{.*}} = tile.next
// CHECK: tile.start_dot %[[X:.*]], %[[X]], %[[ACC]] transpose_b
// CHECK: %[[D:.*]] = tile.wait %{{.*}} in_flight = 2 : {{.*}} -> !tile.pending
// CHECK: %[[SECOND:.*]] = arith.addi
// CHECK: %[[TWO:.*]] = arith.cmpi slt, %[[SECOND]], %[[I]]
// CHECK: scf.if %[[TWO]] {
// CHECK-NEXT: tile.release %{{.*}}[%[[OLDER]]]
// CHECK: scf.yield %[[D]], %[[S]], %[[OLD]]
// CHECK: %[[SUM:.*]] = tile.wait %[[L]]#0 in_flight = 0 {{.*}} -> tensor<32x32xf32>
// CHECK: scf.if
// CHECK-NEXT: tile.release %{{.*}}[%[[L]]#2]
// CHECK: tile.release %{{.*}}[%[[L]]#1]
// CHECK-NEXT: scf.yield %[[SUM]]
tile.kernel @two(%a: !view, %k: index) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %ones = arith.constant dense<1.0> : !sums
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%s = %ones) -> !sums {
    %x = tile.load %a[%c0, %i] {atom = #copy, buffer = !tile_, stage = 0, role = "load"} : !view -> !t
    %d = tile.dot %x, %x, %s transpose_b {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, stage = 0, role = "mma", in_flight = 2}
       : !t, !t -> !sums
    scf.yield %d : !sums
  } {tile.depth = 3}
  %t = arith.truncf %sum : !sums to !t
  tile.store %t, %a[%c0, %c0] {role = "mma"} : !t, !view
  tile.return
}

// Two dots that add to one sum and stay in flight together: a slot goes back when both of its trip,
// or those of the next, have taken their turn.
// CHECK-LABEL: tile.kernel @chain
// CHECK: role #tile.role<"mma"
// CHECK: %[[L:.*]]:2 = scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}, %[[OLD:.*]] = %{{.*}})
// CHECK: %[[D0:.*]] = tile.start_dot %{{.*}}, %{{.*}}, %[[ACC]] when
// CHECK: %[[D1:.*]] = tile.start_dot %{{.*}}, %{{.*}}, %[[D0]]
// CHECK: tile.wait %[[D1]] in_flight = 2 : {{.*}} -> !tile.pending
// CHECK: scf.if
// CHECK-NEXT: tile.release %{{.*}}[%[[OLD]]]
tile.kernel @chain(%k: !view, %n: index) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : !sums
  %r = scf.for %i = %c0 to %n step %c32 iter_args(%s = %zero) -> !sums {
    %x = tile.load %k[%i, %c0] {atom = #copy, buffer = !tile_, stage = 0, role = "load"} : !view -> !t
    %d = tile.dot %x, %x, %s transpose_b {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, stage = 0, role = "mma", in_flight = 2} : !t, !t -> !sums
    %e = tile.dot %x, %x, %d {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, stage = 0, role = "mma", in_flight = 2} : !t, !t -> !sums
    scf.yield %e : !sums
  } {tile.depth = 2}
  %t = arith.truncf %r : !sums to !t
  tile.store %t, %k[%c0, %c0] {role = "mma"} : !t, !view
  tile.return
}

// Attention's overlap as stages of a plain loop: the second dot is a trip behind the first, and is
// started while that one runs. In front of the loop fewer dots are under way.
// CHECK-LABEL: tile.kernel @stages
// CHECK: role #tile.role<"mma"
// CHECK: scf.if
// CHECK: %[[S0:.*]] = tile.start_dot
// CHECK-NEXT: %[[T0:.*]] = tile.wait %[[S0]] in_flight = 0
// CHECK-NEXT: tile.release
// CHECK-NEXT: %[[W0:.*]] = arith.truncf %[[T0]]
// CHECK: %[[L:.*]]:2 = scf.for %[[I:.*]] = %{{.*}} iter_args(%[[W:.*]] = %[[W0]], %[[ACC:.*]] = %{{.*}})
// CHECK: %[[S:.*]] = tile.start_dot
// CHECK: %[[BEFORE:.*]] = arith.addi %[[I]]
// CHECK: %[[MORE:.*]] = arith.cmpi ne, %[[BEFORE]]
// CHECK: %[[P:.*]] = tile.start_dot %[[W]], %{{.*}}, %[[ACC]] when %[[MORE]]
// CHECK-NEXT: %[[T:.*]] = tile.wait %[[S]] in_flight = 1
// CHECK-NEXT: tile.release
// CHECK-NEXT: %[[NEXT:.*]] = arith.truncf %[[T]]
// CHECK-NEXT: %[[SUM:.*]] = tile.wait %[[P]] in_flight = 0 : {{.*}} -> !tile.pending
// CHECK-NEXT: tile.release
// CHECK-NEXT: scf.yield %[[NEXT]], %[[SUM]]
// CHECK: %[[LAST:.*]] = tile.start_dot %[[L]]#0, %{{.*}}, %[[L]]#1 when
// CHECK-NEXT: %[[HELD:.*]] = tile.wait %[[LAST]] in_flight = 0
// CHECK-NEXT: tile.release
// CHECK-NEXT: %[[END:.*]] = tile.wait %[[HELD]] in_flight = 0 : {{.*}} -> tensor<32x32xf32>
// CHECK-NEXT: scf.yield %[[END]]
// CHECK-NEXT: } else {
tile.kernel @stages(%k: !view, %v: !view, %n: index) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : !sums
  %r = scf.for %i = %c0 to %n step %c32 iter_args(%acc = %zero) -> !sums {
    %x = tile.load %k[%i, %c0] {atom = #copy, buffer = !tile_, stage = 0, role = "load", ring = "keys"} : !view -> !t
    %s = tile.dot %x, %x, %zero transpose_b {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, stage = 0, order = 0, role = "mma", in_flight = 1} : !t, !t -> !sums
    %w = arith.truncf %s {tile.stage = 0, tile.order = 2, tile.role = "mma"} : !sums to !t
    %y = tile.load %v[%i, %c0] {atom = #copy, buffer = !tile_, stage = 0, role = "load", ring = "values"} : !view -> !t
    %d = tile.dot %w, %y, %acc {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, stage = 1, order = 1, role = "mma", in_flight = 0} : !t, !t -> !sums
    scf.yield %d : !sums
  } {tile.depth = 2}
  %t = arith.truncf %r : !sums to !t
  tile.store %t, %k[%c0, %c0] {role = "mma"} : !t, !view
  tile.return
}

// Copies with a skew start their dots in turns: the second is one barrier behind.
// CHECK-LABEL: tile.kernel @turns
// CHECK: role #tile.role<"mma"
// CHECK: %[[COPY:.*]] = tile.copy_id
// CHECK: %[[LAG:.*]] = arith.muli %[[COPY]]
// CHECK: %[[LATE:.*]] = arith.cmpi ugt, %[[LAG]]
// CHECK: scf.if %[[LATE]] {
// CHECK-NEXT: tile.barrier all_copies
// CHECK: scf.for
// CHECK: tile.get
// CHECK: tile.barrier all_copies
// CHECK-NEXT: tile.start_dot
// CHECK-NEXT: tile.barrier all_copies
// CHECK-NEXT: tile.wait
// CHECK: scf.yield
// CHECK: tile.store
// CHECK: arith.cmpi ult
// CHECK-NEXT: scf.if
// CHECK-NEXT: tile.barrier all_copies
tile.kernel @turns(%a: !view, %n: index)
    attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4, copies = 2, skew = 1>]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : !sums
  %r = scf.for %i = %c0 to %n step %c32 iter_args(%s = %zero) -> !sums {
    %x = tile.load %a[%i, %c0] {atom = #copy, buffer = !tile_, stage = 0, role = "load"} : !view -> !t
    %d = tile.dot %x, %x, %s transpose_b {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, stage = 0, role = "mma", in_flight = 0} : !t, !t -> !sums
    scf.yield %d : !sums
  } {tile.depth = 2}
  %e = arith.truncf %r : !sums to !t
  tile.store %e, %a[%c0, %c0] {role = "mma"} : !t, !view
  tile.return
}

// A slot that a nested loop reads is got in front of it, and released in each branch behind the last
// dot that reads it.
// CHECK-LABEL: tile.kernel @nested
// CHECK: role #tile.role<"mma"
// CHECK: scf.for
// CHECK: %[[S:.*]], %{{.*}} = tile.next
// CHECK: %[[X:.*]] = tile.get
// CHECK: scf.if
// CHECK: scf.if
// CHECK: %[[L:.*]] = scf.for
// CHECK: tile.start_dot %[[X]], %[[X]]
// CHECK: tile.wait %{{.*}} in_flight = 1 : {{.*}} -> !tile.pending
// CHECK-NOT: tile.release
// CHECK: tile.wait %[[L]] in_flight = 0 {{.*}} -> tensor<32x32xf32>
// CHECK-NEXT: tile.release %{{.*}}[%[[S]]]
// CHECK: } else {
// CHECK-NEXT: tile.release %{{.*}}[%[[S]]]
// CHECK: } else {
// CHECK-NEXT: tile.release %{{.*}}[%[[S]]]
// CHECK-NOT: tile.release
// CHECK: tile.store
tile.kernel @nested(%k: !view, %n: index, %m: index) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : !sums
  %r = scf.for %i = %c0 to %n step %c32 iter_args(%s = %zero) -> !sums {
    %x = tile.load %k[%i, %c0] {atom = #copy, buffer = !tile_, stage = 0, role = "load"} : !view -> !t
    %some = arith.cmpi slt, %i, %m : index
    %e = scf.if %some -> !sums {
      %f = scf.for %j = %c0 to %m step %c32 iter_args(%u = %s) -> !sums {
        %d = tile.dot %x, %x, %u transpose_b {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, role = "mma", in_flight = 1} : !t, !t -> !sums
        scf.yield %d : !sums
      }
      scf.yield %f : !sums
    } else {
      scf.yield %s : !sums
    }
    scf.yield %e : !sums
  } {tile.depth = 2}
  %t = arith.truncf %r : !sums to !t
  tile.store %t, %k[%c0, %c0] {role = "mma"} : !t, !view
  tile.return
}

// Where dots end by commit, each slot goes back behind the last dot that reads it, and nothing waits
// in the loop.
// CHECK-LABEL: tile.kernel @commits
// CHECK: tile.channel full = 1 empty = 1 : !tile.channel<2,
// CHECK: role #tile.role<"mma"
// CHECK: %[[NONE:.*]] = ub.poison : !tile.pending<tensor<128x32xf32>, tensor_memory>
// CHECK: %[[L:.*]] = scf.for {{.*}} iter_args(%[[S:.*]] = %[[NONE]])
// CHECK: tile.get %{{.*}} to_start
// CHECK: %[[D:.*]] = tile.start_dot %{{.*}}, %{{.*}}, %[[S]] when
// CHECK-NEXT: tile.release %{{.*}} commit
// CHECK-NEXT: scf.yield %[[D]]
// CHECK: tile.wait %[[L]] in_flight = 0 : {{.*}} -> tensor<128x32xf32>
tile.kernel @commits(%a: !view, %n: index) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<128x32xf32>
  %sum = scf.for %i = %c0 to %n step %c32 iter_args(%s = %zero) -> tensor<128x32xf32> {
    %x = tile.load %a[%c0, %i] {atom = #copy, buffer = !tile.buffer<128x32xf16>, stage = 0, role = "load"} : !view -> tensor<128x32xf16>
    %y = tile.load %a[%c0, %i] {atom = #copy, buffer = !tile_, stage = 0, role = "load"} : !view -> !t
    %d = tile.dot %x, %y, %s transpose_b {atom = #nvptx.tcgen05<"m128n32k16", f16, f32>, stage = 0, role = "mma", in_flight = 0}
       : tensor<128x32xf16>, !t -> tensor<128x32xf32>
    scf.yield %d : tensor<128x32xf32>
  } {tile.depth = 2}
  %r = arith.truncf %sum : tensor<128x32xf32> to tensor<128x32xf16>
  tile.store %r, %a[%c0, %c0] {role = "mma"} : tensor<128x32xf16>, !view
  tile.return
}

// A commit tells of each dot by itself: others may start in a loop or a condition before it is waited for.
// CHECK-LABEL: tile.kernel @between
// CHECK: %[[D:.*]] = tile.start_dot
// CHECK: scf.if
// CHECK: tile.start_dot
// CHECK-NEXT: tile.release %{{.*}} commit
// CHECK-NEXT: tile.wait
// CHECK: }
// CHECK: tile.wait %[[D]] in_flight = 0
tile.kernel @between(%a: !view, %any: i1) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<128x32xf32>
  %x = tile.load %a[%c0, %c0] {atom = #copy, buffer = !tile.buffer<128x32xf16>, role = "load"} : !view -> tensor<128x32xf16>
  %y = tile.load %a[%c0, %c0] {atom = #copy, buffer = !tile_, role = "load"} : !view -> !t
  %d = tile.dot %x, %y, %zero transpose_b {atom = #nvptx.tcgen05<"m128n32k16", f16, f32>, role = "mma", in_flight = 0}
     : tensor<128x32xf16>, !t -> tensor<128x32xf32>
  %e = scf.if %any -> tensor<128x32xf32> {
    %f = tile.dot %x, %y, %zero transpose_b {atom = #nvptx.tcgen05<"m128n32k16", f16, f32>, role = "mma", in_flight = 0}
       : tensor<128x32xf16>, !t -> tensor<128x32xf32>
    scf.yield %f : tensor<128x32xf32>
  } else {
    scf.yield %zero : tensor<128x32xf32>
  } {tile.role = "mma"}
  %g = arith.addf %d, %e {tile.role = "mma"} : tensor<128x32xf32>
  %r = arith.truncf %g {tile.role = "mma"} : tensor<128x32xf32> to tensor<128x32xf16>
  tile.store %r, %a[%c0, %c0] {role = "mma"} : tensor<128x32xf16>, !view
  tile.return
}
