// A row by four warps: lanes fold by butterflies, warps meet in shared memory.
// RUN: tile-compile %s --target nvptx:sm_80 --emit asm -o %t.ptx
// RUN: FileCheck %s --input-file %t.ptx
// RUN: %ptxas -arch=sm_80 %t.ptx -o %t.cubin

// CHECK: .extern .shared .align 128 .b8 kiln_shared[];
// CHECK: .reqntid 128
// CHECK-COUNT-4: ld.global.v4.b32
// CHECK-COUNT-5: shfl.sync.bfly.b32
// CHECK-NOT: bar.sync
// CHECK: st.shared.b32
// CHECK: bar.sync
// CHECK: ld.shared.v4.b32
// CHECK-COUNT-16: ex2.approx
// CHECK-COUNT-5: shfl.sync.bfly.b32
// Of the sum one reciprocal, and for each element three products; the sizes of elements are compared
// by two instructions each. All are divided where a size is out of bounds.
// CHECK-COUNT-15: min.u32
// CHECK-COUNT-15: max.s32
// CHECK: bra
// CHECK: rcp.rn.f32
// CHECK-NOT: rcp.rn.f32
// CHECK-COUNT-16: mul.rn.f32
// CHECK-COUNT-32: fma.rn.f32
// CHECK-NOT: fma.rn.f32
// CHECK-COUNT-16: div.rn.f32
// CHECK-NOT: div.rn.f32
// CHECK: st.global.v4.b32
tile.kernel @softmax(%x: !tile.view<?x?xf32> {tile.facts = #tile.facts<pointer = 16, strides = [16, 4], extents = [0, 16]>},
                     %y: !tile.view<?x?xf32> {tile.facts = #tile.facts<pointer = 16, strides = [16, 4], extents = [0, 16]>})
{
  %row = tile.program_id x
  %zero = arith.constant 0 : index
  %low = arith.constant 0xFF800000 : f32
  %t = tile.load %x[%row, %zero] pad(%low : f32) : !tile.view<?x?xf32> -> tensor<1x2048xf32>
  %max = tile.reduce %t axis = 1 : tensor<1x2048xf32> -> tensor<1xf32> {
  ^bb0(%left: f32, %right: f32):
    %m = arith.maximumf %left, %right : f32
    tile.yield %m : f32
  }
  %max2 = tile.reshape %max : tensor<1xf32> -> tensor<1x1xf32>
  %maxb = tile.broadcast %max2 : tensor<1x1xf32> -> tensor<1x2048xf32>
  %shifted = arith.subf %t, %maxb : tensor<1x2048xf32>
  %e = math.exp %shifted : tensor<1x2048xf32>
  %sum = tile.reduce %e axis = 1 : tensor<1x2048xf32> -> tensor<1xf32> {
  ^bb0(%left: f32, %right: f32):
    %s = arith.addf %left, %right : f32
    tile.yield %s : f32
  }
  %sum2 = tile.reshape %sum : tensor<1xf32> -> tensor<1x1xf32>
  %sumb = tile.broadcast %sum2 : tensor<1x1xf32> -> tensor<1x2048xf32>
  %r = arith.divf %e, %sumb : tensor<1x2048xf32>
  tile.store %r, %y[%row, %zero] : tensor<1x2048xf32>, !tile.view<?x?xf32>
  tile.return
}
