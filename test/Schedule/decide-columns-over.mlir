// An operand is written over one sum, though it fits over one of another type, too.
// RUN: tile-opt %s --tile-decide-columns --tile-realise-accumulators -o /dev/null
// RUN: tile-opt %s --tile-decide-columns | FileCheck %s

// CHECK-LABEL: tile.kernel @chain
// CHECK: tile.wait %{{.*}} {tile.columns = [[SCORES:[0-9]]] : i64}
// CHECK: tile.start_dot {{.*}} tile.operand_columns = [[SCORES]] : i64
// CHECK: tile.wait %{{.*}} {tile.columns = [[SUM:[0-9]]] : i64}
// CHECK: tile.wait %{{.*}} {tile.columns = [[SCORES]] : i64}
// CHECK: tile.start_dot {{.*}} tile.operand_columns = [[SCORES]] : i64
// CHECK: tile.wait %{{.*}} {tile.columns = [[SUM]] : i64}
#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
#wide = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!a = !tile.buffer<128x32xf16>
!b = !tile.buffer<32x32xf16>
!c = !tile.buffer<32x64xf16>
!t = tensor<128x32xf32, #sum>
!x = tensor<128x32xf16, #sum>
!u = tensor<128x64xf32, #wide>
!scores = !tile.pending<!t, tensor_memory>
!sums = !tile.pending<!u, tensor_memory>
#atom = #nvptx.tcgen05<"m128n32k16", f16, f32>
#other = #nvptx.tcgen05<"m128n64k16", f16, f32>
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
tile.kernel @chain(%n: index) {
  tile.warp_groups(%n : index) {
    role #tile.role<"mma", warps = 4> {
      %x = tile.alloc : !a
      %y = tile.alloc : !b
      %z = tile.alloc : !c
      %v = tile.alloc : !a
      %no = arith.constant false
      %n0 = ub.poison : !scores
      %d0 = tile.start_dot %x, %y, %n0 when %no {atom = #atom} : !a, !b -> !scores
      %s0 = tile.wait %d0 in_flight = 0 : !scores -> !t
      %w0 = arith.truncf %s0 : !t to !x
      %m0 = ub.poison : !sums
      %e0 = tile.start_dot %w0, %z, %m0 when %no {atom = #other} : !x, !c -> !sums
      %o0 = tile.wait %e0 in_flight = 0 : !sums -> !u
      tile.print "first" (%o0) : !u
      %n1 = ub.poison : !scores
      %d1 = tile.start_dot %x, %y, %n1 when %no {atom = #atom} : !a, !b -> !scores
      %s1 = tile.wait %d1 in_flight = 0 : !scores -> !t
      %w1 = arith.truncf %s1 : !t to !x
      %m1 = ub.poison : !sums
      %e1 = tile.start_dot %w1, %z, %m1 when %no {atom = #other} : !x, !c -> !sums
      %o1 = tile.wait %e1 in_flight = 0 : !sums -> !u
      tile.print "second" (%o1) : !u
      %zero = arith.constant dense<0.0> : !u
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %o2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> !u {
        %p = tile.pend %acc : !sums
        %e2 = tile.start_dot %v, %z, %p {atom = #other} : !a, !c -> !sums
        %o = tile.wait %e2 in_flight = 0 {tile.carried = "tensor_memory"} : !sums -> !u
        scf.yield %o : !u
      }
      tile.print "third" (%o2) : !u
    }
  }
  tile.return
}
}
