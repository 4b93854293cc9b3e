// Attention's shape, realised: one role loads Q once a program and K and V in two rings, the other
// makes a product of each and holds the second in flight while the next trip starts. Two channels of
// different depth and one that is got once.
// RUN: tile-opt %s --tile-check-protocol | FileCheck %s

#copy = #nvptx.tma
#mma = #nvptx.wgmma<"m64n64k16", f16, f32>
!view = !tile.view<?x?xf16>
!tile_ = !tile.buffer<64x64xf16>
!once = !tile.channel<1, !tile_>
!keys = !tile.channel<2, !tile_>
!values = !tile.channel<3, !tile_>
!pending = !tile.pending<tensor<64x64xf32>>

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// CHECK-LABEL: tile.kernel @attention
tile.kernel @attention(%q: !view, %k: !view, %v: !view, %o: !view) attributes {tile.warps = 8 : i64} {
  %queries = tile.channel full = 1 empty = 4 : !once
  %keys = tile.channel full = 1 empty = 4 : !keys
  %values = tile.channel full = 1 empty = 4 : !values
  tile.warp_groups(%q, %k, %v, %o, %queries, %keys, %values : !view, !view, !view, !view, !once, !keys, !values) {
    role #tile.role<"load", warps = 4, registers = 24> {
      %s0 = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %n = tile.dim %k, 0 : !view
      %i = tile.program_id x
      %row = arith.muli %i, %c64 : index
      tile.put %queries[%s0, %s0] bytes = 8192 : !once {
      ^bb0(%x: !tile_):
        tile.copy_in %q[%row, %c0], %x {atom = #copy} : !view, !tile_
      }
      %end:4 = scf.for %j = %c0 to %n step %c64
          iter_args(%ks = %s0, %kp = %s0, %vs = %s0, %vp = %s0) -> (i32, i32, i32, i32) {
        tile.put %keys[%ks, %kp] bytes = 8192 : !keys {
        ^bb0(%x: !tile_):
          tile.copy_in %k[%j, %c0], %x {atom = #copy} : !view, !tile_
        }
        %ks1, %kp1 = tile.advance %ks, %kp of %keys : !keys
        tile.put %values[%vs, %vp] bytes = 8192 : !values {
        ^bb0(%x: !tile_):
          tile.copy_in %v[%j, %c0], %x {atom = #copy} : !view, !tile_
        }
        %vs1, %vp1 = tile.advance %vs, %vp of %values : !values
        scf.yield %ks1, %kp1, %vs1, %vp1 : i32, i32, i32, i32
      }
    }
    role #tile.role<"mma", warps = 4, registers = 240> {
      %s0 = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %no = arith.constant false
      %zero = arith.constant dense<0.0> : tensor<64x64xf32>
      %box = tile.alloc : !tile_
      %n = tile.dim %k, 0 : !view
      %i = tile.program_id x
      %row = arith.muli %i, %c64 : index
      %fresh = ub.poison : !pending
      %x = tile.get %queries[%s0, %s0] : !once
      %acc0 = tile.pend %zero : !tile.pending<tensor<64x64xf32>>
      %any = arith.cmpi slt, %c0, %n : index
      %loop:6 = scf.for %j = %c0 to %n step %c64
          iter_args(%acc = %acc0, %ks = %s0, %kp = %s0, %vs = %s0, %vp = %s0, %old = %s0)
          -> (!pending, i32, i32, i32, i32, i32) {
        %y = tile.get %keys[%ks, %kp] : !keys
        %score = tile.start_dot %x, %y, %fresh when %no transpose_b {atom = #mma}
            : !tile_, !tile_ -> !pending
        // The product of the last trip may still be under way; it is older than the scores.
        %scores = tile.wait %score in_flight = 0 : !pending -> tensor<64x64xf32>
        tile.release %keys[%ks] : !keys
        %more = arith.cmpi ne, %j, %c0 : index
        scf.if %more {
          tile.release %values[%old] : !values
        }
        %weights = arith.truncf %scores : tensor<64x64xf32> to tensor<64x64xf16>
        %z = tile.get %values[%vs, %vp] : !values
        %sum = tile.start_dot %weights, %z, %acc {atom = #mma}
            : tensor<64x64xf16>, !tile_ -> !pending
        %held = tile.wait %sum in_flight = 1 : !pending -> !pending // loose
        %ks1, %kp1 = tile.advance %ks, %kp of %keys : !keys
        %vs1, %vp1 = tile.advance %vs, %vp of %values : !values
        scf.yield %held, %ks1, %kp1, %vs1, %vp1, %vs : !pending, i32, i32, i32, i32, i32
      }
      %result = tile.wait %loop#0 in_flight = 0 : !pending -> tensor<64x64xf32>
      scf.if %any {
        tile.release %values[%loop#5] : !values
      }
      tile.release %queries[%s0] : !once
      %narrow = arith.truncf %result : tensor<64x64xf32> to tensor<64x64xf16>
      tile.write %narrow, %box : tensor<64x64xf16>, !tile_
      tile.barrier publish
      tile.copy_out %box, %o[%row, %c0] {atom = #copy} : !tile_, !view
      tile.wait_stores in_flight = 0
    }
  }
  tile.return
}
}
