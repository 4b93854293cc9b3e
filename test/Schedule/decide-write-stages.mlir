// When what a role brings through registers for another is written: a trip behind its load, so that
// the next load is under way by then, if copies of that trip have a slot.
// RUN: tile-opt %s --split-input-file --tile-decide-stages | FileCheck %s
// RUN: tile-opt %s --split-input-file --tile-decide-stages --tile-check-schedule --tile-realise-rings --tile-decide-hand-overs --tile-realise-hand-overs | FileCheck %s --check-prefix=RINGS

#rows = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[1,8],[2,16],[4,32],[8,0],[16,0],[32,0]]>
#acc = #tile.layout<register = [[0,1],[8,0],[0,8],[0,16],[0,32]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0],[32,0]]>
#wide = #tile.layout<register = [[0,1],[0,2],[0,4],[16,0],[32,0]], lane = [[0,8],[0,16],[0,32],[1,0],[2,0]], warp = [[4,0],[8,0]]>
#mma = #nvptx.wgmma<"m64n64k16", f16, f32>
!view = !tile.view<?x?xf16>
!box = !tile.buffer<64x64xf16, #rows>
!sums = tensor<64x64xf32, #acc>
!brought = tensor<64x64xf16, #wide>
#roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>]

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// A product in flight holds a slot, the next copy has one, and the tile of the trip before the third.
// CHECK-LABEL: tile.kernel @behind
// CHECK: tile.load %a{{.*}}depth = 3
// CHECK-NOT: tile.write_stage
// CHECK: tile.load %b{{.*}}stage = 0 : i64, tile.write_stage = 1 : i64}
// RINGS-LABEL: tile.kernel @behind
// RINGS: scf.for
// RINGS: tile.put {{.*}} bytes = 8192 {role = "load", stage = 0 : i64}
// RINGS: tile.load %b{{.*}}{role = "load", stage = 0 : i64}
// RINGS: tile.put {{.*}} bytes = 0 {role = "load", stage = 1 : i64}
// RINGS: tile.write
tile.kernel @behind(%a: !view, %b: !view, %c: !tile.view<?x?xf32>, %n: index) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : !sums
  %sum = scf.for %k = %c0 to %n step %c64 iter_args(%s = %zero) -> !sums {
    %x = tile.load %a[%c0, %k] {atom = #nvptx.tma, buffer = !box, ring = "a", depth = 3, stage = 0, role = "load"}
       : !view -> tensor<64x64xf16>
    %y = tile.load %b[%c0, %k] {atom = #tile.through_registers, buffer = !box, ring = "b", depth = 2, role = "load"}
       : !view -> !brought
    %d = tile.dot %x, %y, %s transpose_b {atom = #mma, role = "mma", in_flight = 1}
       : tensor<64x64xf16>, !brought -> !sums
    scf.yield %d : !sums
  }
  tile.store %sum, %c[%c0, %c0] {role = "mma"} : !sums, !tile.view<?x?xf32>
  tile.return
}
}

// -----

#rows = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[1,8],[2,16],[4,32],[8,0],[16,0],[32,0]]>
#acc = #tile.layout<register = [[0,1],[8,0],[0,8],[0,16],[0,32]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0],[32,0]]>
#wide = #tile.layout<register = [[0,1],[0,2],[0,4],[16,0],[32,0]], lane = [[0,8],[0,16],[0,32],[1,0],[2,0]], warp = [[4,0],[8,0]]>
#mma = #nvptx.wgmma<"m64n64k16", f16, f32>
!view = !tile.view<?x?xf16>
!box = !tile.buffer<64x64xf16, #rows>
!sums = tensor<64x64xf32, #acc>
!brought = tensor<64x64xf16, #wide>
#roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>]

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// With a slot less the copy of the next trip would wait for the product that waits for this tile.
// CHECK-LABEL: tile.kernel @beside
// CHECK-NOT: tile.write_stage
// RINGS-LABEL: tile.kernel @beside
// RINGS: tile.put {{.*}} bytes = 8192 {role = "load", stage = 0 : i64}
// RINGS: tile.put {{.*}} bytes = 0 {role = "load"}
tile.kernel @beside(%a: !view, %b: !view, %c: !tile.view<?x?xf32>, %n: index) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : !sums
  %sum = scf.for %k = %c0 to %n step %c64 iter_args(%s = %zero) -> !sums {
    %x = tile.load %a[%c0, %k] {atom = #nvptx.tma, buffer = !box, ring = "a", depth = 2, stage = 0, role = "load"}
       : !view -> tensor<64x64xf16>
    %y = tile.load %b[%c0, %k] {atom = #tile.through_registers, buffer = !box, ring = "b", depth = 2, role = "load"}
       : !view -> !brought
    %d = tile.dot %x, %y, %s transpose_b {atom = #mma, role = "mma", in_flight = 1}
       : tensor<64x64xf16>, !brought -> !sums
    scf.yield %d : !sums
  }
  tile.store %sum, %c[%c0, %c0] {role = "mma"} : !sums, !tile.view<?x?xf32>
  tile.return
}
}

// -----

#rows = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[1,8],[2,16],[4,32],[8,0],[16,0],[32,0]]>
#wide = #tile.layout<register = [[0,1],[0,2],[0,4],[16,0],[32,0]], lane = [[0,8],[0,16],[0,32],[1,0],[2,0]], warp = [[4,0],[8,0]]>
!view = !tile.view<?x?xf16>
!box = !tile.buffer<64x64xf16, #rows>
!brought = tensor<64x64xf16, #wide>

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// What is said stays.
// CHECK-LABEL: tile.kernel @said
// CHECK: tile.load %a{{.*}}tile.write_stage = 0 : i64}
// RINGS-LABEL: tile.kernel @said
// RINGS: tile.put {{.*}} bytes = 0 {role = "load", stage = 0 : i64}
tile.kernel @said(%a: !view, %c: !view, %n: index) attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"use", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  scf.for %k = %c0 to %n step %c64 {
    %x = tile.load %a[%c0, %k] {atom = #tile.through_registers, buffer = !box, depth = 2, role = "load", tile.write_stage = 0 : i64}
       : !view -> !brought
    tile.store %x, %c[%c0, %k] {role = "use"} : !brought, !view
  }
  tile.return
}
}
