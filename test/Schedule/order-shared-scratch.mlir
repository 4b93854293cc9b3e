// Ops that move elements through scratch in shared memory: all warps come to each with nobody left at
// its bytes. Each writes, meets and reads, so that its reads alone are left behind it.
// RUN: tile-opt %s --tile-order-shared --split-input-file | FileCheck %s

#t = #tile.layout<register = [], lane = [[1],[2],[4],[8],[16]], warp = [[32],[64]]>
!b = !tile.buffer<128xf32>
!t = tensor<128xf32, #t>
!i = tensor<128xi32, #t>

// CHECK-LABEL: tile.kernel @program
tile.kernel @program() attributes {tile.warps = 4 : i64} {
  %i = tile.iota 0 : !i
  %x = arith.constant dense<1.0> : !t
  // CHECK: tile.alloc
  // Nobody was at the first; the second has other bytes, and all have left the first when they meet
  // in the second.
  // CHECK-NEXT: tile.take
  // CHECK-NEXT: tile.take
  // CHECK-NEXT: tile.take
  %a = tile.alloc {tile.shared_offset = 1024 : i64} : !b
  %p = tile.take %x[%i] axis = 0 {tile.shared_offset = 0 : i64} : !t, !i -> !t
  %q = tile.take %p[%i] axis = 0 {tile.shared_offset = 512 : i64} : !t, !i -> !t
  %r = tile.take %q[%i] axis = 0 {tile.shared_offset = 0 : i64} : !t, !i -> !t
  // The last still reads the bytes of the next, in which all learn of the write.
  // CHECK-NEXT: tile.write
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.take
  // CHECK-NEXT: tile.read
  tile.write %r, %a : !t, !b
  %s = tile.take %q[%i] axis = 0 {tile.shared_offset = 256 : i64} : !t, !i -> !t
  %u = tile.read %a : !b -> !t
  tile.print "all" (%s, %u) : !t, !t
  tile.return
}

// -----

#t = #tile.layout<register = [], lane = [[1],[2],[4],[8],[16]], warp = [[32],[64]]>
!t = tensor<128xf32, #t>
!i = tensor<128xi32, #t>

// Of a loop's turns each comes behind the one before; behind a barrier there is nothing to wait for.
// CHECK-LABEL: tile.kernel @loops
tile.kernel @loops(%n: index) attributes {tile.warps = 4 : i64} {
  %i = tile.iota 0 : !i
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = arith.constant dense<1.0> : !t
  // CHECK: scf.for
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.take
  // CHECK-NEXT: tile.print
  // CHECK-NEXT: tile.barrier global
  // CHECK-NEXT: tile.take
  scf.for %k = %c0 to %n step %c1 {
    %p = tile.take %x[%i] axis = 0 {tile.shared_offset = 0 : i64} : !t, !i -> !t
    tile.print "p" (%p) : !t
    tile.barrier global
    %q = tile.take %p[%i] axis = 0 {tile.shared_offset = 0 : i64} : !t, !i -> !t
    tile.print "q" (%q) : !t
  }
  tile.return
}

// -----

#s = #tile.layout<register = []>
#w = #tile.layout<register = [], lane = [[1],[2],[4],[8],[16]], warp = [[32]]>
!counts = !tile.view<?xi32>

// In a role only scratch is left to order. A number that one thread changes for all copies has bytes
// that all of them read, so all of them meet.
// CHECK-LABEL: tile.kernel @roles
// CHECK: tile.atomic_rmw
// CHECK-NEXT: tile.barrier all_copies
// CHECK-NEXT: tile.atomic_rmw
// CHECK-NEXT: tile.barrier all_copies
// CHECK-NEXT: tile.reduce
// CHECK: tile.barrier{{ *$}}
// CHECK-NEXT: tile.reduce
tile.kernel @roles(%c: !counts) attributes {tile.warps = 4 : i64} {
  tile.warp_groups(%c : !counts) {
    role #tile.role<"all", warps = 2, copies = 2> {
      %c0 = arith.constant 0 : index
      %one = arith.constant 1 : i32
      %x = arith.constant dense<1.0> : tensor<64xf32, #w>
      %old = tile.atomic_rmw addi %c[%c0], %one order = relaxed {tile.shared_offset = 0 : i64} : !counts, [index], i32
      %new = tile.atomic_rmw addi %c[%c0], %old order = relaxed {tile.shared_offset = 0 : i64} : !counts, [index], i32
      %r = tile.reduce %x axis = 0 {tile.shared_offset = 0 : i64} : tensor<64xf32, #w> -> tensor<f32, #s> {
      ^bb0(%left: f32, %right: f32):
        %a = arith.addf %left, %right : f32
        tile.yield %a : f32
      }
      %q = tile.reduce %x axis = 0 {tile.shared_offset = 0 : i64} : tensor<64xf32, #w> -> tensor<f32, #s> {
      ^bb0(%left: f32, %right: f32):
        %a = arith.mulf %left, %right : f32
        tile.yield %a : f32
      }
      tile.print "all" (%r, %q) : tensor<f32, #s>, tensor<f32, #s>
      tile.print "new" (%new) : i32
    }
  }
  tile.return
}
