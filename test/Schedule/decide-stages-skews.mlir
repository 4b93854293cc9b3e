// What nobody says the depth of has the slots that copies need which lag behind one another.
// RUN: tile-opt %s --tile-pipeline=stop-after=layout --tile-decide-stages | FileCheck %s

#copy = #nvptx.tma
#mma = #nvptx.wgmma<"m64n128k16", f16, f32>
!view = !tile.view<?x?xf16>
#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], noalias>
#roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4, copies = 2, skew = 1>]

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {

// The dots of a loop read a tile of each program.
// CHECK-LABEL: tile.kernel @programs
// CHECK: tile.load %{{.*}} {{{.*}}depth = 2 : i64, ring = "x"
// CHECK: tile.load %{{.*}} {{{.*}}depth = 3 : i64, ring = "y"
tile.kernel @programs(%a: !view {tile.facts = #facts}, %b: !view {tile.facts = #facts}, %c: !tile.view<?x?xf32>, %n: index)
    attributes {tile.roles = #roles, tile.persistent = #tile.persistent<programs = 2>} grid { tile.grid %n } {
  %p = tile.program_id x
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %m = tile.dim %b, 0 : !view
  %row = arith.muli %p, %c128 : index
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %x = tile.load %a[%row, %c0] {atom = #copy, role = "load", ring = "x"} : !view -> tensor<128x64xf16>
  %sum = scf.for %j = %c0 to %m step %c128 iter_args(%s = %zero) -> tensor<128x128xf32> {
    %y = tile.load %b[%j, %c0] {atom = #copy, role = "load", ring = "y", depth = 3} : !view -> tensor<128x64xf16>
    %d = tile.dot %x, %y, %s transpose_b {atom = #mma, role = "mma", in_flight = 0}
       : tensor<128x64xf16>, tensor<128x64xf16> -> tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  tile.store %sum, %c[%row, %c0] {role = "mma"} : tensor<128x128xf32>, !tile.view<?x?xf32>
  tile.return
}

// A kernel that runs one program has it once.
// CHECK-LABEL: tile.kernel @once
// CHECK: tile.load %{{.*}} ring = "x"
// CHECK-NOT: depth = 2
// CHECK: tile.return
tile.kernel @once(%a: !view {tile.facts = #facts}, %b: !view {tile.facts = #facts}, %c: !tile.view<?x?xf32>)
    attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %m = tile.dim %b, 0 : !view
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %x = tile.load %a[%c0, %c0] {atom = #copy, role = "load", ring = "x"} : !view -> tensor<128x64xf16>
  %sum = scf.for %j = %c0 to %m step %c128 iter_args(%s = %zero) -> tensor<128x128xf32> {
    %y = tile.load %b[%j, %c0] {atom = #copy, role = "load", ring = "y", depth = 3} : !view -> tensor<128x64xf16>
    %d = tile.dot %x, %y, %s transpose_b {atom = #mma, role = "mma", in_flight = 0}
       : tensor<128x64xf16>, tensor<128x64xf16> -> tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  tile.store %sum, %c[%c0, %c0] {role = "mma"} : tensor<128x128xf32>, !tile.view<?x?xf32>
  tile.return
}

// Another role makes what dots read.
// CHECK-LABEL: tile.kernel @handed
// CHECK: arith.addf {{.*}} {{{.*}}tile.depth = 2 : i64
tile.kernel @handed(%a: !view {tile.facts = #facts}, %b: !view {tile.facts = #facts}, %c: !tile.view<?x?xf32>)
    attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %k = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<128x128xf32> {
    %x = tile.load %a[%c0, %kk] {atom = #copy, role = "load", ring = "x", depth = 2} : !view -> tensor<128x64xf16>
    %y = tile.load %b[%c0, %kk] {role = "load"} : !view -> tensor<128x64xf16>
    %z = arith.addf %y, %y {tile.role = "load"} : tensor<128x64xf16>
    %d = tile.dot %x, %z, %s transpose_b {atom = #mma, role = "mma", in_flight = 0}
       : tensor<128x64xf16>, tensor<128x64xf16> -> tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  tile.store %sum, %c[%c0, %c0] {role = "mma"} : tensor<128x128xf32>, !tile.view<?x?xf32>
  tile.return
}

// Or loads it, and writes it where they read it.
// CHECK-LABEL: tile.kernel @loaded
// CHECK: tile.load %{{.*}} {depth = 2 : i64, role = "load"
tile.kernel @loaded(%a: !view {tile.facts = #facts}, %b: !view {tile.facts = #facts}, %c: !tile.view<?x?xf32>)
    attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %k = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<128x128xf32> {
    %x = tile.load %a[%c0, %kk] {atom = #copy, role = "load", ring = "x", depth = 2} : !view -> tensor<128x64xf16>
    %y = tile.load %b[%c0, %kk] {role = "load"} : !view -> tensor<128x64xf16>
    %d = tile.dot %x, %y, %s transpose_b {atom = #mma, role = "mma", in_flight = 0}
       : tensor<128x64xf16>, tensor<128x64xf16> -> tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  tile.store %sum, %c[%c0, %c0] {role = "mma"} : tensor<128x128xf32>, !tile.view<?x?xf32>
  tile.return
}
}
