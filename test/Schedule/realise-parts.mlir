// RUN: tile-opt %s --tile-realise-parts -split-input-file | FileCheck %s

// Two parts along k: each reads what it needs, the second behind the first dot. What tells the parts
// apart is a register of each operand.
#sum = #tile.layout<register = [[0,1],[8,0]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = []>
#a = #tile.layout<register = [[0,1],[8,0],[0,8],[0,16]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = []>
#b = #tile.layout<register = [[1,0],[8,0],[16,0]], lane = [[2,0],[4,0],[0,1],[0,2],[0,4]], warp = []>
#mma = #nvptx.mma_sync<"m16n8k16", f16, f32>
// CHECK-DAG: #[[A:.*]] = #tile.layout<register = {{\[\[}}0,1],[8,0],[0,8]], lane = {{\[\[}}0,2],[0,4],[1,0],[2,0],[4,0]], warp = []>
// CHECK-DAG: #[[B:.*]] = #tile.layout<register = {{\[\[}}1,0],[8,0]], lane = {{\[\[}}2,0],[4,0],[0,1],[0,2],[0,4]], warp = []>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
// CHECK-LABEL: @along_k
// CHECK: %[[P:.*]] = tile.alloc
// CHECK: %[[Q:.*]] = tile.alloc
// CHECK: %[[X0:.*]] = tile.read %[[P]] at [0, 0] {{.*}} -> tensor<16x16xf16, #[[A]]>
// CHECK-NEXT: %[[Y0:.*]] = tile.read %[[Q]] at [0, 0] {{.*}} -> tensor<16x8xf16, #[[B]]>
// CHECK-NEXT: %[[D0:.*]] = tile.dot %[[X0]], %[[Y0]], %{{.*}} {atom
// CHECK-NEXT: %[[X1:.*]] = tile.read %[[P]] at [0, 16] {{.*}} -> tensor<16x16xf16, #[[A]]>
// CHECK-NEXT: %[[Y1:.*]] = tile.read %[[Q]] at [16, 0]
// CHECK-NEXT: %[[D1:.*]] = tile.dot %[[X1]], %[[Y1]], %[[D0]] {atom
// CHECK-NEXT: tile.store %[[D1]]
tile.kernel @along_k(%z: !tile.view<16x8xf32>) attributes {tile.warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %s = tile.load %z[%c0, %c0] : !tile.view<16x8xf32> -> tensor<16x8xf32, #sum>
  %p = tile.alloc : !tile.buffer<16x32xf16>
  %q = tile.alloc : !tile.buffer<32x8xf16>
  %x = tile.read %p : !tile.buffer<16x32xf16> -> tensor<16x32xf16, #a>
  %y = tile.read %q : !tile.buffer<32x8xf16> -> tensor<32x8xf16, #b>
  %d = tile.dot %x, %y, %s {atom = #mma, parts = array<i64: 1, 1, 2>} : tensor<16x32xf16, #a>, tensor<32x8xf16, #b> -> tensor<16x8xf32, #sum>
  tile.store %d, %z[%c0, %c0] : tensor<16x8xf32, #sum>, !tile.view<16x8xf32>
  tile.return
}

// The reads of a part come before the dot of the part in front of it.
// CHECK-LABEL: @ahead
// CHECK: tile.read {{.*}} at [0, 0]
// CHECK-NEXT: tile.read {{.*}} at [0, 0]
// CHECK-NEXT: tile.read {{.*}} at [0, 16]
// CHECK-NEXT: tile.read {{.*}} at [16, 0]
// CHECK-NEXT: tile.dot
// CHECK-NEXT: tile.dot
tile.kernel @ahead(%z: !tile.view<16x8xf32>) attributes {tile.warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %s = tile.load %z[%c0, %c0] : !tile.view<16x8xf32> -> tensor<16x8xf32, #sum>
  %p = tile.alloc : !tile.buffer<16x32xf16>
  %q = tile.alloc : !tile.buffer<32x8xf16>
  %x = tile.read %p : !tile.buffer<16x32xf16> -> tensor<16x32xf16, #a>
  %y = tile.read %q : !tile.buffer<32x8xf16> -> tensor<32x8xf16, #b>
  %d = tile.dot %x, %y, %s {atom = #mma, parts = array<i64: 1, 1, 2>, reads_ahead = 1 : i64} : tensor<16x32xf16, #a>, tensor<32x8xf16, #b> -> tensor<16x8xf32, #sum>
  tile.store %d, %z[%c0, %c0] : tensor<16x8xf32, #sum>, !tile.view<16x8xf32>
  tile.return
}

// How instructions alternate is said of all parts together, behind the last one.
// CHECK-LABEL: @interleaved
// CHECK: tile.dot
// CHECK-NOT: interleave
// CHECK: tile.dot {{.*}} interleave = #tile.interleave<2 x (1 matrix, 1 read)>
tile.kernel @interleaved(%z: !tile.view<16x8xf32>) attributes {tile.warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %s = tile.load %z[%c0, %c0] : !tile.view<16x8xf32> -> tensor<16x8xf32, #sum>
  %p = tile.alloc : !tile.buffer<16x32xf16>
  %q = tile.alloc : !tile.buffer<32x8xf16>
  %x = tile.read %p : !tile.buffer<16x32xf16> -> tensor<16x32xf16, #a>
  %y = tile.read %q : !tile.buffer<32x8xf16> -> tensor<32x8xf16, #b>
  %d = tile.dot %x, %y, %s {atom = #mma, parts = array<i64: 1, 1, 2>, interleave = #tile.interleave<2 x (1 matrix, 1 read)>} : tensor<16x32xf16, #a>, tensor<32x8xf16, #b> -> tensor<16x8xf32, #sum>
  tile.store %d, %z[%c0, %c0] : tensor<16x8xf32, #sum>, !tile.view<16x8xf32>
  tile.return
}

// Each part begins at zero, and is added.
// CHECK-LABEL: @promoted
// CHECK: %[[S:.*]] = tile.load
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00>
// CHECK: %[[D0:.*]] = tile.dot %{{.*}}, %{{.*}}, %[[ZERO]]
// CHECK-NEXT: %[[S0:.*]] = arith.addf %[[S]], %[[D0]]
// CHECK: %[[D1:.*]] = tile.dot %{{.*}}, %{{.*}}, %[[ZERO]]
// CHECK-NEXT: %[[S1:.*]] = arith.addf %[[S0]], %[[D1]]
// CHECK-NEXT: tile.store %[[S1]]
tile.kernel @promoted(%z: !tile.view<16x8xf32>) attributes {tile.warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %s = tile.load %z[%c0, %c0] : !tile.view<16x8xf32> -> tensor<16x8xf32, #sum>
  %p = tile.alloc : !tile.buffer<16x32xf16>
  %q = tile.alloc : !tile.buffer<32x8xf16>
  %x = tile.read %p : !tile.buffer<16x32xf16> -> tensor<16x32xf16, #a>
  %y = tile.read %q : !tile.buffer<32x8xf16> -> tensor<32x8xf16, #b>
  %d = tile.dot %x, %y, %s {atom = #mma, parts = array<i64: 1, 1, 2>, promote = true} : tensor<16x32xf16, #a>, tensor<32x8xf16, #b> -> tensor<16x8xf32, #sum>
  tile.store %d, %z[%c0, %c0] : tensor<16x8xf32, #sum>, !tile.view<16x8xf32>
  tile.return
}
}

// -----

// Parts along m and n: slices of what is in registers, and their results beside one another. What
// another op uses too stays where it is.
#sum = #tile.layout<register = [[0,1],[8,0],[0,8],[16,0]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = []>
#a = #tile.layout<register = [[0,1],[8,0],[0,8],[16,0]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = []>
#b = #tile.layout<register = [[1,0],[8,0],[0,8]], lane = [[2,0],[4,0],[0,1],[0,2],[0,4]], warp = []>
#mma = #nvptx.mma_sync<"m16n8k16", f16, f32>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
// CHECK-LABEL: @along_m_and_n
// CHECK: %[[S:.*]] = tile.load
// CHECK: %[[X:.*]] = tile.read %{{.*}} : !tile.buffer<32x16xf16>
// CHECK: arith.negf %[[X]]
// CHECK: %[[S00:.*]] = tile.slice %[[S]] [0, 0]
// CHECK: %[[S01:.*]] = tile.slice %[[S]] [0, 8]
// CHECK: %[[S10:.*]] = tile.slice %[[S]] [16, 0]
// CHECK: %[[S11:.*]] = tile.slice %[[S]] [16, 8]
// CHECK: %[[X0:.*]] = tile.slice %[[X]] [0, 0]
// CHECK: %[[Y0:.*]] = tile.read %{{.*}} at [0, 0]
// CHECK: %[[D00:.*]] = tile.dot %[[X0]], %[[Y0]], %[[S00]]
// CHECK: %[[Y1:.*]] = tile.read %{{.*}} at [0, 8]
// CHECK: %[[D01:.*]] = tile.dot %[[X0]], %[[Y1]], %[[S01]]
// CHECK: %[[X1:.*]] = tile.slice %[[X]] [16, 0]
// CHECK: %[[D10:.*]] = tile.dot %[[X1]], %[[Y0]], %[[S10]]
// CHECK: %[[D11:.*]] = tile.dot %[[X1]], %[[Y1]], %[[S11]]
// CHECK: %[[R0:.*]] = tile.concat %[[D00]], %[[D01]] axis = 1
// CHECK: %[[R1:.*]] = tile.concat %[[D10]], %[[D11]] axis = 1
// CHECK: %[[R:.*]] = tile.concat %[[R0]], %[[R1]] axis = 0
// CHECK: tile.store %[[R]]
tile.kernel @along_m_and_n(%z: !tile.view<32x16xf32>, %w: !tile.view<32x16xf16>) attributes {tile.warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %s = tile.load %z[%c0, %c0] : !tile.view<32x16xf32> -> tensor<32x16xf32, #sum>
  %p = tile.alloc : !tile.buffer<32x16xf16>
  %q = tile.alloc : !tile.buffer<16x16xf16>
  %x = tile.read %p : !tile.buffer<32x16xf16> -> tensor<32x16xf16, #a>
  %y = tile.read %q : !tile.buffer<16x16xf16> -> tensor<16x16xf16, #b>
  %n = arith.negf %x : tensor<32x16xf16, #a>
  %d = tile.dot %x, %y, %s {atom = #mma, parts = array<i64: 2, 2, 1>} : tensor<32x16xf16, #a>, tensor<16x16xf16, #b> -> tensor<32x16xf32, #sum>
  tile.store %d, %z[%c0, %c0] : tensor<32x16xf32, #sum>, !tile.view<32x16xf32>
  tile.store %n, %w[%c0, %c0] : tensor<32x16xf16, #a>, !tile.view<32x16xf16>
  tile.return
}
}

// -----

// A read is cut no finer than what one access moves: four k of a row come at once. A cast goes along.
#sum = #tile.layout<register = [[0,1],[16,0]], lane = [[0,2],[1,0],[2,0],[4,0],[8,0]], warp = []>
#a = #tile.layout<register = [[16,0],[0,1],[0,2]], lane = [[0,0],[1,0],[2,0],[4,0],[8,0]], warp = []>
#b = #tile.layout<register = [[0,1],[1,0],[2,0]], lane = [[0,2],[0,0],[0,0],[0,0],[0,0]], warp = []>
#inA = #tile.layout<offset = [[0,1],[0,2],[1,0],[2,0],[4,0],[8,0],[16,0]]>
#inB = #tile.layout<offset = [[0,1],[0,2],[1,0],[2,0]]>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
// CHECK-LABEL: @multiply_adds
// CHECK: %[[X:.*]] = tile.read %{{.*}} at [0, 0] {{.*}} -> tensor<32x4xf32
// CHECK: tile.slice %[[X]] [0, 0]
// CHECK: %[[Y:.*]] = tile.read %{{.*}} at [0, 0] {{.*}} -> tensor<1x4xf16
// CHECK: arith.extf %[[Y]]
// CHECK: tile.dot
// CHECK-NOT: tile.read {{.*}}tensor<32
// CHECK: tile.slice %[[X]] [0, 1]
// CHECK: tile.read %{{.*}} at [1, 0] {{.*}} -> tensor<1x4xf16
// CHECK: tile.dot
// CHECK: tile.read %{{.*}} at [2, 0]
// CHECK: tile.dot
// CHECK: tile.read %{{.*}} at [3, 0]
// CHECK: tile.dot
// CHECK-NOT: tile.read
tile.kernel @multiply_adds(%z: !tile.view<32x4xf32>) attributes {tile.warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %s = tile.load %z[%c0, %c0] : !tile.view<32x4xf32> -> tensor<32x4xf32, #sum>
  %p = tile.alloc : !tile.buffer<32x4xf32, #inA>
  %q = tile.alloc : !tile.buffer<4x4xf16, #inB>
  %ta = tile.read %p : !tile.buffer<32x4xf32, #inA> -> tensor<32x4xf32, #a>
  %h = tile.read %q : !tile.buffer<4x4xf16, #inB> -> tensor<4x4xf16, #b>
  %tb = arith.extf %h : tensor<4x4xf16, #b> to tensor<4x4xf32, #b>
  %d = tile.dot %ta, %tb, %s {atom = #tile.fma, parts = array<i64: 1, 1, 4>} : tensor<32x4xf32, #a>, tensor<4x4xf32, #b> -> tensor<32x4xf32, #sum>
  tile.store %d, %z[%c0, %c0] : tensor<32x4xf32, #sum>, !tile.view<32x4xf32>
  tile.return
}

// What is written again in front of the product has been read before.
// CHECK-LABEL: @written_between
// CHECK: %[[X:.*]] = tile.read
// CHECK: tile.write
// CHECK-NOT: tile.read
// CHECK: tile.slice %[[X]] [0, 0]
tile.kernel @written_between(%z: !tile.view<32x4xf32>, %v: !tile.view<4x4xf32>) attributes {tile.warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %s = tile.load %z[%c0, %c0] : !tile.view<32x4xf32> -> tensor<32x4xf32, #sum>
  %tb = tile.load %v[%c0, %c0] : !tile.view<4x4xf32> -> tensor<4x4xf32, #b>
  %p = tile.alloc : !tile.buffer<32x4xf32, #inA>
  %ta = tile.read %p : !tile.buffer<32x4xf32, #inA> -> tensor<32x4xf32, #a>
  tile.write %s, %p : tensor<32x4xf32, #sum>, !tile.buffer<32x4xf32, #inA>
  %d = tile.dot %ta, %tb, %s {atom = #tile.fma, parts = array<i64: 1, 1, 4>} : tensor<32x4xf32, #a>, tensor<4x4xf32, #b> -> tensor<32x4xf32, #sum>
  tile.store %d, %z[%c0, %c0] : tensor<32x4xf32, #sum>, !tile.view<32x4xf32>
  tile.return
}
}
