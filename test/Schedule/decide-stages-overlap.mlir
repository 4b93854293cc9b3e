// What of a loop has a stage and an order where products overlap.
// RUN: tile-opt %s --split-input-file --tile-pipeline=stop-after=layout --tile-decide-stages | FileCheck %s

// Which page a trip wants each role loads for itself: nothing of that has a place among the ops of one.
// CHECK-LABEL: @numbers
// CHECK: %[[LOADED:.*]] = tile.load %t[%{{[a-z0-9]*}}] : {{.*}} -> tensor<1xi32
// CHECK-NOT: role
// CHECK: tile.to_scalar %{{[0-9a-z]*}} : tensor<i32
// CHECK: tile.load %k{{.*}}role = "load"
// CHECK: tile.dot {{.*}}in_flight = 1 : i64, order = 0 : i64, role = "compute", stage = 0 : i64}
// CHECK: math.exp2 {{.*}}tile.order = 2 : i64
// CHECK: arith.truncf {{.*}}tile.order = 3 : i64
// CHECK: arith.mulf {{.*}}tile.order = 4 : i64
// CHECK: tile.dot {{.*}}in_flight = 0 : i64, order = 1 : i64, role = "compute", stage = 1 : i64}

#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>
#counts = #tile.facts<pointer = 16, strides = [4], extents = [16], index32>

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @numbers(%q: !tile.view<?x?xf16> {tile.facts = #facts}, %k: !tile.view<?x?xf16> {tile.facts = #facts},
                  %v: !tile.view<?x?xf16> {tile.facts = #facts}, %t: !tile.view<?xi32> {tile.facts = #counts},
                  %o: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %n = tile.dim %t, 0 : !tile.view<?xi32>
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.load %q[%c0, %c0] : !tile.view<?x?xf16> -> tensor<64x64xf16>
  %sum = scf.for %j = %c0 to %n step %c1 iter_args(%s = %none) -> tensor<64x64xf32> {
    %loaded = tile.load %t[%j] : !tile.view<?xi32> -> tensor<1xi32>
    %scalar = tile.reshape %loaded : tensor<1xi32> -> tensor<i32>
    %number = tile.to_scalar %scalar : tensor<i32>
    %row = arith.index_cast %number : i32 to index
    %y = tile.load %k[%row, %c0] : !tile.view<?x?xf16> -> tensor<128x64xf16>
    %z = tile.load %v[%row, %c0] : !tile.view<?x?xf16> -> tensor<128x64xf16>
    %d = tile.dot %x, %y, %zero transpose_b : tensor<64x64xf16>, tensor<128x64xf16> -> tensor<64x128xf32>
    %e = math.exp2 %d : tensor<64x128xf32>
    %w = arith.truncf %e : tensor<64x128xf32> to tensor<64x128xf16>
    %half = arith.constant dense<0.5> : tensor<64x64xf32>
    %scaled = arith.mulf %s, %half : tensor<64x64xf32>
    %t2 = tile.dot %w, %z, %scaled : tensor<64x128xf16>, tensor<128x64xf16> -> tensor<64x64xf32>
    scf.yield %t2 : tensor<64x64xf32>
  }
  tile.store %sum, %o[%c0, %c0] : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}
}

// -----

// Nothing but the next trip uses a product that is carried: where it reads an operand from registers, which
// that trip writes, its own waits for it.
// CHECK-LABEL: @carried
// CHECK: tile.dot {{.*}}in_flight = 1 : i64, order = 0 : i64, role = "compute", stage = 0 : i64}
// CHECK: tile.dot {{.*}}in_flight = 0 : i64, order = 1 : i64, role = "compute", stage = 1 : i64}

#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>
#counts = #tile.facts<pointer = 16, strides = [4], extents = [16], index32>

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @carried(%q: !tile.view<?x?xf16> {tile.facts = #facts}, %k: !tile.view<?x?xf16> {tile.facts = #facts},
                  %v: !tile.view<?x?xf16> {tile.facts = #facts}, %t: !tile.view<?xi32> {tile.facts = #counts},
                  %o: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %n = tile.dim %t, 0 : !tile.view<?xi32>
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.load %q[%c0, %c0] : !tile.view<?x?xf16> -> tensor<64x64xf16>
  %sum = scf.for %j = %c0 to %n step %c1 iter_args(%s = %none) -> tensor<64x64xf32> {
    %row = arith.muli %j, %c128 : index
    %y = tile.load %k[%row, %c0] : !tile.view<?x?xf16> -> tensor<128x64xf16>
    %z = tile.load %v[%row, %c0] : !tile.view<?x?xf16> -> tensor<128x64xf16>
    %d = tile.dot %x, %y, %zero transpose_b : tensor<64x64xf16>, tensor<128x64xf16> -> tensor<64x128xf32>
    %e = math.exp2 %d : tensor<64x128xf32>
    %w = arith.truncf %e : tensor<64x128xf32> to tensor<64x128xf16>
    %t2 = tile.dot %w, %z, %s : tensor<64x128xf16>, tensor<128x64xf16> -> tensor<64x64xf32>
    scf.yield %t2 : tensor<64x64xf32>
  }
  tile.store %sum, %o[%c0, %c0] : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}
}

// -----

// A role that fills its own rings loads a page's number a trip before the copies that it places.
// CHECK-LABEL: @own_ring
// CHECK: tile.load %t{{.*}}stage = 0 : i64
// CHECK: tile.reshape {{.*}}stage = 1 : i64
// CHECK: tile.to_scalar {{.*}}stage = 1 : i64
// CHECK: arith.index_cast {{.*}}tile.stage = 1 : i64
// CHECK: tile.load %k{{.*}}depth = 4 : i64{{.*}}stage = 1 : i64
// CHECK: tile.dot {{.*}}stage = 4 : i64

#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>
#counts = #tile.facts<pointer = 16, strides = [4], extents = [16], index32>
#apart = #tile.facts<pointer = 16, strides = [16, 4], extents = [16, 16], index32, noalias>

module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
tile.kernel @own_ring(%q: !tile.view<?x?xf16> {tile.facts = #facts}, %k: !tile.view<?x?xf16> {tile.facts = #facts},
                      %t: !tile.view<?xi32> {tile.facts = #counts}, %o: !tile.view<?x?xf32> {tile.facts = #apart}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tile.dim %t, 0 : !tile.view<?xi32>
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.load %q[%c0, %c0] : !tile.view<?x?xf16> -> tensor<64x64xf16>
  %sum = scf.for %j = %c0 to %n step %c1 iter_args(%s = %none) -> tensor<64x64xf32> {
    %loaded = tile.load %t[%j] : !tile.view<?xi32> -> tensor<1xi32>
    %scalar = tile.reshape %loaded : tensor<1xi32> -> tensor<i32>
    %number = tile.to_scalar %scalar : tensor<i32>
    %row = arith.index_cast %number : i32 to index
    %y = tile.load %k[%row, %c0] : !tile.view<?x?xf16> -> tensor<64x64xf16>
    %d = tile.dot %x, %y, %s transpose_b : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %sum, %o[%c0, %c0] : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}
}
