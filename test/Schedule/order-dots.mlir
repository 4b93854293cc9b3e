// What runs beside dots stays in front of the wait for them.
// RUN: tile-opt %s --tile-order-dots | FileCheck %s

#acc = #tile.layout<register = [[0,1],[8,0],[0,8],[0,16],[0,32]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0],[32,0]]>
!t = tensor<64x64xf32, #acc>
!pending = !tile.pending<!t>
#wgmma = #nvptx.wgmma<"m64n64k16", f16, f32>

// CHECK-LABEL: tile.kernel @beside
tile.kernel @beside(%x: !tile.view<?x?xf16>) {
  %ring = tile.channel full = 1 empty = 1 : !tile.channel<1, !tile.buffer<64x64xf16>>
  tile.warp_groups(%ring : !tile.channel<1, !tile.buffer<64x64xf16>>) {
    role #tile.role<"mma", warps = 4> {
      %z = arith.constant 0 : i32
      %s = arith.constant dense<1.0> : !t
      %b = tile.get %ring[%z, %z] : !tile.channel<1, !tile.buffer<64x64xf16>>
      %p = tile.pend %s : !pending
      // CHECK: tile.start_dot
      // CHECK-NEXT: math.exp2
      // CHECK-NEXT: tile.schedule_barrier
      // CHECK-NEXT: tile.wait
      // CHECK-NEXT: tile.wait
      %d = tile.start_dot %b, %b, %p transpose_b {atom = #wgmma} : !tile.buffer<64x64xf16>, !tile.buffer<64x64xf16> -> !pending
      %e = math.exp2 %s : !t
      %w = tile.wait %d in_flight = 1 : !pending -> !pending
      %u = tile.wait %w in_flight = 0 : !pending -> !t
      tile.release %ring[%z] : !tile.channel<1, !tile.buffer<64x64xf16>>
      tile.print "sum" (%u) : !t
      tile.print "weights" (%e) : !t
    }
  }
  tile.return
}
