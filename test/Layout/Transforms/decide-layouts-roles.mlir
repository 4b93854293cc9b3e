// The layouts of a kernel with roles follow from its atoms: each tensor is spread over the warps of
// the role that makes it, of all its copies.
// RUN: tile-opt %s --tile-decide-layouts --split-input-file | FileCheck %s
// RUN: tile-opt %s --tile-pipeline=stop-after=layout --split-input-file | FileCheck %s --check-prefix=PLACED

// Eight warps have 16 rows each. What an engine brings for a product in flight has no layout.
// CHECK-DAG: #[[SUMS:.*]] = #tile.layout<register = {{\[}}[0,1],[8,0],[0,8],[0,16],[0,32]], lane = {{\[}}[0,2],[0,4],[1,0],[2,0],[4,0]], warp = {{\[}}[16,0],[32,0],[64,0]]>
// CHECK-DAG: #[[ROW:.*]] = #tile.layout<register = {{\[}}[8]], lane = {{\[}}[0],[0],[1],[2],[4]], warp = {{\[}}[16],[32],[64]]>
// CHECK-LABEL: tile.kernel @product
// CHECK: %[[A:.*]] = tile.load %a{{.*}} -> tensor<128x64xbf16>{{$}}
// CHECK: %[[B:.*]] = tile.load %b{{.*}} -> tensor<64x64xbf16>{{$}}
// CHECK: tile.dot %[[A]], %[[B]], {{.*}} -> tensor<128x64xf32, #[[SUMS]]>
// CHECK: tile.reduce {{.*}} : tensor<128x64xf32, #[[SUMS]]> -> tensor<128xf32, #[[ROW]]>
// The positions are made where they stand, in the layout that the loop wants.
// PLACED-LABEL: tile.kernel @product
// PLACED: %[[I:.*]] = tile.iota 0 : tensor<128xi32, #[[ROW:.*]]>
// PLACED: %[[AT:.*]] = arith.sitofp %[[I]]
// PLACED: scf.for
// PLACED-NOT: tile.convert_layout
// PLACED: arith.addf {{.*}}, %[[AT]] : tensor<128xf32, #[[ROW]]>
// PLACED-NOT: tile.convert_layout
// PLACED: tile.return
!view = !tile.view<?x?xbf16>
#mma = #nvptx.wgmma<"m64n64k16", bf16, f32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @product(%a: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2]>},
                     %b: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2]>},
                     %c: !tile.view<?xf32>, %k: index)
    attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4, copies = 2>]} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %none = arith.constant dense<0.0> : tensor<128xf32>
  %at = tile.iota 0 : tensor<128xi32>
  %place = arith.sitofp %at : tensor<128xi32> to tensor<128xf32>
  %sum = scf.for %i = %c0 to %k step %c64 iter_args(%s = %none) -> tensor<128xf32> {
    %x = tile.load %a[%c0, %i] {atom = #nvptx.tma, stage = 0, role = "load"} : !view -> tensor<128x64xbf16>
    %y = tile.load %b[%c0, %i] {atom = #nvptx.tma, stage = 0, role = "load"} : !view -> tensor<64x64xbf16>
    %d = tile.dot %x, %y, %zero transpose_b {atom = #mma, stage = 0, role = "mma", in_flight = 0}
       : tensor<128x64xbf16>, tensor<64x64xbf16> -> tensor<128x64xf32>
    %r = tile.reduce %d axis = 1 : tensor<128x64xf32> -> tensor<128xf32> {
    ^bb0(%p: f32, %q: f32):
      %m = arith.maximumf %p, %q : f32
      tile.yield %m : f32
    }
    %t = arith.addf %r, %place : tensor<128xf32>
    %u = arith.addf %s, %t : tensor<128xf32>
    scf.yield %u : tensor<128xf32>
  } {tile.depth = 2}
  tile.store %sum, %c[%c0] {role = "mma"} : tensor<128xf32>, !tile.view<?xf32>
  tile.return
}
}

// -----

// An accumulator's layout that is pinned stays, and operands follow it: here all warps along n.
// CHECK-DAG: #[[SUMS:.*]] = #tile.layout<register = {{\[}}[0,1],[8,0],[16,0],[0,8]], lane = {{\[}}[0,2],[0,4],[1,0],[2,0],[4,0]], warp = {{\[}}[0,16],[0,32]]>
// CHECK-DAG: #[[A:.*]] = #tile.layout<register = {{\[}}[0,1],[8,0],[0,8],[16,0]], lane = {{\[}}[0,2],[0,4],[1,0],[2,0],[4,0]], warp = {{\[}}[0,0],[0,0]]>
// CHECK-DAG: #[[B:.*]] = #tile.layout<register = {{\[}}[0,1],[0,8],[8,0]], lane = {{\[}}[0,2],[0,4],[1,0],[2,0],[4,0]], warp = {{\[}}[16,0],[32,0]]>
// CHECK-LABEL: tile.kernel @pinned
// CHECK: %[[X:.*]] = tile.load %a{{.*}} -> tensor<32x16xbf16, #[[A]]>
// CHECK: %[[Y:.*]] = tile.load %b{{.*}} -> tensor<64x16xbf16, #[[B]]>
// CHECK: tile.dot %[[X]], %[[Y]], {{.*}} -> tensor<32x64xf32, #[[SUMS]]>
#sums = #tile.layout<register = [[0,1],[8,0],[16,0],[0,8]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[0,16],[0,32]]>
!view = !tile.view<?x?xbf16, strides [?, 1]>
!sums = tensor<32x64xf32, #sums>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
tile.kernel @pinned(%a: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2]>},
                    %b: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2]>},
                    %c: !tile.view<?x?xf32>, %k: index) attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : !sums
  %sum = scf.for %i = %c0 to %k step %c16 iter_args(%s = %zero) -> !sums {
    %x = tile.load %a[%c0, %i] {atom = #nvptx.cp_async<8>, stage = 0, role = "all"} : !view -> tensor<32x16xbf16>
    %y = tile.load %b[%c0, %i] {atom = #nvptx.cp_async<16>, stage = 0, role = "all"} : !view -> tensor<64x16xbf16>
    %d = tile.dot %x, %y, %s transpose_b {atom = #nvptx.mma_sync<"m16n8k16", bf16, f32>, stage = 1, role = "all"}
       : tensor<32x16xbf16>, tensor<64x16xbf16> -> !sums
    scf.yield %d : !sums
  } {tile.depth = 2}
  tile.store %sum, %c[%c0, %c0] {role = "all"} : !sums, !tile.view<?x?xf32>
  tile.return
}
}

// -----

// Lanes of gfx942 hold four k of an instruction. Out of buffers they read eight at once, those of
// two instructions: a sum may go in any order.
// CHECK: #[[A:.*]] = #tile.layout<register = {{\[}}[0,1],[0,2],[0,4],[0,16]], lane = {{\[}}[1,0],[2,0],[4,0],[8,0],[16,0],[0,8]], warp = {{\[}}[32,0]]>
// CHECK-LABEL: tile.kernel @wide
// CHECK: tile.load %a{{.*}} -> tensor<64x32xbf16, #[[A]]>
!view = !tile.view<?x?xbf16, strides [?, 1]>
#mma = #amdgcn.matrix<"mfma.f32.32x32x8bf16.1k", "gfx942", bf16>
module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
tile.kernel @wide(%a: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [0, 8], index32>},
                  %b: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [0, 8], index32>},
                  %c: !tile.view<?x?xf32>, %k: index) attributes {tile.roles = [#tile.role<"all", warps = 2>]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%s = %zero) -> tensor<64x32xf32> {
    %x = tile.load %a[%c0, %i] {atom = #amdgcn.load_to_lds<"gfx942", 4>, stage = 0, role = "all"} : !view -> tensor<64x32xbf16>
    %y = tile.load %b[%c0, %i] {atom = #amdgcn.load_to_lds<"gfx942", 4>, stage = 0, role = "all"} : !view -> tensor<32x32xbf16>
    %d = tile.dot %x, %y, %s transpose_b {atom = #mma, stage = 1, role = "all"}
       : tensor<64x32xbf16>, tensor<32x32xbf16> -> tensor<64x32xf32>
    scf.yield %d : tensor<64x32xf32>
  } {tile.depth = 2}
  tile.store %sum, %c[%c0, %c0] {role = "all"} : tensor<64x32xf32>, !tile.view<?x?xf32>
  tile.return
}
}

// -----

// Who converts what another role makes does so over its own warps, when its user runs.
// CHECK-DAG: #[[FOUR:.*]] = #tile.layout<register = {{.*}}, lane = {{.*}}, warp = {{\[}}[32],[64]]>
// CHECK-DAG: #[[TWO:.*]] = #tile.layout<register = {{.*}}, lane = {{.*}}, warp = {{\[}}[32]]>
// CHECK-LABEL: tile.kernel @edge
// CHECK: %[[X:.*]] = math.absf {{.*}} : tensor<512xf32, #[[FOUR]]>
// CHECK: %[[Y:.*]] = tile.convert_layout %[[X]] {role = "use"} : tensor<512xf32, #[[FOUR]]> -> tensor<512xf32, #[[TWO]]>
// CHECK: tile.store %[[Y]]
!view = !tile.view<?xf32, strides [1]>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @edge(%a: !view {tile.facts = #tile.facts<pointer = 16>}, %b: !view) attributes {
    tile.roles = [#tile.role<"make", warps = 4>, #tile.role<"use", warps = 2>]} {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0] {role = "make"} : !view -> tensor<512xf32>
  %y = math.absf %x : tensor<512xf32>
  tile.store %y, %b[%c0] {role = "use"} : tensor<512xf32>, !view
  tile.return
}
}

// -----

// What is done to an operand that lies in a buffer is done to it as the product wants it: each copy
// reads its own share of the buffer, and nothing goes through memory.
// CHECK-LABEL: tile.kernel @prepared
// PLACED-LABEL: tile.kernel @prepared
// PLACED: scf.for
// PLACED-NOT: tile.convert_layout
// PLACED: tile.return
!view = !tile.view<?x?xbf16>
#copy = #nvptx.cp_async<16>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
tile.kernel @prepared(%a: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2]>},
                      %b: !tile.view<?x?xi8> {tile.facts = #tile.facts<pointer = 16, strides = [16, 1]>},
                      %c: !tile.view<?x?xf32>, %k: index)
    attributes {tile.roles = [#tile.role<"all", warps = 4, copies = 2>]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%s = %zero) -> tensor<128x64xf32> {
    %x = tile.load %a[%c0, %i] {atom = #copy, role = "all"} : !view -> tensor<128x32xbf16>
    %y = tile.load %b[%c0, %i] {atom = #nvptx.cp_async<8>, role = "all"} : !tile.view<?x?xi8> -> tensor<64x32xi8>
    %z = arith.sitofp %y {tile.role = "all"} : tensor<64x32xi8> to tensor<64x32xbf16>
    %d = tile.dot %x, %z, %s transpose_b {atom = #nvptx.mma_sync<"m16n8k16", bf16, f32>, role = "all"}
       : tensor<128x32xbf16>, tensor<64x32xbf16> -> tensor<128x64xf32>
    scf.yield %d : tensor<128x64xf32>
  } {tile.depth = 2}
  tile.store %sum, %c[%c0, %c0] {role = "all"} : tensor<128x64xf32>, !tile.view<?x?xf32>
  tile.return
}
}

// -----

// What trips only hand on has the threads of the role that uses it behind the loop, not of the first.
// CHECK-LABEL: tile.kernel @left_behind
#copy = #nvptx.cp_async<8>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
tile.kernel @left_behind(%a: !tile.view<?xf16> {tile.facts = #tile.facts<pointer = 16, strides = [2]>}, %b: !tile.view<?xf16>, %n: index) attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"x", warps = 1>]} {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant dense<0.0> : tensor<512xf16>
  // CHECK: scf.for {{.*}} -> (tensor<512xf16, #[[ONE:.*]]>)
  %last = scf.for %i = %c0 to %n step %c512 iter_args(%before = %zero) -> tensor<512xf16> {
    %t = tile.load %a[%i] {atom = #copy, role = "load"} : !tile.view<?xf16> -> tensor<512xf16>
    scf.yield %t : tensor<512xf16>
  }
  // CHECK: tile.store {{.*}} : tensor<512xf16, #[[ONE]]>
  tile.store %last, %b[%c0] {role = "x"} : tensor<512xf16>, !tile.view<?xf16>
  tile.return
}
}

// -----

// Each copy has bytes of its own, and the smaller elements that lie in them.
// PLACED: #[[BYTES:.*]] = #tile.layout<register = {{\[}}[0,1],[0,2],[0,4],[0,8],[32,0]], lane = {{\[}}[0,16],[0,32],[1,0],[2,0],[4,0]], warp = {{\[}}[8,0],[16,0],[64,0]]>
// PLACED: #[[HALVES:.*]] = #tile.layout<register = {{\[}}[0,1],[0,2],[0,4],[0,8],[0,16],[32,0]], lane = {{\[}}[0,32],[0,64],[1,0],[2,0],[4,0]], warp = {{\[}}[8,0],[16,0],[64,0]]>
// PLACED-LABEL: tile.kernel @unpacked
// PLACED: tile.bitcast {{.*}} : tensor<128x64xi8, #[[BYTES]]> -> tensor<128x128xf4E2M1FN, #[[HALVES]]>
#packed = #tile.facts<pointer = 16, strides = [16, 1], extents = [0, 16]>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @unpacked(%a: !tile.view<?x?xi8> {tile.facts = #packed}, %c: !tile.view<?x?xf32>)
    attributes {tile.roles = [#tile.role<"all", warps = 4, copies = 2>]} {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0, %c0] {role = "all"} : !tile.view<?x?xi8> -> tensor<128x64xi8>
  %y = tile.bitcast %x : tensor<128x64xi8> -> tensor<128x128xf4E2M1FN>
  %z = arith.extf %y : tensor<128x128xf4E2M1FN> to tensor<128x128xf32>
  tile.store %z, %c[%c0, %c0] {role = "all"} : tensor<128x128xf32>, !tile.view<?x?xf32>
  tile.return
}
}
