// What one role makes of tensors and another uses is written to a slot and read from it.
// RUN: tile-opt %s --tile-realise-rings --tile-decide-hand-overs --tile-realise-hand-overs | FileCheck %s
// RUN: tile-opt %s --tile-pipeline=stop-after=schedule | FileCheck %s --check-prefix=ALL
// RUN: tile-opt %s --tile-pipeline=stop-after=target | FileCheck %s --check-prefix=CODE

#four = #tile.layout<register = [[1],[2]], lane = [[4],[8],[16],[32],[64]], warp = [[128],[256]]>
#two = #tile.layout<register = [[1],[2],[256]], lane = [[4],[8],[16],[32],[64]], warp = [[128]]>
!view = !tile.view<?xf32>
!t = tensor<512xf32, #four>
!u = tensor<512xf32, #two>

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// CHECK-LABEL: tile.kernel @edges
// CHECK-DAG: %[[LAST:.*]] = tile.channel full = 4 empty = 2 : !tile.channel<1,
// CHECK-DAG: %[[EACH:.*]] = tile.channel full = 4 empty = 2 : !tile.channel<3, !tile.buffer<512xf32, #{{.*}}>>
// CHECK: %[[R:.*]] = scf.for
// CHECK: %[[X:.*]] = tile.load %a
// CHECK-NEXT: %[[ABS:.*]] = math.absf %[[X]]
// CHECK-NEXT: %[[S:.*]], %[[P:.*]] = tile.next %[[EACH]] {role = "make"}
// CHECK-NEXT: tile.put %[[EACH]][%[[S]], %[[P]]] bytes = 0 {role = "make"}
// CHECK-NEXT: ^bb0(%[[B:.*]]: !tile.buffer
// CHECK-NEXT: tile.write %[[ABS]], %[[B]]
// CHECK: tile.next %[[EACH]] {role = "use"}
// CHECK-NEXT: %[[G:.*]] = tile.get %[[EACH]]{{.*}} {role = "use"}
// CHECK-NEXT: %[[T:.*]] = tile.read %[[G]] {role = "use"} : {{.*}} -> tensor<512xf32, #[[$TWO:.*]]>
// CHECK-NOT: tile.convert_layout
// CHECK: tile.store %[[T]], %b
// CHECK: tile.put %[[LAST]]
// CHECK: tile.write %[[R]]
// CHECK: tile.get %[[LAST]]
// A register of each lane is read, so lanes meet before one of them releases the slot.
// ALL: role #tile.role<"use", warps = 2> {
// ALL: tile.read
// ALL-NEXT: tile.one_thread each_warp {
// ALL-NEXT: tile.release %{{.*}} lanes
// CODE: nvvm.bar.warp.sync
// CODE: nvvm.mbarrier.arrive
tile.kernel @edges(%a: !view, %b: !view, %n: index) attributes {
    tile.roles = [#tile.role<"make", warps = 4>, #tile.role<"use", warps = 2>]} {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant dense<0.0> : !t
  %r = scf.for %i = %c0 to %n step %c512 iter_args(%s = %zero) -> !t {
    %x = tile.load %a[%i] {stage = 0, role = "make"} : !view -> !t
    %abs = math.absf %x : !t
    %sum = arith.addf %s, %abs {tile.stage = 1, tile.role = "make"} : !t
    %u = tile.convert_layout %abs {role = "use"} : !t -> !u
    tile.store %u, %b[%i] {stage = 0, role = "use"} : !u, !view
    scf.yield %sum : !t
  } {tile.depth = 3}
  %v = tile.convert_layout %r {role = "use"} : !t -> !u
  tile.store %v, %b[%n] {role = "use"} : !u, !view
  tile.return
}

// What two roles make, one of them keeps, and what the other makes of it is handed to that one: what
// a loop begins with, and both sides of a choice. Masks go as bytes.
// CHECK-LABEL: tile.kernel @makers
// CHECK-DAG: tile.channel {{.*}}!tile.channel<1, !tile.buffer<512xi8, #{{.*}}>>
// CHECK: %[[X:.*]] = tile.load %a{{.*}}role = "make"
// CHECK: tile.write %[[X]]
// CHECK: %[[BEGIN:.*]] = tile.read {{.*}}{role = "use"}
// CHECK: %[[WIDE:.*]] = arith.extui {{.*}}tile.role = "make"{{.*}} to tensor<512xi8
// CHECK: tile.write %[[WIDE]]
// CHECK: %[[READ:.*]] = tile.read {{.*}}{role = "use"}
// CHECK-NEXT: %[[MASK:.*]] = arith.trunci %[[READ]]
// CHECK: scf.for {{.*}}iter_args(%{{.*}} = %[[BEGIN]])
// CHECK: arith.select %[[MASK]], {{.*}}tile.role = "use"
tile.kernel @makers(%a: !view, %b: !view, %n: index) attributes {
    tile.roles = [#tile.role<"make", warps = 4>, #tile.role<"use", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %none = arith.constant dense<0.0> : !t
  %x = tile.load %a[%c0] {role = "make"} : !view -> !t
  %below = arith.cmpf olt, %x, %none : !t
  %r = scf.for %i = %c0 to %n step %c512 iter_args(%s = %x) -> !t {
    %y = tile.load %b[%i] {role = "use"} : !view -> !t
    %sum = arith.addf %s, %y {tile.role = "use"} : !t
    scf.yield %sum : !t
  }
  %z = arith.select %below, %r, %none : tensor<512xi1, #four>, !t
  tile.store %z, %b[%n] {role = "use"} : !t, !view
  tile.return
}
}
