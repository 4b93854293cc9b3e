// A tensor of 96 columns whose rows copies share out: no buffer has each copy's rows in one piece, so
// a slot has three of 32 columns, which threads choose among by registers.
// RUN: tile-opt %s --tile-decide-hand-overs --split-input-file | FileCheck %s --check-prefix=DECIDED
// RUN: tile-opt %s --tile-decide-hand-overs --tile-realise-hand-overs --split-input-file | FileCheck %s

#rows = #tile.layout<register = [[0,1],[8,0],[0,8],[0,16],[0,32],[0,64]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0],[32,0],[64,0]]>
#all = #tile.layout<register = [[0,1],[0,2],[0,4],[32,0],[64,0],[0,32],[0,64]], lane = [[0,8],[0,16],[1,0],[2,0],[4,0]], warp = [[8,0],[16,0]]>
!view = !tile.view<?x?xf32>
!t = tensor<128x96xf32, #rows>
!u = tensor<128x96xf32, #all>

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// DECIDED-LABEL: tile.kernel @boxes
// DECIDED: tile.convert_layout %{{.*}} {role = "make", tile.handed = !tile.channel<1, [[B:!tile.buffer<128x32xf32, #[a-z0-9]+>]], [[B]], [[B]]>}
// CHECK-LABEL: tile.kernel @boxes
// CHECK: %[[RING:.*]] = tile.channel full = 8 empty = 4 : !tile.channel<1, [[B:!tile.buffer<128x32xf32, #[a-z0-9]+>]], [[B]], [[B]]>
// CHECK: %[[T:.*]] = tile.load {{.*}}role = "make"
// CHECK-DAG: %[[X:.*]] = tile.slice %[[T]] [0, 0] {role = "make"} : tensor<128x96xf32, #{{.*}}> -> tensor<128x32xf32, #{{.*}}>
// CHECK-DAG: %[[Y:.*]] = tile.slice %[[T]] [0, 32]
// CHECK-DAG: %[[Z:.*]] = tile.slice %[[T]] [0, 64]
// CHECK: tile.put %[[RING]]
// CHECK: tile.write %[[X]],
// CHECK: tile.write %[[Y]],
// CHECK: tile.write %[[Z]],
// CHECK: %[[G:.*]]:3 = tile.get %[[RING]]
// CHECK-NEXT: %[[A:.*]] = tile.read %[[G]]#0
// CHECK-NEXT: %[[C:.*]] = tile.read %[[G]]#1
// CHECK-NEXT: %[[D:.*]] = tile.read %[[G]]#2
// CHECK-NEXT: %[[ALL:.*]] = tile.concat %[[A]], %[[C]], %[[D]] axis = 1 {role = "use"}
// CHECK: tile.store %[[ALL]],
tile.kernel @boxes(%a: !view, %b: !view) attributes {
    tile.roles = [#tile.role<"make", warps = 4, copies = 2>, #tile.role<"use", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0, %c0] {role = "make"} : !view -> !t
  %u = tile.convert_layout %x {role = "use"} : !t -> !u
  tile.store %u, %b[%c0, %c0] {role = "use"} : !u, !view
  tile.return
}
}
