// One tile of queries over all keys: both products by the matrix instruction, the running maximum
// and sum in slices of its layout, and no score leaves the registers' layout.
// RUN: tile-compile %s --target nvptx:sm_80 --emit asm -o %t.ptx
// RUN: FileCheck %s --input-file %t.ptx
// RUN: %ptxas -arch=sm_80 %t.ptx -o %t.cubin
// RUN: tile-compile %s --target amdgpu:gfx942 --emit asm | FileCheck %s --check-prefix=AMD

// CHECK: .entry attention(
// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK: shfl.sync.bfly.b32
// CHECK: ex2.approx
// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK: div.rn.f32
// Of 64 by 32 scores two of four waves had none by 32 x 32.
// AMD: v_mfma_f32_16x16x16_f16
// AMD: v_mov_b32_dpp
// AMD: v_exp_f32
// AMD: v_mfma_f32_32x32x8_f16
#f = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16]>
tile.kernel @attention(%q: !tile.view<?x?xf16> {tile.facts = #f},
                       %k: !tile.view<?x?xf16> {tile.facts = #f},
                       %v: !tile.view<?x?xf16> {tile.facts = #f},
                       %o: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %cbm = arith.constant 64 : index
  %cbn = arith.constant 32 : index
  %i = tile.program_id x
  %m = arith.muli %i, %cbm : index
  %n = tile.dim %k, 0 : !tile.view<?x?xf16>
  %tq = tile.load %q[%m, %c0] : !tile.view<?x?xf16> -> tensor<64x64xf16>
  %acc0 = arith.constant dense<0.0> : tensor<64x64xf32>
  %zs = arith.constant dense<0.0> : tensor<64x32xf32>
  %m0 = arith.constant dense<0xFF800000> : tensor<64xf32>
  %l0 = arith.constant dense<0.0> : tensor<64xf32>
  %ninf = arith.constant dense<0xFF800000> : tensor<64x32xf32>
  %r:3 = scf.for %j = %c0 to %n step %cbn iter_args(%acc = %acc0, %mi = %m0, %li = %l0) -> (tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>) {
    %tk = tile.load %k[%j, %c0] : !tile.view<?x?xf16> -> tensor<32x64xf16>
    %s = tile.dot %tq, %tk, %zs transpose_b : tensor<64x64xf16>, tensor<32x64xf16> -> tensor<64x32xf32>
    %io = tile.iota 1 : tensor<64x32xindex>
    %js = tile.splat %j : tensor<64x32xindex>
    %ns = tile.splat %n : tensor<64x32xindex>
    %at = arith.addi %io, %js : tensor<64x32xindex>
    %in = arith.cmpi slt, %at, %ns : tensor<64x32xindex>
    %sm = arith.select %in, %s, %ninf : tensor<64x32xi1>, tensor<64x32xf32>
    %rm = tile.reduce %sm axis = 1 : tensor<64x32xf32> -> tensor<64xf32> {
    ^bb0(%a: f32, %b: f32):
      %x = arith.maximumf %a, %b : f32
      tile.yield %x : f32
    }
    %mn = arith.maximumf %mi, %rm : tensor<64xf32>
    %d = arith.subf %mi, %mn : tensor<64xf32>
    %al = math.exp %d : tensor<64xf32>
    %m1 = tile.reshape %mn : tensor<64xf32> -> tensor<64x1xf32>
    %mb = tile.broadcast %m1 : tensor<64x1xf32> -> tensor<64x32xf32>
    %sh = arith.subf %sm, %mb : tensor<64x32xf32>
    %p = math.exp %sh : tensor<64x32xf32>
    %rs = tile.reduce %p axis = 1 : tensor<64x32xf32> -> tensor<64xf32> {
    ^bb0(%a: f32, %b: f32):
      %x = arith.addf %a, %b : f32
      tile.yield %x : f32
    }
    %la = arith.mulf %li, %al : tensor<64xf32>
    %ln = arith.addf %la, %rs : tensor<64xf32>
    %a1 = tile.reshape %al : tensor<64xf32> -> tensor<64x1xf32>
    %ab = tile.broadcast %a1 : tensor<64x1xf32> -> tensor<64x64xf32>
    %as = arith.mulf %acc, %ab : tensor<64x64xf32>
    %ph = arith.truncf %p : tensor<64x32xf32> to tensor<64x32xf16>
    %tv = tile.load %v[%j, %c0] : !tile.view<?x?xf16> -> tensor<32x64xf16>
    %an = tile.dot %ph, %tv, %as : tensor<64x32xf16>, tensor<32x64xf16> -> tensor<64x64xf32>
    scf.yield %an, %mn, %ln : tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>
  }
  %l1 = tile.reshape %r#2 : tensor<64xf32> -> tensor<64x1xf32>
  %lb = tile.broadcast %l1 : tensor<64x1xf32> -> tensor<64x64xf32>
  %out = arith.divf %r#0, %lb : tensor<64x64xf32>
  tile.store %out, %o[%m, %c0] : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}
