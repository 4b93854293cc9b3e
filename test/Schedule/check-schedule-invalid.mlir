// Pinned schedules that the chip has no room for, or that wait for themselves: each error stands at
// the op whose decision breaks the limit, before anything is realised.
// RUN: tile-opt %s --tile-pipeline=stop-after=layout --tile-check-schedule -split-input-file -verify-diagnostics

#copy = #nvptx.tma
#mma = #nvptx.wgmma<"m64n128k16", f16, f32>
!view = !tile.view<?x?xf16>
#facts = #tile.facts<pointer = 16, strides = [16, 2]>
#roles = [#tile.role<"load", warps = 4, registers = 40>, #tile.role<"mma", warps = 4, registers = 232>]

// A product stays in flight until the next trip's has started, and holds its slot until then.
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @shallow(%a: !view {tile.facts = #facts}, %b: !view {tile.facts = #facts}, %c: !tile.view<?x?xf32>)
    attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %k = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  // expected-error@+1 {{expected a depth of at least 2, since with fewer slots the roles wait for one another: 'tile.load' -> 'tile.dot' -> 'tile.load', got 1}}
  %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<64x128xf32> {
    // expected-note@+2 {{the ring is filled here}}
    // expected-note@+1 {{'tile.load' in role "load"}}
    %x = tile.load %a[%c0, %kk] {atom = #copy, role = "load"} : !view -> tensor<64x64xf16>
    %y = tile.load %b[%c0, %kk] {atom = #copy, role = "load"} : !view -> tensor<128x64xf16>
    // expected-note@+1 {{'tile.dot' in role "mma"}}
    %d = tile.dot %x, %y, %s transpose_b {atom = #mma, role = "mma", in_flight = 1}
       : tensor<64x64xf16>, tensor<128x64xf16> -> tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  } {tile.depth = 1}
  tile.store %sum, %c[%c0, %c0] {role = "mma"} : tensor<64x128xf32>, !tile.view<?x?xf32>
  tile.return
}
}

// -----

#copy = #nvptx.tma
#mma = #nvptx.wgmma<"m64n128k16", f16, f32>
!view = !tile.view<?x?xf16>
#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [0, 16]>
#roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>]

// Ten slots of 24 KiB.
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @deep(%a: !view {tile.facts = #facts}, %b: !view {tile.facts = #facts}, %c: !tile.view<?x?xf16> {tile.facts = #facts})
    attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %k = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  // expected-note@+1 {{8208 bytes for a ring of 1 slot of 64x64xf16 that role "load" fills}}
  %more = tile.load %a[%c0, %c0] {atom = #copy, role = "load", ring = "once"} : !view -> tensor<64x64xf16>
  // expected-error@+1 {{expected rings of at most 232448 bytes of shared memory together, got 288928, of which this one of 10 slots ('depth') takes 245920}}
  %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<64x128xf32> {
    // expected-note@+1 {{the ring is filled here}}
    %x = tile.load %a[%c0, %kk] {atom = #copy, role = "load"} : !view -> tensor<64x64xf16>
    // expected-note@+1 {{245920 bytes for a ring of 10 slots ('depth') of 64x64xf16 and 128x64xf16 that role "load" fills}}
    %y = tile.load %b[%c0, %kk] {atom = #copy, role = "load"} : !view -> tensor<128x64xf16>
    %d = tile.dot %x, %y, %s transpose_b {atom = #mma, role = "mma", in_flight = 1}
       : tensor<64x64xf16>, tensor<128x64xf16> -> tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  } {tile.depth = 10}
  // expected-note@+1 {{16400 bytes for a ring of 1 slot of 128x64xf16 that role "load" fills}}
  %y = tile.load %b[%c0, %c0] {atom = #copy, role = "load", ring = "rows"} : !view -> tensor<128x64xf16>
  %d = tile.dot %more, %y, %sum transpose_b {atom = #mma, role = "mma", in_flight = 0}
     : tensor<64x64xf16>, tensor<128x64xf16> -> tensor<64x128xf32>
  %r = arith.truncf %d : tensor<64x128xf32> to tensor<64x128xf16>
  // expected-note@+1 {{8192 bytes for a buffer of 64x64xf16}}
  tile.store %r, %c[%c0, %c0] {role = "mma", atom = #copy, in_flight = 1} : tensor<64x128xf16>, !view
  tile.return
}
}

// -----

#copy = #nvptx.tma
#mma = #nvptx.wgmma<"m64n256k16", f16, f32>
!view = !tile.view<?x?xf16>
#facts = #tile.facts<pointer = 16, strides = [16, 2]>
#roles = [#tile.role<"load", warps = 4, registers = 40>, #tile.role<"mma", warps = 4, registers = 232>]

// 256 registers a thread for the sum alone.
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @wide(%a: !view {tile.facts = #facts}, %b: !view {tile.facts = #facts}, %c: !tile.view<?x?xf32>)
    attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %k = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<128x256xf32> {
    %x = tile.load %a[%c0, %kk] {atom = #copy, role = "load"} : !view -> tensor<128x64xf16>
    %y = tile.load %b[%c0, %kk] {atom = #copy, role = "load"} : !view -> tensor<256x64xf16>
    // expected-error@+1 {{expected at most 118784 bytes of registers in role 'mma', got results of 131072 at once by its copies, of which this op's is the largest}}
    %d = tile.dot %x, %y, %s transpose_b {atom = #mma, role = "mma", in_flight = 1}
       : tensor<128x64xf16>, tensor<256x64xf16> -> tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  } {tile.depth = 2}
  tile.store %sum, %c[%c0, %c0] {role = "mma"} : tensor<128x256xf32>, !tile.view<?x?xf32>
  tile.return
}
}

// -----

#copy = #nvptx.cp_async<16>
!view = !tile.view<?x?xf16>
#facts = #tile.facts<pointer = 16, strides = [16, 2]>

// Copies that lag in a nest of rings of their own.
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
tile.kernel @lag(%a: !view {tile.facts = #facts}, %c: !view)
    attributes {tile.roles = [#tile.role<"all", warps = 4, copies = 2, skew = 1>]} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %m = tile.dim %a, 0 : !view
  %k = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<64x64xf16>
  %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<64x64xf16> {
    // expected-error@+1 {{expected no skew of role "all", which uses rings in a loop behind it too, got a skew of 1}}
    %x = tile.load %a[%c0, %kk] {atom = #copy, role = "all"} : !view -> tensor<64x64xf16>
    // expected-note@+1 {{the loop}}
    %in = scf.for %mm = %c0 to %m step %c64 iter_args(%t = %s) -> tensor<64x64xf16> {
      %y = tile.load %a[%mm, %kk] {atom = #copy, role = "all"} : !view -> tensor<64x64xf16>
      %p = arith.mulf %x, %y : tensor<64x64xf16>
      %u = arith.addf %t, %p : tensor<64x64xf16>
      scf.yield %u : tensor<64x64xf16>
    }
    scf.yield %in : tensor<64x64xf16>
  }
  tile.store %sum, %c[%c0, %c0] : tensor<64x64xf16>, !view
  tile.return
}
}

// -----

// Copies that take programs in turn fill no ring of their own, and none by copies of all of them.
#copy = #nvptx.cp_async<16>
!view = !tile.view<?xf16>
#facts = #tile.facts<pointer = 16, strides = [2]>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
tile.kernel @own(%a: !view {tile.facts = #facts}, %c: !view, %n: index)
    attributes {tile.roles = [#tile.role<"all", warps = 4>], tile.turns = {all = 2 : i64},
                tile.persistent = #tile.persistent<programs = 2>} grid { tile.grid %n } {
  %x = tile.program_id x
  %c1024 = arith.constant 1024 : index
  %at = arith.muli %x, %c1024 : index
  // expected-error@+1 {{expected another role to fill the ring, since copies of role "all" take programs in turn}}
  %t = tile.load %a[%at] {atom = #copy, ring = "r", depth = 2, role = "all"} : !view -> tensor<1024xf16>
  tile.store %t, %c[%at] {role = "all"} : tensor<1024xf16>, !view
  tile.return
}
}

// -----

// Copies that run a program each bring themselves nothing by an engine.
!view = !tile.view<?xf16>
#rows = #tile.layout<offset = [[1],[2],[4],[8],[16],[32],[64],[128]]>
#facts = #tile.facts<pointer = 16, strides = [2], noalias>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @programs(%a: !view {tile.facts = #facts}, %c: !view, %n: index)
    attributes {tile.block_programs = 2} grid { tile.grid %n } {
  %c256 = arith.constant 256 : index
  %id = tile.program_id x
  %x = arith.muli %id, %c256 : index
  // expected-error@+1 {{expected a load without 'atom', since copies of role "program" run a program each ('programs_per_block')}}
  %t = tile.load %a[%x] {tile.atom = "tma"} : !view -> tensor<256xf16>
  tile.store %t, %c[%x] : tensor<256xf16>, !view
  tile.return
}
}

// -----

#copy = #nvptx.cp_async<16>
!view = !tile.view<?xf16>
#facts = #tile.facts<pointer = 16, strides = [2]>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
tile.kernel @shares(%a: !view {tile.facts = #facts}, %c: !view, %n: index)
    attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"all", warps = 4>], tile.turns = {load = 2 : i64},
                tile.persistent = #tile.persistent<programs = 2>} grid { tile.grid %n } {
  %x = tile.program_id x
  %c1024 = arith.constant 1024 : index
  %at = arith.muli %x, %c1024 : index
  // expected-error@+1 {{expected copies of role "load", which take programs in turn, to bring what an engine counts or what goes through registers, since copies by warps are of all of a role's}}
  %t = tile.load %a[%at] {atom = #copy, ring = "r", depth = 2, role = "load"} : !view -> tensor<1024xf16>
  tile.store %t, %c[%at] {role = "all"} : tensor<1024xf16>, !view
  tile.return
}
}

// -----

// Two loads of a trip go round three slots: the first fills one two trips after the second has to.
!view = !tile.view<?x?xf32, strides [?, 1]>
#facts = #tile.facts<noalias, pointer = 16, strides = [16, 4], extents = [16, 16]>
#roles = [#tile.role<"load", warps = 1>, #tile.role<"use", warps = 4>]
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
tile.kernel @overtakes(%a: !view {tile.facts = #facts}, %c: !view) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %n = tile.dim %a, 1 : !view
  scf.for %k = %c0 to %n step %c16 {
    // expected-error@+1 {{expected at least 4 slots ('depth') of the ring, since it fills a slot that another load of the ring has to fill before, at a later stage, got 3}}
    %x = tile.load %a[%c0, %k] {tile.atom = "cp_async", ring = "r", depth = 3, role = "load"} : !view -> tensor<32x16xf32>
    tile.store %x, %c[%c0, %k] {role = "use"} : tensor<32x16xf32>, !view
    // expected-note@+1 {{the other load}}
    %y = tile.load %a[%c16, %k] {tile.atom = "cp_async", ring = "r", stage = 2, role = "load"} : !view -> tensor<32x16xf32>
    tile.store %y, %c[%c16, %k] {role = "use"} : tensor<32x16xf32>, !view
  }
  tile.return
}
}

// -----

// Two loads of a trip go round one slot: the one that is used last is loaded first.
!view = !tile.view<?x?xf32, strides [?, 1]>
#facts = #tile.facts<noalias, pointer = 16, strides = [16, 4], extents = [16, 16]>
#roles = [#tile.role<"load", warps = 1>, #tile.role<"use", warps = 4>]
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
tile.kernel @turned(%a: !view {tile.facts = #facts}, %c: !view) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %n = tile.dim %a, 1 : !view
  scf.for %k = %c0 to %n step %c16 {
    // expected-note@+1 {{the other load}}
    %x = tile.load %a[%c0, %k] {tile.atom = "cp_async", ring = "r", depth = 1, order = 1, role = "load"} : !view -> tensor<32x16xf32>
    tile.store %x, %c[%c0, %k] {role = "use"} : tensor<32x16xf32>, !view
    // expected-error@+1 {{expected at least 2 slots ('depth') of the ring, since it fills a slot that another load of the ring has to fill before, later in a trip ('order'), got 1}}
    %y = tile.load %a[%c16, %k] {tile.atom = "cp_async", ring = "r", order = 0, role = "load"} : !view -> tensor<32x16xf32>
    tile.store %y, %c[%c16, %k] {role = "use"} : tensor<32x16xf32>, !view
  }
  tile.return
}
}
