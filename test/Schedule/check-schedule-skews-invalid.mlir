// Rings that have too few slots for copies that lag behind one another.
// RUN: tile-opt %s --tile-pipeline=stop-after=layout --tile-check-schedule -split-input-file -verify-diagnostics

#copy = #nvptx.tma
#mma = #nvptx.wgmma<"m64n128k16", f16, f32>
!view = !tile.view<?x?xf16>
#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], noalias>
#roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4, copies = 2, skew = 1>]

// The first copy would have the next tile before it meets the other one, which gives the slot back
// when it has met it.
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @loop(%a: !view {tile.facts = #facts}, %b: !view {tile.facts = #facts}, %c: !tile.view<?x?xf32>)
    attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %k = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  // expected-error@+1 {{expected a depth of at least 2, since with fewer slots the roles wait for one another:}}
  %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<128x128xf32> {
    // expected-note@+2 {{the ring is filled here}}
    // expected-note@+1 {{'tile.load' in role "load"}}
    %x = tile.load %a[%c0, %kk] {atom = #copy, role = "load"} : !view -> tensor<128x64xf16>
    %y = tile.load %b[%c0, %kk] {atom = #copy, role = "load"} : !view -> tensor<128x64xf16>
    // expected-note@+1 {{'tile.dot' in role "mma"}}
    %d = tile.dot %x, %y, %s transpose_b {atom = #mma, role = "mma", in_flight = 0}
       : tensor<128x64xf16>, tensor<128x64xf16> -> tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  } {tile.depth = 1}
  tile.store %sum, %c[%c0, %c0] {role = "mma"} : tensor<128x128xf32>, !tile.view<?x?xf32>
  tile.return
}
}

// -----

#copy = #nvptx.tma
#mma = #nvptx.wgmma<"m64n128k16", f16, f32>
!view = !tile.view<?x?xf16>
#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], noalias>

// Five meetings are more than two trips have.
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @far(%a: !view {tile.facts = #facts}, %b: !view {tile.facts = #facts}, %c: !tile.view<?x?xf32>)
    attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4, copies = 2, skew = 5>]} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %k = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  // expected-error@+1 {{expected a depth of at least 4, since with fewer slots the roles wait for one another:}}
  %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<128x128xf32> {
    // expected-note@+2 {{the ring is filled here}}
    // expected-note@+1 {{'tile.load' in role "load"}}
    %x = tile.load %a[%c0, %kk] {atom = #copy, role = "load"} : !view -> tensor<128x64xf16>
    %y = tile.load %b[%c0, %kk] {atom = #copy, role = "load"} : !view -> tensor<128x64xf16>
    // expected-note@+1 {{'tile.dot' in role "mma"}}
    %d = tile.dot %x, %y, %s transpose_b {atom = #mma, role = "mma", in_flight = 0}
       : tensor<128x64xf16>, tensor<128x64xf16> -> tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  } {tile.depth = 3}
  tile.store %sum, %c[%c0, %c0] {role = "mma"} : tensor<128x128xf32>, !tile.view<?x?xf32>
  tile.return
}
}

// -----

#copy = #nvptx.tma
#mma = #nvptx.wgmma<"m64n128k16", f16, f32>
!view = !tile.view<?x?xf16>
#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], noalias>
#roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4, copies = 2, skew = 1>]

// A tile that the dots of a loop read goes back behind the loop, in each of several programs.
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @programs(%a: !view {tile.facts = #facts}, %b: !view {tile.facts = #facts}, %c: !tile.view<?x?xf32>, %n: index)
    attributes {tile.roles = #roles, tile.persistent = #tile.persistent<programs = 2>} grid { tile.grid %n } {
  %p = tile.program_id x
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %m = tile.dim %b, 0 : !view
  %row = arith.muli %p, %c128 : index
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  // expected-note@+2 {{'tile.load' of stage 0 in role "load"}}
  // expected-error@+1 {{expected a depth of at least 2, since with fewer slots the roles wait for one another:}}
  %x = tile.load %a[%row, %c0] {atom = #copy, role = "load", ring = "x", depth = 1} : !view -> tensor<128x64xf16>
  // expected-note@+1 {{'scf.for' of stage 0 in role "mma"}}
  %sum = scf.for %j = %c0 to %m step %c128 iter_args(%s = %zero) -> tensor<128x128xf32> {
    %y = tile.load %b[%j, %c0] {atom = #copy, role = "load", ring = "y", depth = 2} : !view -> tensor<128x64xf16>
    %d = tile.dot %x, %y, %s transpose_b {atom = #mma, role = "mma", in_flight = 0}
       : tensor<128x64xf16>, tensor<128x64xf16> -> tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  tile.store %sum, %c[%row, %c0] {role = "mma"} : tensor<128x128xf32>, !tile.view<?x?xf32>
  tile.return
}
}
