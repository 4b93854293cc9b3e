// The source of the NVPTX test, on waves of 64 and of 32; and its code object.
// RUN: tile-compile %s --target amdgpu:gfx942 --emit asm | FileCheck %s --check-prefixes=CHECK,WAVE64
// RUN: tile-compile %s --target amdgpu:gfx1100 --emit asm | FileCheck %s --check-prefixes=CHECK,WAVE32
// RUN: tile-compile %s --target amdgpu:gfx942 --emit binary -o %t.hsaco
// RUN: llvm-readelf -h -s %t.hsaco | FileCheck %s --check-prefix=ELF

// CHECK-LABEL: softmax:
// WAVE64-COUNT-4: buffer_load_dwordx4
// WAVE64: v_mov_b32_dpp {{.*}} quad_perm:[1,0,3,2]
// WAVE64: row_ror:8
// WAVE64-COUNT-2: ds_bpermute_b32
// WAVE64: ds_write_b32
// WAVE64: s_barrier
// WAVE64: ds_read_b64
// WAVE64-COUNT-16: v_exp_f32
// WAVE64: buffer_store_dwordx4
// WAVE32-COUNT-4: buffer_load_b128
// WAVE32-COUNT-4: v_max_f32_dpp
// WAVE32: v_permlanex16_b32
// WAVE32: ds_store_b32
// WAVE32: s_barrier
// WAVE32: buffer_store_b128
// CHECK: .private_segment_fixed_size: 0
// WAVE64: .wavefront_size: 64
// WAVE32: .wavefront_size: 32
// ELF: Type: DYN
// ELF: gfx942
// ELF: softmax.kd
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
