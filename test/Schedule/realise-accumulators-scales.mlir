// Scales of dots are written to tensor memory in front of them, both behind one meeting, in two slots:
// those of a trip while the dots of the trip before read theirs.
// RUN: tile-opt %s --tile-decide-columns | FileCheck %s --check-prefix=COLUMNS
// RUN: tile-opt %s --tile-decide-columns --tile-realise-accumulators | FileCheck %s
// RUN: tile-opt %s --tile-decide-columns --tile-realise-accumulators --tile-realise-slots --tile-realise-fences | FileCheck %s --check-prefix=FENCES

#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
#rows = #tile.layout<register = [[0,1],[0,2],[32,0],[64,0]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[0,0],[0,0]]>
#columns = #tile.layout<register = [[0,1],[0,2]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[0,0],[0,0]]>
!a = !tile.buffer<128x128xf8E4M3FN>
!b = !tile.buffer<32x128xf8E4M3FN>
!ring = !tile.channel<2, !a, !b>
!s = tensor<128x4xf8E8M0FNU, #rows>
!t = tensor<32x4xf8E8M0FNU, #columns>
!pending = !tile.pending<tensor<128x32xf32, #sum>, tensor_memory>
#atom = #nvptx.tcgen05<"m128n32k32", f8E4M3FN, f32 scale = f8E8M0FNU>

// COLUMNS: tile.start_dot {{.*}} tile.operand_columns = array<i64: 0, 1>
// CHECK-LABEL: tile.kernel @loop
// CHECK: %[[S:.*]] = tile.channel full = 0 empty = 1 : !tile.channel<2, !tile.pending<tensor<128x4xf8E8M0FNU, #layout{{[0-9]*}}>, tensor_memory>>
// CHECK: %[[T:.*]] = tile.channel full = 0 empty = 1 : !tile.channel<2, !tile.pending<tensor<32x4xf8E8M0FNU, #layout{{[0-9]*}}>, tensor_memory>>
// CHECK: scf.for
// CHECK: %[[E:.*]] = tile.acquire %[[S]]
// CHECK: %[[F:.*]] = tile.acquire %[[T]]
// CHECK-NEXT: %[[U:.*]] = tile.fill %{{.*}} into %[[E]]
// CHECK-NEXT: %[[V:.*]] = tile.fill %{{.*}} into %[[F]]
// CHECK-NEXT: tile.start_dot %{{.*}}, %{{.*}}, %{{.*}} scales(%[[U]], %[[V]]) when
// CHECK-DAG: tile.release %[[S]][%{{.*}}] commit
// CHECK-DAG: tile.release %[[T]][%{{.*}}] commit

// FENCES: tile.acquire %{{.*}} : !tile.channel<2, !tile.pending<tensor<128x4xf8E8M0FNU
// FENCES-NEXT: tile.acquire
// FENCES-NEXT: tile.barrier
// FENCES-NEXT: tile.fence tensor_after
// FENCES-NEXT: tile.fill
// FENCES-NEXT: tile.fill
// FENCES-NEXT: tile.fence tensor_before
// FENCES-NEXT: tile.barrier
// FENCES-NEXT: tile.fence tensor_after
// FENCES: tile.start_dot
tile.kernel @loop(%n: index) {
  %ring = tile.channel full = 1 empty = 1 : !ring
  tile.warp_groups(%n, %ring : index, !ring) {
    role #tile.role<"mma", warps = 4> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %u = arith.constant dense<1.0> : !s
      %v = arith.constant dense<1.0> : !t
      %none = ub.poison : !pending
      %p = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %none) -> !pending {
        %slot, %phase = tile.next %ring : !ring
        %x, %y = tile.get %ring[%slot, %phase] to_start : !ring
        %more = arith.cmpi ne, %i, %c0 : index
        %d = tile.start_dot %x, %y, %sum scales(%u, %v) when %more transpose_b {atom = #atom} : !a, !b scales(!s, !t) -> !pending
        tile.release %ring[%slot] commit : !ring
        scf.yield %d : !pending
      }
      %t = tile.wait %p in_flight = 0 : !pending -> tensor<128x32xf32, #sum>
      tile.print "sum" (%t) : tensor<128x32xf32, #sum>
    }
  }
  tile.return
}
