// Tiles that are handed over in conditions and loops: both roles run these, so each slot that is
// filled is emptied, whatever the condition is.
// RUN: tile-opt %s --tile-decide-hand-overs --tile-realise-hand-overs --tile-realise-warp-groups | FileCheck %s

#four = #tile.layout<register = [[1],[2]], lane = [[4],[8],[16],[32],[64]], warp = [[128],[256]]>
#none = #tile.layout<register = [], lane = [[],[],[],[],[]], warp = [[],[]]>
!view = !tile.view<?xf32>
!t = tensor<512xf32, #four>
#roles = [#tile.role<"make", warps = 4>, #tile.role<"use", warps = 4>]
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// Made and used in a condition: its number each role computes.
// CHECK-LABEL: tile.kernel @both
// CHECK: role #tile.role<"make"
// CHECK: scf.for
// CHECK: %[[IS:.*]] = arith.cmpi slt
// CHECK: scf.if %[[IS]]
// CHECK: tile.put
// CHECK: } else {
// CHECK-NOT: tile.put
// CHECK: role #tile.role<"use"
// CHECK: scf.for
// CHECK: %[[IS:.*]] = arith.cmpi slt
// CHECK: scf.if %[[IS]]
// CHECK: tile.get
// CHECK: tile.store
// CHECK-NOT: tile.get
// CHECK: tile.return
tile.kernel @both(%a: !view, %b: !view, %n: index, %m: index) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  scf.for %i = %c0 to %n step %c512 {
    %x = tile.load %a[%i] {role = "make"} : !view -> !t
    %is = arith.cmpi slt, %i, %m : index
    scf.if %is {
      %y = math.absf %x {tile.role = "make"} : !t
      tile.store %y, %b[%i] {role = "use"} : !t, !view
    } else {
      tile.store %x, %b[%i] {role = "make"} : !t, !view
    }
  }
  tile.return
}

// Used in a condition, or in trips of a loop: it is read in front of them, whether they use it or not.
// CHECK-LABEL: tile.kernel @used
// CHECK: role #tile.role<"make"
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK: tile.put
// CHECK: role #tile.role<"use"
// CHECK: scf.for
// CHECK: %[[SLOT:.*]] = tile.get
// CHECK-NEXT: tile.read %[[SLOT]]
// CHECK: scf.if
// CHECK-NOT: tile.get
// CHECK: tile.return
tile.kernel @used(%a: !view, %b: !view, %n: index, %m: index) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  scf.for %i = %c0 to %n step %c512 {
    %x = tile.load %a[%i] {role = "make"} : !view -> !t
    %is = arith.cmpi slt, %i, %m : index
    scf.if %is {
      scf.for %j = %c0 to %m step %c512 {
        tile.store %x, %b[%j] {role = "use"} : !t, !view
      }
    }
  }
  tile.return
}

// A number of a role's tiles tells: it goes to the other role first, which then runs the same trips.
// CHECK-LABEL: tile.kernel @told
// CHECK: role #tile.role<"make"
// CHECK: %[[MOST:.*]] = tile.to_scalar
// CHECK: tile.put
// CHECK: %[[IS:.*]] = arith.cmpf ogt, %[[MOST]]
// CHECK: scf.if %[[IS]]
// CHECK: tile.put
// CHECK: role #tile.role<"use"
// CHECK: tile.get
// CHECK: %[[MOST:.*]] = tile.to_scalar
// CHECK: %[[IS:.*]] = arith.cmpf ogt, %[[MOST]]
// CHECK: scf.if %[[IS]]
// CHECK: tile.get
// CHECK: tile.return
tile.kernel @told(%a: !view, %b: !view) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %x = tile.load %a[%c0] {role = "make"} : !view -> !t
  %most = tile.reduce %x axis = 0 {role = "make"} : !t -> tensor<f32, #none> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.maximumf %p, %q : f32
    tile.yield %r : f32
  }
  %number = tile.to_scalar %most : tensor<f32, #none>
  %is = arith.cmpf ogt, %number, %zero : f32
  scf.if %is {
    %y = math.absf %x {tile.role = "make"} : !t
    tile.store %y, %b[%c0] {role = "use"} : !t, !view
  }
  tile.return
}

// A condition's result is that of the role which the condition says. What stands in it keeps its own
// role: each trip hands the sum to it, and what it makes of that back.
// CHECK-LABEL: tile.kernel @around
// CHECK: role #tile.role<"make"
// CHECK: scf.for
// CHECK: tile.get
// CHECK: scf.if
// CHECK: math.absf
// CHECK: tile.put
// CHECK: role #tile.role<"use"
// CHECK: %[[SUM:.*]] = scf.for {{.*}} iter_args(%[[CARRIED:.*]] =
// CHECK: tile.put
// CHECK: tile.write %[[CARRIED]]
// CHECK: scf.if
// CHECK: tile.get
// CHECK: %[[READ:.*]] = tile.read
// CHECK: scf.yield %[[READ]]
// CHECK: else
// CHECK: scf.yield %[[CARRIED]]
// CHECK: tile.store %[[SUM]]
tile.kernel @around(%b: !view, %n: index, %m: index) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant dense<0.0> : !t
  %sum = scf.for %i = %c0 to %n step %c512 iter_args(%x = %zero) -> (!t) {
    %is = arith.cmpi slt, %i, %m : index
    %next = scf.if %is -> (!t) {
      %y = math.absf %x {tile.role = "make"} : !t
      scf.yield %y : !t
    } else {
      scf.yield %x : !t
    } {tile.role = "use"}
    scf.yield %next : !t
  }
  tile.store %sum, %b[%c0] {role = "use"} : !t, !view
  tile.return
}
}
