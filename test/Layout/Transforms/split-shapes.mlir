// RUN: tile-opt %s --tile-split-shapes --cse | FileCheck %s
// RUN: tile-opt %s --tile-split-shapes | tile-opt

// Reads pad, writes drop; a sum sees what changes nothing, a result along another axis nothing.
// CHECK-LABEL: tile.kernel @rows
tile.kernel @rows(%x: !tile.view<?x?xf32>, %y: !tile.view<?xf32>) {
  %c0 = arith.constant 0 : index
  // CHECK: %[[T:.*]] = tile.load {{.*}} extents [3, 5] : !tile.view<?x?xf32> -> tensor<4x8xf32>
  %t = tile.load %x[%c0, %c0] : !tile.view<?x?xf32> -> tensor<3x5xf32>
  // CHECK: %[[FIVE:.*]] = arith.constant dense<5> : tensor<4x8xi32>
  // CHECK: %[[AT:.*]] = tile.iota 1 : tensor<4x8xi32>
  // CHECK: %[[VALID:.*]] = arith.cmpi ult, %[[AT]], %[[FIVE]]
  // CHECK: %[[ID:.*]] = arith.constant dense<-0.000000e+00>
  // CHECK: %[[F:.*]] = arith.select %[[VALID]], %[[T]], %[[ID]]
  // CHECK: %[[S:.*]] = tile.reduce %[[F]] axis = 1 : tensor<4x8xf32> -> tensor<4xf32>
  %s = tile.reduce %t axis = 1 : tensor<3x5xf32> -> tensor<3xf32> {
  ^bb0(%l: f32, %r: f32):
    %sum = arith.addf %l, %r : f32
    tile.yield %sum : f32
  }
  // CHECK: tile.store %[[S]], {{.*}} extents [3] : tensor<4xf32>
  tile.store %s, %y[%c0] : tensor<3xf32>, !tile.view<?xf32>
  // CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<4x8xf32>
  // CHECK: arith.mulf %[[T]], %[[ZERO]] : tensor<4x8xf32>
  %zero = arith.constant dense<0.0> : tensor<3x5xf32>
  %p = arith.mulf %t, %zero : tensor<3x5xf32>
  tile.store %p, %x[%c0, %c0] : tensor<3x5xf32>, !tile.view<?x?xf32>
  tile.return
}

// A region without a known neutral element is told who counts.
// CHECK-LABEL: tile.kernel @any_region
tile.kernel @any_region(%x: !tile.view<?xf32>, %y: !tile.view<?xf32>) {
  %c0 = arith.constant 0 : index
  // CHECK: %[[T:.*]] = tile.load
  %t = tile.load %x[%c0] : !tile.view<?xf32> -> tensor<7xf32>
  // CHECK: %[[VALID:.*]] = arith.cmpi ult
  // CHECK: tile.scan %[[T]], %[[VALID]] axis = 0 reverse : tensor<8xf32>, tensor<8xi1>
  // CHECK: ^bb0(%[[L:.*]]: f32, %[[LV:.*]]: i1, %[[R:.*]]: f32, %[[RV:.*]]: i1):
  // CHECK: %[[LR:.*]] = arith.subf %[[L]], %[[R]]
  // CHECK: %[[ONE:.*]] = arith.select %[[RV]], %[[LR]], %[[L]]
  // CHECK: %[[TWO:.*]] = arith.select %[[LV]], %[[ONE]], %[[R]]
  // CHECK: %[[ANY:.*]] = arith.ori %[[LV]], %[[RV]]
  // CHECK: tile.yield %[[TWO]], %[[ANY]]
  %s = tile.scan %t axis = 0 reverse : tensor<7xf32> -> tensor<7xf32> {
  ^bb0(%l: f32, %r: f32):
    %d = arith.subf %l, %r : f32
    tile.yield %d : f32
  }
  // Forward, what was added comes last.
  // CHECK: tile.scan %[[T]] axis = 0 : tensor<8xf32> -> tensor<8xf32>
  %u = tile.scan %t axis = 0 : tensor<7xf32> -> tensor<7xf32> {
  ^bb0(%l: f32, %r: f32):
    %d = arith.subf %l, %r : f32
    tile.yield %d : f32
  }
  tile.store %s, %y[%c0] : tensor<7xf32>, !tile.view<?xf32>
  tile.store %u, %y[%c0] : tensor<7xf32>, !tile.view<?xf32>
  tile.return
}

// K is zero on both sides; what was loaded already is. M and N need nothing.
// CHECK-LABEL: tile.kernel @dot
tile.kernel @dot(%x: !tile.view<?x?xf16>, %c: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %acc = arith.constant dense<0.0> : tensor<48x48xf32>
  // CHECK: %[[A:.*]] = tile.load {{.*}} extents [48, 80] : {{.*}} -> tensor<64x128xf16>
  %a = tile.load %x[%c0, %c0] : !tile.view<?x?xf16> -> tensor<48x80xf16>
  // CHECK: %[[B:.*]] = arith.addf %[[A]], %[[A]]
  %b = arith.addf %a, %a : tensor<48x80xf16>
  // CHECK: %[[AT:.*]] = tile.iota 1 : tensor<64x128xi32>
  // CHECK: %[[V:.*]] = arith.cmpi ult, %[[AT]]
  // CHECK: %[[FILLED:.*]] = arith.select %[[V]], %[[B]]
  // CHECK: tile.dot %[[A]], %[[FILLED]], {{.*}} transpose_b : tensor<64x128xf16>, tensor<64x128xf16> -> tensor<64x64xf32>
  %d = tile.dot %a, %b, %acc transpose_b : tensor<48x80xf16>, tensor<48x80xf16> -> tensor<48x48xf32>
  // CHECK: tile.store {{.*}} extents [48, 48]
  tile.store %d, %c[%c0, %c0] : tensor<48x48xf32>, !tile.view<?x?xf32>
  tile.return
}

// A reshape that keeps padded elements where they are keeps them zero, and so does a transposition.
// CHECK-LABEL: tile.kernel @moved_dot
tile.kernel @moved_dot(%x: !tile.view<?x?x?xf16>, %c: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %acc = arith.constant dense<0.0> : tensor<48x48xf32>
  %t = tile.load %x[%c0, %c0, %c0] : !tile.view<?x?x?xf16> -> tensor<1x48x80xf16>
  // CHECK: %[[A:.*]] = tile.reshape {{.*}} -> tensor<64x128xf16>
  %a = tile.reshape %t : tensor<1x48x80xf16> -> tensor<48x80xf16>
  // CHECK: %[[B:.*]] = tile.transpose %[[A]]
  %b = tile.transpose %a [1, 0] : tensor<48x80xf16> -> tensor<80x48xf16>
  // CHECK-NOT: arith.select
  // CHECK: tile.dot %[[A]], %[[B]]
  %d = tile.dot %a, %b, %acc : tensor<48x80xf16>, tensor<80x48xf16> -> tensor<48x48xf32>
  tile.store %d, %c[%c0, %c0] : tensor<48x48xf32>, !tile.view<?x?xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @shapes
tile.kernel @shapes(%x: !tile.view<?x?xf32>, %y: !tile.view<?xf32>) {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : !tile.view<?x?xf32> -> tensor<3x8xf32>
  // Where only the first extent is padded, elements stay.
  // CHECK: %[[R:.*]] = tile.reshape {{.*}} : tensor<4x8xf32> -> tensor<32xf32>
  %r = tile.reshape %t : tensor<3x8xf32> -> tensor<24xf32>
  // CHECK: %[[B:.*]] = tile.alloc : !tile.buffer<24xf32>
  // CHECK: tile.write %[[R]], %[[B]] extents [24] : tensor<32xf32>, !tile.buffer<24xf32>
  // CHECK: %[[U:.*]] = tile.read %[[B]] extents [4, 6] : !tile.buffer<24xf32> -> tensor<4x8xf32>
  %u = tile.reshape %r : tensor<24xf32> -> tensor<4x6xf32>
  // Exact pieces, then zeros.
  // CHECK: %[[P0:.*]] = tile.slice %[[U]] [0, 0] : tensor<4x8xf32> -> tensor<4x4xf32>
  // CHECK: %[[P1:.*]] = tile.slice %[[U]] [0, 4] : tensor<4x8xf32> -> tensor<4x2xf32>
  // CHECK: %[[Q:.*]] = arith.constant dense<0.000000e+00> : tensor<4x4xf32>
  // CHECK: %[[C:.*]] = tile.concat %[[P0]], %[[P1]], %[[P0]], %[[P1]], %[[Q]] axis = 1
  %c = tile.concat %u, %u axis = 1 : tensor<4x6xf32>, tensor<4x6xf32> -> tensor<4x12xf32>
  // What reaches over the end is made longer first.
  // CHECK: %[[MORE:.*]] = tile.concat %[[C]], %{{.*}} axis = 1 : {{.*}} -> tensor<4x32xf32>
  // CHECK: tile.slice %[[MORE]] [0, 2] : tensor<4x32xf32> -> tensor<4x16xf32>
  %s = tile.slice %c [0, 2] : tensor<4x12xf32> -> tensor<4x9xf32>
  // CHECK: tile.slice %[[C]] [0, 9] : tensor<4x16xf32> -> tensor<4x4xf32>
  %v = tile.slice %c [0, 9] : tensor<4x12xf32> -> tensor<4x3xf32>
  tile.store %s, %x[%c0, %c0] : tensor<4x9xf32>, !tile.view<?x?xf32>
  tile.store %v, %x[%c0, %c0] : tensor<4x3xf32>, !tile.view<?x?xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @observers
tile.kernel @observers(%x: !tile.view<?xi32>, %n: i32) {
  %c0 = arith.constant 0 : index
  // CHECK: %[[T:.*]] = tile.load
  %t = tile.load %x[%c0] : !tile.view<?xi32> -> tensor<5xi32>
  // CHECK: %[[V:.*]] = arith.cmpi ult
  // CHECK: %[[TRUE:.*]] = arith.constant dense<true> : tensor<8xi1>
  // CHECK: %[[OK:.*]] = arith.select %[[V]], %{{.*}}, %[[TRUE]]
  // CHECK: tile.assert %[[OK]]
  %zero = arith.constant dense<0> : tensor<5xi32>
  %positive = arith.cmpi sge, %t, %zero : tensor<5xi32>
  tile.assert %positive, "negative" : tensor<5xi1>
  // CHECK: tile.print "t" extents [5] (%[[T]]) : tensor<8xi32>
  tile.print "t" (%t) : tensor<5xi32>
  // CHECK: tile.histogram %[[T]] mask(%[[V]] : tensor<8xi1>) : tensor<8xi32> -> tensor<4xi32>
  %h = tile.histogram %t : tensor<5xi32> -> tensor<3xi32>
  // CHECK: tile.atomic_rmw addi {{.*}} mask(%[[V]] : tensor<8xi1>)
  %old = tile.atomic_rmw addi %x[%t], %t : !tile.view<?xi32>, [tensor<5xi32>], tensor<5xi32>
  // CHECK: %[[MAX:.*]] = arith.constant dense<2147483647> : tensor<8xi32>
  // CHECK: %[[KEYS:.*]] = arith.select %[[V]], %[[T]], %[[MAX]]
  // CHECK: tile.sort %[[KEYS]] axis = 0
  %k = tile.sort %t axis = 0 : tensor<5xi32> -> tensor<5xi32>
  // CHECK: %[[ONES:.*]] = arith.constant dense<1> : tensor<8xi32>
  // CHECK: %[[D:.*]] = arith.select %[[V]], %[[T]], %[[ONES]]
  // CHECK: arith.divsi %{{.*}}, %[[D]]
  %q = arith.divsi %k, %t : tensor<5xi32>
  tile.store %q, %x[%c0] : tensor<5xi32>, !tile.view<?xi32>
  tile.store %h, %x[%c0] : tensor<3xi32>, !tile.view<?xi32>
  tile.return
}

// Loops and branches carry what has grown; constants grow with zeros.
// CHECK-LABEL: tile.kernel @control
tile.kernel @control(%x: !tile.view<?xi32>, %n: index, %b: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: arith.constant dense<[1, 2, 3, 0]> : tensor<4xi32>
  %t = arith.constant dense<[1, 2, 3]> : tensor<3xi32>
  // CHECK: scf.for {{.*}} -> (tensor<4xi32>)
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %t) -> tensor<3xi32> {
    // CHECK: scf.if {{.*}} -> (tensor<4xi32>)
    %u = scf.if %b -> tensor<3xi32> {
      %v = arith.addi %s, %t : tensor<3xi32>
      scf.yield %v : tensor<3xi32>
    } else {
      scf.yield %s : tensor<3xi32>
    }
    scf.yield %u : tensor<3xi32>
  }
  tile.store %r, %x[%c0] : tensor<3xi32>, !tile.view<?xi32>
  tile.return
}

// Rows that grow by unlike numbers of bits say how many elements are theirs. What grows alike, and
// elements that stay, need not.
// CHECK-LABEL: tile.kernel @bits
tile.kernel @bits(%x: !tile.view<?x?xi8>, %y: !tile.view<?x?xf6E3M2FN>,
                  %z: !tile.view<?x?xi16>, %q: !tile.view<?x?xf4E2M1FN>) {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : !tile.view<?x?xi8> -> tensor<3x36xi8>
  // CHECK: %[[U:.*]] = tile.bitcast %{{.*}} extents [3, 48] : tensor<4x64xi8> -> tensor<4x64xf6E2M3FN>
  %u = tile.bitcast %t : tensor<3x36xi8> -> tensor<3x48xf6E2M3FN>
  // CHECK: tile.bitcast %[[U]] : tensor<4x64xf6E2M3FN> -> tensor<4x64xf6E3M2FN>
  %v = tile.bitcast %u : tensor<3x48xf6E2M3FN> -> tensor<3x48xf6E3M2FN>
  // CHECK: tile.bitcast %{{.*}} : tensor<4x64xi8> -> tensor<4x32xi16>
  %w = tile.bitcast %t : tensor<3x36xi8> -> tensor<3x18xi16>
  // CHECK: tile.bitcast %[[U]] extents [3, 72] : tensor<4x64xf6E2M3FN> -> tensor<4x128xf4E2M1FN>
  %f = tile.bitcast %u : tensor<3x48xf6E2M3FN> -> tensor<3x72xf4E2M1FN>
  tile.store %v, %y[%c0, %c0] : tensor<3x48xf6E3M2FN>, !tile.view<?x?xf6E3M2FN>
  tile.store %w, %z[%c0, %c0] : tensor<3x18xi16>, !tile.view<?x?xi16>
  tile.store %f, %q[%c0, %c0] : tensor<3x72xf4E2M1FN>, !tile.view<?x?xf4E2M1FN>
  tile.return
}

// Places go through memory as integers of 64 bits.
// CHECK-LABEL: tile.kernel @places
tile.kernel @places(%y: !tile.view<?xi64>) {
  %c0 = arith.constant 0 : index
  // CHECK: %[[I:.*]] = tile.iota 0 : tensor<8x8xindex>
  // CHECK: %[[B:.*]] = tile.alloc : !tile.buffer<30xi64>
  // CHECK: %[[W:.*]] = arith.index_cast %[[I]] : tensor<8x8xindex> to tensor<8x8xi64>
  // CHECK: tile.write %[[W]], %[[B]]
  // CHECK: %[[R:.*]] = tile.read %[[B]] {{.*}} -> tensor<32xi64>
  // CHECK: arith.index_cast %[[R]] : tensor<32xi64> to tensor<32xindex>
  %i = tile.iota 0 : tensor<6x5xindex>
  %r = tile.reshape %i : tensor<6x5xindex> -> tensor<30xindex>
  %v = arith.index_cast %r : tensor<30xindex> to tensor<30xi64>
  tile.store %v, %y[%c0] : tensor<30xi64>, !tile.view<?xi64>
  tile.return
}
