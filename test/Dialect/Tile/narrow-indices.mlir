// RUN: tile-opt %s --tile-narrow-indices | FileCheck %s

!near = !tile.view<?x?xf32, strides [?, 1]>
!out = !tile.view<?xi64, strides [1]>

// What fits is computed in 32 bits, and without signs where nothing is negative.
// CHECK-LABEL: tile.kernel @fits
// CHECK: arith.divui %{{.*}} : tensor<256xi32>
// CHECK-NOT: arith.muli {{.*}}xi64
// CHECK: tile.store
tile.kernel @fits(%x: !near {tile.facts = #tile.facts<extents = [0, 8], index32>}, %o: !out) {
  %c0 = arith.constant 0 : index
  %n = tile.dim %x, 1 : !near
  %n64 = arith.index_cast %n : index to i64
  %ns = tile.splat %n64 : tensor<256xi64>
  %i = tile.iota 0 : tensor<256xi64>
  %two = arith.constant dense<2> : tensor<256xi64>
  %q = arith.floordivsi %i, %ns : tensor<256xi64>
  %r = arith.muli %q, %two : tensor<256xi64>
  tile.store %r, %o[%c0] : tensor<256xi64>, !out
  tile.return
}

// Guards that ranges decide are gone: what is a multiple of something is not zero.
// CHECK-LABEL: tile.kernel @guarded
// CHECK-NOT: arith.select
// CHECK: tile.store
tile.kernel @guarded(%x: !near {tile.facts = #tile.facts<extents = [0, 8], index32>}, %o: !out) {
  %c0 = arith.constant 0 : index
  %n = tile.dim %x, 1 : !near
  %n64 = arith.index_cast %n : index to i64
  %ns = tile.splat %n64 : tensor<256xi64>
  %i = tile.iota 0 : tensor<256xi64>
  %zero = arith.constant dense<0> : tensor<256xi64>
  %one = arith.constant dense<1> : tensor<256xi64>
  %none = arith.cmpi eq, %ns, %zero : tensor<256xi64>
  %by = arith.select %none, %one, %ns : tensor<256xi1>, tensor<256xi64>
  %q = arith.floordivsi %i, %by : tensor<256xi64>
  %r = arith.select %none, %zero, %q : tensor<256xi1>, tensor<256xi64>
  tile.store %r, %o[%c0] : tensor<256xi64>, !out
  tile.return
}

// Of a sum that takes 64 bits only the scalar is divided in 64, once; and so is what is left of it.
// CHECK-LABEL: tile.kernel @flat
// CHECK-DAG: arith.divui %{{.*}} : i64
// CHECK-DAG: arith.remui %{{.*}} : i64
// CHECK: arith.divui %{{.*}} : tensor<1024xi32>
// CHECK-NOT: arith.divui
// CHECK: tile.store
tile.kernel @flat(%x: !near {tile.facts = #tile.facts<extents = [0, 8], index32>}, %o: !out) {
  %c0 = arith.constant 0 : index
  %c1024 = arith.constant 1024 : index
  %pid = tile.program_id x
  %base = arith.muli %pid, %c1024 : index
  %base64 = arith.index_cast %base : index to i64
  %bases = tile.splat %base64 : tensor<1024xi64>
  %i = tile.iota 0 : tensor<1024xi64>
  %at = arith.addi %bases, %i : tensor<1024xi64>
  %n = tile.dim %x, 1 : !near
  %n64 = arith.index_cast %n : index to i64
  %ns = tile.splat %n64 : tensor<1024xi64>
  %q = arith.divui %at, %ns : tensor<1024xi64>
  %back = arith.muli %q, %ns : tensor<1024xi64>
  %r = arith.subi %at, %back : tensor<1024xi64>
  tile.store %r, %o[%c0] : tensor<1024xi64>, !out
  tile.store %q, %o[%c0] : tensor<1024xi64>, !out
  tile.return
}

// Nothing is known of an argument.
// CHECK-LABEL: tile.kernel @unknown
// CHECK: arith.floordivsi %{{.*}} : tensor<256xi64>
tile.kernel @unknown(%n: i64, %o: !out) {
  %c0 = arith.constant 0 : index
  %ns = tile.splat %n : tensor<256xi64>
  %i = tile.iota 0 : tensor<256xi64>
  %q = arith.floordivsi %i, %ns : tensor<256xi64>
  tile.store %q, %o[%c0] : tensor<256xi64>, !out
  tile.return
}

// Scalars are divided in 32 bits; an unsigned division by what may be negative stays.
// CHECK-LABEL: tile.kernel @scalars
// CHECK: arith.divui %{{.*}} : i32
// CHECK: arith.divui %{{.*}} : i64
tile.kernel @scalars(%a: i32, %o: !out) {
  %pid = tile.program_id x
  %count = tile.num_programs y
  %q = arith.divsi %pid, %count : index
  %wide = arith.extsi %a : i32 to i64
  %c7 = arith.constant 7 : i64
  %u = arith.divui %wide, %c7 : i64
  %t = tile.splat %u : tensor<8xi64>
  tile.store %t, %o[%q] : tensor<8xi64>, !out
  tile.return
}

// What an outer loop carries grows turn by turn, although an inner loop takes it before it is
// yielded: its range is widened, not followed step by step.
// CHECK-LABEL: tile.kernel @carried_through_an_inner_loop
// CHECK: arith.divsi %{{.*}} : i64
// CHECK: arith.divsi %{{.*}} : tensor<64xi64>
tile.kernel @carried_through_an_inner_loop(%n: index, %o: !out) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : i64
  %zero = arith.constant 0 : i64
  %nines = arith.constant dense<9> : tensor<64xi64>
  %i = tile.iota 0 : tensor<64xi64>
  %last, %tile = scf.for %j = %c0 to %n step %c1 iter_args(%m = %zero, %t = %i)
      -> (i64, tensor<64xi64>) {
    %more = arith.addi %m, %c9 : i64
    %less = arith.subi %t, %i : tensor<64xi64>
    %inner:2 = scf.for %k = %c0 to %n step %c1 iter_args(%a = %more, %b = %less)
        -> (i64, tensor<64xi64>) {
      scf.yield %zero, %i : i64, tensor<64xi64>
    }
    scf.yield %inner#0, %inner#1 : i64, tensor<64xi64>
  }
  %q = arith.divsi %last, %c9 : i64
  %all = tile.splat %q : tensor<64xi64>
  tile.store %all, %o[%c0] : tensor<64xi64>, !out
  %qs = arith.divsi %tile, %nines : tensor<64xi64>
  tile.store %qs, %o[%c0] : tensor<64xi64>, !out
  tile.return
}

// What an op is decided to make is not looked through.
// CHECK-LABEL: tile.kernel @widened(
tile.kernel @widened(%a: !tile.view<?xi32>, %c: !tile.view<?xf32>) attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0] : !tile.view<?xi32> -> tensor<64xi32>
  // CHECK: arith.extsi {{.*}} {tile.role = "all"}
  %y = arith.extsi %x {tile.role = "all"} : tensor<64xi32> to tensor<64xi64>
  %f = arith.sitofp %y : tensor<64xi64> to tensor<64xf32>
  tile.store %f, %c[%c0] : tensor<64xf32>, !tile.view<?xf32>
  tile.return
}
