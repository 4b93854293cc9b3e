// Operand a of a product in registers: what every trip reads is copied in front of the products, since
// ptxas gives it the registers of what a trip computes. What a trip computes is not copied.
// RUN: tile-compile %s --emit asm -o %t.ptx
// RUN: FileCheck %s --input-file %t.ptx
// RUN: %ptxas -arch=sm_90a %t.ptx -o %t.cubin

// CHECK-NOT: prmt.b32 {{.*}}, 0x3210;
// CHECK: $L__BB0_{{[0-9]+}}:
// CHECK: prmt.b32 [[A:%r[0-9]+]], [[Q:%r[0-9]+]], [[Q]], 0x3210;
// CHECK-COUNT-15: prmt.b32 {{.*}}, 0x3210;
// CHECK-NOT: prmt.b32 {{.*}}, 0x3210;
// CHECK: wgmma.fence
// CHECK: wgmma.mma_async
// CHECK-SAME: {[[A]],
// CHECK-NOT: prmt.b32 {{.*}}, 0x3210;
#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], noalias, index32>
#sums = #tile.facts<pointer = 16, strides = [16, 4], extents = [16, 16], noalias, index32>
!view = !tile.view<?x?xbf16>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @rows(%q: !view {tile.facts = #facts}, %x: !view {tile.facts = #facts}, %c: !tile.view<?x?xf32> {tile.facts = #sums}) attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %g = tile.program_id x
  %row = arith.muli %g, %c64 : index
  %n = tile.dim %x, 0 : !view
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %rows = tile.load %q[%row, %c0] : !view -> tensor<64x64xbf16>
  %sum = scf.for %k = %c0 to %n step %c64 iter_args(%o = %zero) -> (tensor<64x64xf32>) {
    %y = tile.load %x[%k, %c0] : !view -> tensor<64x64xbf16>
    %s = tile.dot %rows, %y, %zero transpose_b {tile.atom = "wgmma", in_flight = 0} : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    %e = math.exp2 %s : tensor<64x64xf32>
    %w = arith.truncf %e : tensor<64x64xf32> to tensor<64x64xbf16>
    %d = tile.dot %w, %y, %o {tile.atom = "wgmma", in_flight = 0} : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %sum, %c[%row, %c0] : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}
}
