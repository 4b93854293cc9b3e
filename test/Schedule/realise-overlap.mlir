// Where what follows on the stream may begin, and where what precedes is waited for.
// RUN: tile-opt %s --tile-realise-overlap --split-input-file | FileCheck %s
// RUN: tile-opt %s --tile-realise-overlap --tile-realise-warp-groups --split-input-file | FileCheck %s --check-prefix=ROLES

!view = !tile.view<?xf32>

module {
  // CHECK: module attributes {{.*}}overlap = true
  // CHECK-LABEL: tile.kernel @first(%x: !tile.view<?xf32>) {
  // CHECK-NEXT: tile.launch_dependents
  // CHECK-NEXT: tile.wait_dependencies
  // CHECK: tile.load
  tile.kernel @first(%x: !view) attributes {tile.overlap} {
    %c0 = arith.constant 0 : index
    %t = tile.load %x[%c0] : !view -> tensor<256xf32>
    tile.store %t, %x[%c0] : tensor<256xf32>, !view
    tile.return
  }
}

// -----

!view = !tile.view<?xf32>

module {
  // CHECK-LABEL: tile.kernel @last(%x: !tile.view<?xf32>) {
  // CHECK-NEXT: tile.wait_dependencies
  // CHECK: tile.load
  // CHECK-NOT: tile.triggers
  // CHECK-NEXT: tile.launch_dependents
  // CHECK-NEXT: tile.store
  tile.kernel @last(%x: !view) attributes {tile.overlap} {
    %c0 = arith.constant 0 : index
    %t = tile.load %x[%c0] {tile.triggers} : !view -> tensor<256xf32>
    tile.store %t, %x[%c0] : tensor<256xf32>, !view
    tile.return
  }
}

// -----

!view = !tile.view<?xf32>

#t = #tile.layout<register = [[1]], lane = [[2],[4],[8],[16],[32]], warp = [[64],[128]]>
module {
  // Each role waits; that of the op with the trigger alone tells.
  // ROLES-LABEL: tile.kernel @roles
  // ROLES: role #tile.role<"first", warps = 4>
  // ROLES-NEXT: tile.wait_dependencies
  // ROLES-NOT: tile.launch_dependents
  // ROLES: role #tile.role<"second", warps = 4>
  // ROLES-NEXT: tile.wait_dependencies
  // ROLES: tile.load
  // ROLES-NEXT: tile.launch_dependents{{ *$}}
  // ROLES-NEXT: tile.store
  tile.kernel @roles(%x: !view, %y: !view) attributes {tile.overlap, tile.roles = [
      #tile.role<"first", warps = 4>, #tile.role<"second", warps = 4>]} {
    %c0 = arith.constant 0 : index
    %t = tile.load %x[%c0] {role = "first"} : !view -> tensor<256xf32, #t>
    tile.store %t, %x[%c0] {role = "first"} : tensor<256xf32, #t>, !view
    %u = tile.load %y[%c0] {role = "second", tile.triggers} : !view -> tensor<256xf32, #t>
    tile.store %u, %y[%c0] {role = "second"} : tensor<256xf32, #t>, !view
    tile.return
  }
}
