// What roles find when they begin: one thread asks for maps and makes barriers, and all meet once.
// RUN: tile-opt %s --tile-prepare-roles --split-input-file | FileCheck %s

#rows = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[1,8],[2,16],[4,32],[8,0],[16,0],[32,0]]>
!box = !tile.buffer<64x64xf16, #rows>
!ring = !tile.channel<2, !box>
!own = !tile.channel<2, own, !box>
!view = !tile.view<?x?xf16>

// Copies of one view by one kind of box share a map; own rings have no barriers.
// CHECK-LABEL: tile.kernel @maps
// CHECK-SAME: %[[A:[a-z0-9]+]]: !tile.view<?x?xf16>, %[[C:[a-z0-9]+]]: !tile.view<?x?xf16>
// CHECK: %[[RING:.*]] = tile.channel
// CHECK-NEXT: %[[OTHER:.*]] = tile.channel
// CHECK-NEXT: tile.channel {{.*}}own
// CHECK-NEXT: tile.one_thread {
// CHECK-NEXT: tile.prefetch %[[A]] for !tile.buffer<64x64xf16, {{.*}}> {atom = #nvptx.tma} : !tile.view<?x?xf16>
// CHECK-NEXT: tile.prefetch %[[C]] for !tile.buffer<64x64xf16, {{.*}}> {atom = #nvptx.tma} : !tile.view<?x?xf16>
// CHECK-NEXT: tile.init %[[RING]]
// CHECK-NEXT: tile.init %[[OTHER]]
// CHECK-NEXT: tile.fence barriers
// CHECK-NEXT: }
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.warp_groups
tile.kernel @maps(%a: !view, %c: !view) attributes {tile.warps = 4 : i64} {
  %ring = tile.channel full = 1 empty = 4 : !ring
  %other = tile.channel full = 1 empty = 4 : !ring
  %own = tile.channel full = 1 empty = 4 : !own
  tile.warp_groups(%ring, %other, %own, %a, %c : !ring, !ring, !own, !view, !view) {
    role #tile.role<"all", warps = 4> {
      %i = arith.constant 0 : index
      %s = arith.constant 0 : i32
      tile.put %ring[%s, %s] bytes = 8192 : !ring {
      ^bb0(%x: !box):
        tile.copy_in %a[%i, %i], %x {atom = #nvptx.tma} : !view, !box
      }
      tile.put %other[%s, %s] bytes = 8192 : !ring {
      ^bb0(%x: !box):
        tile.copy_in %a[%i, %i], %x {atom = #nvptx.tma} : !view, !box
      }
      tile.put %own[%s, %s] bytes = 0 : !own {
      ^bb0(%x: !box):
        tile.copy_in %c[%i, %i], %x {atom = #nvptx.cp_async<16>} : !view, !box
      }
      %y = tile.get %ring[%s, %s] : !ring
      tile.copy_out %y, %c[%i, %i] {atom = #nvptx.tma} : !box, !view
    }
  }
  tile.return
}

// -----

#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!sums = !tile.channel<1, !tile.pending<tensor<128x64xf32, #sum>, tensor_memory>>

// Tensor memory is set aside in front of the barrier that tells of it, and given back behind another.
// No launch before this one is waited for.
// CHECK-LABEL: tile.kernel @tensors
// CHECK: %[[SUMS:.*]] = tile.channel
// CHECK-NEXT: tile.one_thread {
// CHECK-NEXT: tile.init %[[SUMS]]
// CHECK-NEXT: tile.fence barriers
// CHECK-NEXT: }
// CHECK-NEXT: tile.alloc_tensor %[[SUMS]] {tile.by_warp = 0 : i64}
// CHECK-NEXT: tile.fence tensor_before
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.fence tensor_after
// CHECK-NEXT: tile.wait_dependencies
// CHECK-NEXT: tile.warp_groups
// CHECK: tile.fence tensor_before
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.fence tensor_after
// CHECK-NEXT: tile.free_tensor %[[SUMS]] {tile.by_warp = 0 : i64}
tile.kernel @tensors() attributes {tile.warps = 4 : i64} {
  tile.wait_dependencies
  %sums = tile.channel full = 1 empty = 4 : !sums
  tile.warp_groups(%sums : !sums) {
    role #tile.role<"all", warps = 4> {
    }
  }
  tile.return
}

// -----

// Where nothing is to be made, nobody waits.
// CHECK-LABEL: tile.kernel @nothing
// CHECK-NEXT: tile.warp_groups
tile.kernel @nothing() attributes {tile.warps = 4 : i64} {
  tile.warp_groups() {
    role #tile.role<"all", warps = 4> {
      tile.barrier
    }
  }
  tile.return
}

// -----

#rows = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[1,8],[2,16],[4,32],[8,0],[16,0],[32,0]]>
#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!ring = !tile.channel<2, !tile.buffer<64x64xf16, #rows>>
!sums = !tile.channel<1, !tile.pending<tensor<128x64xf32, #sum>, tensor_memory>>

// A slot that dots give back when they are over, behind the last sum that somebody waits for, must not
// be told of it when the program has ended.
// CHECK-LABEL: tile.kernel @unawaited
// CHECK: tile.init %{{.*}} {tile.ends = 1 : i64} : !tile.channel<1
// CHECK: tile.commit
// CHECK-NEXT: tile.release {{.*}} commit
// CHECK-NEXT: tile.one_thread {
// CHECK-NEXT: tile.end_dots %{{.*}} : !tile.channel<1
// CHECK-LABEL: tile.kernel @awaited
// CHECK-NOT: tile.end_dots
tile.kernel @unawaited() attributes {tile.warps = 4 : i64} {
  %ring = tile.channel full = 1 empty = 1 : !ring
  %sums = tile.channel full = 1 empty = 4 : !sums
  tile.warp_groups(%ring, %sums : !ring, !sums) {
    role #tile.role<"mma", warps = 4> {
      %s = arith.constant 0 : i32
      %q = tile.acquire %sums[%s, %s] : !sums
      %x = tile.get %ring[%s, %s] to_start : !ring
      tile.commit %q into %sums[%s] : !sums
      tile.release %ring[%s] commit : !ring
    }
  }
  tile.return
}
tile.kernel @awaited() attributes {tile.warps = 4 : i64} {
  %ring = tile.channel full = 1 empty = 1 : !ring
  %sums = tile.channel full = 1 empty = 4 : !sums
  tile.warp_groups(%ring, %sums : !ring, !sums) {
    role #tile.role<"mma", warps = 4> {
      %s = arith.constant 0 : i32
      %q = tile.acquire %sums[%s, %s] : !sums
      %x = tile.get %ring[%s, %s] to_start : !ring
      tile.release %ring[%s] commit : !ring
      tile.commit %q into %sums[%s] : !sums
    }
  }
  tile.return
}
