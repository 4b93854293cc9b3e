// What is read of parts ahead of a dot stays in front of it, and what the dot needs needs no barrier.
// RUN: tile-opt %s --tile-order-dots | FileCheck %s

#h = #tile.layout<register = [[0,1],[8,0],[0,8]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = []>
#b = #tile.layout<register = [[1,0],[8,0]], lane = [[2,0],[4,0],[0,1],[0,2],[0,4]], warp = []>
#sum = #tile.layout<register = [[0,1],[8,0]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = []>
!half = tensor<16x16xf16, #h>
!right = tensor<16x8xf16, #b>
!t = tensor<16x8xf32, #sum>
#mma = #nvptx.mma_sync<"m16n8k16", f16, f32>

// CHECK-LABEL: tile.kernel @ahead
tile.kernel @ahead(%x: !tile.view<?x?xf32>) {
  %p = tile.alloc : !tile.buffer<16x32xf16>
  %y = arith.constant dense<1.0> : !right
  %s = arith.constant dense<0.0> : !t
  %i = arith.constant 0 : index
  // CHECK: tile.read {{.*}} at [0, 0]
  // CHECK-NEXT: tile.read {{.*}} at [0, 16]
  // CHECK-NEXT: tile.schedule_barrier
  // CHECK-NEXT: tile.dot
  // CHECK-NEXT: tile.dot
  %x0 = tile.read %p at [0, 0] : !tile.buffer<16x32xf16> -> !half
  %x1 = tile.read %p at [0, 16] : !tile.buffer<16x32xf16> -> !half
  %d0 = tile.dot %x0, %y, %s {atom = #mma} : !half, !right -> !t
  %d1 = tile.dot %x1, %y, %d0 {atom = #mma} : !half, !right -> !t
  tile.store %d1, %x[%i, %i] : !t, !tile.view<?x?xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @close
// CHECK-NOT: tile.schedule_barrier
tile.kernel @close(%x: !tile.view<?x?xf32>) {
  %p = tile.alloc : !tile.buffer<16x32xf16>
  %y = arith.constant dense<1.0> : !right
  %s = arith.constant dense<0.0> : !t
  %i = arith.constant 0 : index
  %x0 = tile.read %p at [0, 0] : !tile.buffer<16x32xf16> -> !half
  %d0 = tile.dot %x0, %y, %s {atom = #mma} : !half, !right -> !t
  %x1 = tile.read %p at [0, 16] : !tile.buffer<16x32xf16> -> !half
  %d1 = tile.dot %x1, %y, %d0 {atom = #mma} : !half, !right -> !t
  tile.store %d1, %x[%i, %i] : !t, !tile.view<?x?xf32>
  tile.return
}
