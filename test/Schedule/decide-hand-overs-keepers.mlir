// What two roles make has one keeper, whoever else is given a role on the way: what a loop carries and gives behind it.
// RUN: tile-opt %s --tile-decide-hand-overs | FileCheck %s
// RUN: tile-opt %s --tile-decide-hand-overs --tile-realise-hand-overs --tile-realise-warp-groups -o /dev/null

// CHECK-LABEL: tile.kernel @sums
// CHECK: %[[SUM:.*]] = scf.for
// CHECK: tile.convert_layout %{{.*}} {role = "load", tile.handed
// CHECK: scf.yield
// CHECK: %[[HANDED:.*]] = tile.convert_layout %[[SUM]] {role = "load", tile.handed
// CHECK: %[[READ:.*]] = tile.convert_layout %[[HANDED]] {role = "mma"}
// CHECK: tile.store %[[READ]]
#l = #tile.layout<register = [[1],[2]], lane = [[4],[8],[16],[32],[64]], warp = [[128],[256]]>
!view = !tile.view<?xf32>
!t = tensor<512xf32, #l>
module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
tile.kernel @sums(%a: !view, %b: !view, %c: !view, %n: index) attributes {
    tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant dense<0.0> : !t
  %sum = scf.for %i = %c0 to %n step %c512 iter_args(%r = %zero) -> !t {
    %x = tile.load %a[%i] {role = "mma"} : !view -> !t
    %s = tile.load %b[%i] {role = "load"} : !view -> !t
    %d = math.absf %x {tile.role = "mma"} : !t
    %m = arith.mulf %d, %s : !t
    %q = arith.addf %r, %m : !t
    scf.yield %q : !t
  }
  tile.store %sum, %c[%c0] {role = "mma"} : !t, !view
  tile.return
}
}
