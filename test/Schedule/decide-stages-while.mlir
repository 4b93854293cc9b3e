// Loops of products whose trips nobody counts get roles, rings and stages as counted ones do, if
// numbers tell whether there is another trip.
// RUN: tile-opt %s --split-input-file --tile-pipeline=stop-after=layout --tile-rotate-loops --tile-decide-stages | FileCheck %s

// The role that loads asks for itself.
// CHECK-LABEL: @engine
// CHECK-SAME: tile.roles = [#tile.role<"compute", warps = 4>, #tile.role<"load", warps = 1>]
// CHECK: scf.while
// CHECK: tile.load {{.*}}atom = #nvptx.tma, {{.*}}depth = 8 : i64, ring = "ring0", role = "load", stage = 0 : i64}
// CHECK: tile.dot {{.*}}in_flight = 1 : i64, role = "compute", stage = 0 : i64}
// CHECK: tile.load %next[{{.*}}] :
// CHECK: scf.yield %{{.*}}, %{{.*}}, %{{.*}} : i1, i32, tensor
#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>
#counts = #tile.facts<pointer = 16, strides = [4], extents = [16], index32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @engine(%a: !tile.view<?x?xbf16> {tile.facts = #facts},
                   %next: !tile.view<?xi32> {tile.facts = #counts}, %first: i32,
                   %c: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %none = arith.constant 0 : i32
  %by = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %r:2 = scf.while (%page = %first, %s = %zero) : (i32, tensor<64x64xf32>) -> (i32, tensor<64x64xf32>) {
    %goes = arith.cmpi sge, %page, %none : i32
    scf.condition(%goes) %page, %s : i32, tensor<64x64xf32>
  } do {
  ^bb0(%page: i32, %s: tensor<64x64xf32>):
    %k = arith.muli %page, %by : i32
    %kk = arith.index_cast %k : i32 to index
    %x = tile.load %a[%c0, %kk] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    %d = tile.dot %x, %x, %s transpose_b
       : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    %at = arith.index_cast %page : i32 to index
    %loaded = tile.load %next[%at] : !tile.view<?xi32> -> tensor<1xi32>
    %number = tile.to_scalar %loaded : tensor<1xi32>
    scf.yield %number, %d : i32, tensor<64x64xf32>
  }
  tile.store %r#1, %c[%c0, %c0] : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}
}

// -----

// One role: what tells whether there is another trip comes first of all.
// CHECK-LABEL: @own
// CHECK-SAME: tile.roles = [#tile.role<"all"
// CHECK: tile.load {{.*}}atom = #nvptx.cp_async<16>, {{.*}}depth = 4 : i64, {{.*}}stage = 0 : i64}
// CHECK: tile.dot {{.*}}stage = 3 : i64}
// CHECK: tile.load %next[{{.*}}stage = 0 : i64}
#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>
#counts = #tile.facts<pointer = 16, strides = [4], extents = [16], index32>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
tile.kernel @own(%a: !tile.view<?x?xbf16> {tile.facts = #facts},
                   %next: !tile.view<?xi32> {tile.facts = #counts}, %first: i32,
                   %c: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %none = arith.constant 0 : i32
  %by = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %r:2 = scf.while (%page = %first, %s = %zero) : (i32, tensor<64x64xf32>) -> (i32, tensor<64x64xf32>) {
    %goes = arith.cmpi sge, %page, %none : i32
    scf.condition(%goes) %page, %s : i32, tensor<64x64xf32>
  } do {
  ^bb0(%page: i32, %s: tensor<64x64xf32>):
    %k = arith.muli %page, %by : i32
    %kk = arith.index_cast %k : i32 to index
    %x = tile.load %a[%c0, %kk] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    %d = tile.dot %x, %x, %s transpose_b
       : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    %at = arith.index_cast %page : i32 to index
    %loaded = tile.load %next[%at] : !tile.view<?xi32> -> tensor<1xi32>
    %number = tile.to_scalar %loaded : tensor<1xi32>
    scf.yield %number, %d : i32, tensor<64x64xf32>
  }
  tile.store %r#1, %c[%c0, %c0] : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}
}

// -----

// What a product makes tells it a trip too late.
// CHECK-LABEL: @late
// CHECK-NOT: tile.roles
// CHECK-NOT: stage =
// CHECK: tile.return
#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>
#counts = #tile.facts<pointer = 16, strides = [4], extents = [16], index32>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
tile.kernel @late(%a: !tile.view<?x?xbf16> {tile.facts = #facts},
                   %next: !tile.view<?xi32> {tile.facts = #counts}, %first: i32,
                   %c: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %none = arith.constant 0 : i32
  %by = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %r:2 = scf.while (%page = %first, %s = %zero) : (i32, tensor<64x64xf32>) -> (i32, tensor<64x64xf32>) {
    %goes = arith.cmpi sge, %page, %none : i32
    scf.condition(%goes) %page, %s : i32, tensor<64x64xf32>
  } do {
  ^bb0(%page: i32, %s: tensor<64x64xf32>):
    %k = arith.muli %page, %by : i32
    %kk = arith.index_cast %k : i32 to index
    %x = tile.load %a[%c0, %kk] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    %d = tile.dot %x, %x, %s transpose_b
       : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    %rows = tile.reduce %d axis = 0 : tensor<64x64xf32> -> tensor<64xf32> {
    ^bb0(%p: f32, %q: f32):
      %m = arith.maximumf %p, %q : f32
      tile.yield %m : f32
    }
    %most = tile.reduce %rows axis = 0 : tensor<64xf32> -> tensor<f32> {
    ^bb0(%p: f32, %q: f32):
      %m = arith.maximumf %p, %q : f32
      tile.yield %m : f32
    }
    %found = tile.to_scalar %most : tensor<f32>
    %number = arith.fptosi %found : f32 to i32
    scf.yield %number, %d : i32, tensor<64x64xf32>
  }
  tile.store %r#1, %c[%c0, %c0] : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}
}

// -----

// CHECK-LABEL: @late
// CHECK-NOT: tile.roles
// CHECK-NOT: stage =
// CHECK: tile.return
#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>
#counts = #tile.facts<pointer = 16, strides = [4], extents = [16], index32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @late(%a: !tile.view<?x?xbf16> {tile.facts = #facts},
                   %next: !tile.view<?xi32> {tile.facts = #counts}, %first: i32,
                   %c: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %none = arith.constant 0 : i32
  %by = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %r:2 = scf.while (%page = %first, %s = %zero) : (i32, tensor<64x64xf32>) -> (i32, tensor<64x64xf32>) {
    %goes = arith.cmpi sge, %page, %none : i32
    scf.condition(%goes) %page, %s : i32, tensor<64x64xf32>
  } do {
  ^bb0(%page: i32, %s: tensor<64x64xf32>):
    %k = arith.muli %page, %by : i32
    %kk = arith.index_cast %k : i32 to index
    %x = tile.load %a[%c0, %kk] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    %d = tile.dot %x, %x, %s transpose_b
       : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    %rows = tile.reduce %d axis = 0 : tensor<64x64xf32> -> tensor<64xf32> {
    ^bb0(%p: f32, %q: f32):
      %m = arith.maximumf %p, %q : f32
      tile.yield %m : f32
    }
    %most = tile.reduce %rows axis = 0 : tensor<64xf32> -> tensor<f32> {
    ^bb0(%p: f32, %q: f32):
      %m = arith.maximumf %p, %q : f32
      tile.yield %m : f32
    }
    %found = tile.to_scalar %most : tensor<f32>
    %number = arith.fptosi %found : f32 to i32
    scf.yield %number, %d : i32, tensor<64x64xf32>
  }
  tile.store %r#1, %c[%c0, %c0] : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}
}

// -----

// Where slots must be known, and nobody counts trips, tiles come through registers.
// CHECK-LABEL: @known
// CHECK-SAME: tile.roles = [#tile.role<"all"
// CHECK: tile.load {{.*}}atom = #tile.through_registers, {{.*}}depth = 2 : i64, {{.*}}stage = 0 : i64}
// CHECK: tile.dot {{.*}}stage = 1 : i64}
// CHECK: tile.load %next[{{.*}}stage = 0 : i64}
#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>
#counts = #tile.facts<pointer = 16, strides = [4], extents = [16], index32>
module attributes {tile.target = #amdgcn.target<chip = "gfx950">} {
tile.kernel @known(%a: !tile.view<?x?xbf16> {tile.facts = #facts},
                   %next: !tile.view<?xi32> {tile.facts = #counts}, %first: i32,
                   %c: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %none = arith.constant 0 : i32
  %by = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %r:2 = scf.while (%page = %first, %s = %zero) : (i32, tensor<64x64xf32>) -> (i32, tensor<64x64xf32>) {
    %goes = arith.cmpi sge, %page, %none : i32
    scf.condition(%goes) %page, %s : i32, tensor<64x64xf32>
  } do {
  ^bb0(%page: i32, %s: tensor<64x64xf32>):
    %k = arith.muli %page, %by : i32
    %kk = arith.index_cast %k : i32 to index
    %x = tile.load %a[%c0, %kk] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    %d = tile.dot %x, %x, %s transpose_b
       : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    %at = arith.index_cast %page : i32 to index
    %loaded = tile.load %next[%at] : !tile.view<?xi32> -> tensor<1xi32>
    %number = tile.to_scalar %loaded : tensor<1xi32>
    scf.yield %number, %d : i32, tensor<64x64xf32>
  }
  tile.store %r#1, %c[%c0, %c0] : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}
}
