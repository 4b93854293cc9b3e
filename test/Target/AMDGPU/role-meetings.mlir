// Two copies of a role meet each by itself, at a word of its own, and all together, at one word: no more
// than these are declared.
// RUN: tile-compile %s --from tile --target amdgpu:gfx942 --emit asm -o %t.s
// RUN: FileCheck %s < %t.s
// RUN: tile-check-isa --allow-strong-waits %t.s
// CHECK: \"arrivals\":4,\"arrive\":[\"mma\"],\"at\":0,\"slots\":2,
// CHECK-SAME: \"arrivals\":8,\"arrive\":[\"mma\"],\"at\":16,\"slots\":1,
// RUN: sed 's/\\"at\\":16,\\"slots\\":1/\\"at\\":16,\\"slots\\":2/' %t.s > %t.more.s
// RUN: not tile-check-isa --allow-strong-waits %t.more.s 2>&1 | FileCheck %s --check-prefix=MORE
// MORE: the metadata declares counters at byte 24; in no run of the code anybody arrives there
module attributes {tile.emitted = "tile", tile.metadata = {fast_math = false, file = "random_kernel_0.py", kernel = "kernel", line = 2 : i64, opt_level = 3 : i64, source = "random_kernel_0.py", target = "amdgpu:gfx942", vendor_math = false}, tile.target = #amdgcn.target<chip = "gfx942">} {
  tile.kernel @kernel(%a: !tile.view<?x?xf8E5M2> {tile.facts = #tile.facts<pointer = 16, strides = [16, 1], extents = [0, 16], index32, noalias>}, %sa: !tile.view<?x?xf8E8M0FNU> {tile.facts = #tile.facts<pointer = 16, strides = [2, 1], extents = [0, 2], index32, noalias>}, %b: !tile.view<?x?xf8E5M2> {tile.facts = #tile.facts<pointer = 16, strides = [16, 1], extents = [16, 16], index32, noalias>}, %sb: !tile.view<?x?xf8E8M0FNU> {tile.facts = #tile.facts<pointer = 16, strides = [2, 1], extents = [16, 2], index32, noalias>}, %g: !tile.view<?x?xf8E5M2> {tile.facts = #tile.facts<pointer = 16, strides = [16, 1], extents = [16, 16], index32, noalias>}, %sg: !tile.view<?x?xf8E8M0FNU> {tile.facts = #tile.facts<pointer = 16, strides = [2, 1], extents = [16, 2], index32, noalias>}, %c: !tile.view<?x?xf32> {tile.facts = #tile.facts<pointer = 16, strides = [16, 4], extents = [0, 16], index32, noalias>}) attributes {tile.persistent = false, tile.roles = [#tile.role<"mma", warps = 4, copies = 2>, #tile.role<"load", warps = 1>]} grid {
    %0 = tile.dim %c, 0 : !tile.view<?x?xf32>
    %1 = tile.dim %c, 1 : !tile.view<?x?xf32>
    %c32 = arith.constant 32 : index
    %c24 = arith.constant 24 : index
    %2 = arith.ceildivsi %0, %c32 : index
    %3 = arith.ceildivsi %1, %c24 : index
    tile.grid %2, %3
  } {
    %c32 = arith.constant 32 : index
    %c24 = arith.constant 24 : index
    %0 = tile.program_id x
    %1 = tile.program_id y
    %cst = arith.constant dense<0.000000e+00> : tensor<32x24xf32>
    %2 = tile.dim %a, 1 : !tile.view<?x?xf8E5M2>
    %c0 = arith.constant 0 : index
    %c128 = arith.constant 128 : index
    %c5 = arith.constant 5 : index
    %cst_0 = arith.constant 1.000000e+00 : f8E8M0FNU
    %3 = arith.muli %0, %c32 : index
    %4 = arith.muli %1, %c24 : index
    %5 = scf.for %arg0 = %c0 to %2 step %c128 iter_args(%arg1 = %cst) -> (tensor<32x24xf32>) {
      %8 = tile.load %a[%3, %arg0] {depth = 3 : i64, ring = "x", role = "load"} : !tile.view<?x?xf8E5M2> -> tensor<32x128xf8E5M2>
      %9 = tile.load %b[%4, %arg0] {depth = 1 : i64, ring = "y", role = "load", stage = 0 : i64, tile.atom = "through_registers"} : !tile.view<?x?xf8E5M2> -> tensor<24x128xf8E5M2>
      %10 = arith.shrsi %arg0, %c5 : index
      %11 = tile.load %sa[%3, %10] pad(%cst_0 : f8E8M0FNU) : !tile.view<?x?xf8E8M0FNU> -> tensor<32x4xf8E8M0FNU>
      %12 = tile.load %sb[%4, %10] pad(%cst_0 : f8E8M0FNU) : !tile.view<?x?xf8E8M0FNU> -> tensor<24x4xf8E8M0FNU>
      %13 = tile.dot_scaled %8 scale %11, %9 scale %12, %arg1 transpose_b : tensor<32x128xf8E5M2>, tensor<32x4xf8E8M0FNU>, tensor<24x128xf8E5M2>, tensor<24x4xf8E8M0FNU> -> tensor<32x24xf32>
      scf.yield %13 : tensor<32x24xf32>
    }
    %6 = arith.muli %0, %c32 : index
    %7 = arith.muli %1, %c24 : index
    tile.store %5, %c[%6, %7] {role = "mma"} : tensor<32x24xf32>, !tile.view<?x?xf32>
    tile.return
  }
}
