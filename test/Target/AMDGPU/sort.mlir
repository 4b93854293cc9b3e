// A sort of long rows goes through LDS in a loop whose places no interval tells: that no two waves
// reach one is shown by a run that comes to its end, which takes as many instructions as all others.
// RUN: tile-compile %s --target amdgpu:gfx1201 --emit asm -o %t.gfx1201.s
// RUN: tile-check-isa %t.gfx1201.s
// RUN: tile-compile %s --target amdgpu:gfx1100 --emit asm -o %t.gfx1100.s
// RUN: tile-check-isa %t.gfx1100.s
// The barrier behind the pairs of one distance is what orders them with those of the next one.
// RUN: awk '/^\ts_barrier_signal/ {++n} !/^\ts_barrier_/ || n != 2' %t.gfx1201.s > %t.less.s
// RUN: not tile-check-isa %t.less.s 2>&1 | FileCheck %s
// RUN: awk '!/^\ts_barrier/ || ++n != 2' %t.gfx1100.s > %t.less.s
// RUN: not tile-check-isa %t.less.s 2>&1 | FileCheck %s
// CHECK: 'ds_load_2addr_stride64_b32': wave {{[0-9]+}} reads byte {{[0-9]+}} of LDS, which wave {{[0-9]+}} writes by 'ds_store_b32'
// CHECK-SAME: expected a barrier

tile.kernel @sort(%a: !tile.view<?x?xi32>, %o: !tile.view<?x?xi32>) grid {
  %one = arith.constant 1 : index
  tile.grid %one
} {
  %zero = arith.constant 0 : index
  %x = tile.load %a[%zero, %zero] : !tile.view<?x?xi32> -> tensor<4x1000xi32>
  %at = tile.iota 1 : tensor<4x1000xi32>
  %s, %p = tile.sort %x, %at axis = 1 : tensor<4x1000xi32>, tensor<4x1000xi32> -> tensor<4x1000xi32>, tensor<4x1000xi32>
  tile.store %p, %o[%zero, %zero] : tensor<4x1000xi32>, !tile.view<?x?xi32>
  tile.return
}
