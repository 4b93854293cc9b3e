// Rings deeper than trips may lie apart, or than the chip has memory for, also in loops of whose
// schedule nothing is known.
// RUN: tile-opt %s --tile-pipeline=stop-after=layout --tile-check-schedule -split-input-file -verify-diagnostics

!view = !tile.view<?x?xf32>
#facts = #tile.facts<noalias, pointer = 16, strides = [16, 4], extents = [16, 16]>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
tile.kernel @far(%a: !view {tile.facts = #facts}, %c: !view) attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %n = tile.dim %a, 1 : !view
  scf.for %k = %c0 to %n step %c16 {
    // expected-error@+1 {{expected at most 16 slots ('depth') of what role "all" loads for itself, since it is used as many trips later, as nobody says its users' stage, and stages are below 16, got 500}}
    %x = tile.load %a[%c0, %k] {depth = 500, tile.atom = "cp_async"} : !view -> tensor<32x16xf32>
    %s = tile.scan %x axis = 1 : tensor<32x16xf32> -> tensor<32x16xf32> {
    ^bb0(%l: f32, %r: f32):
      %t = arith.addf %l, %r : f32
      tile.yield %t : f32
    }
    tile.store %s, %c[%c0, %k] : tensor<32x16xf32>, !view
  }
  tile.return
}
}

// -----

!view = !tile.view<?x?xf32>
#facts = #tile.facts<pointer = 16, strides = [16, 4], extents = [16, 16]>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
tile.kernel @large(%a: !view {tile.facts = #facts}, %c: !view) attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %n = tile.dim %a, 1 : !view
  scf.for %k = %c0 to %n step %c16 {
    // expected-error@+1 {{expected a ring of at most 166912 bytes of shared memory, got 1024000 of 500 slots ('depth')}}
    %x = tile.load %a[%c0, %k] {depth = 500, tile.atom = "cp_async"} : !view -> tensor<32x16xf32>
    %s = tile.scan %x axis = 1 {stage = 1} : tensor<32x16xf32> -> tensor<32x16xf32> {
    ^bb0(%l: f32, %r: f32):
      %t = arith.addf %l, %r : f32
      tile.yield %t : f32
    }
    tile.store %s, %c[%c0, %k] : tensor<32x16xf32>, !view
  }
  tile.return
}
}

// -----

!view = !tile.view<?x?xf32>
#facts = #tile.facts<pointer = 16, strides = [16, 4], extents = [16, 16]>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
tile.kernel @said_of_the_loop(%a: !view {tile.facts = #facts}, %c: !view) attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %n = tile.dim %a, 1 : !view
  // expected-error@+1 {{'scf.for' op expected a ring of at most 166912 bytes of shared memory, got 1024000 of 500 slots ('tile.depth')}}
  scf.for %k = %c0 to %n step %c16 {
    // expected-note@+1 {{the ring is filled here}}
    %x = tile.load %a[%c0, %k] {tile.atom = "cp_async"} : !view -> tensor<32x16xf32>
    %s = tile.scan %x axis = 1 {stage = 1} : tensor<32x16xf32> -> tensor<32x16xf32> {
    ^bb0(%l: f32, %r: f32):
      %t = arith.addf %l, %r : f32
      tile.yield %t : f32
    }
    tile.store %s, %c[%c0, %k] : tensor<32x16xf32>, !view
  } {tile.depth = 500 : i64}
  tile.return
}
}
