// How short the trips of attention's forward loops can be, and at which stages.
// RUN: tile-opt %S/../../benchmarks/attention.mlir --tile-pipeline="stop-after=layout" -o %t.mlir
// RUN: tile-opt %t.mlir --tile-decide-stages --tile-print-schedules -o %t.printed.mlir 2>&1 | FileCheck %s
// RUN: tile-opt %t.mlir --tile-decide-stages | cmp - %t.printed.mlir
// RUN: tile-opt %t.mlir --tile-decide-stages --tile-print-schedules="parts=2 most-stages=2" -o /dev/null 2>&1 | FileCheck %s --check-prefix=TURNS
// RUN: tile-opt %s --tile-pipeline="stop-after=layout" -o %t.waves.mlir
// RUN: tile-opt %t.waves.mlir --tile-decide-stages --tile-print-schedules="most-stages=2" -o /dev/null 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: tile-opt %t.waves.mlir --tile-decide-stages --tile-print-schedules="parts=2 most-stages=2" -o /dev/null 2>&1 | FileCheck %s --check-prefix=TWO

// On Hopper weights are multiplied by values in the next trip, whose scores are made beside the
// softmax of this one, as in FlashAttention-3.
// CHECK: remark: a trip takes 2120 cycles by swing modulo scheduling, 2120 at best, and none has less{{$}}
// CHECK: remark: stage 0, 1 in flight
// CHECK: remark: stage 0, 1 in flight
// CHECK: remark: stage 1, 0 in flight

// Its two groups of four warps take turns besides, by which the tensor cores are never idle.
// TURNS: remark: a trip of 2 groups takes 2048 cycles at best, and none has less; 'mma 1' begins {{[1-9][0-9]*}} behind 'mma 0'

// On CDNA3 two groups of two warps take turns: products and softmax, busy for 512 and 584 cycles of a
// trip, are under way at once for longer.
// ONE: remark: a trip takes {{[0-9]+}} cycles by swing modulo scheduling, 1049 at best, and none has less{{$}}
// TWO: remark: a trip of 2 groups takes 847 cycles at best, and none has less; 'all 1' begins {{[0-9]+}} behind 'all 0'

#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>
#apart = #tile.facts<pointer = 16, strides = [16, 4], extents = [16, 16], index32, noalias>

module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
tile.kernel @attention(%q: !tile.view<?x?xbf16> {tile.facts = #facts}, %k: !tile.view<?x?xbf16> {tile.facts = #facts},
                       %v: !tile.view<?x?xbf16> {tile.facts = #facts}, %o: !tile.view<?x?xf32> {tile.facts = #apart}) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = tile.dim %k, 0 : !tile.view<?x?xbf16>
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %least = arith.constant dense<0xFF800000> : tensor<64xf32>
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %x = tile.load %q[%c0, %c0] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
  %r:3 = scf.for %j = %c0 to %n step %c64 iter_args(%m = %least, %l = %zero, %s = %none) -> (tensor<64xf32>, tensor<64xf32>, tensor<64x64xf32>) {
    %y = tile.load %k[%j, %c0] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    %z = tile.load %v[%j, %c0] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    %d = tile.dot %x, %y, %none transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    %dm = tile.reduce %d axis = 1 : tensor<64x64xf32> -> tensor<64xf32> {
    ^bb0(%a: f32, %b: f32):
      %c = arith.maximumf %a, %b : f32
      tile.yield %c : f32
    }
    %most = arith.maximumf %m, %dm : tensor<64xf32>
    %most1 = tile.reshape %most : tensor<64xf32> -> tensor<64x1xf32>
    %most2 = tile.broadcast %most1 : tensor<64x1xf32> -> tensor<64x64xf32>
    %below = arith.subf %d, %most2 : tensor<64x64xf32>
    %e = math.exp2 %below fastmath<afn> : tensor<64x64xf32>
    %fall = arith.subf %m, %most : tensor<64xf32>
    %shrink = math.exp2 %fall fastmath<afn> : tensor<64xf32>
    %less = arith.mulf %l, %shrink : tensor<64xf32>
    %es = tile.reduce %e axis = 1 : tensor<64x64xf32> -> tensor<64xf32> {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tile.yield %c : f32
    }
    %total = arith.addf %less, %es : tensor<64xf32>
    %w = arith.truncf %e : tensor<64x64xf32> to tensor<64x64xbf16>
    %shrink1 = tile.reshape %shrink : tensor<64xf32> -> tensor<64x1xf32>
    %shrink2 = tile.broadcast %shrink1 : tensor<64x1xf32> -> tensor<64x64xf32>
    %shrunk = arith.mulf %s, %shrink2 : tensor<64x64xf32>
    %t = tile.dot %w, %z, %shrunk : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %most, %total, %t : tensor<64xf32>, tensor<64xf32>, tensor<64x64xf32>
  }
  %sum1 = tile.reshape %r#1 : tensor<64xf32> -> tensor<64x1xf32>
  %sum2 = tile.broadcast %sum1 : tensor<64x1xf32> -> tensor<64x64xf32>
  %out = arith.divf %r#2, %sum2 : tensor<64x64xf32>
  tile.store %out, %o[%c0, %c0] : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}
}
