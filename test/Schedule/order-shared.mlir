// Barriers between accesses to shared memory, in kernels without roles.
// RUN: tile-opt %s --tile-order-shared | FileCheck %s

#t = #tile.layout<register = [], lane = [[1],[2],[4],[8],[16]], warp = [[32],[64]]>
!b = !tile.buffer<128xf32>
!t = tensor<128xf32, #t>

// Nobody has accessed anything at first; a read waits for writes of the same bytes, a write for any
// access to them.
// CHECK-LABEL: tile.kernel @turns
tile.kernel @turns() attributes {tile.warps = 4 : i64} {
  %x = arith.constant dense<1.0> : !t
  %a = tile.alloc {tile.shared_offset = 0 : i64} : !b
  %b = tile.alloc {tile.shared_offset = 512 : i64} : !b
  %c = tile.alloc {tile.shared_offset = 256 : i64} : !b
  // CHECK: tile.alloc
  // CHECK-NOT: tile.barrier
  // CHECK: tile.write %{{.*}}, %[[A:.*]] :
  // CHECK-NEXT: tile.write %{{.*}}, %[[B:.*]] :
  tile.write %x, %a : !t, !b
  tile.write %x, %b : !t, !b
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.read %[[A]]
  // CHECK-NEXT: tile.read %[[B]]
  %u = tile.read %a : !b -> !t
  %v = tile.read %b : !b -> !t
  // Their bytes overlap those of both.
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.write %{{.*}}, %[[C:.*]] :
  tile.write %x, %c : !t, !b
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.read %[[C]]
  %w = tile.read %c : !b -> !t
  // CHECK-NEXT: tile.print
  tile.print "all" (%u, %v, %w) : !t, !t, !t
  tile.return
}

// A loop that reads what was written before it waits once, and a write in a loop waits for the turn
// before.
// CHECK-LABEL: tile.kernel @loops
tile.kernel @loops(%n: index) attributes {tile.warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = arith.constant dense<1.0> : !t
  %a = tile.alloc {tile.shared_offset = 0 : i64} : !b
  // CHECK: tile.alloc
  // CHECK-NEXT: tile.write
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: scf.for
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.read
  tile.write %x, %a : !t, !b
  scf.for %i = %c0 to %n step %c1 {
    %u = tile.read %a : !b -> !t
    tile.print "one" (%u) : !t
  }
  // CHECK: scf.for
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.write
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.read
  scf.for %i = %c0 to %n step %c1 {
    tile.write %x, %a : !t, !b
    %u = tile.read %a : !b -> !t
    tile.print "two" (%u) : !t
  }
  tile.return
}
