// A grid is rounded up to whole clusters; programs beyond it write nothing.
// RUN: tile-opt %s --split-input-file --tile-round-clusters | FileCheck %s

// CHECK-LABEL: @writes
// CHECK: %[[ROWS:.*]] = tile.dim %a, 0
// CHECK: %[[UP:.*]] = arith.addi %[[ROWS]], %c1
// CHECK: %[[HALF:.*]] = arith.divui %[[UP]], %c2
// CHECK: %[[WHOLE:.*]] = arith.muli %[[HALF]], %c2
// The other axis has a cluster of one, the last a number of its programs that four divide.
// CHECK: tile.grid %[[WHOLE]], %{{.*}}, %c8
// CHECK: %[[EXTENT:.*]] = tile.dim %a, 0
// CHECK: %[[PROGRAMS:.*]] = tile.num_programs x
// CHECK: %[[OWN:.*]] = arith.cmpi eq, %[[PROGRAMS]], %{{.*}} : index
// CHECK: %[[ID:.*]] = tile.program_id x
// CHECK: %[[END:.*]] = arith.select %[[OWN]], %[[EXTENT]], %[[PROGRAMS]]
// CHECK: %[[IN:.*]] = arith.cmpi ult, %[[ID]], %[[END]]
// CHECK: tile.load %a[%[[ROW:.*]], %c0]
// CHECK: %[[OUT:.*]] = arith.muli %{{.*}}, %c1024
// CHECK: %[[FIRST:.*]] = arith.select %[[IN]], %[[ROW]], %[[OUT]]
// CHECK: tile.store %{{.*}}, %c[%[[FIRST]], %c0]
// CHECK: %[[MASK:.*]] = tile.splat %[[IN]] : tensor<32xi1>
// CHECK: tile.scatter {{.*}} mask(%[[MASK]]
// CHECK: %[[SPLAT:.*]] = tile.splat %[[IN]] : tensor<32xi1>
// CHECK: %[[BOTH:.*]] = arith.andi %{{.*}}, %[[SPLAT]]
// CHECK: tile.atomic_rmw addi {{.*}} mask(%[[BOTH]]
// CHECK: tile.atomic_rmw addi {{.*}} mask(%[[IN]] : i1)
// CHECK: scf.if %[[IN]]
// CHECK-NEXT: tile.print "row"
// CHECK: %[[SAID:.*]] = arith.select %[[OWN]], %[[EXTENT]], %[[PROGRAMS]]
// CHECK: scf.if %[[IN]]
// CHECK-NEXT: tile.assume
tile.kernel @writes(%a: !tile.view<?x?xf32>, %c: !tile.view<?x?xf32>, %n: !tile.view<?xi32>)
    attributes {tile.cluster = array<i64: 2, 1, 4>} grid {
  %rows = tile.dim %a, 0 : !tile.view<?x?xf32>
  %columns = tile.dim %a, 1 : !tile.view<?x?xf32>
  %c8 = arith.constant 8 : index
  tile.grid %rows, %columns, %c8
} {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %ones = arith.constant dense<1> : tensor<32xi32>
  %i = tile.program_id x
  %t = tile.load %a[%i, %c0] : !tile.view<?x?xf32> -> tensor<1x32xf32>
  tile.store %t, %c[%i, %c0] : tensor<1x32xf32>, !tile.view<?x?xf32>
  %at = tile.iota 0 : tensor<32xi32>
  %few = arith.cmpi slt, %at, %ones : tensor<32xi32>
  tile.scatter %ones, %n[%at] : tensor<32xi32>, !tile.view<?xi32>, [tensor<32xi32>]
  %before = tile.atomic_rmw addi %n[%at], %ones mask(%few : tensor<32xi1>)
    : !tile.view<?xi32>, [tensor<32xi32>], tensor<32xi32>
  %all = tile.atomic_rmw addi %n[%c0], %one : !tile.view<?xi32>, [index], i32
  tile.print "row" (%i) : index
  %said = tile.num_programs x
  %is = arith.cmpi slt, %i, %said : index
  tile.assume %is
  tile.return
}

// -----

// Who may wait for what a program beyond the grid does not tell, may write what nobody sees, or may
// take a zero for an address, keeps its grid.
// CHECK-LABEL: @waits
// CHECK: tile.grid %{{[0-9]+}}
// CHECK-NOT: tile.num_programs
tile.kernel @waits(%flags: !tile.view<?xi32>) attributes {tile.cluster = array<i64: 2, 1, 1>} grid {
  %rows = tile.dim %flags, 0 : !tile.view<?xi32>
  tile.grid %rows
} {
  %zero = arith.constant 0 : i32
  %i = tile.program_id x
  scf.while : () -> () {
    %seen = tile.atomic_rmw addi %flags[%i], %zero : !tile.view<?xi32>, [index], i32
    %more = arith.cmpi eq, %seen, %zero : i32
    scf.condition(%more)
  } do {
    scf.yield
  }
  tile.return
}

// -----

// CHECK-LABEL: @foreign
// CHECK: tile.grid %{{[0-9]+}}
// CHECK-NOT: tile.num_programs
tile.kernel @foreign(%x: !tile.view<?xi32>) attributes {tile.cluster = array<i64: 2, 1, 1>} grid {
  %rows = tile.dim %x, 0 : !tile.view<?xi32>
  tile.grid %rows
} {
  %one = arith.constant 1 : i32
  %r = tile.inline_asm "mov.b32 $0, $1;" "=r,r" (%one) : (i32) -> i32
  tile.return
}

// -----

// CHECK-LABEL: @addresses
// CHECK: tile.grid %{{[0-9]+}}
// CHECK-NOT: tile.num_programs
tile.kernel @addresses(%x: !tile.view<?xi64>) attributes {tile.cluster = array<i64: 2, 1, 1>} grid {
  %rows = tile.dim %x, 0 : !tile.view<?xi64>
  tile.grid %rows
} {
  %i = tile.program_id x
  %p = tile.pointer_from_address %i : !tile.pointer<f32>
  %y = tile.view_from_pointer %p extents [%i] strides [] : !tile.pointer<f32> -> !tile.view<?xf32>
  tile.return
}
