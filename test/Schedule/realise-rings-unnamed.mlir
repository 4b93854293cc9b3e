// Loads of which nobody says that they share a ring have one of their own where they cannot share
// it: of other buffers, of other atoms, or of several stages where they would come together.
// RUN: tile-opt %s --tile-realise-rings | FileCheck %s

!view = !tile.view<?x?xf16>
!tile_ = !tile.buffer<32x32xf16>
!half = !tile.buffer<16x32xf16>
#roles = [#tile.role<"load", warps = 4>, #tile.role<"use", warps = 4>]

// What lies otherwise in memory, behind a use of what came before.
// CHECK-LABEL: tile.kernel @buffers
tile.kernel @buffers(%a: !view, %k: index) attributes {tile.roles = #roles} {
  // CHECK-DAG: = tile.channel {{.*}} : !tile.channel<3, !tile.buffer<32x32xf16>>
  // CHECK-DAG: = tile.channel {{.*}} : !tile.channel<3, !tile.buffer<16x32xf16>>
  // CHECK-NOT: = tile.channel
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  scf.for %i = %c0 to %k step %c32 {
    %x = tile.load %a[%c0, %i] {atom = #nvptx.tma, buffer = !tile_, stage = 0, role = "load"} : !view -> tensor<32x32xf16>
    tile.store %x, %a[%i, %c0] {stage = 0, role = "use"} : tensor<32x32xf16>, !view
    %y = tile.load %a[%c0, %i] {atom = #nvptx.tma, buffer = !half, stage = 0, role = "load"} : !view -> tensor<16x32xf16>
    tile.store %y, %a[%i, %c32] {stage = 0, role = "use"} : tensor<16x32xf16>, !view
    // This one lies as the first does.
    %z = tile.load %a[%i, %i] {atom = #nvptx.tma, buffer = !tile_, stage = 0, role = "load"} : !view -> tensor<32x32xf16>
    tile.store %z, %a[%i, %i] {stage = 0, role = "use"} : tensor<32x32xf16>, !view
  } {tile.depth = 3}
  tile.return
}

// CHECK-LABEL: tile.kernel @atoms
tile.kernel @atoms(%a: !view, %k: index) attributes {tile.roles = #roles} {
  // CHECK-COUNT-2: = tile.channel {{.*}} : !tile.channel<3, !tile.buffer<32x32xf16>>
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  scf.for %i = %c0 to %k step %c32 {
    %x = tile.load %a[%c0, %i] {atom = #nvptx.tma, buffer = !tile_, stage = 0, role = "load"} : !view -> tensor<32x32xf16>
    %y = tile.load %a[%c0, %i] {atom = #nvptx.cp_async<16>, buffer = !tile_, stage = 0, role = "load"} : !view -> tensor<32x32xf16>
    tile.store %x, %a[%i, %c0] {stage = 0, role = "use"} : tensor<32x32xf16>, !view
    tile.store %y, %a[%i, %c32] {stage = 0, role = "use"} : tensor<32x32xf16>, !view
  } {tile.depth = 3}
  tile.return
}

// One that says no stage comes with the first.
// CHECK-LABEL: tile.kernel @stages
tile.kernel @stages(%a: !view, %k: index) attributes {tile.roles = #roles} {
  // CHECK-DAG: = tile.channel {{.*}} : !tile.channel<3, !tile.buffer<32x32xf16>, !tile.buffer<32x32xf16>>
  // CHECK-DAG: = tile.channel {{.*}} : !tile.channel<3, !tile.buffer<32x32xf16>>
  // CHECK-NOT: = tile.channel
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  scf.for %i = %c0 to %k step %c32 {
    %x = tile.load %a[%c0, %i] {atom = #nvptx.tma, buffer = !tile_, stage = 0, role = "load"} : !view -> tensor<32x32xf16>
    %y = tile.load %a[%c0, %i] {atom = #nvptx.tma, buffer = !tile_, stage = 1, role = "load"} : !view -> tensor<32x32xf16>
    %z = tile.load %a[%i, %i] {atom = #nvptx.tma, buffer = !tile_, role = "load"} : !view -> tensor<32x32xf16>
    tile.store %x, %a[%i, %c0] {stage = 0, role = "use"} : tensor<32x32xf16>, !view
    tile.store %y, %a[%i, %c32] {stage = 0, role = "use"} : tensor<32x32xf16>, !view
    tile.store %z, %a[%i, %i] {stage = 0, role = "use"} : tensor<32x32xf16>, !view
  } {tile.depth = 3}
  tile.return
}
