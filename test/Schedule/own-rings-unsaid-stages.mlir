// Who reads a ring that its role fills, and says no stage, reads as late as leaves slots for what
// products in flight hold; and before the next trip what tells whether there is one.
// RUN: tile-opt %s --tile-pipeline=stop-after=layout --tile-rotate-loops --tile-check-schedule --tile-realise-rings -split-input-file | FileCheck %s
#copy = #nvptx.cp_async<16>
#mma = #nvptx.wgmma<"m64n64k16", bf16, f32>
#facts = #tile.facts<noalias, pointer = 16, strides = [16, 2], extents = [16, 16], index32>
!view = !tile.view<?x?xbf16, strides [?, 1]>
!out = !tile.view<?x?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// One of four slots is held for a trip: two are filled ahead.
// CHECK-LABEL: tile.kernel @held
// CHECK: tile.put {{.*}}stage = 0
// CHECK: tile.get {{.*}}stage = 2
tile.kernel @held(%a: !view {tile.facts = #facts}, %c: !out)
    attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %k = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %kk = %c0 to %k step %c32 iter_args(%s = %zero) -> tensor<64x64xf32> {
    %x = tile.load %a[%c0, %kk] {atom = #copy, role = "all"} : !view -> tensor<64x32xbf16>
    %d = tile.dot %x, %x, %s transpose_b {atom = #mma, role = "all", in_flight = 1}
       : tensor<64x32xbf16>, tensor<64x32xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  } {tile.depth = 4 : i64}
  tile.store %sum, %c[%c0, %c0] {role = "all"} : tensor<64x64xf32>, !out
  tile.return
}
}

// -----

#facts = #tile.facts<noalias, pointer = 16, strides = [16, 4], extents = [16, 16], index32>
!view = !tile.view<?x?xf32, strides [?, 1]>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// CHECK-LABEL: tile.kernel @told
// CHECK: tile.put {{.*}}stage = 0
// CHECK: tile.get {{.*}}stage = 0
tile.kernel @told(%a: !view {tile.facts = #facts}, %c: !view)
    attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %four = arith.constant 4.0 : f32
  %true = arith.constant true
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %sum:2 = scf.while (%i = %c0, %s = %zero, %goes = %true) : (index, tensor<64x32xf32>, i1) -> (index, tensor<64x32xf32>) {
    scf.condition(%goes) %i, %s : index, tensor<64x32xf32>
  } do {
  ^bb0(%i: index, %s: tensor<64x32xf32>):
    %x = tile.load %a[%i, %c0] {tile.atom = "cp_async", depth = 3} : !view -> tensor<64x32xf32>
    %t = arith.addf %s, %x : tensor<64x32xf32>
    %rows = tile.reduce %t axis = 1 : tensor<64x32xf32> -> tensor<64xf32> {
    ^bb0(%l: f32, %r: f32):
      %m = arith.maximumf %l, %r : f32
      tile.yield %m : f32
    }
    %most = tile.reduce %rows axis = 0 : tensor<64xf32> -> tensor<f32> {
    ^bb0(%l: f32, %r: f32):
      %m = arith.maximumf %l, %r : f32
      tile.yield %m : f32
    }
    %number = tile.to_scalar %most : tensor<f32>
    %goes = arith.cmpf olt, %number, %four : f32
    %next = arith.addi %i, %c1 : index
    scf.yield %next, %t, %goes : index, tensor<64x32xf32>, i1
  }
  tile.store %sum#1, %c[%c0, %c0] : tensor<64x32xf32>, !view
  tile.return
}
}

// -----

// Nothing is loaded ahead that the trip before may store over, however many slots there are: it is
// read, and through registers written, in its own trip.
!view = !tile.view<?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// CHECK-LABEL: tile.kernel @in_place
// CHECK: tile.put {{.*}}stage = 0
// CHECK: tile.get {{.*}}stage = 0
// CHECK: tile.put {{.*}}stage = 0
// CHECK: tile.get {{.*}}stage = 0
tile.kernel @in_place(%a: !view, %b: !view) attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %n = tile.dim %a, 0 : !view
  scf.for %i = %c0 to %n step %c512 {
    %x = tile.load %a[%i] {tile.atom = "cp_async", depth = 3} : !view -> tensor<512xf32>
    %y = tile.load %b[%i] {tile.atom = "through_registers", depth = 2} : !view -> tensor<512xf32>
    %z = arith.addf %x, %y : tensor<512xf32>
    tile.store %z, %a[%i] : tensor<512xf32>, !view
  }
  tile.return
}
}
