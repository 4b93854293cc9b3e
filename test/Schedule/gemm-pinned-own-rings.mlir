// The GEMM of gemm-pinned.mlir with other decisions: matrix instructions out of registers, copies
// that count no bytes, and no role that only loads. Two skewed copies of one body, 8 waves, fill
// their own ring two trips ahead; its slots are constants.
// RUN: tile-opt %s --tile-realise-persistence --tile-realise-rings --tile-decide-hand-overs --tile-realise-hand-overs --tile-realise-warp-groups \
// RUN:   --tile-complete-stages --tile-realise-stages --tile-realise-slots --tile-realise-copies --tile-realise-stores --tile-check-protocol | FileCheck %s

#copy = #amdgcn.load_to_lds<"gfx942", 4>
#mma = #amdgcn.matrix<"mfma.f32.32x32x8bf16.1k", "gfx942", bf16>

#acc = #tile.layout<register = [[1,0],[2,0],[8,0],[16,0],[0,64]], lane = [[0,1],[0,2],[0,4],[0,8],[0,16],[4,0]], warp = [[32,0],[0,32],[64,0]]>
#opa = #tile.layout<register = [[0,1],[0,2],[0,8],[0,16]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0],[0,4]], warp = [[32,0],[0,0],[64,0]]>
#opb = #tile.layout<register = [[0,1],[0,2],[0,8],[0,16],[64,0]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0],[0,4]], warp = [[0,0],[32,0],[0,0]]>
#rows = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[1,0],[2,8],[4,16],[8,0],[16,0],[32,0],[64,0]]>

!view = !tile.view<?x?xbf16>
!out = !tile.view<?x?xf32>
!buffer = !tile.buffer<128x32xbf16, #rows>

module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
// CHECK-LABEL: tile.kernel @gemm
// CHECK-SAME: attributes {tile.warps = 8 : i64}
tile.kernel @gemm(%a: !view, %b: !view, %c: !out) attributes {
    tile.roles = [#tile.role<"all", warps = 4, copies = 2, skew = 1>]} grid {
  %c128 = arith.constant 128 : index
  %m = tile.dim %c, 0 : !out
  %n = tile.dim %c, 1 : !out
  %tm = arith.ceildivui %m, %c128 : index
  %tn = arith.ceildivui %n, %c128 : index
  tile.grid %tm, %tn
} {
  // Each of the 8 waves puts its share and each releases.
  // CHECK: %[[RING:.*]] = tile.channel full = 8 empty = 8 : !tile.channel<3, own, !tile.buffer<128x32xbf16, #{{.*}}>, !tile.buffer<128x32xbf16, #{{.*}}>>
  // CHECK: role #tile.role<"all", warps = 4, copies = 2, skew = 1> {
  // Two puts before the loop, each if there is such a trip. The first has arrived before any copy
  // lags: all meet.
  // CHECK: scf.if
  // CHECK: tile.put %[[RING]][%c0_i32{{.*}}, %{{.*}}] bytes = 0
  // CHECK: scf.if
  // CHECK: tile.put %[[RING]][%c1_i32{{.*}}, %{{.*}}] bytes = 0
  // CHECK: tile.wait_puts in_flight = 0
  // CHECK: tile.barrier all_copies
  // Then the second copy waits one barrier longer.
  // CHECK: %[[LATE:.*]] = arith.cmpi ugt
  // CHECK-NEXT: scf.if %[[LATE]] {
  // CHECK-NEXT: tile.barrier all_copies
  // CHECK: scf.for {{.*}} -> (tensor<64x128xf32, #{{.*}}>)
  // CHECK: tile.put %[[RING]][%c2_i32{{.*}}, %c0_i32{{.*}}] bytes = 0
  // CHECK: tile.get %[[RING]][%c0_i32{{.*}}, %c0_i32{{.*}}]
  // CHECK: tile.part
  // CHECK-NEXT: tile.read %{{.*}} -> tensor<64x32xbf16, #{{.*}}>
  // CHECK: tile.read %{{.*}} -> tensor<128x32xbf16, #{{.*}}>
  // CHECK-NEXT: tile.release %[[RING]][%c0_i32
  // CHECK-NEXT: tile.wait_puts in_flight = 1
  // CHECK-NEXT: tile.barrier all_copies
  // CHECK: tile.dot
  // CHECK-NEXT: tile.barrier all_copies
  // CHECK: tile.put %[[RING]][%c0_i32{{.*}}, %{{.*}}] bytes = 0
  // CHECK: tile.get %[[RING]][%c1_i32{{.*}}, %{{.*}}]
  // CHECK: tile.put %[[RING]][%c1_i32{{.*}}, %{{.*}}] bytes = 0
  // CHECK: tile.get %[[RING]][%c2_i32{{.*}}, %{{.*}}]
  // CHECK: tile.wait_puts in_flight = 1
  // CHECK: scf.yield
  // What is left: two trips short of a round, and two whose puts went before. Each is there if what
  // it multiplies is, and then asks for what it puts. Waits are for all.
  // CHECK: scf.if
  // CHECK: scf.if
  // CHECK: tile.put %[[RING]][%c2_i32
  // CHECK: tile.get %[[RING]][%c0_i32
  // CHECK: tile.wait_puts in_flight = 0
  // CHECK-NEXT: tile.barrier all_copies
  // CHECK: tile.put %[[RING]][%c0_i32
  // CHECK: tile.get %[[RING]][%c1_i32
  // CHECK: tile.wait_puts in_flight = 0
  // CHECK-NOT: tile.put
  // CHECK: tile.get %[[RING]][%c2_i32
  // CHECK: tile.wait_puts in_flight = 0
  // CHECK: tile.get %[[RING]][%c0_i32
  // CHECK-NOT: tile.wait_puts
  // CHECK-NOT: tile.get
  // And the first one at the end.
  // CHECK: %[[EARLY:.*]] = arith.cmpi ult
  // CHECK-NEXT: scf.if %[[EARLY]] {
  // CHECK-NEXT: tile.barrier all_copies
  // CHECK: tile.store
  %x = tile.program_id x
  %y = tile.program_id y
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %row = arith.muli %x, %c128 : index
  %column = arith.muli %y, %c128 : index
  %k = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<128x128xf32, #acc>
  %sum = scf.for %kk = %c0 to %k step %c32 iter_args(%s = %zero) -> tensor<128x128xf32, #acc> {
    %at = tile.load %a[%row, %kk] {atom = #copy, buffer = !buffer, stage = 0, role = "all"}
        : !view -> tensor<128x32xbf16, #opa>
    %bt = tile.load %b[%column, %kk] {atom = #copy, buffer = !buffer, stage = 0, role = "all"}
        : !view -> tensor<128x32xbf16, #opb>
    %d = tile.dot %at, %bt, %s transpose_b {atom = #mma, stage = 2, role = "all"}
       : tensor<128x32xbf16, #opa>, tensor<128x32xbf16, #opb> -> tensor<128x128xf32, #acc>
    scf.yield %d : tensor<128x128xf32, #acc>
  } {tile.depth = 3}
  tile.store %sum, %c[%row, %column] {role = "all"} : tensor<128x128xf32, #acc>, !out
  tile.return
}
}
