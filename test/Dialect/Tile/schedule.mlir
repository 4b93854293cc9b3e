// Ops, types and attributes of schedules, decided and realised, in their own syntax.
// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s --mlir-print-op-generic | tile-opt | FileCheck %s

!view = !tile.view<?x?xf16>
!buffer = !tile.buffer<64x32xf16>
!ring = !tile.channel<2, !buffer, !tile.buffer<32x32xf16>>

// CHECK-LABEL: tile.kernel @decided
// CHECK-SAME: tile.persistent = #tile.persistent<programs = 132, group = 8>
// CHECK-SAME: tile.roles = [#tile.role<"load", warps = 1>, #tile.role<"mma", warps = 4, copies = 2, skew = 1, registers = 128>]
tile.kernel @decided(%a: !view, %b: !view, %k: index) attributes {
    tile.roles = [#tile.role<"load", warps = 1>,
                  #tile.role<"mma", warps = 4, copies = 2, skew = 1, registers = 128>],
    tile.persistent = #tile.persistent<programs = 132, group = 8>} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant {tile.role = "mma"} dense<0.0> : tensor<64x32xf32>
  // CHECK: scf.for
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%s = %zero) -> tensor<64x32xf32> {
    // CHECK: tile.load {{.*}} {atom = #nvptx.cp_async<16>, buffer = !tile.buffer<64x32xf16>, order = 1 : i64, role = "load", stage = 0 : i64}
    %x = tile.load %a[%c0, %i] {atom = #nvptx.cp_async<16>, buffer = !buffer, stage = 0, order = 1, role = "load"}
       : !view -> tensor<64x32xf16>
    %y = tile.load %a[%c0, %i] : !view -> tensor<32x32xf16>
    // CHECK: tile.dot {{.*}} {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, in_flight = 1 : i64, order = 0 : i64, role = "mma", stage = 2 : i64}
    %d = tile.dot %x, %y, %s {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, stage = 2, order = 0, role = "mma", in_flight = 1}
       : tensor<64x32xf16>, tensor<32x32xf16> -> tensor<64x32xf32>
    // CHECK: tile.dot {{.*}} {interleave = #tile.interleave<16 x (1 read), 32 x (2 matrix, 1 load)>}
    %e = tile.dot %x, %y, %d {interleave = #tile.interleave<16 x (1 read), 32 x (2 matrix, 1 load)>}
       : tensor<64x32xf16>, tensor<32x32xf16> -> tensor<64x32xf32>
    scf.yield %e : tensor<64x32xf32>
    // CHECK: } {tile.depth = 4 : i64}
  } {tile.depth = 4 : i64}
  // CHECK: arith.truncf {{.*}} {tile.order = 0 : i64, tile.role = "mma", tile.stage = 3 : i64}
  %t = arith.truncf %sum {tile.stage = 3 : i64, tile.order = 0 : i64, tile.role = "mma"}
     : tensor<64x32xf32> to tensor<64x32xf16>
  // CHECK: tile.store {{.*}} {atom = #nvptx.tma, buffer = !tile.buffer<32x16xf16>, in_flight = 1 : i64, role = "mma"}
  tile.store %t, %b[%c0, %c0] {atom = #nvptx.tma, buffer = !tile.buffer<32x16xf16>, role = "mma", in_flight = 1}
    : tensor<64x32xf16>, !view
  tile.return
}

// CHECK-LABEL: tile.kernel @programs
// CHECK-SAME: tile.per_core = 2 : i64, tile.persistent = #tile.persistent<programs = 0, group = 8, even = true>, tile.raster = "chiplets"
tile.kernel @programs(%n: index) attributes {
    tile.persistent = #tile.persistent<programs = 0, group = 8, even = true>, tile.raster = "chiplets",
    tile.per_core = 2} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %sum = scf.for %i = %c0 to %n step %n iter_args(%s = %zero) -> tensor<64xf32> {
    scf.yield %s : tensor<64xf32>
    // CHECK: } {tile.share = 4 : i64}
  } {tile.share = 4}
  %more = scf.for %i = %c0 to %n step %n iter_args(%s = %zero) -> tensor<64xf32> {
    scf.yield %s : tensor<64xf32>
    // CHECK: } {tile.share = 2 : i64, tile.share_atomic}
  } {tile.share = 2, tile.share_atomic}
  %all = scf.for %i = %c0 to %n step %n iter_args(%s = %zero) -> tensor<64xf32> {
    scf.yield %s : tensor<64xf32>
    // CHECK: } {tile.share = "stream"}
  } {tile.share = "stream"}
  tile.return
}

// CHECK-LABEL: tile.kernel @hidden
// CHECK-SAME: (%n: index, %work: !tile.pointer<f32> {tile.workspace = 256 : i64}, %counters: !tile.pointer<i32> {tile.counter = 4 : i64}, %programs: index {tile.grid_extent})
tile.kernel @hidden(%n: index, %work: !tile.pointer<f32> {tile.workspace = 256},
                    %counters: !tile.pointer<i32> {tile.counter = 4},
                    %programs: index {tile.grid_extent}) grid {
  tile.grid %n
} {
  tile.return
}

// CHECK-LABEL: tile.kernel @realised
tile.kernel @realised(%a: !view, %n: index) {
  // CHECK: %[[RING:.*]] = tile.channel full = 1 empty = 8 : !tile.channel<2, !tile.buffer<64x32xf16>, !tile.buffer<32x32xf16>>
  %ring = tile.channel full = 1 empty = 8 : !ring
  // CHECK: tile.warp_groups(%a, %n, %[[RING]] : !tile.view<?x?xf16>, index, !tile.channel<
  tile.warp_groups(%a, %n, %ring : !view, index, !ring) {
    // CHECK: role #tile.role<"load", warps = 1>
    role #tile.role<"load", warps = 1> {
      %s0 = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      // CHECK: tile.put %[[RING]][%{{.*}}, %{{.*}}] bytes = 6144 :
      tile.put %ring[%s0, %s0] bytes = 6144 : !ring {
      // CHECK: ^bb0(%{{.*}}: !tile.buffer<64x32xf16>, %{{.*}}: !tile.buffer<32x32xf16>):
      ^bb0(%x: !buffer, %y: !tile.buffer<32x32xf16>):
        // CHECK: tile.copy_in %a[%{{.*}}, %n], %{{.*}} evict = last {atom = #nvptx.cp_async<16>} : !tile.view<?x?xf16>, !tile.buffer<64x32xf16>
        tile.copy_in %a[%c0, %n], %x evict = last {atom = #nvptx.cp_async<16>} : !view, !buffer
        // CHECK: tile.copy_in %a[%{{.*}}, %n], %{{.*}} to %{{.*}} cache = streaming {atom = #nvptx.cp_async<16>} :
        tile.copy_in %a[%c0, %n], %y to %s0 cache = streaming {atom = #nvptx.cp_async<16>} : !view, !tile.buffer<32x32xf16>
        // CHECK: tile.copy_in {{.*}} {atom = #nvptx.tma, multicast = ["x", "z"]} :
        tile.copy_in %a[%c0, %n], %y {atom = #nvptx.tma, multicast = ["x", "z"]} : !view, !tile.buffer<32x32xf16>
        tile.copy_in %a[%c0, %n], %y cache = streaming {atom = #nvptx.cp_async<16>} : !view, !tile.buffer<32x32xf16>
      }
      // CHECK: tile.next %[[RING]] : !tile.channel
      %s9, %p9 = tile.next %ring : !ring
      // CHECK: tile.advance %{{.*}}, %{{.*}} of %[[RING]] : !tile.channel
      %s1, %p1 = tile.advance %s0, %s0 of %ring : !ring
      // CHECK: tile.advance %{{.*}}, %{{.*}} by %n of %[[RING]] : !tile.channel
      %s2, %p2 = tile.advance %s1, %p1 by %n of %ring : !ring
    }
    // CHECK: role #tile.role<"mma", warps = 4, copies = 2, registers = 128>
    role #tile.role<"mma", warps = 4, copies = 2, registers = 128> {
      %s0 = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %yes = arith.constant true
      %zero = arith.constant dense<0.0> : tensor<32x32xf32>
      // CHECK: tile.copy_id
      %copy = tile.copy_id
      // CHECK: tile.get %[[RING]][%{{.*}}, %{{.*}}] : !tile.channel
      %x, %y = tile.get %ring[%s0, %s0] : !ring
      // CHECK: tile.wait_puts in_flight = 2
      tile.wait_puts in_flight = 2
      // CHECK: tile.schedule_group 2 matrix of 0
      tile.schedule_group 2 matrix of 0
      // CHECK: tile.schedule_group 1 transcendental of 1
      tile.schedule_group 1 transcendental of 1
      // CHECK: tile.part %{{.*}}[%{{.*}}, %{{.*}}] : !tile.buffer<64x32xf16> -> !tile.buffer<32x32xf16>
      %part = tile.part %x[%copy, %c0] : !buffer -> !tile.buffer<32x32xf16>
      // CHECK: tile.pend %{{.*}} : !tile.pending<tensor<32x32xf32>>
      %none = tile.pend %zero : !tile.pending<tensor<32x32xf32>>
      // CHECK: tile.start_dot %{{.*}}, %{{.*}}, %{{.*}} when %{{.*}} transpose_b {atom = #nvptx.wgmma<"m64n64k16", f16, f32>} : !tile.buffer<32x32xf16>, !tile.buffer<32x32xf16> -> !tile.pending<tensor<32x32xf32>>
      %d = tile.start_dot %part, %y, %none when %yes transpose_b {atom = #nvptx.wgmma<"m64n64k16", f16, f32>}
         : !tile.buffer<32x32xf16>, !tile.buffer<32x32xf16> -> !tile.pending<tensor<32x32xf32>>
      // CHECK: tile.wait %{{.*}} in_flight = 1 : !tile.pending<tensor<32x32xf32>> -> !tile.pending<tensor<32x32xf32>>
      %h = tile.wait %d in_flight = 1
         : !tile.pending<tensor<32x32xf32>> -> !tile.pending<tensor<32x32xf32>>
      // CHECK: tile.wait %{{.*}} in_flight = 0 : !tile.pending<tensor<32x32xf32>> -> tensor<32x32xf32>
      %r = tile.wait %h in_flight = 0 : !tile.pending<tensor<32x32xf32>> -> tensor<32x32xf32>
      // CHECK: tile.release %[[RING]][%{{.*}}] : !tile.channel
      tile.release %ring[%s0] : !ring
      // CHECK: tile.release %[[RING]][%{{.*}}] lanes : !tile.channel
      tile.release %ring[%s0] lanes : !ring
      // CHECK: tile.release %[[RING]][%{{.*}}] lanes to %{{.*}}, %{{.*}} : !tile.channel
      tile.release %ring[%s0] lanes to %s0, %s0 : !ring
      // CHECK: tile.wait_stores in_flight = 0
      tile.wait_stores in_flight = 0
      // CHECK: tile.barrier all_copies
      tile.barrier all_copies
      // CHECK: tile.copy_out %{{.*}}, %a[%{{.*}}, %n] {atom = #nvptx.tma} : !tile.buffer<32x32xf16>, !tile.view<?x?xf16>
      %box = tile.alloc : !tile.buffer<32x32xf16>
      tile.barrier publish
      tile.copy_out %box, %a[%c0, %n] {atom = #nvptx.tma} : !tile.buffer<32x32xf16>, !view
    }
  }
  tile.return
}

// CHECK-LABEL: tile.kernel @accumulates_in_tensor_memory
tile.kernel @accumulates_in_tensor_memory(%n: i32) {
  %ring = tile.channel full = 1 empty = 1 : !ring
  // CHECK: %[[SUMS:.*]] = tile.channel full = 1 empty = 4 : !tile.channel<2, !tile.pending<tensor<128x32xf32>, tensor_memory>>
  %sums = tile.channel full = 1 empty = 4 : !tile.channel<2, !tile.pending<tensor<128x32xf32>, tensor_memory>>
  tile.warp_groups(%ring, %sums, %n : !ring, !tile.channel<2, !tile.pending<tensor<128x32xf32>, tensor_memory>>, i32) {
    role #tile.role<"mma", warps = 4> {
      // CHECK: tile.get %{{.*}}[%n, %n] to_start : !tile.channel<2, !tile.buffer
      %x, %y = tile.get %ring[%n, %n] to_start : !ring
      // CHECK: %[[P:.*]] = tile.acquire %[[SUMS]][%n, %n] : !tile.channel<2, !tile.pending
      %p = tile.acquire %sums[%n, %n] : !tile.channel<2, !tile.pending<tensor<128x32xf32>, tensor_memory>>
      // CHECK: %[[F:.*]] = tile.fill %{{.*}} into %[[P]] {atom = #nvptx.tcgen05<"m128n32k16", f16, f32>} : !tile.pending<tensor<128x32xf32>, tensor_memory>
      %zeros = arith.constant dense<0.0> : tensor<128x32xf32>
      %f = tile.fill %zeros into %p {atom = #nvptx.tcgen05<"m128n32k16", f16, f32>} : !tile.pending<tensor<128x32xf32>, tensor_memory>
      // CHECK: tile.commit %[[F]] into %[[SUMS]][%n] : !tile.channel<2, !tile.pending
      tile.commit %f into %sums[%n] : !tile.channel<2, !tile.pending<tensor<128x32xf32>, tensor_memory>>
      // CHECK: tile.release %{{.*}}[%n] commit : !tile.channel<2, !tile.buffer
      tile.release %ring[%n] commit : !ring
      // CHECK: %[[Q:.*]] = tile.get %[[SUMS]][%n, %n] : !tile.channel<2, !tile.pending
      %q = tile.get %sums[%n, %n] : !tile.channel<2, !tile.pending<tensor<128x32xf32>, tensor_memory>>
      // CHECK: tile.fetch %[[Q]] {atom = #nvptx.tcgen05<"m128n32k16", f16, f32>} : !tile.pending<tensor<128x32xf32>, tensor_memory>
      %t = tile.fetch %q {atom = #nvptx.tcgen05<"m128n32k16", f16, f32>} : !tile.pending<tensor<128x32xf32>, tensor_memory>
    }
  }
  tile.return
}

// Two programs use a channel together: b is half of the columns.
// CHECK-LABEL: tile.kernel @pair
tile.kernel @pair(%n: i32) attributes {tile.cluster = array<i64: 2, 1, 1>} {
  // CHECK: tile.channel full = 1 empty = 1 : !tile.channel<2, pair, !tile.buffer<128x32xf16>, !tile.buffer<16x32xf16>>
  %ring = tile.channel full = 1 empty = 1 : !tile.channel<2, pair, !tile.buffer<128x32xf16>, !tile.buffer<16x32xf16>>
  // CHECK: tile.channel full = 2 empty = 8 : !tile.channel<1, pair, !tile.pending<tensor<128x32xf32>, tensor_memory>>
  %sums = tile.channel full = 2 empty = 8 : !tile.channel<1, pair, !tile.pending<tensor<128x32xf32>, tensor_memory>>
  %x, %y = tile.get %ring[%n, %n] to_start : !tile.channel<2, pair, !tile.buffer<128x32xf16>, !tile.buffer<16x32xf16>>
  %p = tile.acquire %sums[%n, %n] : !tile.channel<1, pair, !tile.pending<tensor<128x32xf32>, tensor_memory>>
  // CHECK: tile.get %{{.*}}[%n, %n] to_start one_thread : !tile.channel<2, pair
  %v, %w = tile.get %ring[%n, %n] to_start one_thread : !tile.channel<2, pair, !tile.buffer<128x32xf16>, !tile.buffer<16x32xf16>>
  // CHECK: tile.acquire %{{.*}}[%n, %n] one_thread : !tile.channel<1, pair
  %q = tile.acquire %sums[%n, %n] one_thread : !tile.channel<1, pair, !tile.pending<tensor<128x32xf32>, tensor_memory>>
  // CHECK: tile.start_dot {{.*}} transpose_b one_thread {atom = #nvptx.tcgen05<"m256n32k16", f16, f32>}
  %e = tile.start_dot %v, %w, %q transpose_b one_thread {atom = #nvptx.tcgen05<"m256n32k16", f16, f32>}
     : !tile.buffer<128x32xf16>, !tile.buffer<16x32xf16> -> !tile.pending<tensor<128x32xf32>, tensor_memory>
  // CHECK: tile.start_dot {{.*}} transpose_b {atom = #nvptx.tcgen05<"m256n32k16", f16, f32>} : !tile.buffer<128x32xf16>, !tile.buffer<16x32xf16> -> !tile.pending<tensor<128x32xf32>, tensor_memory>
  %d = tile.start_dot %x, %y, %p transpose_b {atom = #nvptx.tcgen05<"m256n32k16", f16, f32>}
     : !tile.buffer<128x32xf16>, !tile.buffer<16x32xf16> -> !tile.pending<tensor<128x32xf32>, tensor_memory>
  // CHECK: tile.release %{{.*}}[%n] commit to %n, %n : !tile.channel<2, pair
  tile.release %ring[%n] commit to %n, %n : !tile.channel<2, pair, !tile.buffer<128x32xf16>, !tile.buffer<16x32xf16>>
  tile.commit %d into %sums[%n] : !tile.channel<1, pair, !tile.pending<tensor<128x32xf32>, tensor_memory>>
  // CHECK: tile.release %{{.*}}[%n] lanes to %n, %n : !tile.channel<1, pair
  tile.release %sums[%n] lanes to %n, %n : !tile.channel<1, pair, !tile.pending<tensor<128x32xf32>, tensor_memory>>
  tile.return
}

// Values of an op with several results keep their names inside.
// CHECK-LABEL: tile.kernel @captures_results
tile.kernel @captures_results(%n: index) {
  %c0 = arith.constant 0 : index
  %two:2 = scf.for %i = %c0 to %n step %n iter_args(%x = %c0, %y = %n) -> (index, index) {
    scf.yield %y, %x : index, index
  }
  // CHECK: tile.warp_groups(%[[TWO:.*]]#0, %[[TWO]]#1 : index, index) {
  tile.warp_groups(%two#0, %two#1 : index, index) {
    role #tile.role<"all", warps = 4> {
      // CHECK: arith.addi %[[TWO]]#0, %[[TWO]]#1 : index
      %sum = arith.addi %two#0, %two#1 : index
      tile.print "sum" (%sum) : index
    }
  }
  tile.return
}
