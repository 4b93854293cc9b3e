// Views, tiles at an offset and elements at indices, in text, generic form and bytecode.
// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s --mlir-print-op-generic | tile-opt | FileCheck %s
// RUN: tile-opt %s --emit-bytecode | tile-opt | FileCheck %s

// CHECK-LABEL: tile.kernel @views
// CHECK:         %[[V:.*]] = tile.view_from_pointer %{{.*}} extents [%{{.*}}] strides [%{{.*}}, %{{.*}}] : !tile.pointer<f32> -> !tile.view<?x8xf32, strides [?, ?]>
// CHECK:         tile.dim %[[V]], 0 : !tile.view<?x8xf32, strides [?, ?]>
// CHECK:         tile.stride %[[V]], 1 : !tile.view<?x8xf32, strides [?, ?]>
// CHECK:         tile.view_from_pointer %{{.*}} extents [] strides [] : !tile.pointer<f32> -> !tile.view<f32>
tile.kernel @views(%p: !tile.pointer<f32>, %n: index) {
  %v = tile.view_from_pointer %p extents [%n] strides [%n, %n]
     : !tile.pointer<f32> -> !tile.view<?x8xf32, strides [?, ?]>
  %m = tile.dim %v, 0 : !tile.view<?x8xf32, strides [?, ?]>
  %s = tile.stride %v, 1 : !tile.view<?x8xf32, strides [?, ?]>
  %scalar = tile.view_from_pointer %p extents [] strides [] : !tile.pointer<f32> -> !tile.view<f32>
  tile.return
}

// CHECK-LABEL: tile.kernel @parts
// CHECK:         tile.subview %{{.*}} at %{{.*}} extents [%{{.*}}] strides [%{{.*}}] : !tile.view<?x?xf32> -> !tile.view<16x?xf32, strides [1, ?]>
// CHECK:         %[[A:.*]] = tile.address %{{.*}} : !tile.view<16x?xf32, strides [1, ?]>
// CHECK:         tile.address %{{.*}} : !tile.pointer<f32>
// CHECK:         tile.pointer_from_address %[[A]] : !tile.pointer<f32>
tile.kernel @parts(%x: !tile.view<?x?xf32>, %p: !tile.pointer<f32>, %n: index) {
  %v = tile.subview %x at %n extents [%n] strides [%n]
     : !tile.view<?x?xf32> -> !tile.view<16x?xf32, strides [1, ?]>
  %a = tile.address %v : !tile.view<16x?xf32, strides [1, ?]>
  %b = tile.address %p : !tile.pointer<f32>
  %q = tile.pointer_from_address %a : !tile.pointer<f32>
  tile.return
}

// CHECK-LABEL: tile.kernel @tiles
// CHECK:         tile.load %{{.*}}[%{{.*}}, %{{.*}}] pad(%{{.*}} : f16) cache = streaming evict = first : !tile.view<?x?xf16> -> tensor<8x16xf16>
// CHECK:         tile.store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] cache = global evict = last : tensor<8x16xf16>, !tile.view<?x?xf16>
// CHECK:         tile.load %{{.*}}[] cache = bypass : !tile.view<f32> -> tensor<f32>
// CHECK:         tile.store %{{.*}}, %{{.*}}[] evict = normal : tensor<f32>, !tile.view<f32>
tile.kernel @tiles(%x: !tile.view<?x?xf16>, %y: !tile.view<f32>, %i: index, %pad: f16) {
  %t = tile.load %x[%i, %i] pad(%pad : f16) cache = streaming evict = first
     : !tile.view<?x?xf16> -> tensor<8x16xf16>
  tile.store %t, %x[%i, %i] cache = global evict = last : tensor<8x16xf16>, !tile.view<?x?xf16>
  %s = tile.load %y[] cache = bypass : !tile.view<f32> -> tensor<f32>
  tile.store %s, %y[] evict = normal : tensor<f32>, !tile.view<f32>
  tile.return
}

// CHECK-LABEL: tile.kernel @indices
// CHECK:         tile.gather %{{.*}}[%{{.*}}, %{{.*}}] mask(%{{.*}} : tensor<64xi1>) pad(%{{.*}} : f32) cache = all evict = last : !tile.view<?x?xf32>, [tensor<64xi32>, tensor<64xindex>] -> tensor<64xf32>
// CHECK:         tile.gather %{{.*}}[%{{.*}}, %{{.*}}] : !tile.view<?x?xf32>, [tensor<64xi32>, tensor<64xindex>] -> tensor<64xf32>
// CHECK:         tile.scatter %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] mask(%{{.*}} : tensor<64xi1>) cache = streaming : tensor<64xf32>, !tile.view<?x?xf32>, [tensor<64xi32>, tensor<64xindex>]
tile.kernel @indices(%x: !tile.view<?x?xf32>, %pad: f32) {
  %i = tile.iota 0 : tensor<64xi32>
  %j = tile.iota 0 : tensor<64xindex>
  %m = arith.constant dense<true> : tensor<64xi1>
  %t = tile.gather %x[%i, %j] mask(%m : tensor<64xi1>) pad(%pad : f32) cache = all evict = last
     : !tile.view<?x?xf32>, [tensor<64xi32>, tensor<64xindex>] -> tensor<64xf32>
  %u = tile.gather %x[%i, %j]
     : !tile.view<?x?xf32>, [tensor<64xi32>, tensor<64xindex>] -> tensor<64xf32>
  tile.scatter %t, %x[%i, %j] mask(%m : tensor<64xi1>) cache = streaming
    : tensor<64xf32>, !tile.view<?x?xf32>, [tensor<64xi32>, tensor<64xindex>]
  tile.return
}

// A view of rank 0 has no index, one of rank 2 has two.
// CHECK-LABEL: tile.kernel @rank_zero
// CHECK:         tile.gather %{{.*}}[] : !tile.view<f32> -> tensor<f32>
// CHECK:         tile.scatter %{{.*}}, %{{.*}}[] : tensor<f32>, !tile.view<f32>
// CHECK:         tile.atomic_rmw addf %{{.*}}[], %{{.*}} : !tile.view<f32>, f32
// CHECK:         tile.atomic_cas %{{.*}}[], %{{.*}}, %{{.*}} : !tile.view<f32>, tensor<f32>
// CHECK:         tile.atomic_rmw addf %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}} : !tile.view<?x?xf32>, [index, index], f32
tile.kernel @rank_zero(%x: !tile.view<f32>, %y: !tile.view<?x?xf32>, %v: f32, %i: index) {
  %t = tile.gather %x[] : !tile.view<f32> -> tensor<f32>
  tile.scatter %t, %x[] : tensor<f32>, !tile.view<f32>
  %0 = tile.atomic_rmw addf %x[], %v : !tile.view<f32>, f32
  %1 = tile.atomic_cas %x[], %t, %t : !tile.view<f32>, tensor<f32>
  %2 = tile.atomic_rmw addf %y[%i, %i], %v : !tile.view<?x?xf32>, [index, index], f32
  tile.return
}

// A tile smaller than the tensor that holds it.
// CHECK-LABEL: tile.kernel @extents
// CHECK:         tile.load %{{.*}}[%{{.*}}, %{{.*}}] extents [3, 5] pad(%{{.*}} : f32) : !tile.view<?x?xf32> -> tensor<4x8xf32>
// CHECK:         tile.store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] extents [3, 5] cache = streaming : tensor<4x8xf32>, !tile.view<?x?xf32>
// CHECK:         tile.write %{{.*}}, %[[B:.*]] extents [3, 5] : tensor<4x8xf32>, !tile.buffer<15xf32>
// CHECK:         tile.read %[[B]] extents [15] : !tile.buffer<15xf32> -> tensor<16xf32>
// CHECK:         tile.print "t" hex extents [3, 5] (%{{.*}}) : tensor<4x8xf32>
tile.kernel @extents(%x: !tile.view<?x?xf32>, %i: index, %pad: f32) {
  %t = tile.load %x[%i, %i] extents [3, 5] pad(%pad : f32) : !tile.view<?x?xf32> -> tensor<4x8xf32>
  tile.store %t, %x[%i, %i] extents [3, 5] cache = streaming : tensor<4x8xf32>, !tile.view<?x?xf32>
  %b = tile.alloc : !tile.buffer<15xf32>
  tile.write %t, %b extents [3, 5] : tensor<4x8xf32>, !tile.buffer<15xf32>
  %r = tile.read %b extents [15] : !tile.buffer<15xf32> -> tensor<16xf32>
  tile.print "t" hex extents [3, 5] (%t) : tensor<4x8xf32>
  tile.return
}
