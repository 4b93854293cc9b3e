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

// A loop that stores may change what it reads; another place is read otherwise.
// CHECK-LABEL: tile.kernel @no_wait
tile.kernel @no_wait(%v: !tile.view<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %first = tile.load %v[%c0] : !tile.view<?xi32> -> tensor<1xi32>
  %seen = tile.to_scalar %first : tensor<1xi32>
  %last = scf.while (%s = %seen) : (i32) -> i32 {
    %goes = arith.cmpi eq, %s, %zero : i32
    scf.condition(%goes) %s : i32
  } do {
  ^bb0(%s: i32):
    %again = tile.load %v[%c1] : !tile.view<?xi32> -> tensor<1xi32>
    %next = tile.to_scalar %again : tensor<1xi32>
    scf.yield %next : i32
  }
  // Another number ends it.
  %count:2 = scf.while (%s = %seen, %n = %zero) : (i32, i32) -> (i32, i32) {
    %goes = arith.cmpi slt, %n, %seen : i32
    scf.condition(%goes) %s, %n : i32, i32
  } do {
  ^bb0(%s: i32, %n: i32):
    %again = tile.load %v[%c0] : !tile.view<?xi32> -> tensor<1xi32>
    %next = tile.to_scalar %again : tensor<1xi32>
    %sum = arith.addi %n, %next : i32
    scf.yield %next, %sum : i32, i32
  }
  %more = scf.while (%s = %seen) : (i32) -> i32 {
    %goes = arith.cmpi eq, %s, %zero : i32
    scf.condition(%goes) %s : i32
  } do {
  ^bb0(%s: i32):
    tile.store %first, %v[%c0] : tensor<1xi32>, !tile.view<?xi32>
    %again = tile.load %v[%c0] : !tile.view<?xi32> -> tensor<1xi32>
    %next = tile.to_scalar %again : tensor<1xi32>
    scf.yield %next : i32
  }
  tile.return
}
