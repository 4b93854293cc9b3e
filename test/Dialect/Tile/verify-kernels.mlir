// What a kernel may hold.
// RUN: tile-opt %s -tile-verify-kernels=max-depth=2 | FileCheck %s

// CHECK-LABEL: tile.kernel @legal
tile.kernel @legal(%x: !tile.view<?xf32>, %p: !tile.pointer<f32>, %n: index) grid {
  tile.grid %n
} {
  %c1 = arith.constant 1 : index
  %v = tile.view_from_pointer %p extents [%n] strides [] : !tile.pointer<f32> -> !tile.view<?xf32>
  %b = tile.alloc : !tile.buffer<8xf32>
  %0 = ub.poison : tensor<8xf32>
  scf.for %i = %n to %n step %c1 {
    %t = tile.load %v[%i] : !tile.view<?xf32> -> tensor<8xf32>
    %e = math.exp %t : tensor<8xf32>
    tile.store %e, %x[%i] : tensor<8xf32>, !tile.view<?xf32>
  }
  %1 = scf.while (%i = %n) : (index) -> index {
    %more = arith.cmpi slt, %i, %n : index
    scf.condition(%more) %i : index
  } do {
  ^bb0(%i: index):
    scf.yield %i : index
  }
  tile.return
}
