// A loop is cut in two where a condition in it changes, and neither part has the condition.
// RUN: tile-opt %s --tile-split-loops | FileCheck %s

!view = !tile.view<?xf32>
!t = tensor<128xf32>

// From the first number that is not below %m on.
// CHECK-LABEL: tile.kernel @late
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C128:.*]] = arith.constant 128 : index
// CHECK: %[[BOUND:.*]] = arith.minsi %m, %n
// CHECK-NEXT: %[[FROM:.*]] = arith.maxsi %[[BOUND]], %[[C0]]
// CHECK-NEXT: %[[SPAN:.*]] = arith.subi %[[FROM]], %[[C0]]
// CHECK-NEXT: %[[TRIPS:.*]] = arith.ceildivui %[[SPAN]], %[[C128]]
// CHECK-NEXT: %[[LENGTH:.*]] = arith.muli %[[TRIPS]], %[[C128]]
// CHECK-NEXT: %[[MIDDLE:.*]] = arith.addi %[[C0]], %[[LENGTH]]
// CHECK-NEXT: %[[END:.*]] = arith.minsi %[[MIDDLE]], %n
// CHECK-NEXT: %[[A:.*]] = scf.for %{{.*}} = %[[C0]] to %[[END]] step %[[C128]] iter_args(%[[S:.*]] = %{{.*}})
// CHECK-NOT: scf.if
// CHECK: arith.addf %[[S]]
// CHECK: %[[B:.*]] = scf.for %{{.*}} = %[[MIDDLE]] to %n step %[[C128]] iter_args(%[[S:.*]] = %[[A]])
// CHECK: %[[NEG:.*]] = arith.negf
// CHECK-NEXT: arith.addf %[[S]], %[[NEG]]
// CHECK: tile.store %[[B]]
tile.kernel @late(%a: !view, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant dense<0.0> : !t
  %r = scf.for %i = %c0 to %n step %c128 iter_args(%s = %zero) -> !t {
    %t = tile.load %a[%i] : !view -> !t
    %is = arith.cmpi sge, %i, %m : index
    %u = scf.if %is -> !t {
      %neg = arith.negf %t : !t
      scf.yield %neg : !t
    } else {
      scf.yield %t : !t
    } {tile.split_loop}
    %d = arith.addf %s, %u : !t
    scf.yield %d : !t
  }
  tile.store %r, %a[%c0] : !t, !view
  tile.return
}

// A condition that holds up to its bound, the other way round, and twice; another one cuts again.
// CHECK-LABEL: tile.kernel @twice
// CHECK: arith.minsi
// CHECK-NEXT: %[[ONE:.*]] = arith.constant 1
// CHECK-NEXT: arith.addi %{{.*}}, %[[ONE]]
// CHECK: scf.for
// CHECK-COUNT-3: tile.store
// CHECK: scf.for
// CHECK-COUNT-2: tile.store
// CHECK: scf.for
// CHECK-COUNT-1: tile.store
// CHECK: scf.for
// CHECK-NOT: tile.store
// CHECK: tile.return
tile.kernel @twice(%a: !view, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  scf.for %i = %c0 to %n step %c128 {
    %t = tile.load %a[%i] : !view -> !t
    %is = arith.cmpi uge, %m, %i : index
    scf.if %is {
      tile.store %t, %a[%c0] : !t, !view
    } {tile.split_loop}
    scf.if %is {
      tile.store %t, %a[%c128] : !t, !view
    } {tile.split_loop}
    %other = arith.cmpi slt, %i, %c128 : index
    scf.if %other {
      tile.store %t, %a[%m] : !t, !view
    } {tile.split_loop}
  }
  tile.return
}

// A condition in the other branch of one that holds in front: the loop is three, and none of them
// has two masks.
// CHECK-LABEL: tile.kernel @nested
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK: math.exp
// CHECK-NOT: arith.negf
// CHECK: scf.for
// CHECK-NOT: math.exp
// CHECK-NOT: arith.negf
// CHECK: scf.for
// CHECK-NOT: math.exp
// CHECK: arith.negf
// CHECK: tile.store
tile.kernel @nested(%a: !view, %m: index, %l: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant dense<0.0> : !t
  %r = scf.for %i = %c0 to %n step %c128 iter_args(%s = %zero) -> !t {
    %t = tile.load %a[%i] : !view -> !t
    %early = arith.cmpi slt, %i, %m : index
    %u = scf.if %early -> !t {
      %exp = math.exp %t : !t
      scf.yield %exp : !t
    } else {
      %late = arith.cmpi sgt, %i, %l : index
      %v = scf.if %late -> !t {
        %neg = arith.negf %t : !t
        scf.yield %neg : !t
      } else {
        scf.yield %t : !t
      } {tile.split_loop}
      scf.yield %v : !t
    } {tile.split_loop}
    %d = arith.addf %s, %u : !t
    scf.yield %d : !t
  }
  tile.store %r, %a[%c0] : !t, !view
  tile.return
}

// What the same bound cuts some trips later: no part has both in front of the one and behind the other.
// CHECK-LABEL: tile.kernel @later
// CHECK: scf.for
// CHECK: math.exp
// CHECK: arith.negf
// CHECK: scf.for
// CHECK-NOT: math.exp
// CHECK: arith.negf
// CHECK: scf.for
// CHECK-NOT: math.exp
// CHECK-NOT: arith.negf
// CHECK-NOT: scf.for
// CHECK: tile.store
tile.kernel @later(%a: !view, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %back = arith.constant -128 : index
  %zero = arith.constant dense<0.0> : !t
  %r = scf.for %i = %c0 to %n step %c128 iter_args(%s = %zero) -> !t {
    %t = tile.load %a[%i] : !view -> !t
    %is = arith.cmpi slt, %i, %m : index
    %u = scf.if %is -> !t {
      %exp = math.exp %t : !t
      scf.yield %exp : !t
    } else {
      scf.yield %t : !t
    } {tile.split_loop}
    %before = arith.addi %i, %back : index
    %was = arith.cmpi slt, %before, %m : index
    %v = scf.if %was -> !t {
      %neg = arith.negf %u : !t
      scf.yield %neg : !t
    } else {
      scf.yield %u : !t
    } {tile.split_loop}
    %d = arith.addf %s, %v : !t
    scf.yield %d : !t
  }
  tile.store %r, %a[%c0] : !t, !view
  tile.return
}

// What the variable will be some trips later is compared with no more than the end will be then.
// CHECK-LABEL: tile.kernel @ahead
// CHECK-DAG: %[[BY:.*]] = arith.constant 256
// CHECK: %[[END:.*]] = arith.addi %[[BY]], %[[BY]]
// CHECK-NEXT: %[[BOUND:.*]] = arith.minsi %m, %[[END]]
// CHECK-NEXT: arith.subi %[[BOUND]], %[[BY]]
tile.kernel @ahead(%a: !view, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant dense<0.0> : !t
  %r = scf.for %i = %c0 to %c256 step %c128 iter_args(%s = %zero) -> !t {
    %t = tile.load %a[%i] : !view -> !t
    %j = arith.addi %i, %c256 : index
    %is = arith.cmpi sge, %j, %m : index
    %u = scf.if %is -> !t {
      %neg = arith.negf %t : !t
      scf.yield %neg : !t
    } else {
      scf.yield %t : !t
    } {tile.split_loop}
    %d = arith.addf %s, %u : !t
    scf.yield %d : !t
  }
  tile.store %r, %a[%c0] : !t, !view
  tile.return
}

// A loop that is written out for four trips has a condition for each. All hold in front of the first
// change and none behind the last; between lies one trip at most, which keeps the two others.
// CHECK-LABEL: tile.kernel @written_out
// CHECK: scf.for
// CHECK-COUNT-4: tile.store
// CHECK: }
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK: tile.store
// CHECK-COUNT-2: scf.if
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK-NOT: tile.store
// CHECK: tile.return
tile.kernel @written_out(%a: !view, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %c384 = arith.constant 384 : index
  %c512 = arith.constant 512 : index
  %t = arith.constant dense<1.0> : !t
  scf.for %i = %c0 to %n step %c512 {
    %is0 = arith.cmpi slt, %i, %m : index
    scf.if %is0 {
      tile.store %t, %a[%i] : !t, !view
    } {tile.split_loop}
    %i1 = arith.addi %i, %c128 : index
    %is1 = arith.cmpi slt, %i1, %m : index
    scf.if %is1 {
      tile.store %t, %a[%i1] : !t, !view
    } {tile.split_loop}
    %i2 = arith.addi %i, %c256 : index
    %is2 = arith.cmpi slt, %i2, %m : index
    scf.if %is2 {
      tile.store %t, %a[%i2] : !t, !view
    } {tile.split_loop}
    %i3 = arith.addi %i, %c384 : index
    %is3 = arith.cmpi slt, %i3, %m : index
    scf.if %is3 {
      tile.store %t, %a[%i3] : !t, !view
    } {tile.split_loop}
  }
  tile.return
}

// What stands in a condition that the trip between keeps, stays with it.
// CHECK-LABEL: tile.kernel @in_one_that_stays
// CHECK-NOT: tile.split_loop
// CHECK: tile.return
tile.kernel @in_one_that_stays(%a: !view, %m: index, %k: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %c384 = arith.constant 384 : index
  %t = arith.constant dense<1.0> : !t
  scf.for %i = %c0 to %n step %c384 {
    %is0 = arith.cmpi slt, %i, %m : index
    scf.if %is0 {
      tile.store %t, %a[%i] : !t, !view
    } {tile.split_loop}
    %i1 = arith.addi %i, %c128 : index
    %is1 = arith.cmpi slt, %i1, %m : index
    scf.if %is1 {
      tile.store %t, %a[%i1] : !t, !view
    } else {
      %is = arith.cmpi sgt, %i1, %k : index
      scf.if %is {
        tile.store %t, %a[%c0] : !t, !view
      } {tile.split_loop}
    } {tile.split_loop}
    %i2 = arith.addi %i, %c256 : index
    %is2 = arith.cmpi slt, %i2, %m : index
    scf.if %is2 {
      tile.store %t, %a[%i2] : !t, !view
    } {tile.split_loop}
  }
  tile.return
}
