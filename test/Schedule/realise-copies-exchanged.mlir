// What copies of a role take of what others have; and what a tile has grown by.
// RUN: tile-opt %s --tile-realise-copies | FileCheck %s

#rows = #tile.layout<register = [[0,1],[0,8]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[8,0],[16,0],[32,0]]>
#columns = #tile.layout<register = [[0,1],[32,0]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[8,0],[16,0],[0,8]]>
#all = #tile.layout<register = [[0,1],[0,8],[32,0]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[8,0],[16,0],[0,0]]>
#offset = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[1,0],[2,0],[4,0],[8,0],[16,0],[32,0]]>
!view = !tile.view<?x?xf32, strides [?, 1]>

// Each writes its rows, and reads those of all.
// CHECK-LABEL: tile.kernel @whole
// CHECK: %[[FIRST:.*]] = tile.alloc : !tile.buffer<32x16xf32
// CHECK-NEXT: %[[SECOND:.*]] = tile.alloc : !tile.buffer<32x16xf32
tile.kernel @whole(%a: !view, %n: index) {
  tile.warp_groups(%a, %n : !view, index) {
    role #tile.role<"all", warps = 4, copies = 2> {
      // CHECK: %[[COPY:.*]] = tile.copy_id
      // CHECK: %[[X:.*]] = tile.load
      %x = tile.load %a[%n, %n] : !view -> tensor<64x16xf32, #rows>
      // CHECK: tile.barrier all_copies
      // CHECK: %[[IS0:.*]] = arith.cmpi eq, %[[COPY]], %c0
      // CHECK: scf.if %[[IS0]] {
      // CHECK-NEXT: tile.write %[[X]], %[[FIRST]]
      // CHECK: scf.if
      // CHECK-NEXT: tile.write %[[X]], %[[SECOND]]
      // CHECK: tile.barrier all_copies
      // CHECK: %[[ROWS:.*]] = tile.read %[[FIRST]] : {{.*}} -> tensor<32x16xf32
      // CHECK-NEXT: %[[OTHERS:.*]] = tile.read %[[SECOND]] : {{.*}} -> tensor<32x16xf32
      // CHECK-NEXT: %[[ALL:.*]] = tile.concat %[[ROWS]], %[[OTHERS]] axis = 0 : {{.*}} -> tensor<64x16xf32
      // CHECK: tile.print "all" (%[[ALL]])
      %y = tile.convert_layout %x {how = #tile.conversion<memory buffer = #offset>} : tensor<64x16xf32, #rows> -> tensor<64x16xf32, #all>
      tile.print "all" (%y) : tensor<64x16xf32, #all>
    }
  }
  tile.return
}

// Each reads its columns of all rows.
// CHECK-LABEL: tile.kernel @otherwise
tile.kernel @otherwise(%a: !view, %n: index) {
  tile.warp_groups(%a, %n : !view, index) {
    role #tile.role<"all", warps = 4, copies = 2> {
      // CHECK: %[[COPY:.*]] = tile.copy_id
      %x = tile.load %a[%n, %n] : !view -> tensor<64x16xf32, #rows>
      // CHECK-COUNT-2: tile.write %{{.*}}, %{{.*}} : tensor<32x16xf32
      // CHECK: tile.barrier all_copies
      // CHECK: %[[AT:.*]] = arith.muli %[[COPY]], %c8
      // CHECK: %[[PART:.*]] = tile.part %{{.*}}[%{{.*}}, %[[AT]]] : !tile.buffer<32x16xf32, {{.*}}> -> !tile.buffer<32x8xf32
      // CHECK: %[[ROWS:.*]] = tile.read %[[PART]] : {{.*}} -> tensor<32x8xf32
      // CHECK: %[[OTHERS:.*]] = tile.read %{{.*}} : {{.*}} -> tensor<32x8xf32
      // CHECK-NEXT: tile.concat %[[ROWS]], %[[OTHERS]] axis = 0 : {{.*}} -> tensor<64x8xf32
      %y = tile.convert_layout %x {how = #tile.conversion<memory buffer = #offset>} : tensor<64x16xf32, #rows> -> tensor<64x16xf32, #columns>
      tile.print "columns" (%y) : tensor<64x16xf32, #columns>
    }
  }
  tile.return
}

// Of 40 rows the second copy has eight: for it the view ends with them.
// CHECK-LABEL: tile.kernel @grown
tile.kernel @grown(%a: !view, %n: index) {
  tile.warp_groups(%a, %n : !view, index) {
    role #tile.role<"all", warps = 4, copies = 2> {
      // CHECK: %[[COPY:.*]] = tile.copy_id
      // CHECK: %[[END:.*]] = arith.addi %n, %c40
      // CHECK: %[[ROWS:.*]] = tile.dim %a, 0
      // CHECK: %[[LAST:.*]] = arith.minsi %[[ROWS]], %[[END]]
      // CHECK: %[[COLUMNS:.*]] = tile.dim %a, 1
      // CHECK: %[[VIEW:.*]] = tile.subview %a at %{{.*}} extents [%[[LAST]], %[[COLUMNS]]]
      // CHECK: %[[BY:.*]] = arith.muli %[[COPY]], %c32
      // CHECK: %[[AT:.*]] = arith.addi %n, %[[BY]]
      // CHECK: tile.load %[[VIEW]][%[[AT]], %n] extents [32, 12] : {{.*}} -> tensor<32x16xf32
      %x = tile.load %a[%n, %n] extents [40, 12] : !view -> tensor<64x16xf32, #rows>
      // CHECK: tile.store %{{.*}}, %{{.*}}[%{{.*}}, %n] extents [32, 12]
      tile.store %x, %a[%n, %n] extents [40, 12] : tensor<64x16xf32, #rows>, !view
    }
  }
  tile.return
}
