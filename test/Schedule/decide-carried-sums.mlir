// Which sums loops leave in tensor memory from trip to trip.
// RUN: tile-opt %s --tile-decide-carried-sums | FileCheck %s

#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!a = !tile.buffer<128x32xf16>
!b = !tile.buffer<32x32xf16>
!t = tensor<128x32xf32, #sum>
!pending = !tile.pending<!t, tensor_memory>
#atom = #nvptx.tcgen05<"m128n32k16", f16, f32>

// Its trip does no more than to change it element by element in front of the dots.
// CHECK-LABEL: tile.kernel @halved
// CHECK: tile.wait %{{.*}} in_flight = 0 {tile.carried = "tensor_memory"} :
tile.kernel @halved(%n: index) {
  tile.warp_groups(%n : index) {
    role #tile.role<"mma", warps = 4> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %x = tile.alloc : !a
      %y = tile.alloc : !b
      %one = arith.constant dense<1.0> : !t
      %half = arith.constant dense<0.5> : !t
      %p = scf.for %i = %c0 to %n step %c1 iter_args(%s = %one) -> !t {
        %less = arith.mulf %s, %half : !t
        %pend = tile.pend %less : !pending
        %d = tile.start_dot %x, %y, %pend transpose_b {atom = #atom} : !a, !b -> !pending
        %u = tile.wait %d in_flight = 0 : !pending -> !t
        scf.yield %u : !t
      }
      tile.print "sum" (%p) : !t
    }
  }
  tile.return
}

// What a source has decided stays.
// CHECK-LABEL: tile.kernel @decided
// CHECK: tile.wait %{{.*}} in_flight = 0 {tile.carried = "registers"} :
tile.kernel @decided(%n: index) {
  tile.warp_groups(%n : index) {
    role #tile.role<"mma", warps = 4> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %x = tile.alloc : !a
      %y = tile.alloc : !b
      %one = arith.constant dense<1.0> : !t
      %half = arith.constant dense<0.5> : !t
      %p = scf.for %i = %c0 to %n step %c1 iter_args(%s = %one) -> !t {
        %less = arith.mulf %s, %half : !t
        %pend = tile.pend %less : !pending
        %d = tile.start_dot %x, %y, %pend transpose_b {atom = #atom} : !a, !b -> !pending
        %u = tile.wait %d in_flight = 0 {tile.carried = "registers"} : !pending -> !t
        scf.yield %u : !t
      }
      tile.print "sum" (%p) : !t
    }
  }
  tile.return
}

// A trip that uses it otherwise, too, in front of the dots or behind them; and one that begins anew.
// CHECK-LABEL: tile.kernel @used
// CHECK-NOT: tile.carried
// CHECK-LABEL: tile.kernel @used_behind
// CHECK-NOT: tile.carried
// CHECK-LABEL: tile.kernel @begun
// CHECK-NOT: tile.carried
tile.kernel @used(%n: index) {
  tile.warp_groups(%n : index) {
    role #tile.role<"mma", warps = 4> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %x = tile.alloc : !a
      %y = tile.alloc : !b
      %one = arith.constant dense<1.0> : !t
      %half = arith.constant dense<0.5> : !t
      %p = scf.for %i = %c0 to %n step %c1 iter_args(%s = %one) -> !t {
        tile.print "before" (%s) : !t
        %less = arith.mulf %s, %half : !t
        %pend = tile.pend %less : !pending
        %d = tile.start_dot %x, %y, %pend transpose_b {atom = #atom} : !a, !b -> !pending
        %u = tile.wait %d in_flight = 0 : !pending -> !t
        scf.yield %u : !t
      }
      tile.print "sum" (%p) : !t
    }
  }
  tile.return
}

tile.kernel @used_behind(%n: index) {
  tile.warp_groups(%n : index) {
    role #tile.role<"mma", warps = 4> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %x = tile.alloc : !a
      %y = tile.alloc : !b
      %one = arith.constant dense<1.0> : !t
      %half = arith.constant dense<0.5> : !t
      %p = scf.for %i = %c0 to %n step %c1 iter_args(%s = %one) -> !t {
        %less = arith.mulf %s, %half : !t
        %pend = tile.pend %less : !pending
        %d = tile.start_dot %x, %y, %pend transpose_b {atom = #atom} : !a, !b -> !pending
        %u = tile.wait %d in_flight = 0 : !pending -> !t
        tile.print "behind" (%u) : !t
        scf.yield %u : !t
      }
      tile.print "sum" (%p) : !t
    }
  }
  tile.return
}

tile.kernel @begun(%n: index) {
  tile.warp_groups(%n : index) {
    role #tile.role<"mma", warps = 4> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %x = tile.alloc : !a
      %y = tile.alloc : !b
      %one = arith.constant dense<1.0> : !t
      %half = arith.constant dense<0.5> : !t
      %p = scf.for %i = %c0 to %n step %c1 iter_args(%s = %one) -> !t {
        %less = arith.mulf %s, %half : !t
        %pend = tile.pend %one : !pending
        %d = tile.start_dot %x, %y, %pend transpose_b {atom = #atom} : !a, !b -> !pending
        %u = tile.wait %d in_flight = 0 : !pending -> !t
        scf.yield %u : !t
      }
      tile.print "sum" (%p) : !t
    }
  }
  tile.return
}

// A sum that a condition chooses or a constant is fetched behind it; one beside another tensor in its branch.
// CHECK-LABEL: tile.kernel @chosen
// CHECK: tile.wait %{{.*}} in_flight = 0 {tile.carried = "tensor_memory"} :
tile.kernel @chosen(%any: i1) {
  tile.warp_groups(%any : i1) {
    role #tile.role<"mma", warps = 4> {
      %x = tile.alloc : !a
      %y = tile.alloc : !b
      %no = arith.constant false
      %zero = arith.constant dense<0.0> : !t
      %sum = scf.if %any -> !t {
        %none = ub.poison : !pending
        %d = tile.start_dot %x, %y, %none when %no transpose_b {atom = #atom} : !a, !b -> !pending
        %t = tile.wait %d in_flight = 0 : !pending -> !t
        scf.yield %t : !t
      } else {
        scf.yield %zero : !t
      }
      tile.print "sum" (%sum) : !t
    }
  }
  tile.return
}

// CHECK-LABEL: tile.kernel @chosen_or_made
// CHECK-NOT: tile.carried
tile.kernel @chosen_or_made(%any: i1) {
  tile.warp_groups(%any : i1) {
    role #tile.role<"mma", warps = 4> {
      %x = tile.alloc : !a
      %y = tile.alloc : !b
      %no = arith.constant false
      %zero = arith.constant dense<0.0> : !t
      %f = arith.constant 1.0 : f32
      %ones = tile.splat %f : !t
      %sum = scf.if %any -> !t {
        %none = ub.poison : !pending
        %d = tile.start_dot %x, %y, %none when %no transpose_b {atom = #atom} : !a, !b -> !pending
        %t = tile.wait %d in_flight = 0 : !pending -> !t
        scf.yield %t : !t
      } else {
        scf.yield %ones : !t
      }
      tile.print "sum" (%sum) : !t
    }
  }
  tile.return
}
