// RUN: tile-opt %s --tile-check-realised --split-input-file --verify-diagnostics
// The CPU realises no schedule.
// RUN: not tile-compile %S/../../../benchmarks/gemm-sm_80.mlir --target cpu 2>&1 \
// RUN:   | FileCheck %s --check-prefix=OTHER
// RUN: sed '/^module/s/attributes {.*} {/{/' %S/../../../benchmarks/gemm-sm_80.mlir > %t.mlir
// RUN: not tile-compile %t.mlir --target cpu 2>&1 | FileCheck %s --check-prefix=CPU

// OTHER: error: expected the target that the module is for, nvptx:sm_80, got cpu
// CPU: error: 'tile.kernel' op expected a target whose programs several warps run, since 'tile.roles' is decided, got cpu

!view = !tile.view<?xf32>
#roles = [#tile.role<"all", warps = 4>]
// expected-error @+1 {{expected no 'tile.roles' once the schedule is realised: nothing obeyed it}}
tile.kernel @roles(%a: !view) attributes {tile.roles = #roles} {
  tile.return
}

// -----

// expected-error @+1 {{expected no 'tile.persistent' once the schedule is realised: nothing obeyed it}}
tile.kernel @persistent() attributes {tile.persistent = #tile.persistent<programs = 2>} {
  tile.return
}

// -----

!view = !tile.view<?xf32>
tile.kernel @ops(%a: !view, %f: f32) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{expected no 'stage' once the schedule is realised: nothing obeyed it}}
  %x = tile.load %a[%c0] {stage = 0} : !view -> tensor<64xf32>
  // expected-error @+1 {{expected no 'tile.order' once the schedule is realised: nothing obeyed it}}
  %e = arith.addf %f, %f {tile.order = 0} : f32
  // expected-error @+1 {{expected no 'in_flight' once the schedule is realised: nothing obeyed it}}
  tile.store %x, %a[%c0] {in_flight = 0} : tensor<64xf32>, !view
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %t = tile.splat %f : tensor<64x64xf32>
  // expected-error @+1 {{expected no 'interleave' once the schedule is realised: nothing obeyed it}}
  %d = tile.dot %t, %t, %zero {interleave = #tile.interleave<1 x (1 matrix)>} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  // The order of an atomic is that of memory.
  %old = tile.atomic_rmw addf %a[%c0], %f order = relaxed : !view, [index], f32
  tile.return
}

// -----

// Marks of passes, and decisions that a layout was to take in.
tile.kernel @marks(%a: !tile.view<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{expected no 'tile.atom' once the schedule is realised: nothing obeyed it}}
  %x = tile.load %a[%c0] {tile.atom = "tma"} : !tile.view<?xf32> -> tensor<64xf32>
  // expected-error @+1 {{expected no 'tile.layout' once the schedule is realised: nothing obeyed it}}
  %y = arith.addf %x, %x {tile.layout = #tile.layout<register = [[1],[2],[4],[8],[16],[32]]>} : tensor<64xf32>
  // expected-error @+1 {{expected no 'tile.least_trips' once the schedule is realised: nothing obeyed it}}
  scf.for %i = %c0 to %n step %n {
  } {tile.least_trips = 2 : i64}
  // The lowering reads this one.
  scf.for %i = %c0 to %n step %n {
  } {tile.programs}
  tile.return
}

// -----

// A host reads none of what is decided of ops.
module attributes {tile.target = #cpu.target<vector_bits = 256, registers = 16>} {
  tile.kernel @host(%a: !tile.view<?xf32>) {
    %i = tile.iota 0 : tensor<64xi32>
    // expected-error @+1 {{expected no 'tile.run' on cpu, which runs a program as one thread's loops}}
    %x = tile.gather %a[%i] {tile.run = array<i64: 0, 4>} : !tile.view<?xf32>, [tensor<64xi32>] -> tensor<64xf32>
    // expected-error @+1 {{expected no 'tile.layout' on cpu, which runs a program as one thread's loops}}
    %y = arith.addf %x, %x {tile.layout = #tile.layout<register = [[1],[2],[4],[8],[16],[32]]>} : tensor<64xf32>
    tile.return
  }
}
