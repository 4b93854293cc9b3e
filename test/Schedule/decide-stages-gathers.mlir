// Gathers run a trip ahead of what multiplies them, with what says where their elements lie.
// RUN: tile-opt %s --split-input-file --tile-pipeline=stop-after=layout --tile-decide-stages | FileCheck %s

// In the role that fills a ring for the other operand.
// CHECK-LABEL: @own
// CHECK: scf.for
// CHECK: arith.addi {{.*}}tile.stage = 2 : i64} : tensor<64x32xi32
// CHECK: tile.gather {{.*}}stage = 2 : i64, tile.run
// CHECK: tile.load {{.*}}atom = #nvptx.cp_async<16>, {{.*}}stage = 0 : i64}
// CHECK: tile.dot {{.*}}stage = 3 : i64}
#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>
#counts = #tile.facts<pointer = 16, strides = [4], extents = [16], index32>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
tile.kernel @own(%a: !tile.view<?x?xbf16> {tile.facts = #facts},
                 %b: !tile.view<?x?xbf16> {tile.facts = #facts},
                 %rows: !tile.view<?xi32> {tile.facts = #counts}, %c: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %k = tile.dim %a, 1 : !tile.view<?x?xbf16>
  %at = tile.load %rows[%c0] : !tile.view<?xi32> -> tensor<64xi32>
  %wide = arith.index_cast %at : tensor<64xi32> to tensor<64xindex>
  %column = tile.reshape %wide : tensor<64xindex> -> tensor<64x1xindex>
  %i = tile.broadcast %column : tensor<64x1xindex> -> tensor<64x32xindex>
  %n = tile.iota 1 : tensor<64x32xindex>
  %r = scf.for %kk = %c0 to %k step %c32 iter_args(%s = %zero) -> tensor<64x64xf32> {
    %first = tile.splat %kk : tensor<64x32xindex>
    %j = arith.addi %n, %first : tensor<64x32xindex>
    %x = tile.gather %a[%i, %j] : !tile.view<?x?xbf16>, [tensor<64x32xindex>, tensor<64x32xindex>] -> tensor<64x32xbf16>
    %y = tile.load %b[%c0, %kk] : !tile.view<?x?xbf16> -> tensor<64x32xbf16>
    %d = tile.dot %x, %y, %s transpose_b
       : tensor<64x32xbf16>, tensor<64x32xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %r, %c[%c0, %c0] : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}
}

// -----

// Both operands of it, where no ring is filled.
// CHECK-LABEL: @both
// CHECK: scf.for
// CHECK-COUNT-2: tile.gather {{.*}}role = "all", stage = 0 : i64, tile.run
// CHECK: tile.dot {{.*}}role = "all", stage = 1 : i64}
#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>
#counts = #tile.facts<pointer = 16, strides = [4], extents = [16], index32>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
tile.kernel @both(%a: !tile.view<?x?xbf16> {tile.facts = #facts},
                 %b: !tile.view<?x?xbf16> {tile.facts = #facts},
                 %rows: !tile.view<?xi32> {tile.facts = #counts}, %c: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %k = tile.dim %a, 1 : !tile.view<?x?xbf16>
  %at = tile.load %rows[%c0] : !tile.view<?xi32> -> tensor<64xi32>
  %wide = arith.index_cast %at : tensor<64xi32> to tensor<64xindex>
  %column = tile.reshape %wide : tensor<64xindex> -> tensor<64x1xindex>
  %i = tile.broadcast %column : tensor<64x1xindex> -> tensor<64x32xindex>
  %n = tile.iota 1 : tensor<64x32xindex>
  %r = scf.for %kk = %c0 to %k step %c32 iter_args(%s = %zero) -> tensor<64x64xf32> {
    %first = tile.splat %kk : tensor<64x32xindex>
    %j = arith.addi %n, %first : tensor<64x32xindex>
    %x = tile.gather %a[%i, %j] : !tile.view<?x?xbf16>, [tensor<64x32xindex>, tensor<64x32xindex>] -> tensor<64x32xbf16>
    %y = tile.gather %b[%i, %j] : !tile.view<?x?xbf16>, [tensor<64x32xindex>, tensor<64x32xindex>] -> tensor<64x32xbf16>
    %d = tile.dot %x, %y, %s transpose_b
       : tensor<64x32xbf16>, tensor<64x32xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %r, %c[%c0, %c0] : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}
}

// -----

// Beside a ring that an engine fills.
// CHECK-LABEL: @engine
// CHECK: scf.for
// CHECK: tile.gather {{.*}}role = "compute", stage = 0 : i64, tile.run
// CHECK: tile.load {{.*}}atom = #nvptx.tma, {{.*}}role = "load", stage = 0 : i64}
// CHECK: tile.dot {{.*}}role = "compute", stage = 1 : i64}
#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>
#counts = #tile.facts<pointer = 16, strides = [4], extents = [16], index32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @engine(%a: !tile.view<?x?xbf16> {tile.facts = #facts},
                 %b: !tile.view<?x?xbf16> {tile.facts = #facts},
                 %rows: !tile.view<?xi32> {tile.facts = #counts}, %c: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %k = tile.dim %a, 1 : !tile.view<?x?xbf16>
  %at = tile.load %rows[%c0] : !tile.view<?xi32> -> tensor<64xi32>
  %wide = arith.index_cast %at : tensor<64xi32> to tensor<64xindex>
  %column = tile.reshape %wide : tensor<64xindex> -> tensor<64x1xindex>
  %i = tile.broadcast %column : tensor<64x1xindex> -> tensor<64x32xindex>
  %n = tile.iota 1 : tensor<64x32xindex>
  %r = scf.for %kk = %c0 to %k step %c32 iter_args(%s = %zero) -> tensor<64x64xf32> {
    %first = tile.splat %kk : tensor<64x32xindex>
    %j = arith.addi %n, %first : tensor<64x32xindex>
    %x = tile.gather %a[%i, %j] : !tile.view<?x?xbf16>, [tensor<64x32xindex>, tensor<64x32xindex>] -> tensor<64x32xbf16>
    %y = tile.load %b[%c0, %kk] : !tile.view<?x?xbf16> -> tensor<64x32xbf16>
    %d = tile.dot %x, %y, %s transpose_b
       : tensor<64x32xbf16>, tensor<64x32xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %r, %c[%c0, %c0] : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}
}

// -----

// Not what a product of the trip before says the place of.
// CHECK-LABEL: @late
// CHECK: scf.for
// CHECK: tile.gather {{.*}}stage = 3 : i64, tile.run
// CHECK: tile.dot {{.*}}stage = 3 : i64}
#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
tile.kernel @late(%a: !tile.view<?x?xbf16> {tile.facts = #facts},
                 %b: !tile.view<?x?xbf16> {tile.facts = #facts}, %c: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %k = tile.dim %a, 1 : !tile.view<?x?xbf16>
  %none = arith.constant dense<0> : tensor<64x1xi32>
  %n = tile.iota 1 : tensor<64x32xindex>
  %r:2 = scf.for %kk = %c0 to %k step %c32 iter_args(%s = %zero, %at = %none) -> (tensor<64x64xf32>, tensor<64x1xi32>) {
    %first = tile.splat %kk : tensor<64x32xindex>
    %j = arith.addi %n, %first : tensor<64x32xindex>
    %wide = arith.index_cast %at : tensor<64x1xi32> to tensor<64x1xindex>
    %i = tile.broadcast %wide : tensor<64x1xindex> -> tensor<64x32xindex>
    %x = tile.gather %a[%i, %j] : !tile.view<?x?xbf16>, [tensor<64x32xindex>, tensor<64x32xindex>] -> tensor<64x32xbf16>
    %y = tile.load %b[%c0, %kk] : !tile.view<?x?xbf16> -> tensor<64x32xbf16>
    %d = tile.dot %x, %y, %s transpose_b
       : tensor<64x32xbf16>, tensor<64x32xbf16> -> tensor<64x64xf32>
    %most = tile.reduce %d axis = 1 : tensor<64x64xf32> -> tensor<64xf32> {
    ^bb0(%p: f32, %q: f32):
      %m = arith.maximumf %p, %q : f32
      tile.yield %m : f32
    }
    %number = arith.fptosi %most : tensor<64xf32> to tensor<64xi32>
    %next = tile.reshape %number : tensor<64xi32> -> tensor<64x1xi32>
    scf.yield %d, %next : tensor<64x64xf32>, tensor<64x1xi32>
  }
  tile.store %r#0, %c[%c0, %c0] : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}
}
