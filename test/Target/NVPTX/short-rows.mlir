// Rows of 64 numbers of 16 bits: 16 of them are one program's, of which each lane has 16 bytes at a
// time. Eight lanes share a row, so each of its two sums takes three exchanges, and not five.
// RUN: tile-compile %s --target nvptx:sm_90a --emit asm -o %t.ptx
// RUN: FileCheck %s --input-file %t.ptx
// RUN: FileCheck %s --input-file %t.ptx --check-prefix=NARROW
// RUN: %ptxas -arch=sm_90a %t.ptx -o %t.cubin

// CHECK: .reqntid 64
// CHECK-COUNT-2: ld.global.v4.b32
// CHECK-COUNT-12: shfl.sync.bfly.b32
// CHECK-NOT: shfl.sync
// CHECK-COUNT-2: st.global.v4.b32
// NARROW-NOT: {{(ld|st)\.global\.b(16|32|64)}}
// NARROW-NOT: bar.sync
#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [0, 16], noalias>
!rows = !tile.view<?x?xbf16>
tile.kernel @softmax(%x: !rows {tile.facts = #facts}, %y: !rows {tile.facts = #facts}) grid {
  %n = tile.dim %x, 0 : !rows
  tile.grid %n
} {
  %row = tile.program_id x
  %zero = arith.constant 0 : index
  %low = arith.constant 0xFF80 : bf16
  %t = tile.load %x[%row, %zero] pad(%low : bf16) : !rows -> tensor<1x64xbf16>
  %wide = arith.extf %t : tensor<1x64xbf16> to tensor<1x64xf32>
  %max = tile.reduce %wide axis = 1 : tensor<1x64xf32> -> tensor<1xf32> {
  ^bb0(%left: f32, %right: f32):
    %m = arith.maximumf %left, %right : f32
    tile.yield %m : f32
  }
  %max2 = tile.reshape %max : tensor<1xf32> -> tensor<1x1xf32>
  %maxb = tile.broadcast %max2 : tensor<1x1xf32> -> tensor<1x64xf32>
  %shifted = arith.subf %wide, %maxb : tensor<1x64xf32>
  %e = math.exp %shifted : tensor<1x64xf32>
  %sum = tile.reduce %e axis = 1 : tensor<1x64xf32> -> tensor<1xf32> {
  ^bb0(%left: f32, %right: f32):
    %s = arith.addf %left, %right : f32
    tile.yield %s : f32
  }
  %sum2 = tile.reshape %sum : tensor<1xf32> -> tensor<1x1xf32>
  %sumb = tile.broadcast %sum2 : tensor<1x1xf32> -> tensor<1x64xf32>
  %r = arith.divf %e, %sumb : tensor<1x64xf32>
  %out = arith.truncf %r : tensor<1x64xf32> to tensor<1x64xbf16>
  tile.store %out, %y[%row, %zero] : tensor<1x64xbf16>, !rows
  tile.return
}
