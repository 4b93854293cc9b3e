// What a copy brings into a buffer is read in any layout, but a sum of it has one, which a loop that
// adds to it carries: nothing is converted in a trip.
// RUN: tile-opt %s --tile-decide-layouts | FileCheck %s

// CHECK-LABEL: tile.kernel @rows
// CHECK: scf.for {{.*}} -> (tensor<128xf32, #[[SUMS:.*]]>)
// CHECK-NOT: tile.convert_layout
// CHECK: tile.reduce {{.*}} -> tensor<128xf32, #[[SUMS]]>
// CHECK-NOT: tile.convert_layout
// CHECK: scf.yield
!view = !tile.view<?x?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @rows(%a: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 4]>}, %c: !tile.view<?xf32>, %k: index)
    attributes {tile.roles = [#tile.role<"load", warps = 1>, #tile.role<"sum", warps = 4, copies = 2>]} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %none = arith.constant dense<0.0> : tensor<128xf32>
  %sum = scf.for %i = %c0 to %k step %c64 iter_args(%s = %none) -> tensor<128xf32> {
    %x = tile.load %a[%c0, %i] {atom = #nvptx.tma, role = "load"} : !view -> tensor<128x64xf32>
    %r = tile.reduce %x axis = 1 : tensor<128x64xf32> -> tensor<128xf32> {
    ^bb0(%p: f32, %q: f32):
      %m = arith.addf %p, %q : f32
      tile.yield %m : f32
    }
    %t = arith.addf %s, %r {tile.role = "sum"} : tensor<128xf32>
    scf.yield %t : tensor<128xf32>
  }
  tile.store %sum, %c[%c0] {role = "sum"} : tensor<128xf32>, !tile.view<?xf32>
  tile.return
}
}
