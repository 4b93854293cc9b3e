// Rows of 80 elements are copied by all 256 threads twice, and by the first half of them once more. What
// tile-check-isa knows of where all threads may copy to reaches beyond the ring: it asks the threads.
// RUN: tile-compile %s --emit asm -o %t.ptx
// RUN: FileCheck %s --check-prefix=CODE --input-file=%t.ptx
// RUN: tile-check-isa %t.ptx
// CODE: setp.gt.u32 %[[LATER:p[0-9]+]], %r{{[0-9]+}}, 3;
// CODE: cp.async.wait_group
// CODE: @%[[LATER]] bra
// CODE: add.s64 %[[AT:rd[0-9]+]], %rd{{[0-9]+}}, 8192;
// CODE: cp.async.cg.shared.global [%[[AT]]],

// One warp more copies; all do; each copies to 16 bytes further on. The last slot is left.
// RUN: sed 's/\(setp.gt.u32 .*\), 3;/\1, 4;/' %t.ptx > %t.more.ptx
// RUN: not tile-check-isa %t.more.ptx 2>&1 | FileCheck %s
// RUN: sed 's/\(setp.gt.u32 .*\), 3;/\1, 7;/' %t.ptx > %t.all.ptx
// RUN: not tile-check-isa %t.all.ptx 2>&1 | FileCheck %s
// RUN: sed 's/, 8192;/, 8208;/' %t.ptx > %t.further.ptx
// RUN: not tile-check-isa %t.further.ptx 2>&1 | FileCheck %s
// CHECK: error: 'k': a copy fills bytes 59392 to 79887 of shared memory here, where the metadata declares no ring
// Half of the threads that shall copy do not.
// RUN: sed 's/\(setp.gt.u32 .*\), 3;/\1, 1;/' %t.ptx > %t.less.ptx
// RUN: not tile-check-isa %t.less.ptx 2>&1 | FileCheck %s --check-prefix=LESS
// LESS: error: 'k': the metadata declares a ring of 3 slots at bytes 49152 to 79871 of shared memory; the code fills other slots

!view = !tile.view<?x?xbf16, strides [?, 1]>
!out = !tile.view<?x?xf32, strides [?, 1]>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
tile.kernel @k(%a: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [1, 8]>},
               %b: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [1, 8]>},
               %c: !out {tile.facts = #tile.facts<noalias>})
    attributes {tile.roles = [#tile.role<"all", warps = 8>]} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c1 = arith.constant 1 : index
  %k = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<128x80xf32>
  %acc = scf.for %h = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<128x80xf32> {
    %x = tile.load %a[%c0, %h] {atom = #nvptx.cp_async<16>, role = "all", stage = 0} : !view -> tensor<128x64xbf16>
    %y = tile.load %b[%h, %c0] {atom = #nvptx.cp_async<16>, role = "all", stage = 0} : !view -> tensor<64x80xbf16>
    %d = tile.dot %x, %y, %s {tile.atom = "mma_sync", role = "all", stage = 1}
       : tensor<128x64xbf16>, tensor<64x80xbf16> -> tensor<128x80xf32>
    scf.yield %d : tensor<128x80xf32>
  } {tile.depth = 3}
  tile.store %acc, %c[%c0, %c0] {role = "all"} : tensor<128x80xf32>, !out
  tile.return
}
}
