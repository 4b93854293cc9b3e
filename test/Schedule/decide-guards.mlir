// Which masks only some trips of a loop make.
// RUN: tile-opt %s --tile-decide-guards | FileCheck %s

#mma = #nvptx.wgmma<"m64n64k16", bf16, f32>
!buffer = !tile.buffer<64x64xbf16>

// CHECK-LABEL: @guarded
// CHECK-NOT: scf.for
// CHECK: scf.for
// CHECK: arith.select %{{.*}} {tile.guarded = true} :
tile.kernel @guarded(%n: index, %c: !tile.view<?x?xf32>)
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
    %sees = arith.cmpi slt, %keys, %ns : tensor<64x64xindex>
    %d = tile.dot %a, %a, %zero transpose_b {atom = #mma, role = "compute"}
       : !buffer, !buffer -> tensor<64x64xf32>
    %masked = arith.select %sees, %d, %zero : tensor<64x64xi1>, tensor<64x64xf32>
    %next = arith.addf %s, %masked : tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  tile.store %sum, %c[%c0, %c0] {role = "compute"} : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}

// What a source says stays.
// CHECK-LABEL: @said
// CHECK: arith.select %{{.*}} {tile.guarded = false} :
tile.kernel @said(%n: index, %c: !tile.view<?x?xf32>)
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
    %sees = arith.cmpi slt, %keys, %ns : tensor<64x64xindex>
    %d = tile.dot %a, %a, %zero transpose_b {atom = #mma, role = "compute"}
       : !buffer, !buffer -> tensor<64x64xf32>
    %masked = arith.select %sees, %d, %zero {tile.guarded = false} : tensor<64x64xi1>, tensor<64x64xf32>
    %next = arith.addf %s, %masked : tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  tile.store %sum, %c[%c0, %c0] {role = "compute"} : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}

// Of a product that is pinned, the masks are where they are.
// CHECK-LABEL: @pinned
// CHECK-NOT: tile.guarded
tile.kernel @pinned(%n: index, %c: !tile.view<?x?xf32>)
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
    %sees = arith.cmpi slt, %keys, %ns : tensor<64x64xindex>
    %d = tile.dot %a, %a, %zero transpose_b {atom = #mma, in_flight = 0, role = "compute"}
       : !buffer, !buffer -> tensor<64x64xf32>
    %masked = arith.select %sees, %d, %zero : tensor<64x64xi1>, tensor<64x64xf32>
    %next = arith.addf %s, %masked : tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  tile.store %sum, %c[%c0, %c0] {role = "compute"} : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}

// Nobody knows when all elements are other numbers.
// CHECK-LABEL: @unknown
// CHECK-NOT: tile.guarded
tile.kernel @unknown(%n: index, %c: !tile.view<?x?xf32>)
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
    %sees = arith.cmpi ne, %keys, %ns : tensor<64x64xindex>
    %d = tile.dot %a, %a, %zero transpose_b {atom = #mma, role = "compute"}
       : !buffer, !buffer -> tensor<64x64xf32>
    %masked = arith.select %sees, %d, %zero : tensor<64x64xi1>, tensor<64x64xf32>
    %next = arith.addf %s, %masked : tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  tile.store %sum, %c[%c0, %c0] {role = "compute"} : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}
