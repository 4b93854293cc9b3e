// RUN: tile-opt --tile-decide-roles --split-input-file %s | FileCheck %s
// RUN: tile-opt --tile-decide-roles --split-input-file %s | FileCheck %s --check-prefix=WHY

// What stands beside products: numbers from memory that say where operands lie, and atomic accesses
// by tiles.

#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>
#counts = #tile.facts<pointer = 16, strides = [4], extents = [16], index32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// CHECK-LABEL: @number
// CHECK-SAME: tile.roles = [#tile.role<"compute", warps = 4>, #tile.role<"load", warps = 1>]
// CHECK: tile.load {{.*}} : {{.*}} -> tensor<1xi32>
// CHECK: tile.load {{.*}} {atom = #nvptx.tma, ring = "ring0", role = "load"}
// CHECK: tile.atomic_rmw {{.*}}role = "compute"
tile.kernel @number(%a: !tile.view<?x?xbf16> {tile.facts = #facts},
                    %t: !tile.view<?xi32> {tile.facts = #counts}, %c: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %k = tile.dim %a, 1 : !tile.view<?x?xbf16>
  %loaded = tile.load %t[%c0] : !tile.view<?xi32> -> tensor<1xi32>
  %number = tile.to_scalar %loaded : tensor<1xi32>
  %row = arith.index_cast %number : i32 to index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<64x64xf32> {
    %x = tile.load %a[%row, %kk] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    %d = tile.dot %x, %x, %s transpose_b
       : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %at = tile.iota 0 : tensor<64x64xi32>
  %of = tile.iota 1 : tensor<64x64xi32>
  %old = tile.atomic_rmw addf %c[%at, %of], %sum : !tile.view<?x?xf32>, [tensor<64x64xi32>, tensor<64x64xi32>], tensor<64x64xf32>
  tile.return
}
}

// -----

// What follows an atomic access that acquires may have to see what others wrote: another role's
// engine would not wait for it.

#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// CHECK-LABEL: @acquires
// CHECK-SAME: tile.roles = [#tile.role<"all"
// WHY: no_roles = {line = {{[0-9]+}} : i64, why = "roles would not order it and an atomic access in front of it"}
tile.kernel @acquires(%a: !tile.view<?x?xbf16> {tile.facts = #facts}, %t: !tile.view<?xi32>,
                      %c: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %one = arith.constant 1 : i32
  %k = tile.dim %a, 1 : !tile.view<?x?xbf16>
  %old = tile.atomic_rmw addi %t[%c0], %one : !tile.view<?xi32>, [index], i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<64x64xf32> {
    %x = tile.load %a[%c0, %kk] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    %d = tile.dot %x, %x, %s transpose_b
       : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %sum, %c[%c0, %c0] : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}
}

// -----

// A number that a program has stored itself: the role that loads would read it before that.

#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// CHECK-LABEL: @stored
// CHECK-SAME: tile.roles = [#tile.role<"all"
tile.kernel @stored(%a: !tile.view<?x?xbf16> {tile.facts = #facts}, %t: !tile.view<?xi32>,
                    %c: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %one = arith.constant dense<1> : tensor<1xi32>
  %k = tile.dim %a, 1 : !tile.view<?x?xbf16>
  tile.store %one, %t[%c0] : tensor<1xi32>, !tile.view<?xi32>
  %loaded = tile.load %t[%c0] : !tile.view<?xi32> -> tensor<1xi32>
  %number = tile.to_scalar %loaded : tensor<1xi32>
  %row = arith.index_cast %number : i32 to index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<64x64xf32> {
    %x = tile.load %a[%row, %kk] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    %d = tile.dot %x, %x, %s transpose_b
       : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %sum, %c[%c0, %c0] : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}
}

// -----

// Rows that are gathered and sums that are scattered are of the role that multiplies; what stands
// behind a condition of the trip is loaded behind the same in the role that loads.

#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>
#counts = #tile.facts<pointer = 16, strides = [4], extents = [16], index32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// CHECK-LABEL: @gathered
// CHECK-SAME: tile.roles = [#tile.role<"compute", warps = 4>, #tile.role<"load", warps = 1>]
// CHECK: tile.gather {{.*}}role = "compute"
// CHECK: scf.if
// CHECK: tile.load %b{{.*}}atom = #nvptx.tma, ring = "ring0", role = "load"
// CHECK: tile.dot {{.*}}role = "compute"
// CHECK: tile.scatter {{.*}}role = "compute"
tile.kernel @gathered(%a: !tile.view<?x?xbf16> {tile.facts = #facts}, %b: !tile.view<?x?xbf16> {tile.facts = #facts},
                      %t: !tile.view<?xi32> {tile.facts = #counts}, %c: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : index
  %k = tile.dim %a, 1 : !tile.view<?x?xbf16>
  %at = tile.iota 0 : tensor<64x64xi32>
  %of = tile.iota 1 : tensor<64x64xi32>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<64x64xf32> {
    %loaded = tile.load %t[%kk] : !tile.view<?xi32> -> tensor<1xi32>
    %number = tile.to_scalar %loaded : tensor<1xi32>
    %isOpen = arith.cmpi slt, %number, %c1 : i32
    %x = tile.gather %a[%at, %of] : !tile.view<?x?xbf16>, [tensor<64x64xi32>, tensor<64x64xi32>] -> tensor<64x64xbf16>
    %r = scf.if %isOpen -> tensor<64x64xf32> {
      %y = tile.load %b[%c0, %kk] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
      %d = tile.dot %x, %y, %s transpose_b
         : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    } else {
      scf.yield %s : tensor<64x64xf32>
    }
    scf.yield %r : tensor<64x64xf32>
  }
  tile.scatter %sum, %c[%at, %of] : tensor<64x64xf32>, !tile.view<?x?xf32>, [tensor<64x64xi32>, tensor<64x64xi32>]
  tile.return
}
}

// -----

// Three sums that are used up in their trip are never there at once: two of them count.

#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// CHECK-LABEL: @at_once
// CHECK-SAME: #tile.role<"load"
tile.kernel @at_once(%a: !tile.view<?x?xbf16> {tile.facts = #facts}, %c: !tile.view<?xf32>) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %n = tile.dim %a, 0 : !tile.view<?x?xbf16>
  %none = arith.constant dense<0.0> : tensor<64xf32>
  %zero = arith.constant dense<0.0> : tensor<64x160xf32>
  %x = tile.load %a[%c0, %c0] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
  %sum = scf.for %j = %c0 to %n step %c128 iter_args(%s = %none) -> tensor<64xf32> {
    %y = tile.load %a[%j, %c0] : !tile.view<?x?xbf16> -> tensor<160x64xbf16>
    %d = tile.dot %x, %y, %zero transpose_b : tensor<64x64xbf16>, tensor<160x64xbf16> -> tensor<64x160xf32>
    %e = tile.dot %x, %y, %zero transpose_b : tensor<64x64xbf16>, tensor<160x64xbf16> -> tensor<64x160xf32>
    %f = tile.dot %x, %y, %zero transpose_b : tensor<64x64xbf16>, tensor<160x64xbf16> -> tensor<64x160xf32>
    %g = arith.addf %d, %e : tensor<64x160xf32>
    %h = arith.addf %g, %f : tensor<64x160xf32>
    %r = tile.reduce %h axis = 1 : tensor<64x160xf32> -> tensor<64xf32> {
    ^bb0(%left: f32, %right: f32):
      %0 = arith.addf %left, %right : f32
      tile.yield %0 : f32
    }
    %t = arith.addf %s, %r : tensor<64xf32>
    scf.yield %t : tensor<64xf32>
  }
  tile.store %sum, %c[%c0] : tensor<64xf32>, !tile.view<?xf32>
  tile.return
}
}

// -----

// A role that loads where a number of each trip's tensors says so would wait for it each trip.
#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// WHY: a role that loads it would wait for a number of each trip's tensors
// CHECK-LABEL: @told
// CHECK-NOT: tile.roles
// CHECK: tile.return
tile.kernel @told(%a: !tile.view<?x?xbf16> {tile.facts = #facts}, %c: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %half = arith.constant 0.5 : bf16
  %k = tile.dim %a, 1 : !tile.view<?x?xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<64x64xf32> {
    %x = tile.load %a[%c0, %kk] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    %rows = tile.reduce %x axis = 1 : tensor<64x64xbf16> -> tensor<64xbf16> {
    ^bb0(%left: bf16, %right: bf16):
      %max = arith.maximumf %left, %right : bf16
      tile.yield %max : bf16
    }
    %all = tile.reduce %rows axis = 0 : tensor<64xbf16> -> tensor<bf16> {
    ^bb0(%left: bf16, %right: bf16):
      %max = arith.maximumf %left, %right : bf16
      tile.yield %max : bf16
    }
    %most = tile.to_scalar %all : tensor<bf16>
    %is = arith.cmpf ogt, %most, %half : bf16
    %next = scf.if %is -> tensor<64x64xf32> {
      %y = tile.load %a[%c64, %kk] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
      %d = tile.dot %x, %y, %s transpose_b
         : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    } else {
      scf.yield %s : tensor<64x64xf32>
    }
    scf.yield %next : tensor<64x64xf32>
  }
  tile.store %sum, %c[%c0, %c0] : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}
}
