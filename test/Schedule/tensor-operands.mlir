// Chained products of a pinned loop, as the passes realise them: weights are written by all warps over the scores,
// whose slot a commit gives back, and so is the sum that each trip halves. (mutants.test breaks it.)
// RUN: tile-opt %s --tile-pipeline="target=nvptx:sm_100a stop-after=schedule" | FileCheck %s

// CHECK: %[[SCORES:.*]] = tile.channel full = 1 empty = 1 {{.*}} : !tile.channel<1, !tile.pending<tensor<128x32xf32
// CHECK-NOT: !tile.channel<1, !tile.pending<tensor<128x32xbf16
// CHECK: %[[S:.*]] = tile.get %[[SCORES]][%[[AT:.*]], %{{.*}}] :
// CHECK-NEXT: tile.fence tensor_after
// CHECK-NEXT: tile.fetch %[[S]]
// CHECK-NOT: tile.release %[[SCORES]]
// CHECK: %[[PLACE:.*]] = tile.part %[[S]][%{{.*}}, %{{.*}}] : {{.*}} -> !tile.pending<tensor<128x32xbf16, {{.*}}>, tensor_memory>
// CHECK-NEXT: %[[A:.*]] = tile.fill %{{.*}} into %[[PLACE]]
// CHECK-NEXT: tile.fence tensor_before
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.fence tensor_after
// CHECK: tile.start_dot %[[A]],
// CHECK: tile.one_thread {
// CHECK-NEXT: tile.release %[[SCORES]][%[[AT]]] commit
!view = !tile.view<?x?xbf16>
#narrow = #nvptx.tcgen05<"m128n32k16", bf16, f32>
#tc = #nvptx.tcgen05<"m128n64k16", bf16, f32>
#facts = #tile.facts<pointer = 16, strides = [16, 2], index32>
tile.kernel @chain(%x: !view {tile.facts = #facts}, %w: !view {tile.facts = #facts}, %v: !view {tile.facts = #facts},
                   %o: !tile.view<?x?xf32>)
    attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %dim = tile.dim %w, 0 : !view
  %n = arith.maxsi %dim, %c1 : index
  %zero = arith.constant dense<0.0> : tensor<128x32xf32>
  %none = arith.constant dense<0.0> : tensor<128x64xf32>
  %half = arith.constant {tile.role = "mma"} dense<0.5> : tensor<128x64xf32>
  %t = tile.load %x[%c0, %c0] {atom = #nvptx.tma, role = "load", ring = "x", depth = 1} : !view -> tensor<128x64xbf16>
  %sum = scf.for %j = %c0 to %n step %c32 iter_args(%acc = %none) -> tensor<128x64xf32> {
    %wt = tile.load %w[%j, %c0] {atom = #nvptx.tma, stage = 0, role = "load", ring = "w", depth = 2}
        : !view -> tensor<32x64xbf16>
    %s = tile.dot %t, %wt, %zero transpose_b {atom = #narrow, stage = 0, role = "mma", in_flight = 0}
        : tensor<128x64xbf16>, tensor<32x64xbf16> -> tensor<128x32xf32>
    %q = arith.truncf %s {tile.role = "mma", tile.stage = 0} : tensor<128x32xf32> to tensor<128x32xbf16>
    %vt = tile.load %v[%j, %c0] {atom = #nvptx.tma, stage = 0, role = "load", ring = "v", depth = 2}
        : !view -> tensor<32x64xbf16>
    %less = arith.mulf %acc, %half {tile.role = "mma", tile.stage = 0} : tensor<128x64xf32>
    %d = tile.dot %q, %vt, %less {atom = #tc, stage = 0, role = "mma", in_flight = 0}
        : tensor<128x32xbf16>, tensor<32x64xbf16> -> tensor<128x64xf32>
    scf.yield %d : tensor<128x64xf32>
  }
  tile.store %sum, %o[%c0, %c0] {role = "mma"} : tensor<128x64xf32>, !tile.view<?x?xf32>
  tile.return
}
