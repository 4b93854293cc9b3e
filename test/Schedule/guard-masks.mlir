// Masks of which decided is that only some trips make them.
// RUN: tile-opt %s --tile-decide-guards --tile-guard-masks | FileCheck %s

#mma = #nvptx.wgmma<"m64n64k16", bf16, f32>
!buffer = !tile.buffer<64x64xbf16>

// Keys below %n are seen: all of a trip's, up to the last trip that ends in front of %n. Numbers of 32
// bits might wrap where %n does not fit them, which then is no trip.
// CHECK-LABEL: @ragged
// CHECK-SAME: %[[N:[^:]*]]: i32
// CHECK: %[[LIMIT:.*]] = arith.index_cast %[[N]] : i32 to index
// CHECK: %[[UP:.*]] = arith.subi %[[LIMIT]], %{{.*}} : index
// CHECK: %[[BEFORE:.*]] = arith.subi %[[UP]], %{{.*}} : index
// CHECK: %[[LAST:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : index
// CHECK: scf.for %[[J:.*]] = %{{.*}} to
// CHECK-NOT: tile.iota
// CHECK: %[[D:.*]] = tile.dot
// CHECK-NEXT: %[[LATE:.*]] = arith.cmpi sgt, %[[J]], %{{.*}} : index
// CHECK-NEXT: %[[S:.*]] = scf.if %[[LATE]] -> (tensor<64x64xf32>) {
// CHECK: tile.iota 1
// CHECK: arith.cmpi slt
// CHECK: %[[M:.*]] = arith.select %{{.*}}, %[[D]], %{{.*}} : tensor<64x64xi1>
// CHECK-NEXT: scf.yield %[[M]]
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %[[D]]
// CHECK-NEXT: } {tile.split_loop}
// CHECK-NEXT: arith.addf %{{.*}}, %[[S]]
tile.kernel @ragged(%n: i32, %end: index, %c: !tile.view<?x?xf32>)
    attributes {tile.roles = [#tile.role<"compute", warps = 4>]} {
  %a = tile.alloc : !buffer
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %never = arith.constant dense<0xFF800000> : tensor<64x64xf32>
  %sum = scf.for %j = %c0 to %end step %c64 iter_args(%s = %zero) -> tensor<64x64xf32> {
    %at = arith.index_cast %j : index to i32
    %from = tile.splat %at : tensor<64x64xi32>
    %column = tile.iota 1 : tensor<64x64xi32>
    %keys = arith.addi %from, %column : tensor<64x64xi32>
    %ns = tile.splat %n : tensor<64x64xi32>
    %sees = arith.cmpi slt, %keys, %ns : tensor<64x64xi32>
    %d = tile.dot %a, %a, %zero transpose_b {atom = #mma, role = "compute"}
       : !buffer, !buffer -> tensor<64x64xf32>
    %masked = arith.select %sees, %d, %never : tensor<64x64xi1>, tensor<64x64xf32>
    %next = arith.addf %s, %masked : tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  tile.store %sum, %c[%c0, %c0] {role = "compute"} : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}

// A window: the first trips hold keys in front of it, the last ones keys behind it. Numbers of 64 bits
// that are too far from zero for their sums might wrap.
// CHECK-LABEL: @window
// CHECK: scf.for %[[J:.*]] = %{{.*}} to
// CHECK-NOT: tile.iota
// CHECK: %[[D:.*]] = tile.dot
// CHECK-NEXT: %[[EARLY:.*]] = arith.cmpi slt, %[[J]], %{{.*}} : index
// CHECK-NEXT: %[[S:.*]] = scf.if %[[EARLY]] -> (tensor<64x64xf32>) {
// CHECK: arith.andi
// CHECK-NEXT: arith.select
// CHECK-NEXT: scf.yield
// CHECK-NEXT: } else {
// CHECK-NEXT: %[[LATE:.*]] = arith.cmpi sgt, %[[J]], %{{.*}} : index
// CHECK-NEXT: %[[T:.*]] = scf.if %[[LATE]] -> (tensor<64x64xf32>) {
// CHECK: arith.andi
// CHECK-NEXT: arith.select
// CHECK-NEXT: scf.yield
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %[[D]]
// CHECK-NEXT: } {tile.split_loop}
// CHECK-NEXT: scf.yield %[[T]]
// CHECK-NEXT: } {tile.split_loop}
// CHECK-NEXT: arith.addf %{{.*}}, %[[S]]
tile.kernel @window(%n: index, %w: i64, %c: !tile.view<?x?xf32>)
    attributes {tile.roles = [#tile.role<"compute", warps = 4>]} {
  %a = tile.alloc : !buffer
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %never = arith.constant dense<0xFF800000> : tensor<64x64xf32>
  %rows = tile.iota 0 : tensor<64x64xi64>
  %sum = scf.for %j = %c0 to %n step %c64 iter_args(%s = %zero) -> tensor<64x64xf32> {
    %at = arith.index_cast %j : index to i64
    %from = tile.splat %at : tensor<64x64xi64>
    %column = tile.iota 1 : tensor<64x64xi32>
    %wide = arith.extsi %column : tensor<64x64xi32> to tensor<64x64xi64>
    %keys = arith.addi %from, %wide : tensor<64x64xi64>
    %ws = tile.splat %w : tensor<64x64xi64>
    %first = arith.subi %rows, %ws : tensor<64x64xi64>
    %near = arith.cmpi sgt, %keys, %first : tensor<64x64xi64>
    %causal = arith.cmpi sle, %keys, %rows : tensor<64x64xi64>
    %sees = arith.andi %near, %causal : tensor<64x64xi1>
    %d = tile.dot %a, %a, %zero transpose_b {atom = #mma, role = "compute"}
       : !buffer, !buffer -> tensor<64x64xf32>
    %masked = arith.select %sees, %d, %never : tensor<64x64xi1>, tensor<64x64xf32>
    %next = arith.addf %s, %masked : tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  tile.store %sum, %c[%c0, %c0] {role = "compute"} : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}

// Two masks by one condition that says what is hidden.
// CHECK-LABEL: @hidden
// CHECK: %[[D:.*]] = tile.dot
// CHECK: scf.if
// CHECK: arith.cmpi sge
// CHECK-NEXT: %[[M:.*]] = arith.select %{{.*}}, %{{.*}}, %[[D]]
// CHECK-NEXT: scf.yield %[[M]]
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %[[D]]
// CHECK: %[[E:.*]] = math.exp2
// CHECK: scf.if
// CHECK: arith.cmpi sge
// CHECK-NEXT: %[[M:.*]] = arith.select %{{.*}}, %{{.*}}, %[[E]]
// CHECK-NEXT: scf.yield %[[M]]
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %[[E]]
tile.kernel @hidden(%n: index, %c: !tile.view<?x?xf32>)
    attributes {tile.roles = [#tile.role<"compute", warps = 4>]} {
  %a = tile.alloc : !buffer
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %j = %c0 to %n step %c64 iter_args(%s = %zero) -> tensor<64x64xf32> {
    %from = tile.splat %j : tensor<64x64xindex>
    %column = tile.iota 1 : tensor<64x64xindex>
    %keys = arith.addi %from, %column : tensor<64x64xindex>
    %ns = tile.splat %n : tensor<64x64xindex>
    %hides = arith.cmpi sge, %keys, %ns : tensor<64x64xindex>
    %d = tile.dot %a, %a, %zero transpose_b {atom = #mma, role = "compute"}
       : !buffer, !buffer -> tensor<64x64xf32>
    %masked = arith.select %hides, %zero, %d : tensor<64x64xi1>, tensor<64x64xf32>
    %e = math.exp2 %masked : tensor<64x64xf32>
    %again = arith.select %hides, %zero, %e : tensor<64x64xi1>, tensor<64x64xf32>
    %next = arith.addf %s, %again : tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  tile.store %sum, %c[%c0, %c0] {role = "compute"} : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}

// A mask that does not change in the loop, and one whose numbers of 32 bits may have wrapped before
// they are compared in 64.
// CHECK-LABEL: @left
// CHECK-NOT: scf.if
tile.kernel @left(%n: i32, %m: i64, %end: index, %c: !tile.view<?x?xf32>)
    attributes {tile.roles = [#tile.role<"compute", warps = 4>]} {
  %a = tile.alloc : !buffer
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %j = %c0 to %end step %c64 iter_args(%s = %zero) -> tensor<64x64xf32> {
    %at = arith.index_cast %j : index to i32
    %from = tile.splat %at : tensor<64x64xi32>
    %column = tile.iota 1 : tensor<64x64xi32>
    %keys = arith.addi %from, %column : tensor<64x64xi32>
    %wide = arith.extsi %keys : tensor<64x64xi32> to tensor<64x64xi64>
    %ms = tile.splat %m : tensor<64x64xi64>
    %sees = arith.cmpi slt, %wide, %ms : tensor<64x64xi64>
    %d = tile.dot %a, %a, %zero transpose_b {atom = #mma, role = "compute"}
       : !buffer, !buffer -> tensor<64x64xf32>
    %masked = arith.select %sees, %d, %zero : tensor<64x64xi1>, tensor<64x64xf32>
    %ns = tile.splat %n : tensor<64x64xi32>
    %fixed = arith.cmpi slt, %column, %ns : tensor<64x64xi32>
    %both = arith.select %fixed, %masked, %zero : tensor<64x64xi1>, tensor<64x64xf32>
    %next = arith.addf %s, %both : tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  tile.store %sum, %c[%c0, %c0] {role = "compute"} : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}

// Numbers that the loop carries are not known, nor what constants of more bits make of sums.
// CHECK-LABEL: @carried
// CHECK-NOT: scf.if
tile.kernel @carried(%end: index, %c: !tile.view<?x?xf32>)
    attributes {tile.roles = [#tile.role<"compute", warps = 4>]} {
  %a = tile.alloc : !buffer
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %far = arith.constant -9223372036854775808 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %first = arith.constant dense<3> : tensor<64x64xindex>
  %sum, %it = scf.for %j = %c0 to %end step %c64 iter_args(%s = %zero, %carried = %first)
      -> (tensor<64x64xf32>, tensor<64x64xindex>) {
    %from = tile.splat %j : tensor<64x64xindex>
    %column = tile.iota 1 : tensor<64x64xindex>
    %keys = arith.addi %from, %column : tensor<64x64xindex>
    %sees = arith.cmpi slt, %keys, %carried : tensor<64x64xindex>
    %fars = tile.splat %far : tensor<64x64xindex>
    %none = arith.cmpi slt, %keys, %fars : tensor<64x64xindex>
    %d = tile.dot %a, %a, %zero transpose_b {atom = #mma, role = "compute"}
       : !buffer, !buffer -> tensor<64x64xf32>
    %masked = arith.select %sees, %d, %zero : tensor<64x64xi1>, tensor<64x64xf32>
    %hidden = arith.select %none, %masked, %zero : tensor<64x64xi1>, tensor<64x64xf32>
    %next = arith.addf %s, %hidden : tensor<64x64xf32>
    %later = arith.addi %carried, %from : tensor<64x64xindex>
    scf.yield %next, %later : tensor<64x64xf32>, tensor<64x64xindex>
  }
  tile.store %sum, %c[%c0, %c0] {role = "compute"} : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}

// A comparison that a mask has twice.
// CHECK-LABEL: @shared
// CHECK: %[[D:.*]] = tile.dot
// CHECK: scf.if
// CHECK-COUNT-1: arith.cmpi slt
// CHECK: } {tile.split_loop}
// CHECK-NOT: arith.cmpi
// CHECK: tile.return
tile.kernel @shared(%n: index, %c: !tile.view<?x?xf32>)
    attributes {tile.roles = [#tile.role<"compute", warps = 4>]} {
  %a = tile.alloc : !buffer
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %j = %c0 to %n step %c64 iter_args(%s = %zero) -> tensor<64x64xf32> {
    %from = tile.splat %j : tensor<64x64xindex>
    %column = tile.iota 1 : tensor<64x64xindex>
    %keys = arith.addi %from, %column : tensor<64x64xindex>
    %ns = tile.splat %n : tensor<64x64xindex>
    %one = arith.cmpi slt, %keys, %ns : tensor<64x64xindex>
    %two = arith.andi %one, %one : tensor<64x64xi1>
    %sees = arith.andi %one, %two : tensor<64x64xi1>
    %d = tile.dot %a, %a, %zero transpose_b {atom = #mma, role = "compute"}
       : !buffer, !buffer -> tensor<64x64xf32>
    %masked = arith.select %sees, %d, %zero : tensor<64x64xi1>, tensor<64x64xf32>
    %next = arith.addf %s, %masked : tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  tile.store %sum, %c[%c0, %c0] {role = "compute"} : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}

// Two masks: each has conditions of its own.
// CHECK-LABEL: @two
// CHECK: %[[D:.*]] = tile.dot
// CHECK-NEXT: arith.cmpi slt
// CHECK-NEXT: %[[S:.*]] = scf.if
// CHECK: arith.select %{{.*}}, %[[D]]
// CHECK: scf.yield %[[D]]
// CHECK-NEXT: } {tile.split_loop}
// CHECK: %[[E:.*]] = math.exp2 %[[S]]
// CHECK-NEXT: arith.cmpi sgt
// CHECK-NEXT: scf.if
// CHECK: arith.select %{{.*}}, %[[E]]
// CHECK: scf.yield %[[E]]
// CHECK-NEXT: } {tile.split_loop}
tile.kernel @two(%m: index, %n: index, %c: !tile.view<?x?xf32>)
    attributes {tile.roles = [#tile.role<"compute", warps = 4>]} {
  %a = tile.alloc : !buffer
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %j = %c0 to %n step %c64 iter_args(%s = %zero) -> tensor<64x64xf32> {
    %from = tile.splat %j : tensor<64x64xindex>
    %column = tile.iota 1 : tensor<64x64xindex>
    %keys = arith.addi %from, %column : tensor<64x64xindex>
    %ms = tile.splat %m : tensor<64x64xindex>
    %ns = tile.splat %n : tensor<64x64xindex>
    %behind = arith.cmpi sge, %keys, %ms : tensor<64x64xindex>
    %before = arith.cmpi slt, %keys, %ns : tensor<64x64xindex>
    %d = tile.dot %a, %a, %zero transpose_b {atom = #mma, role = "compute"}
       : !buffer, !buffer -> tensor<64x64xf32>
    %masked = arith.select %behind, %d, %zero : tensor<64x64xi1>, tensor<64x64xf32>
    %e = math.exp2 %masked : tensor<64x64xf32>
    %again = arith.select %before, %e, %zero : tensor<64x64xi1>, tensor<64x64xf32>
    %next = arith.addf %s, %again : tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  tile.store %sum, %c[%c0, %c0] {role = "compute"} : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}
