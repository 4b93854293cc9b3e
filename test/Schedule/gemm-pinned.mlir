// A bf16 GEMM (A·Bᵀ) whose decisions are pinned by hand, through all passes that realise them. What
// comes out is gemm-realised.mlir, up to how scalars are spelled.
// RUN: tile-opt %s --tile-realise-persistence --tile-realise-rings --tile-decide-hand-overs --tile-realise-hand-overs --tile-realise-warp-groups \
// RUN:   --tile-complete-stages --tile-realise-stages --tile-realise-slots --tile-realise-copies --tile-realise-stores --tile-check-protocol | FileCheck %s
// RUN: tile-compile %s --target nvptx:sm_90a --emit asm | FileCheck %s --check-prefix=ASM
// ASM-COUNT-4: wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16

#copy = #nvptx.tma
#mma = #nvptx.wgmma<"m64n256k16", bf16, f32>

#a = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[1,8],[2,16],[4,32],[8,0],[16,0],[32,0],[64,0]]>
#b = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[1,8],[2,16],[4,32],[8,0],[16,0],[32,0],[64,0],[128,0]]>
#box = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[1,8],[2,16],[4,32],[8,0],[16,0],[32,0]]>
#acc = #tile.layout<register = [[0,1],[8,0],[0,8],[0,16],[0,32],[0,64],[0,128]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0],[32,0],[64,0]]>

!view = !tile.view<?x?xbf16>
!bufa = !tile.buffer<128x64xbf16, #a>
!bufb = !tile.buffer<256x64xbf16, #b>
!box = !tile.buffer<64x64xbf16, #box>

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// CHECK-LABEL: tile.kernel @gemm
// CHECK-SAME: attributes {tile.warps = 12 : i64} grid {
// CHECK: %[[TILES:.*]] = arith.muli
// CHECK: tile.grid %[[TILES]]
tile.kernel @gemm(%a: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2]>},
                  %b: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2]>},
                  %c: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [0, 8]>})
    attributes {tile.roles = [#tile.role<"load", warps = 4, registers = 40>,
                              #tile.role<"mma", warps = 4, copies = 2, registers = 232>],
                tile.persistent = #tile.persistent<programs = 132, group = 16>} grid {
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %m = tile.dim %c, 0 : !view
  %n = tile.dim %c, 1 : !view
  %tm = arith.ceildivui %m, %c128 : index
  %tn = arith.ceildivui %n, %c256 : index
  tile.grid %tm, %tn
} {
  %x = tile.program_id x
  %y = tile.program_id y
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %row = arith.muli %x, %c128 : index
  %column = arith.muli %y, %c256 : index
  %k = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<128x256xf32, #acc>
  // CHECK: %[[RING:.*]] = tile.channel full = 1 empty = 8 : !tile.channel<4, !tile.buffer<128x64xbf16, #[[$A:.*]]>, !tile.buffer<256x64xbf16, #[[$B:.*]]>>
  // CHECK: tile.warp_groups(%a, %b, %c, %[[RING]] :
  // CHECK: role #tile.role<"load", warps = 4, registers = 40> {
  // CHECK: %[[FIRST:.*]] = tile.program_id x
  // CHECK: scf.for %{{.*}} = %[[FIRST]] to {{.*}} iter_args(%[[S:.*]] = %{{.*}}, %[[P:.*]] = %{{.*}}) -> (i32, i32) {
  // CHECK: scf.for {{.*}} iter_args(%[[S1:.*]] = %[[S]], %[[P1:.*]] = %[[P]]) -> (i32, i32) {
  // CHECK-NEXT: tile.put %[[RING]][%[[S1]], %[[P1]]] bytes = 49152
  // CHECK-NEXT: ^bb0(%[[A:.*]]: !tile.buffer<128x64xbf16, #[[$A]]>, %[[B:.*]]: !tile.buffer<256x64xbf16, #[[$B]]>):
  // CHECK-NEXT: tile.copy_in %a[%[[ROW:.*]], %[[K:.*]]], %[[A]]
  // CHECK-NEXT: tile.copy_in %b[%[[COLUMN:.*]], %[[K]]], %[[B]]
  // CHECK-NOT: tile.get
  // CHECK: tile.advance %[[S1]], %[[P1]] of %[[RING]]
  %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<128x256xf32, #acc> {
    %at = tile.load %a[%row, %kk] {atom = #copy, buffer = !bufa, stage = 0, order = 0, role = "load"}
        : !view -> tensor<128x64xbf16>
    %bt = tile.load %b[%column, %kk] {atom = #copy, buffer = !bufb, stage = 0, order = 1, role = "load"}
        : !view -> tensor<256x64xbf16>
    %d = tile.dot %at, %bt, %s transpose_b
         {atom = #mma, stage = 0, order = 0, role = "mma", in_flight = 1}
       : tensor<128x64xbf16>, tensor<256x64xbf16> -> tensor<128x256xf32, #acc>
    scf.yield %d : tensor<128x256xf32, #acc>
  } {tile.depth = 4}
  // CHECK: role #tile.role<"mma", warps = 4, copies = 2, registers = 232> {
  // CHECK: tile.alloc
  // CHECK-NEXT: tile.alloc
  // CHECK: tile.copy_id
  // CHECK-NOT: tile.put
  // CHECK: ub.poison : !tile.pending<tensor<64x256xf32, #[[$ACC:.*]]>>
  // CHECK: scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}, %[[OLD:.*]] = %{{.*}}, %[[S:.*]] = %{{.*}}, %[[P:.*]] = %{{.*}})
  // CHECK: %[[G:.*]]:2 = tile.get %[[RING]][%[[S]], %[[P]]]
  // CHECK: %[[MORE:.*]] = arith.cmpi ne
  // CHECK: %[[HALF:.*]] = tile.part %[[G]]#0[
  // CHECK: %[[DOT:.*]] = tile.start_dot %[[HALF]], %[[G]]#1, %[[SUM]] when %[[MORE]] transpose_b
  // CHECK: %[[HELD:.*]] = tile.wait %[[DOT]] in_flight = 1
  // CHECK: scf.if
  // CHECK-NEXT: tile.release %[[RING]][%[[OLD]]]
  // CHECK: %[[NEXT:.*]], %[[PHASE:.*]] = tile.advance %[[S]], %[[P]] of %[[RING]]
  // CHECK: scf.yield %[[HELD]], %[[S]], %[[NEXT]], %[[PHASE]]
  // CHECK: tile.wait {{.*}} in_flight = 0 {{.*}} -> tensor<64x256xf32, #[[$ACC]]>
  // CHECK-NEXT: tile.release
  // CHECK: arith.truncf
  %narrow = arith.truncf %sum : tensor<128x256xf32, #acc> to tensor<128x256xbf16, #acc>
  // CHECK: tile.slice {{.*}} [0, 0]
  // CHECK-NEXT: tile.wait_stores in_flight = 1
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.write
  // CHECK-NEXT: tile.barrier publish
  // CHECK-NEXT: tile.copy_out
  // CHECK-COUNT-3: tile.copy_out
  // CHECK-NOT: tile.store
  // CHECK: tile.wait_stores in_flight = 0
  tile.store %narrow, %c[%row, %column] {atom = #copy, buffer = !box, role = "mma", in_flight = 1}
    : tensor<128x256xbf16, #acc>, !view
  tile.return
}
}
