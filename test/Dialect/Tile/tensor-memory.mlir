// What lies in tensor memory: operands that warps have written, parts of sums, slots of nothing.
// RUN: tile-opt %s | tile-opt | FileCheck %s

#rows = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!rows = !tile.pending<tensor<128x32xf16, #rows>, tensor_memory>
!sum = !tile.pending<tensor<128x32xf32, #rows>, tensor_memory>
!b = !tile.buffer<32x32xf16>
#atom = #nvptx.tcgen05<"m128n32k16", f16, f32>

// CHECK-LABEL: tile.kernel @operand
tile.kernel @operand(%s: i32, %p: i32) {
  %t = arith.constant dense<1.0> : tensor<128x32xf16, #rows>
  // CHECK: tile.channel full = 0 empty = 1 : !tile.channel<1, !tile.pending<tensor<128x32xf16, #layout>, tensor_memory>>
  %weights = tile.channel full = 0 empty = 1 : !tile.channel<1, !rows>
  %sums = tile.channel full = 1 empty = 4 : !tile.channel<1, !sum>
  // CHECK: tile.channel full = 8 empty = 1 : !tile.channel<1, pair>
  %said = tile.channel full = 8 empty = 1 : !tile.channel<1, pair>
  %y = tile.alloc : !b
  %q = tile.acquire %sums[%s, %p] : !tile.channel<1, !sum>
  %w = tile.acquire %weights[%s, %p] : !tile.channel<1, !rows>
  // CHECK: %[[X:.*]] = tile.fill %{{.*}} into %{{.*}} {atom = #nvptx.tcgen05<"m128n32k16", f16, f32>} : !tile.pending<tensor<128x32xf16, #layout>, tensor_memory>
  %x = tile.fill %t into %w {atom = #atom} : !rows
  %no = arith.constant false
  // CHECK: tile.start_dot %[[X]], %{{.*}}, %{{.*}} when %{{.*}} transpose_b {atom = {{.*}}} : !tile.pending<tensor<128x32xf16, #layout>, tensor_memory>, !tile.buffer<32x32xf16> ->
  %d = tile.start_dot %x, %y, %q when %no transpose_b {atom = #atom} : !rows, !b -> !sum
  // CHECK: tile.release %{{.*}}[%{{.*}}] commit : !tile.channel<1, !tile.pending<tensor<128x32xf16
  tile.release %weights[%s] commit : !tile.channel<1, !rows>
  tile.return
}

#half = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
// CHECK-LABEL: tile.kernel @part
tile.kernel @part(%s: i32, %p: i32) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %sums = tile.channel full = 1 empty = 4 : !tile.channel<1, !sum>
  %q = tile.get %sums[%s, %p] : !tile.channel<1, !sum>
  // CHECK: tile.part %{{.*}}[%c0, %c16] : !tile.pending<tensor<128x32xf32, #layout>, tensor_memory> -> !tile.pending<tensor<128x16xf32, #{{.*}}>, tensor_memory>
  %some = tile.part %q[%c0, %c16] : !sum -> !tile.pending<tensor<128x16xf32, #half>, tensor_memory>
  // CHECK: tile.fetch %{{.*}} : !tile.pending<tensor<128x16xf32, #{{.*}}>, tensor_memory>
  %t = tile.fetch %some {atom = #atom} : !tile.pending<tensor<128x16xf32, #half>, tensor_memory>
  tile.return
}
