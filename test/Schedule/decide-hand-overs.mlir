// How tensors go from the role that makes them to others: by which channel, and who reads them as what.
// RUN: tile-opt %s --tile-decide-hand-overs --split-input-file | FileCheck %s

#four = #tile.layout<register = [[1],[2]], lane = [[4],[8],[16],[32],[64]], warp = [[128],[256]]>
#two = #tile.layout<register = [[1],[2],[256]], lane = [[4],[8],[16],[32],[64]], warp = [[128]]>
!view = !tile.view<?xf32>
!t = tensor<512xf32, #four>
!u = tensor<512xf32, #two>
#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!s = tensor<128x32xf32, #sum>

module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
// As deep as the loop says, and of one slot outside of it. Who has as many warps reads it as it is.
// CHECK-LABEL: tile.kernel @edges
// CHECK: %[[ABS:.*]] = math.absf
// CHECK-NEXT: %[[H:.*]] = tile.convert_layout %[[ABS]] {role = "make", tile.handed = !tile.channel<3, !tile.buffer<512xf32, #{{.*}}>>}
// CHECK-NEXT: %[[READ:.*]] = tile.convert_layout %[[H]] {role = "alike"} : [[T:tensor<512xf32, #.*>]] -> [[T]]
// CHECK: tile.convert_layout %[[H]] {role = "use"}
// CHECK: tile.store %[[READ]], %b
// CHECK: scf.yield
// CHECK-NEXT: }
// CHECK-NOT: tile.depth
// CHECK: %[[L:.*]] = tile.convert_layout %{{.*}} {role = "make", tile.handed = !tile.channel<1, !tile.buffer<512xf32, #{{.*}}>>}
// CHECK-NEXT: tile.convert_layout %[[L]] {role = "use"}
tile.kernel @edges(%a: !view, %b: !view, %n: index) attributes {
    tile.roles = [#tile.role<"make", warps = 4>, #tile.role<"use", warps = 2>, #tile.role<"alike", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant dense<0.0> : !t
  %r = scf.for %i = %c0 to %n step %c512 iter_args(%s = %zero) -> !t {
    %x = tile.load %a[%i] {stage = 0, role = "make"} : !view -> !t
    %abs = math.absf %x {tile.role = "make"} : !t
    %sum = arith.addf %s, %abs {tile.stage = 1, tile.role = "make"} : !t
    %u = tile.convert_layout %abs {role = "use"} : !t -> !u
    tile.store %u, %b[%i] {stage = 0, role = "use"} : !u, !view
    tile.store %abs, %b[%i] {stage = 0, role = "alike"} : !t, !view
    scf.yield %sum : !t
  } {tile.depth = 3}
  %v = tile.convert_layout %r {role = "use"} : !t -> !u
  tile.store %v, %b[%n] {role = "use"} : !u, !view
  tile.return
}

// What a source says stays: here two slots, in another order.
// CHECK-LABEL: tile.kernel @said
// CHECK: %[[H:.*]] = tile.convert_layout %{{.*}} {role = "make", tile.handed = !tile.channel<2, !tile.buffer<512xf32>>}
// CHECK-NEXT: tile.convert_layout %[[H]] {role = "alike"}
// CHECK-NOT: tile.handed
tile.kernel @said(%a: !view, %b: !view) attributes {
    tile.roles = [#tile.role<"make", warps = 4>, #tile.role<"alike", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0] {role = "make"} : !view -> !t
  %h = tile.convert_layout %x {role = "make", tile.handed = !tile.channel<2, !tile.buffer<512xf32>>} : !t -> !t
  tile.store %h, %b[%c0] {role = "alike"} : !t, !view
  tile.return
}

// As many slots as what is handed over says.
// CHECK-LABEL: tile.kernel @slots
// CHECK: math.absf %{{[^{]*}} {tile.role = "make"}
// CHECK-NEXT: tile.convert_layout %{{.*}} {role = "make", tile.handed = !tile.channel<4, !tile.buffer<512xf32, #{{.*}}>>}
tile.kernel @slots(%a: !view, %b: !view) attributes {
    tile.roles = [#tile.role<"make", warps = 4>, #tile.role<"alike", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0] {role = "make"} : !view -> !t
  %y = math.absf %x {tile.role = "make", tile.depth = 4 : i64} : !t
  tile.store %y, %b[%c0] {role = "alike"} : !t, !view
  tile.return
}

// What a loop or a condition gives has as many as what makes it says in a trip or a branch.
// CHECK-LABEL: tile.kernel @slots_of_results
// CHECK: %[[R:.*]] = scf.if
// CHECK-NEXT: scf.for
// CHECK: tile.convert_layout %{{.*}} {role = "make", tile.handed = !tile.channel<4, !tile.buffer<512xf32, #{{.*}}>>}
// CHECK: } else {
// CHECK: }
// CHECK-NEXT: tile.convert_layout %[[R]] {role = "make", tile.handed = !tile.channel<2, !tile.buffer<512xf32, #{{.*}}>>}
// CHECK-NOT: tile.depth
tile.kernel @slots_of_results(%a: !view, %b: !view, %n: index, %is: i1) attributes {
    tile.roles = [#tile.role<"make", warps = 4>, #tile.role<"alike", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %x = tile.load %a[%c0] {role = "make"} : !view -> !t
  %r = scf.if %is -> !t {
    %s = scf.for %i = %c0 to %n step %c512 iter_args(%t = %x) -> !t {
      %y = math.absf %t {tile.role = "make", tile.depth = 4 : i64} : !t
      tile.store %y, %b[%i] {role = "alike"} : !t, !view
      %z = arith.addf %t, %y {tile.role = "make", tile.depth = 2 : i64} : !t
      scf.yield %z : !t
    }
    scf.yield %s : !t
  } else {
    scf.yield %x : !t
  }
  tile.store %r, %b[%c0] {role = "alike"} : !t, !view
  tile.return
}

// A sum in tensor memory stays there: one more slot than its dot says to be in flight.
// CHECK-LABEL: tile.kernel @sums
// CHECK: %[[D:.*]] = tile.dot
// CHECK: tile.convert_layout %[[D]] {role = "mma", tile.handed = !tile.channel<3, !tile.pending<tensor<128x32xf32, #{{.*}}>, tensor_memory>>}
tile.kernel @sums(%b: !tile.view<?x?xf32>)
    attributes {tile.roles = [#tile.role<"mma", warps = 4>, #tile.role<"use", warps = 4>]} {
  %x = tile.alloc : !tile.buffer<128x32xf16>
  %y = tile.alloc : !tile.buffer<32x32xf16>
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : !s
  %d = tile.dot %x, %y, %zero {atom = #nvptx.tcgen05<"m128n32k16", f16, f32>, role = "mma", in_flight = 2}
     : !tile.buffer<128x32xf16>, !tile.buffer<32x32xf16> -> !s
  tile.store %d, %b[%c0, %c0] {role = "use"} : !s, !tile.view<?x?xf32>
  tile.return
}
}

// -----

// Copies that share out columns each write a part of the buffer, one behind another, though rows would
// be read as well if they were whole.
#make = #tile.layout<register = [[0,1],[0,2]], lane = [[0,4],[0,8],[1,0],[2,0],[4,0]], warp = [[8,0],[16,0],[0,16]]>
#use = #tile.layout<register = [[0,1],[0,2],[0,4]], lane = [[0,8],[0,16],[1,0],[2,0],[4,0]], warp = [[8,0],[16,0]]>
!m = tensor<32x32xf32, #make>
!n = tensor<32x32xf32, #use>
!view = !tile.view<?x?xf32>

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// CHECK: #[[$PARTS:.*]] = #tile.layout<offset = {{.*}}[0,16]]>
// CHECK-LABEL: tile.kernel @copies
// CHECK: tile.handed = !tile.channel<1, !tile.buffer<32x32xf32, #[[$PARTS]]>>
tile.kernel @copies(%a: !view, %b: !view) attributes {
    tile.roles = [#tile.role<"make", warps = 4, copies = 2>, #tile.role<"use", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0, %c0] {role = "make"} : !view -> !m
  %u = tile.convert_layout %x {role = "use"} : !m -> !n
  tile.store %u, %b[%c0, %c0] {role = "use"} : !n, !view
  tile.return
}
}
