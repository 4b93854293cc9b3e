// Slots and phases that go round a loop over programs through a branch, here of whether there is a trip,
// are said to be the same in all lanes: descriptors that are made of them stay in uniform registers.
// The role that one thread runs has no others to say it to.
//
// RUN: tile-opt %s --tile-pipeline=stop-after=target | FileCheck %s

// CHECK-LABEL: func.func @slots
// CHECK: nvvm.setmaxregister decrease
// CHECK-NOT: nvvm.shfl.sync
// CHECK: nvvm.setmaxregister increase
// CHECK: scf.for {{.*}} iter_args({{.*}}, %[[SLOT:[^ ]+]] = %{{[^ ]+}}, %[[PHASE:[^ ]+]] = %{{[^ ]+}}) -> (i32, i32, i32, i32)
// CHECK-NEXT: %[[SAME:.*]] = nvvm.shfl.sync idx %{{.*}}, %[[SLOT]],
// CHECK-NEXT: %[[TOO:.*]] = nvvm.shfl.sync idx %{{.*}}, %[[PHASE]],
// CHECK: scf.if
// CHECK: scf.for {{.*}} iter_args({{.*}} = %[[SAME]], {{.*}} = %[[TOO]])

#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @slots(%a: !tile.view<?x?xbf16> {tile.facts = #facts},
                     %b: !tile.view<?x?xbf16> {tile.facts = #facts},
                     %c: !tile.view<?x?xbf16> {tile.facts = #facts}) grid {
  %m = tile.dim %c, 0 : !tile.view<?x?xbf16>
  %n = tile.dim %c, 1 : !tile.view<?x?xbf16>
  tile.grid %m, %n
} {
  %c0 = arith.constant 0 : index
  %step = arith.constant 128 : index
  %i = tile.program_id x
  %j = tile.program_id y
  %k = tile.dim %a, 1 : !tile.view<?x?xbf16>
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %x = tile.load %a[%i, %c0] : !tile.view<?x?xbf16> -> tensor<128x128xbf16>
  %sum = scf.for %kk = %c0 to %k step %step iter_args(%s = %zero) -> tensor<128x128xf32> {
    %y = tile.load %b[%kk, %c0] : !tile.view<?x?xbf16> -> tensor<128x128xbf16>
    %p = tile.dot %x, %y, %zero transpose_b
       : tensor<128x128xbf16>, tensor<128x128xbf16> -> tensor<128x128xf32>
    %w = arith.truncf %p : tensor<128x128xf32> to tensor<128x128xbf16>
    %d = tile.dot %w, %y, %s
       : tensor<128x128xbf16>, tensor<128x128xbf16> -> tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %r = arith.truncf %sum : tensor<128x128xf32> to tensor<128x128xbf16>
  tile.store %r, %c[%i, %j] : tensor<128x128xbf16>, !tile.view<?x?xbf16>
  tile.return
}
}
