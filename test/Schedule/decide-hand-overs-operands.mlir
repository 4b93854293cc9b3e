// What warps make and products read from shared memory is written there as these take it: another
// role hands it over, or the products' own fills a ring with it.
// RUN: tile-opt %s --tile-decide-hand-overs --split-input-file | FileCheck %s
// RUN: tile-opt %s --tile-decide-hand-overs --tile-realise-hand-overs --split-input-file | FileCheck %s --check-prefix=DONE

#four = #tile.layout<register = [[0,1],[0,2],[0,4],[16,0],[32,0]], lane = [[0,8],[0,16],[0,32],[1,0],[2,0]], warp = [[4,0],[8,0]]>
#sum = #tile.layout<register = [[0,1],[8,0],[0,8],[0,16],[0,32]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0],[32,0]]>
!t = tensor<64x64xbf16, #four>
!s = tensor<64x64xf32, #sum>
!view = !tile.view<?x?xbf16>
!out = !tile.view<?x?xf32>
#wgmma = #nvptx.wgmma<"m64n64k16", bf16, f32>

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// The order is the one that the product takes and that is written at once; one slot is read while
// another is written, since a product is in flight.
// CHECK-LABEL: tile.kernel @other
// CHECK: %[[W:.*]] = arith.negf
// CHECK-NEXT: %[[H:.*]] = tile.convert_layout %[[W]] {role = "cast", tile.handed = !tile.channel<2, !tile.buffer<64x64xbf16, #[[$ORDER:.*]]>>}
// CHECK-NEXT: %[[R:.*]] = tile.convert_layout %[[H]] {role = "mma", tile.residency = "shared"}
// CHECK: tile.dot %{{.*}}, %[[R]], %
// DONE-LABEL: tile.kernel @other
// DONE: %[[C:.*]] = tile.channel full = 4 empty = 4 : !tile.channel<2, !tile.buffer<64x64xbf16, #{{.*}}>>
// DONE: arith.negf
// DONE-NEXT: tile.next %[[C]] {role = "cast"}
// DONE-NEXT: tile.put %[[C]]{{.*}} {role = "cast"}
// DONE: tile.write
// DONE: tile.next %[[C]] {role = "mma"}
// DONE-NEXT: %[[B:.*]] = tile.get %[[C]]{{.*}} {role = "mma"}
// DONE-NOT: tile.read
// DONE: tile.dot %{{.*}}, %[[B]], %
// DONE-NOT: residency
tile.kernel @other(%a: !view, %o: !out, %n: index) attributes {
    tile.roles = [#tile.role<"cast", warps = 4>, #tile.role<"mma", warps = 4>]} {
  %x = tile.alloc : !tile.buffer<64x64xbf16>
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : !s
  %r = scf.for %i = %c0 to %n step %c64 iter_args(%s = %zero) -> !s {
    %y = tile.load %a[%c0, %i] {role = "cast"} : !view -> !t
    %w = arith.negf %y {tile.role = "cast"} : !t
    %d = tile.dot %x, %w, %s {atom = #wgmma, role = "mma", in_flight = 1} : !tile.buffer<64x64xbf16>, !t -> !s
    scf.yield %d : !s
  }
  tile.store %r, %o[%c0, %c0] {role = "mma"} : !s, !out
  tile.return
}

// What the role itself makes fills a ring of its own, as deep as the loop says. Two products read it.
// CHECK-LABEL: tile.kernel @own
// CHECK: tile.convert_layout %{{.*}} {role = "mma", tile.handed = !tile.channel<3, own, !tile.buffer<64x64xbf16, #[[$ORDER]]>>}
// CHECK-NEXT: %[[R:.*]] = tile.convert_layout %{{.*}} {role = "mma", tile.residency = "shared"}
// CHECK: tile.dot %{{.*}}, %[[R]], %
// CHECK: tile.dot %{{.*}}, %[[R]], %
// CHECK-NOT: tile.depth
// DONE-LABEL: tile.kernel @own
// DONE: %[[C:.*]] = tile.channel full = 4 empty = 4 : !tile.channel<3, own, !tile.buffer<64x64xbf16, #{{.*}}>>
// DONE: tile.next fills %[[C]] {role = "mma"}
// DONE: tile.put %[[C]]
// DONE: tile.next %[[C]] {role = "mma"}
// DONE: %[[B:.*]] = tile.get %[[C]]
// DONE: tile.dot %{{.*}}, %[[B]], %
// DONE: tile.dot %{{.*}}, %[[B]], %
tile.kernel @own(%a: !view, %o: !out, %n: index) attributes {tile.roles = [#tile.role<"mma", warps = 4>]} {
  %x = tile.alloc : !tile.buffer<64x64xbf16>
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : !s
  %r = scf.for %i = %c0 to %n step %c64 iter_args(%s = %zero) -> !s {
    %y = tile.load %a[%c0, %i] {role = "mma"} : !view -> !t
    %d = tile.dot %x, %y, %s {atom = #wgmma, role = "mma", in_flight = 0} : !tile.buffer<64x64xbf16>, !t -> !s
    %e = tile.dot %x, %y, %d {atom = #wgmma, role = "mma", in_flight = 0} : !tile.buffer<64x64xbf16>, !t -> !s
    scf.yield %e : !s
  } {tile.depth = 3}
  tile.store %r, %o[%c0, %c0] {role = "mma"} : !s, !out
  tile.return
}

// Or as deep as what makes it says.
// CHECK-LABEL: tile.kernel @said
// CHECK: tile.handed = !tile.channel<2, own,
// CHECK-NOT: tile.depth
// DONE-LABEL: tile.kernel @said
tile.kernel @said(%a: !view) attributes {tile.roles = [#tile.role<"mma", warps = 4>]} {
  %x = tile.alloc : !tile.buffer<64x64xbf16>
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : !s
  %y = tile.load %a[%c0, %c0] {role = "mma"} : !view -> !t
  %w = arith.negf %y {tile.role = "mma", tile.depth = 2} : !t
  %d = tile.dot %x, %w, %zero {atom = #wgmma, role = "mma", in_flight = 0} : !tile.buffer<64x64xbf16>, !t -> !s
  tile.return
}
}

// -----

#four = #tile.layout<register = [[0,1],[0,2],[0,4],[16,0],[32,0]], lane = [[0,8],[0,16],[0,32],[1,0],[2,0]], warp = [[4,0],[8,0]]>
#rows = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!t = tensor<64x64xbf16, #four>
!s = tensor<128x64xf32, #rows>
!view = !tile.view<?x?xbf16>
!out = !tile.view<?x?xf32>
#tcgen05 = #nvptx.tcgen05<"m128n64k16", bf16, f32>

module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
// Commits give back slots that are nobody's own, though one role writes them and reads them.
// CHECK-LABEL: tile.kernel @committed
// CHECK: tile.convert_layout %{{.*}} {role = "mma", tile.handed = !tile.channel<1, !tile.buffer<64x64xbf16, #{{.*}}>>}
// CHECK-NEXT: tile.convert_layout %{{.*}} {role = "mma", tile.residency = "shared"}
// DONE-LABEL: tile.kernel @committed
// DONE: %[[C:.*]] = tile.channel full = 4 empty = 1 : !tile.channel<1, !tile.buffer<64x64xbf16, #{{.*}}>>
// DONE: tile.next fills %[[C]] {role = "mma"}
// DONE: tile.next %[[C]] {role = "mma"}
tile.kernel @committed(%a: !view, %o: !out) attributes {tile.roles = [#tile.role<"mma", warps = 4>]} {
  %x = tile.alloc : !tile.buffer<128x64xbf16>
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : !s
  %y = tile.load %a[%c0, %c0] {role = "mma"} : !view -> !t
  %d = tile.dot %x, %y, %zero {atom = #tcgen05, role = "mma", in_flight = 0} : !tile.buffer<128x64xbf16>, !t -> !s
  tile.store %d, %o[%c0, %c0] {role = "mma"} : !s, !out
  tile.return
}
}
