// What one thread does for all stands in regions of one thread.
// RUN: tile-opt %s --tile-realise-threads | FileCheck %s

#t = #tile.layout<register = [[0,1],[0,8],[0,16]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[8,0],[16,0]]>
!view = !tile.view<?x?xf16>
!buffer = !tile.buffer<32x32xf16>
!ring = !tile.channel<2, !buffer>

// CHECK-LABEL: tile.kernel @roles
tile.kernel @roles(%a: !view, %n: index) {
  %ring = tile.channel full = 1 empty = 4 : !ring
  tile.warp_groups(%a, %n, %ring : !view, index, !ring) {
    // One thread can do all of it: its loops and what they compute are its own.
    // CHECK: role #tile.role<"load", warps = 1>
    // CHECK-NEXT: tile.one_thread {
    // CHECK-NEXT: arith.constant
    // CHECK: scf.for
    // CHECK-NEXT: tile.advance
    // CHECK-NEXT: tile.put
    // CHECK-NEXT: ^bb0
    // CHECK-NEXT: tile.copy_in
    role #tile.role<"load", warps = 1> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %z = arith.constant 0 : i32
      scf.for %i = %c0 to %n step %c1 iter_args(%s = %z, %p = %z) -> (i32, i32) {
        %s1, %p1 = tile.advance %s, %p of %ring : !ring
        tile.put %ring[%s, %p] bytes = 2048 : !ring {
        ^bb0(%x: !buffer):
          tile.copy_in %a[%i, %c0], %x {atom = #nvptx.tma} : !view, !buffer
        }
        scf.yield %s1, %p1 : i32, i32
      }
    }
    // Here all read, so that each warp releases; what stores begin and wait for, one thread does. The
    // place of the next copy is computed in front.
    // CHECK: role #tile.role<"all", warps = 4>
    // CHECK-NOT: tile.one_thread
    // CHECK: tile.get
    // CHECK-NEXT: tile.read
    // CHECK-NEXT: tile.one_thread each_warp {
    // CHECK-NEXT: tile.release
    // CHECK-NEXT: }
    // CHECK-NEXT: tile.barrier publish
    // CHECK-NEXT: arith.addi
    // CHECK-NEXT: tile.one_thread {
    // CHECK-NEXT: tile.copy_out
    // CHECK-NEXT: tile.copy_out
    // CHECK-NEXT: tile.wait_stores in_flight = 0
    // CHECK-NEXT: }
    // CHECK-NEXT: arith.addf
    // CHECK-NEXT: tile.one_thread {
    // CHECK-NEXT: tile.wait_stores in_flight = 0 written
    // CHECK-NEXT: }
    role #tile.role<"all", warps = 4> {
      %z = arith.constant 0 : i32
      %c1 = arith.constant 1 : index
      %b = tile.alloc : !buffer
      %x = tile.get %ring[%z, %z] : !ring
      %t = tile.read %x : !buffer -> tensor<32x32xf16, #t>
      tile.release %ring[%z] lanes : !ring
      tile.barrier publish
      tile.copy_out %b, %a[%n, %n] {atom = #nvptx.tma} : !buffer, !view
      %m = arith.addi %n, %c1 : index
      tile.copy_out %b, %a[%m, %n] {atom = #nvptx.tma} : !buffer, !view
      tile.wait_stores in_flight = 0
      // Not worth computing while the copy could begin.
      %u = arith.addf %t, %t : tensor<32x32xf16, #t>
      tile.wait_stores in_flight = 0 written
    }
  }
  tile.return
}

// A role's own ring is of all its warps.
// CHECK-LABEL: tile.kernel @own
// CHECK-NOT: tile.one_thread
tile.kernel @own(%a: !view) {
  %ring = tile.channel full = 1 empty = 1 : !tile.channel<2, own, !buffer>
  tile.warp_groups(%a, %ring : !view, !tile.channel<2, own, !buffer>) {
    role #tile.role<"all", warps = 4> {
      %z = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      tile.put %ring[%z, %z] bytes = 0 : !tile.channel<2, own, !buffer> {
      ^bb0(%x: !buffer):
        tile.copy_in %a[%c0, %c0], %x {atom = #nvptx.cp_async<16>} : !view, !buffer
      }
      tile.wait_puts in_flight = 0
      tile.barrier
      %x = tile.get %ring[%z, %z] : !tile.channel<2, own, !buffer>
      tile.release %ring[%z] : !tile.channel<2, own, !buffer>
    }
  }
  tile.return
}

// Warps that fetch sums go through the role, too: waits and starts stand among theirs, and say that
// one thread does them. All know what these give.
#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!a = !tile.buffer<128x32xf16>
!b = !tile.buffer<32x32xf16>
!both = !tile.channel<2, !a, !b>
!pending = !tile.pending<tensor<128x32xf32, #sum>, tensor_memory>
!sums = !tile.channel<1, !pending>
// CHECK-LABEL: tile.kernel @fetches
// CHECK: tile.acquire %{{.*}} one_thread :
// CHECK: tile.get %{{.*}} to_start one_thread :
// CHECK-NEXT: tile.start_dot %{{.*}} when %{{.*}} transpose_b one_thread {atom =
// CHECK-NEXT: tile.one_thread {
// CHECK-NEXT: tile.release %{{.*}} commit
// CHECK-NEXT: tile.commit
// CHECK-NEXT: }
// CHECK-NEXT: tile.get %{{[^o]*}} :
// CHECK-NEXT: tile.fetch
tile.kernel @fetches(%s: i32) {
  %ring = tile.channel full = 1 empty = 1 : !both
  %sums = tile.channel full = 1 empty = 4 : !sums
  tile.warp_groups(%s, %ring, %sums : i32, !both, !sums) {
    role #tile.role<"mma", warps = 4> {
      %no = arith.constant false
      %p = tile.acquire %sums[%s, %s] : !sums
      %x, %y = tile.get %ring[%s, %s] to_start : !both
      %q = tile.start_dot %x, %y, %p when %no transpose_b
             {atom = #nvptx.tcgen05<"m128n32k16", f16, f32>} : !a, !b -> !pending
      tile.release %ring[%s] commit : !both
      tile.commit %q into %sums[%s] : !sums
      %r = tile.get %sums[%s, %s] : !sums
      %t = tile.fetch %r {atom = #nvptx.tcgen05<"m128n32k16", f16, f32>} : !pending
      tile.release %sums[%s] lanes : !sums
    }
  }
  tile.return
}

// Where another role fetches them, one thread runs all of it, and no op says so again.
// CHECK-LABEL: tile.kernel @starts
// CHECK: role #tile.role<"mma", warps = 4>
// CHECK-NEXT: tile.one_thread {
// CHECK: tile.acquire %{{[^o]*}} :
// CHECK-NEXT: tile.get %{{.*}} to_start :
// CHECK-NEXT: tile.start_dot %{{.*}} transpose_b {atom =
tile.kernel @starts(%s: i32) {
  %ring = tile.channel full = 1 empty = 1 : !both
  %sums = tile.channel full = 1 empty = 4 : !sums
  tile.warp_groups(%s, %ring, %sums : i32, !both, !sums) {
    role #tile.role<"mma", warps = 4> {
      %no = arith.constant false
      %p = tile.acquire %sums[%s, %s] : !sums
      %x, %y = tile.get %ring[%s, %s] to_start : !both
      %q = tile.start_dot %x, %y, %p when %no transpose_b
             {atom = #nvptx.tcgen05<"m128n32k16", f16, f32>} : !a, !b -> !pending
      tile.release %ring[%s] commit : !both
      tile.commit %q into %sums[%s] : !sums
    }
  }
  tile.return
}

// Of what two programs bring and multiply together, the first alone announces bytes, waits, starts and gives back;
// both copy their parts, and commit their sums.
#both = #nvptx.tcgen05<"m256n32k16", f16, f32>
!a_k = !tile.buffer<128x16xf16>
!b_k = !tile.buffer<16x16xf16>
!shared = !tile.channel<1, pair, !a_k, !b_k>
!pair_sums = !tile.channel<1, pair, !pending>
// CHECK-LABEL: tile.kernel @pair
// CHECK: tile.acquire %{{[^{]*}} :
// CHECK-NEXT: tile.get %{{.*}} to_start {tile.first_of_pair} :
// CHECK-NEXT: tile.start_dot %{{.*}} {atom = #nvptx.tcgen05<"m256n32k16", f16, f32>, tile.first_of_pair}
// CHECK-NEXT: tile.release %{{.*}} commit to %{{.*}}, %{{.*}} {tile.first_of_pair} :
// CHECK-NEXT: tile.commit %{{[^{]*}} :
// CHECK: role #tile.role<"load", warps = 1>
// CHECK: tile.put %{{.*}} bytes = 4608 {tile.first_of_pair} :
tile.kernel @pair(%v: !view, %s: i32) attributes {tile.cluster = array<i64: 2, 1, 1>} {
  %ring = tile.channel full = 1 empty = 1 : !shared
  %sums = tile.channel full = 2 empty = 8 : !pair_sums
  tile.warp_groups(%v, %s, %ring, %sums : !view, i32, !shared, !pair_sums) {
    role #tile.role<"mma", warps = 4> {
      %no = arith.constant false
      %p = tile.acquire %sums[%s, %s] : !pair_sums
      %x, %y = tile.get %ring[%s, %s] to_start : !shared
      %q = tile.start_dot %x, %y, %p when %no transpose_b {atom = #both} : !a_k, !b_k -> !pending
      tile.release %ring[%s] commit to %s, %s : !shared
      tile.commit %q into %sums[%s] : !pair_sums
    }
    role #tile.role<"load", warps = 1> {
      %c0 = arith.constant 0 : index
      tile.put %ring[%s, %s] bytes = 4608 : !shared {
      ^bb0(%x: !a_k, %y: !b_k):
        tile.copy_in %v[%c0, %c0], %x {atom = #nvptx.tma} : !view, !a_k
        tile.copy_in %v[%c0, %c0], %y {atom = #nvptx.tma} : !view, !b_k
      }
    }
  }
  tile.return
}
