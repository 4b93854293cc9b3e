// RUN: tile-opt %s --tile-realise-interleaving | FileCheck %s

!a = tensor<64x32xf16>
!s = tensor<64x64xf32>

// Groups stand behind all that they may take from: in front of the barrier, of the end of the block,
// of what has blocks of its own; those of two dots of one stretch are two lists.
// CHECK-LABEL: tile.kernel @lists
// CHECK-NOT: interleave
// CHECK: tile.dot
// CHECK: arith.addf
// CHECK-NEXT: tile.schedule_group 1 read of 0
// CHECK-NEXT: tile.schedule_group 2 matrix of 0
// CHECK-NEXT: tile.schedule_group 3 load of 0
// CHECK-NEXT: tile.schedule_group 2 matrix of 0
// CHECK-NEXT: tile.schedule_group 3 load of 0
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.dot
// CHECK-NEXT: tile.dot
// CHECK-NEXT: tile.schedule_group 1 matrix of 0
// CHECK-NEXT: tile.schedule_group 4 vector of 1
// CHECK-NEXT: scf.for
// CHECK: tile.dot
// CHECK-NEXT: tile.schedule_group 1 write of 0
// CHECK-NEXT: scf.yield
// CHECK: tile.dot
// CHECK-NEXT: tile.return
tile.kernel @lists(%f: f16, %g: f32, %n: index) {
  %x = tile.splat %f : !a
  %s = tile.splat %g : !s
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = tile.dot %x, %x, %s transpose_b {interleave = #tile.interleave<1 x (1 read), 2 x (2 matrix, 3 load)>}
     : !a, !a -> !s
  %1 = arith.addf %0, %s : !s
  tile.barrier
  %2 = tile.dot %x, %x, %1 transpose_b {interleave = #tile.interleave<1 x (1 matrix)>} : !a, !a -> !s
  %3 = tile.dot %x, %x, %2 transpose_b {interleave = #tile.interleave<1 x (4 vector)>} : !a, !a -> !s
  %4 = scf.for %i = %c0 to %n step %c1 iter_args(%t = %3) -> !s {
    %5 = tile.dot %x, %x, %t transpose_b {interleave = #tile.interleave<1 x (1 write)>} : !a, !a -> !s
    scf.yield %5 : !s
  }
  %6 = tile.dot %x, %x, %4 transpose_b : !a, !a -> !s
  tile.return
}

// Nothing ends what a role does.
// CHECK-LABEL: tile.kernel @role
// CHECK: tile.dot
// CHECK-NEXT: arith.addf
// CHECK-NEXT: tile.schedule_group 1 read of 0
// CHECK-NEXT: }
tile.kernel @role(%f: f16, %g: f32) attributes {tile.warps = 4 : i64} {
  tile.warp_groups(%f, %g : f16, f32) {
    role #tile.role<"all", warps = 4> {
      %x = tile.splat %f : !a
      %s = tile.splat %g : !s
      %0 = tile.dot %x, %x, %s transpose_b {interleave = #tile.interleave<1 x (1 read)>} : !a, !a -> !s
      %1 = arith.addf %0, %s : !s
    }
  }
  tile.return
}
