// Fences stand where warps and engines meet: in shared memory, and in tensor memory.
// RUN: tile-opt %s --tile-realise-fences | FileCheck %s

#t = #tile.layout<register = [[0,1],[0,8],[0,16]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[8,0],[16,0]]>
#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!view = !tile.view<?x?xf16>
!buffer = !tile.buffer<32x32xf16>
!ring = !tile.channel<2, !buffer>
!t = tensor<128x32xf32, #sum>
!pending = !tile.pending<!t, tensor_memory>
!sums = !tile.channel<1, !pending>
#atom = #nvptx.tcgen05<"m128n32k16", f16, f32>

// What lanes alone read needs no fence; what an engine copies out does.
// CHECK-LABEL: tile.kernel @written
// CHECK: tile.put %{{.*}}[%{{.*}}, %{{.*}}] bytes = 0
// CHECK: tile.write
// CHECK-NEXT: tile.barrier{{ *$}}
// CHECK: tile.put %{{.*}}[%{{.*}}, %{{.*}}] bytes = 0
// CHECK: tile.write
// CHECK-NEXT: tile.barrier publish
tile.kernel @written(%a: !view, %n: index) {
  %lanes = tile.channel full = 4 empty = 4 : !ring
  %engine = tile.channel full = 4 empty = 4 : !ring
  tile.warp_groups(%a, %n, %lanes, %engine : !view, index, !ring, !ring) {
    role #tile.role<"make", warps = 4> {
      %z = arith.constant 0 : i32
      %one = arith.constant dense<1.0> : tensor<32x32xf16, #t>
      tile.put %lanes[%z, %z] bytes = 0 : !ring {
      ^bb0(%x: !buffer):
        tile.write %one, %x : tensor<32x32xf16, #t>, !buffer
      }
      tile.put %engine[%z, %z] bytes = 0 : !ring {
      ^bb0(%x: !buffer):
        tile.write %one, %x : tensor<32x32xf16, #t>, !buffer
      }
    }
    role #tile.role<"use", warps = 4> {
      %z = arith.constant 0 : i32
      %x = tile.get %lanes[%z, %z] : !ring
      %t = tile.read %x : !buffer -> tensor<32x32xf16, #t>
      tile.release %lanes[%z] lanes : !ring
      %y = tile.get %engine[%z, %z] : !ring
      tile.copy_out %y, %a[%n, %n] {atom = #nvptx.tma} : !buffer, !view
      tile.wait_stores in_flight = 0
      tile.release %engine[%z] : !ring
    }
  }
  tile.return
}

// Copies that warps have started tell of their end themselves, and of nothing there is none to see: the lanes of
// a warp meet, no more.
// CHECK-LABEL: tile.kernel @started
// CHECK: tile.put %{{.*}} bytes = 0 {tile.lanes}
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tile.copy_in
// CHECK-NEXT: {{^ +\}$}}
// CHECK: tile.put %{{.*}} bytes = 0 {tile.lanes}
// CHECK-NEXT: {{^ +\}$}}
tile.kernel @started(%a: !view, %n: index) {
  %ring = tile.channel full = 4 empty = 4 : !ring
  %turn = tile.channel full = 4 empty = 4 : !tile.channel<1>
  tile.warp_groups(%a, %n, %ring, %turn : !view, index, !ring, !tile.channel<1>) {
    role #tile.role<"make", warps = 4> {
      %z = arith.constant 0 : i32
      tile.put %ring[%z, %z] bytes = 0 : !ring {
      ^bb0(%x: !buffer):
        tile.copy_in %a[%n, %n], %x {atom = #nvptx.cp_async<16>} : !view, !buffer
      }
      tile.put %turn[%z, %z] bytes = 0 : !tile.channel<1> {
      }
    }
    role #tile.role<"use", warps = 4> {
      %z = arith.constant 0 : i32
      %x = tile.get %ring[%z, %z] : !ring
      %t = tile.read %x : !buffer -> tensor<32x32xf16, #t>
      tile.release %ring[%z] lanes : !ring
      tile.get %turn[%z, %z] : !tile.channel<1>
      tile.release %turn[%z] : !tile.channel<1>
    }
  }
  tile.return
}

// What an engine may fill again, lanes have read by then: what they have started may wait behind other
// accesses.
// CHECK-LABEL: tile.kernel @brought
// CHECK: tile.read
// CHECK-NEXT: tile.fence shared
// CHECK-NEXT: tile.release %{{.*}} lanes
tile.kernel @brought(%a: !view, %n: index) {
  %ring = tile.channel full = 1 empty = 4 : !ring
  tile.warp_groups(%a, %n, %ring : !view, index, !ring) {
    role #tile.role<"load", warps = 1> {
      %z = arith.constant 0 : i32
      tile.put %ring[%z, %z] bytes = 2048 : !ring {
      ^bb0(%x: !buffer):
        tile.copy_in %a[%n, %n], %x {atom = #nvptx.tma} : !view, !buffer
      }
    }
    role #tile.role<"use", warps = 4> {
      %z = arith.constant 0 : i32
      %x = tile.get %ring[%z, %z] : !ring
      %t = tile.read %x : !buffer -> tensor<32x32xf16, #t>
      tile.release %ring[%z] lanes : !ring
    }
  }
  tile.return
}

// CHECK-LABEL: tile.kernel @sums
tile.kernel @sums() {
  %sums = tile.channel full = 1 empty = 4 : !sums
  tile.warp_groups(%sums : !sums) {
    role #tile.role<"mma", warps = 4> {
      %z = arith.constant 0 : i32
      %one = arith.constant dense<1.0> : !t
      // An accumulator that begins as a tensor: all warps write it behind the thread that acquired it,
      // and dots come behind all.
      // CHECK: tile.acquire
      // CHECK-NEXT: tile.barrier
      // CHECK-NEXT: tile.fence tensor_after
      // CHECK-NEXT: tile.fill
      // CHECK-NEXT: tile.fence tensor_before
      // CHECK-NEXT: tile.barrier
      // CHECK-NEXT: tile.fence tensor_after
      // CHECK-NEXT: tile.commit
      %p = tile.acquire %sums[%z, %z] : !sums
      %q = tile.fill %one into %p {atom = #atom} : !pending
      tile.commit %q into %sums[%z] : !sums
      // CHECK: tile.get
      // CHECK-NEXT: tile.fence tensor_after
      // CHECK-NEXT: tile.fetch
      // CHECK-NEXT: tile.fence tensor_before
      // CHECK-NEXT: tile.release
      %r = tile.get %sums[%z, %z] : !sums
      %t = tile.fetch %r {atom = #atom} : !pending
      tile.release %sums[%z] lanes : !sums
      // CHECK: tile.acquire
      // CHECK-NEXT: tile.fence tensor_after
      %s = tile.acquire %sums[%z, %z] : !sums
      tile.commit %s into %sums[%z] : !sums
    }
  }
  tile.return
}
