// What pairs of programs multiply, and their sums, become channels of pairs, which both programs keep.
// RUN: tile-opt %s --tile-realise-clusters | FileCheck %s
// RUN: tile-opt %s --tile-realise-clusters --tile-realise-fences --tile-realise-threads --tile-check-protocol -o /dev/null

#rows = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[1,8],[2,16],[4,32],[8,0],[16,0],[32,0],[64,0]]>
#half = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[1,8],[2,16],[4,32],[8,0],[16,0]]>
#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
#mma = #nvptx.tcgen05<"m256n64k16", bf16, f32>
!a = !tile.buffer<128x64xbf16, #rows>
!b = !tile.buffer<32x64xbf16, #half>
!ring = !tile.channel<2, !a, !b>
!t = tensor<128x64xf32, #sum>
!pending = !tile.pending<!t, tensor_memory>
!sums = !tile.channel<1, !pending>
!view = !tile.view<?x?xbf16>

module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
// Both programs tell both of the sums; of what they multiply, one commit gives back for both.
// CHECK-LABEL: tile.kernel @product
// CHECK: %[[RING:.*]] = tile.channel full = 1 empty = 1 : !tile.channel<2, pair, !tile.buffer<128x64xbf16, #{{.*}}>, !tile.buffer<32x64xbf16, #{{.*}}>>
// CHECK: %[[SUMS:.*]] = tile.channel full = 2 empty = 8 : !tile.channel<1, pair, !tile.pending<tensor<128x64xf32, #{{.*}}>, tensor_memory>>
// CHECK-NEXT: tile.cluster_barrier
// CHECK-NEXT: tile.warp_groups
// CHECK: tile.put %[[RING]][%{{.*}}] bytes = 20480 : !tile.channel<2, pair
// CHECK: tile.copy_in %x[%{{.*}}], %{{.*}} {atom = #nvptx.tma}
// CHECK: role #tile.role<"mma", warps = 4>
// CHECK: tile.program_id x
// CHECK: %[[OWN:.*]] = arith.index_cast
// CHECK: %[[OTHER:.*]] = arith.xori %{{.*}}, %c1_i32
// CHECK: tile.acquire %[[SUMS]]
// CHECK: tile.get %[[RING]][%{{.*}}] to_start : !tile.channel<2, pair
// CHECK: tile.release %[[RING]][%{{.*}}] commit to %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} :
// CHECK: tile.commit %{{.*}} into %[[SUMS]]
// CHECK: tile.release %[[SUMS]][%{{.*}}] lanes to %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} :
// CHECK: tile.cluster_barrier
tile.kernel @product(%x: !view, %y: !view, %n: index, %k: index)
    attributes {tile.cluster = array<i64: 2, 1, 1>, tile.warps = 8 : i64} {
  %ring = tile.channel full = 1 empty = 1 : !ring
  %sums = tile.channel full = 1 empty = 4 : !sums
  tile.warp_groups(%x, %y, %n, %k, %ring, %sums : !view, !view, index, index, !ring, !sums) {
    role #tile.role<"load", warps = 4> {
      %z = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %last = arith.addi %k, %c64 : index
      %end:2 = scf.for %i = %c0 to %n step %c64 iter_args(%s = %z, %p = %z) -> (i32, i32) {
        %in:2 = scf.for %kk = %c0 to %last step %c64 iter_args(%s1 = %s, %p1 = %p) -> (i32, i32) {
          tile.put %ring[%s1, %p1] bytes = 20480 : !ring {
          ^bb0(%to_a: !a, %to_b: !b):
            tile.copy_in %x[%c0, %kk], %to_a {atom = #nvptx.tma} : !view, !a
            tile.copy_in %y[%i, %kk], %to_b {atom = #nvptx.tma} : !view, !b
          }
          %s2, %p2 = tile.advance %s1, %p1 of %ring : !ring
          scf.yield %s2, %p2 : i32, i32
        }
        scf.yield %in#0, %in#1 : i32, i32
      }
    }
    role #tile.role<"mma", warps = 4> {
      %z = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %end:4 = scf.for %i = %c0 to %n step %c64 iter_args(%s = %z, %p = %z, %ss = %z, %sp = %z) -> (i32, i32, i32, i32) {
        %empty = tile.acquire %sums[%ss, %sp] : !sums
        %in:3 = scf.for %kk = %c0 to %k step %c64 iter_args(%s1 = %s, %p1 = %p, %acc = %empty) -> (i32, i32, !pending) {
          %a, %b = tile.get %ring[%s1, %p1] to_start : !ring
          %more = arith.cmpi ne, %kk, %c0 : index
          %d = tile.start_dot %a, %b, %acc when %more transpose_b {atom = #mma} : !a, !b -> !pending
          tile.release %ring[%s1] commit : !ring
          %s2, %p2 = tile.advance %s1, %p1 of %ring : !ring
          scf.yield %s2, %p2, %d : i32, i32, !pending
        }
        %no = arith.constant false
        %a, %b = tile.get %ring[%in#0, %in#1] to_start : !ring
        %none = arith.cmpi sgt, %k, %c0 : index
        %d = tile.start_dot %a, %b, %in#2 when %none transpose_b {atom = #mma} : !a, !b -> !pending
        tile.release %ring[%in#0] commit : !ring
        %s3, %p3 = tile.advance %in#0, %in#1 of %ring : !ring
        tile.commit %d into %sums[%ss] : !sums
        %full = tile.get %sums[%ss, %sp] : !sums
        %t = tile.fetch %full {atom = #mma} : !pending
        tile.release %sums[%ss] lanes : !sums
        %ss1, %sp1 = tile.advance %ss, %sp of %sums : !sums
        scf.yield %s3, %p3, %ss1, %sp1 : i32, i32, i32, i32
      }
    }
  }
  tile.return
}
}
