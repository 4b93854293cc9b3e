// What a role writes to a ring it writes in front of where another makes a number that tells it what
// to do: the number may follow from the tile.
// RUN: tile-opt %s --tile-realise-rings | FileCheck %s

#copy = #tile.through_registers
#one = #tile.layout<register = [[1]], lane = [[2],[4],[8],[16],[32]], warp = []>
!view = !tile.view<?xf32>
!t = tensor<64xf32, #one>
!buffer = !tile.buffer<64xf32>

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// CHECK-LABEL: tile.kernel @told
// CHECK: scf.for
// CHECK: %[[T:.*]] = tile.load %a
// CHECK: tile.reduce
// CHECK: tile.put
// CHECK: tile.write %[[T]],
// CHECK: tile.to_scalar
// CHECK: scf.if
// CHECK: tile.put
// CHECK-NOT: tile.put
tile.kernel @told(%a: !view, %b: !view, %n: index) attributes {
    tile.roles = [#tile.role<"load", warps = 1>, #tile.role<"use", warps = 1>]} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %half = arith.constant 0.5 : f32
  scf.for %i = %c0 to %n step %c64 {
    %t = tile.load %a[%i] {atom = #copy, buffer = !buffer, stage = 0, ring = "t", role = "load"} : !view -> !t
    %m = tile.reduce %t axis = 0 {role = "use"} : !t -> tensor<f32> {
    ^bb0(%x: f32, %y: f32):
      %z = arith.maximumf %x, %y : f32
      tile.yield %z : f32
    }
    %most = tile.to_scalar %m : tensor<f32>
    %is = arith.cmpf ogt, %most, %half : f32
    scf.if %is {
      %u = tile.load %a[%i] {atom = #copy, buffer = !buffer, ring = "u", role = "load"} : !view -> !t
      tile.store %u, %b[%i] {role = "use"} : !t, !view
    }
  }
  tile.return
}

// A number that tells its maker alone is none of the other's business.
// CHECK-LABEL: tile.kernel @own
// CHECK-NOT: tile.put
// CHECK: %[[T:.*]] = tile.load %a
// CHECK: tile.reduce
// CHECK: tile.to_scalar
// CHECK: scf.if
// CHECK: tile.store
// CHECK: }
// CHECK: tile.put
// CHECK: tile.write %[[T]],
tile.kernel @own(%a: !view, %b: !view, %n: index) attributes {
    tile.roles = [#tile.role<"load", warps = 1>, #tile.role<"use", warps = 1>]} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %half = arith.constant 0.5 : f32
  scf.for %i = %c0 to %n step %c64 {
    %t = tile.load %a[%i] {atom = #copy, buffer = !buffer, stage = 0, ring = "t", role = "load"} : !view -> !t
    %m = tile.reduce %t axis = 0 {role = "use"} : !t -> tensor<f32> {
    ^bb0(%x: f32, %y: f32):
      %z = arith.maximumf %x, %y : f32
      tile.yield %z : f32
    }
    %most = tile.to_scalar %m : tensor<f32>
    %is = arith.cmpf ogt, %most, %half : f32
    scf.if %is {
      tile.store %t, %b[%i] {role = "use"} : !t, !view
    }
  }
  tile.return
}
}
