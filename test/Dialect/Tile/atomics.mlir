// Atomic accesses, in text, generic form and bytecode.
// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s --mlir-print-op-generic | tile-opt | FileCheck %s
// RUN: tile-opt %s --emit-bytecode | tile-opt | FileCheck %s

// CHECK-LABEL: tile.kernel @tiles
// CHECK:         tile.atomic_rmw addf %{{.*}}[%{{.*}}], %{{.*}} mask(%{{.*}} : tensor<64xi1>) order = relaxed scope = system : !tile.view<?xf32>, [tensor<64xi32>], tensor<64xf32>
// The defaults, acq_rel and device, are not printed.
// CHECK:         tile.atomic_rmw exch %{{.*}}[%{{.*}}], %{{.*}} : !tile.view<?xf32>, [tensor<64xi32>], tensor<64xf32>
// CHECK:         tile.atomic_cas %{{.*}}[%{{.*}}], %{{.*}}, %{{.*}} mask(%{{.*}} : tensor<64xi1>) order = release scope = program : !tile.view<?xf32>, [tensor<64xi32>], tensor<64xf32>
tile.kernel @tiles(%x: !tile.view<?xf32>) {
  %i = tile.iota 0 : tensor<64xi32>
  %v = arith.constant dense<1.0> : tensor<64xf32>
  %m = arith.constant dense<true> : tensor<64xi1>
  %0 = tile.atomic_rmw addf %x[%i], %v mask(%m : tensor<64xi1>) order = relaxed scope = system
     : !tile.view<?xf32>, [tensor<64xi32>], tensor<64xf32>
  %1 = tile.atomic_rmw exch %x[%i], %v order = acq_rel scope = device
     : !tile.view<?xf32>, [tensor<64xi32>], tensor<64xf32>
  %2 = tile.atomic_cas %x[%i], %v, %v mask(%m : tensor<64xi1>) order = release scope = program
     : !tile.view<?xf32>, [tensor<64xi32>], tensor<64xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @scalars
// CHECK:         tile.atomic_rmw addi %{{.*}}[%{{.*}}], %{{.*}} mask(%{{.*}} : i1) scope = cluster : !tile.view<?xi32>, [index], i32
// CHECK:         tile.atomic_rmw mins
// CHECK:         tile.atomic_rmw maxs
// CHECK:         tile.atomic_rmw minu
// CHECK:         tile.atomic_rmw maxu
// CHECK:         tile.atomic_rmw and
// CHECK:         tile.atomic_rmw or
// CHECK:         tile.atomic_rmw xor
// CHECK:         tile.atomic_rmw minf
// CHECK:         tile.atomic_rmw maxf
// CHECK:         tile.atomic_cas %{{.*}}[%{{.*}}], %{{.*}}, %{{.*}} order = acquire : !tile.view<?xi32>, [index], i32
tile.kernel @scalars(%x: !tile.view<?xi32>, %y: !tile.view<?xf64>, %i: index, %v: i32, %f: f64,
                     %m: i1) {
  %0 = tile.atomic_rmw addi %x[%i], %v mask(%m : i1) scope = cluster : !tile.view<?xi32>, [index], i32
  %1 = tile.atomic_rmw mins %x[%i], %v : !tile.view<?xi32>, [index], i32
  %2 = tile.atomic_rmw maxs %x[%i], %v : !tile.view<?xi32>, [index], i32
  %3 = tile.atomic_rmw minu %x[%i], %v : !tile.view<?xi32>, [index], i32
  %4 = tile.atomic_rmw maxu %x[%i], %v : !tile.view<?xi32>, [index], i32
  %5 = tile.atomic_rmw and %x[%i], %v : !tile.view<?xi32>, [index], i32
  %6 = tile.atomic_rmw or %x[%i], %v : !tile.view<?xi32>, [index], i32
  %7 = tile.atomic_rmw xor %x[%i], %v : !tile.view<?xi32>, [index], i32
  %8 = tile.atomic_rmw minf %y[%i], %f : !tile.view<?xf64>, [index], f64
  %9 = tile.atomic_rmw maxf %y[%i], %f : !tile.view<?xf64>, [index], f64
  %10 = tile.atomic_cas %x[%i], %v, %v order = acquire : !tile.view<?xi32>, [index], i32
  tile.return
}
