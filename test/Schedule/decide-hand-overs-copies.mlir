// Rows of the maker's copies are columns of the reader's: each of these reads all, and takes its own.
// RUN: tile-opt %s --tile-decide-hand-overs | FileCheck %s

#make = #tile.layout<register = [[0,1],[0,2]], lane = [[0,4],[0,8],[1,0],[2,0],[4,0]], warp = [[8,0],[16,0],[0,16]]>
#use = #tile.layout<register = [[0,1],[0,2]], lane = [[0,4],[0,8],[0,16],[1,0],[2,0]], warp = [[4,0],[8,0],[16,0]]>
!m = tensor<32x32xf32, #make>
!n = tensor<32x32xf32, #use>
!view = !tile.view<?x?xf32>

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// CHECK: #[[ALL:.*]] = #tile.layout<register = {{\[\[}}16,0],[0,1],[0,2]], lane = {{\[\[}}0,4],[0,8],[0,16],[1,0],[2,0]], warp = {{\[\[}}4,0],[8,0],[0,0]]>
// CHECK-LABEL: tile.kernel @copies
tile.kernel @copies(%a: !view, %b: !view) attributes {
    tile.roles = [#tile.role<"make", warps = 4, copies = 2>, #tile.role<"use", warps = 4, copies = 2>]} {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0, %c0] {role = "make"} : !view -> !m
  // CHECK: %[[HANDED:.*]] = tile.convert_layout %{{.*}} {role = "make", tile.handed = {{.*}}}
  // CHECK: %[[READ:.*]] = tile.convert_layout %[[HANDED]] {role = "use"} : {{.*}} -> tensor<32x32xf32, #[[ALL]]>
  // CHECK: tile.convert_layout %[[READ]] {role = "use"} : tensor<32x32xf32, #[[ALL]]>
  %u = tile.convert_layout %x {role = "use"} : !m -> !n
  tile.store %u, %b[%c0, %c0] {role = "use"} : !n, !view
  tile.return
}
}
