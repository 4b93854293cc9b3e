// Which sums and operands share columns of tensor memory.
// RUN: tile-opt %s --tile-decide-columns | FileCheck %s

#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!a = !tile.buffer<128x32xf16>
!b = !tile.buffer<32x32xf16>
!t = tensor<128x32xf32, #sum>
!x = tensor<128x32xf16, #sum>
!pending = !tile.pending<!t, tensor_memory>
#atom = #nvptx.tcgen05<"m128n32k16", f16, f32>
!u = tensor<128x64xf32, #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>>
!wide = !tile.pending<!u, tensor_memory>

// One after another they have the same; a second one in use meanwhile has others.
// CHECK-LABEL: tile.kernel @in_turn
// CHECK: tile.print "first"
// CHECK: tile.wait %{{.*}} {tile.columns = 0 : i64}
// CHECK: tile.wait %{{.*}} {tile.columns = 1 : i64}
tile.kernel @in_turn() {
  tile.warp_groups() {
    role #tile.role<"mma", warps = 4> {
      %x = tile.alloc : !a
      %y = tile.alloc : !b
      %no = arith.constant false
      %n0 = ub.poison : !pending
      %d = tile.start_dot %x, %y, %n0 when %no transpose_b {atom = #atom} : !a, !b -> !pending
      %t = tile.wait %d in_flight = 0 : !pending -> !t
      tile.print "first" (%t) : !t
      %n1 = ub.poison : !pending
      %e = tile.start_dot %x, %y, %n1 when %no transpose_b {atom = #atom} : !a, !b -> !pending
      %n2 = ub.poison : !pending
      %f = tile.start_dot %x, %y, %n2 when %no transpose_b {atom = #atom} : !a, !b -> !pending
      %u = tile.wait %e in_flight = 0 : !pending -> !t
      %v = tile.wait %f in_flight = 0 : !pending -> !t
      tile.print "both" (%u, %v) : !t, !t
    }
  }
  tile.return
}

// What is made of the scores is written over them, and what the loop leaves in tensor memory has columns of its own.
// CHECK-LABEL: tile.kernel @over
// CHECK: tile.wait %{{.*}} {tile.columns = 0 : i64}
// CHECK: tile.start_dot {{.*}} tile.operand_columns = 0 : i64
// CHECK: tile.wait %{{.*}} {tile.carried = "tensor_memory", tile.columns = 1 : i64}
tile.kernel @over(%n: index) {
  tile.warp_groups(%n : index) {
    role #tile.role<"mma", warps = 4> {
      %x = tile.alloc : !a
      %y = tile.alloc : !b
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %no = arith.constant false
      %zero = arith.constant dense<0.0> : !t
      %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> !t {
        %none = ub.poison : !pending
        %d = tile.start_dot %x, %y, %none when %no {atom = #atom} : !a, !b -> !pending
        %s = tile.wait %d in_flight = 0 : !pending -> !t
        %w = arith.truncf %s : !t to !x
        %p = tile.pend %acc : !pending
        %e = tile.start_dot %w, %y, %p {atom = #atom} : !x, !b -> !pending
        %t = tile.wait %e in_flight = 0 {tile.carried = "tensor_memory"} : !pending -> !t
        scf.yield %t : !t
      }
      tile.print "sum" (%sum) : !t
    }
  }
  tile.return
}

// Of a chain of three the first sum's columns are wanted for the second while what would be written over it is read: operands
// have columns of their own, both the same.
// CHECK-LABEL: tile.kernel @chain
// CHECK: tile.wait %{{.*}} {tile.columns = 1 : i64}
// CHECK: tile.operand_columns = 0 : i64
// CHECK: tile.wait %{{.*}} {tile.columns = 1 : i64}
// CHECK: tile.operand_columns = 0 : i64
// CHECK: tile.wait %{{.*}} {tile.columns = 1 : i64}
tile.kernel @chain() {
  tile.warp_groups() {
    role #tile.role<"mma", warps = 4> {
      %x = tile.alloc : !a
      %y = tile.alloc : !b
      %no = arith.constant false
      %n0 = ub.poison : !pending
      %d = tile.start_dot %x, %y, %n0 when %no {atom = #atom} : !a, !b -> !pending
      %s = tile.wait %d in_flight = 0 : !pending -> !t
      %w = arith.truncf %s : !t to !x
      %n1 = ub.poison : !pending
      %e = tile.start_dot %w, %y, %n1 when %no {atom = #atom} : !x, !b -> !pending
      %t = tile.wait %e in_flight = 0 : !pending -> !t
      %v = arith.truncf %t : !t to !x
      %n2 = ub.poison : !pending
      %f = tile.start_dot %v, %y, %n2 when %no {atom = #atom} : !x, !b -> !pending
      %u = tile.wait %f in_flight = 0 : !pending -> !t
      tile.print "sum" (%u) : !t
    }
  }
  tile.return
}

// What the source says stays, and the rest is decided around it: an operand that has columns of its own leaves the sum's alone,
// so another sum may have these.
// CHECK-LABEL: tile.kernel @pinned
// CHECK: tile.wait %{{.*}} {tile.columns = 1 : i64}
// CHECK: tile.operand_columns = 0 : i64
// CHECK: tile.wait %{{.*}} {tile.columns = 1 : i64}
// CHECK-LABEL: tile.kernel @pinned_over
// CHECK: tile.wait %{{.*}} {tile.columns = 1 : i64}
// CHECK: tile.operand_columns = 1 : i64
// CHECK: tile.wait %{{.*}} {tile.columns = 0 : i64}
tile.kernel @pinned() {
  tile.warp_groups() {
    role #tile.role<"mma", warps = 4> {
      %x = tile.alloc : !a
      %y = tile.alloc : !b
      %no = arith.constant false
      %n0 = ub.poison : !pending
      %d = tile.start_dot %x, %y, %n0 when %no {atom = #atom} : !a, !b -> !pending
      %s = tile.wait %d in_flight = 0 {tile.columns = 1 : i64} : !pending -> !t
      %w = arith.truncf %s : !t to !x
      %n1 = ub.poison : !pending
      %e = tile.start_dot %w, %y, %n1 when %no {atom = #atom, tile.operand_columns = 0 : i64} : !x, !b -> !pending
      %t = tile.wait %e in_flight = 0 : !pending -> !t
      tile.print "sum" (%t) : !t
    }
  }
  tile.return
}
tile.kernel @pinned_over() {
  tile.warp_groups() {
    role #tile.role<"mma", warps = 4> {
      %x = tile.alloc : !a
      %y = tile.alloc : !b
      %no = arith.constant false
      %n0 = ub.poison : !pending
      %d = tile.start_dot %x, %y, %n0 when %no {atom = #atom} : !a, !b -> !pending
      %s = tile.wait %d in_flight = 0 {tile.columns = 1 : i64} : !pending -> !t
      %w = arith.truncf %s : !t to !x
      %one = arith.constant dense<1.0> : !u
      %z = tile.alloc : !tile.buffer<32x64xf16>
      %p = tile.pend %one : !wide
      %e = tile.start_dot %w, %z, %p {atom = #nvptx.tcgen05<"m128n64k16", f16, f32>} : !x, !tile.buffer<32x64xf16> -> !wide
      %t = tile.wait %e in_flight = 0 : !wide -> !u
      tile.print "sum" (%t) : !u
    }
  }
  tile.return
}

// What a loop leaves in tensor memory has the columns of a sum in front of it. A sum that is in flight from trip to trip
// has columns of its own from its first dot to its last wait, and the same in all of them.
// CHECK-LABEL: tile.kernel @from_trip_to_trip
// CHECK: tile.wait %{{.*}} {tile.columns = 0 : i64}
// CHECK: tile.wait %{{.*}} {tile.carried = "tensor_memory", tile.columns = 0 : i64}
// CHECK: scf.for
// CHECK: tile.wait %{{.*}} {tile.columns = 0 : i64}
// CHECK: tile.wait %{{.*}} {tile.columns = 1 : i64}
// CHECK: tile.wait %{{.*}} {tile.columns = 0 : i64}
tile.kernel @from_trip_to_trip(%n: index) {
  tile.warp_groups(%n : index) {
    role #tile.role<"mma", warps = 4> {
      %x = tile.alloc : !a
      %y = tile.alloc : !b
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %no = arith.constant false
      %half = arith.constant dense<0.5> : !t
      %n0 = ub.poison : !pending
      %d = tile.start_dot %x, %y, %n0 when %no transpose_b {atom = #atom} : !a, !b -> !pending
      %t = tile.wait %d in_flight = 0 : !pending -> !t
      %p = scf.for %i = %c0 to %n step %c1 iter_args(%s = %t) -> !t {
        %less = arith.mulf %s, %half : !t
        %pend = tile.pend %less : !pending
        %e = tile.start_dot %x, %y, %pend transpose_b {atom = #atom} : !a, !b -> !pending
        %u = tile.wait %e in_flight = 0 {tile.carried = "tensor_memory"} : !pending -> !t
        scf.yield %u : !t
      }
      tile.print "sum" (%p) : !t
      %n1 = ub.poison : !pending
      %first = tile.start_dot %x, %y, %n1 when %no transpose_b {atom = #atom} : !a, !b -> !pending
      %q = scf.for %i = %c1 to %n step %c1 iter_args(%s = %first) -> !pending {
        %n2 = ub.poison : !pending
        %f = tile.start_dot %x, %y, %n2 when %no transpose_b {atom = #atom} : !a, !b -> !pending
        %v = tile.wait %s in_flight = 0 : !pending -> !t
        %n3 = ub.poison : !pending
        %g = tile.start_dot %x, %y, %n3 when %no transpose_b {atom = #atom} : !a, !b -> !pending
        %w = tile.wait %g in_flight = 0 : !pending -> !t
        tile.print "both" (%v, %w) : !t, !t
        scf.yield %f : !pending
      }
      %last = tile.wait %q in_flight = 0 : !pending -> !t
      tile.print "last" (%last) : !t
    }
  }
  tile.return
}

// The last sum, which no loop keeps, has the columns of the loop's; so what is made of the scores is still written over them.
// CHECK-LABEL: tile.kernel @behind_the_loop
// CHECK: tile.wait %{{.*}} {tile.carried = "tensor_memory", tile.columns = 1 : i64}
// CHECK: tile.wait %{{.*}} {tile.columns = 0 : i64}
// CHECK: tile.start_dot {{.*}} tile.operand_columns = 0 : i64
// CHECK: tile.wait %{{.*}} {tile.columns = 1 : i64}
tile.kernel @behind_the_loop(%n: index) {
  tile.warp_groups(%n : index) {
    role #tile.role<"mma", warps = 4> {
      %x = tile.alloc : !a
      %y = tile.alloc : !b
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %no = arith.constant false
      %zero = arith.constant dense<0.0> : !t
      %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> !t {
        %p = tile.pend %acc : !pending
        %e = tile.start_dot %x, %y, %p {atom = #atom} : !a, !b -> !pending
        %u = tile.wait %e in_flight = 0 {tile.carried = "tensor_memory"} : !pending -> !t
        scf.yield %u : !t
      }
      %none = ub.poison : !pending
      %d = tile.start_dot %x, %y, %none when %no {atom = #atom} : !a, !b -> !pending
      %s = tile.wait %d in_flight = 0 : !pending -> !t
      %w = arith.truncf %s : !t to !x
      %less = arith.addf %sum, %zero : !t
      %q = tile.pend %less : !pending
      %f = tile.start_dot %w, %y, %q {atom = #atom} : !x, !b -> !pending
      %v = tile.wait %f in_flight = 0 : !pending -> !t
      tile.print "last" (%v) : !t
    }
  }
  tile.return
}
