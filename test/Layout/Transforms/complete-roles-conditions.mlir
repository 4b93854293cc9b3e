// A condition whose result may be a tile that a ring brings is a use of it, by the role that runs
// what the condition holds.
// RUN: tile-opt %s --tile-complete-roles | FileCheck %s

!view = !tile.view<?x?xf16>
// CHECK-LABEL: tile.kernel @masked
tile.kernel @masked(%a: !view, %k: index) attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"use", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf16>
  scf.for %i = %c0 to %k step %c32 {
    %x = tile.load %a[%c0, %i] {atom = #nvptx.tma, role = "load"} : !view -> tensor<32x32xf16>
    %last = arith.cmpi eq, %i, %c32 : index
    %y = scf.if %last -> tensor<32x32xf16> {
      scf.yield %zero : tensor<32x32xf16>
    } else {
      scf.yield %x : tensor<32x32xf16>
    // CHECK: } {tile.role = "use"}
    }
    tile.store %y, %a[%i, %c0] {role = "use"} : tensor<32x32xf16>, !view
  }
  tile.return
}
