// Conversions that a role makes of its own tensors go through a buffer that each copy has for
// itself, between barriers of the copy; those of one type share it.
// RUN: tile-opt %s --tile-pipeline=stop-after=schedule | FileCheck %s
// RUN: tile-opt %s --tile-pipeline=stop-after=target | FileCheck %s --check-prefix=CODE

#rows = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0],[128,0]]>
#columns = #tile.layout<register = [[1,0],[2,0],[4,0],[8,0]], lane = [[0,1],[0,2],[0,4],[0,8],[32,0]], warp = [[16,0],[64,0],[128,0]]>
#half = #tile.layout<register = [[1,0],[2,0],[4,0],[8,0]], lane = [[0,1],[0,2],[0,4],[16,0],[32,0]], warp = [[64,0],[128,0]]>
#whole = #tile.layout<register = [[1,0],[2,0],[4,0],[8,0],[0,8]], lane = [[0,1],[0,2],[0,4],[16,0],[32,0]], warp = [[64,0],[128,0]]>
#lines = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[128,0]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!view = !tile.view<?x?xf32>

// A copy has half of the rows.
// CHECK: role #tile.role<"two", warps = 4, copies = 2> {
// CHECK: %[[C:.*]] = tile.alloc {{.*}} : !tile.buffer<128x16xf32
// CHECK-NEXT: %[[B:.*]] = tile.alloc {{.*}} : !tile.buffer<128x16xf32
// CHECK-NOT: tile.alloc
// CHECK: tile.barrier {tile.meets = "copy"}
// CHECK-NEXT: tile.write %{{.*}}, %[[B]]
// CHECK-NEXT: tile.barrier {tile.meets = "copy"}
// CHECK-NEXT: %{{.*}} = tile.read %[[B]]
// CHECK: tile.write %{{.*}}, %[[C]]
// CHECK: %{{.*}} = tile.read %[[C]]
// CHECK: tile.barrier {tile.meets = "copy"}
// CHECK-NEXT: tile.write %{{.*}}, %[[B]]
// CHECK-NEXT: tile.barrier {tile.meets = "copy"}
// CHECK-NEXT: %{{.*}} = tile.read %[[B]]
// CHECK-NOT: tile.convert_layout
// CODE-COUNT-2: nvvm.barrier
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @own(%a: !view, %b: !view) attributes {tile.roles = [#tile.role<"two", warps = 4, copies = 2>]} {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0, %c0] {role = "two", tile.layout = #rows} : !view -> tensor<256x16xf32, #rows>
  %y = tile.convert_layout %x : tensor<256x16xf32, #rows> -> tensor<256x16xf32, #columns>
  %z = arith.negf %y : tensor<256x16xf32, #columns>
  %u = tile.convert_layout %z : tensor<256x16xf32, #columns> -> tensor<256x16xf32, #rows>
  %v = math.absf %u : tensor<256x16xf32, #rows>
  %w = tile.convert_layout %v : tensor<256x16xf32, #rows> -> tensor<256x16xf32, #columns>
  tile.store %w, %b[%c0, %c0] {role = "two"} : tensor<256x16xf32, #columns>, !view
  tile.return
}

// Slices that follow at once are read where they stand, and go with the conversion.
// CHECK-LABEL: tile.kernel @slices
// CHECK: %[[D:.*]] = tile.alloc
// CHECK: tile.write %{{.*}}, %[[D]]
// CHECK: %{{.*}} = tile.read %[[D]] at [0, 0]
// CHECK-NEXT: %{{.*}} = tile.read %[[D]] at [0, 8]
// CHECK-NOT: tile.slice
tile.kernel @slices(%a: !view, %b: !view) attributes {tile.roles = [#tile.role<"one", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0, %c0] {role = "one", tile.layout = #lines} : !view -> tensor<256x16xf32, #lines>
  %y = tile.convert_layout %x : tensor<256x16xf32, #lines> -> tensor<256x16xf32, #whole>
  %l = tile.slice %y[0, 0] : tensor<256x16xf32, #whole> -> tensor<256x8xf32, #half>
  %r = tile.slice %y[0, 8] : tensor<256x16xf32, #whole> -> tensor<256x8xf32, #half>
  %s = arith.addf %l, %r : tensor<256x8xf32, #half>
  tile.store %s, %b[%c0, %c0] {role = "one"} : tensor<256x8xf32, #half>, !view
  tile.return
}
}
