// RUN: tile-compile %s --target nvptx:sm_90a --emit asm -o - | FileCheck %s --check-prefix=PTX
// RUN: tile-compile %s --target amdgpu:gfx942 --emit asm -o - | FileCheck %s --check-prefix=ISA

// The winner and its position travel together between the lanes.
// PTX: shfl.sync.bfly.b32
// PTX: setp.gt.f32
// PTX: selp.b32
// ISA: v_cmp_gt_f32
// ISA: v_cndmask_b32
tile.kernel @argmax(%x: !tile.view<?x256xf32>, %best: !tile.view<?xf32>, %at: !tile.view<?xi32>) grid {
  %n = tile.dim %x, 0 : !tile.view<?x256xf32>
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %i = tile.program_id x
  %t = tile.load %x[%i, %c0] : !tile.view<?x256xf32> -> tensor<1x256xf32>
  %v, %p = tile.arg_reduce %t axis = 1 : tensor<1x256xf32> -> tensor<1xf32>, tensor<1xi32> {
  ^bb0(%left: f32, %right: f32):
    %wins = arith.cmpf ogt, %right, %left : f32
    tile.yield %wins : i1
  }
  tile.store %v, %best[%i] : tensor<1xf32>, !tile.view<?xf32>
  tile.store %p, %at[%i] : tensor<1xi32>, !tile.view<?xi32>
  tile.return
}
