// RUN: tile-opt %s --split-input-file --tile-pipeline=stop-after=layout | FileCheck %s

// A core has room for one program, whose rings take the shared memory: programs run tiles in turn, and
// the launch's grid is the kernel's own.
//
// CHECK: own_grid = true

#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>

// CHECK-LABEL: @product
// CHECK-SAME: tile.persistent = #tile.persistent<programs = 0, group = 16, even = true>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @product(%a: !tile.view<?x?xbf16> {tile.facts = #facts},
                     %b: !tile.view<?x?xbf16> {tile.facts = #facts},
                     %c: !tile.view<?x?xbf16> {tile.facts = #facts}) grid {
  %m = tile.dim %c, 0 : !tile.view<?x?xbf16>
  %n = tile.dim %c, 1 : !tile.view<?x?xbf16>
  tile.grid %m, %n
} {
  %c0 = arith.constant 0 : index
  %step = arith.constant 64 : index
  %i = tile.program_id x
  %j = tile.program_id y
  %k = tile.dim %a, 1 : !tile.view<?x?xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %kk = %c0 to %k step %step iter_args(%s = %zero) -> tensor<64x64xf32> {
    %x = tile.load %a[%i, %kk] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    %y = tile.load %b[%j, %kk] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    %d = tile.dot %x, %y, %s transpose_b
       : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %r = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xbf16>
  tile.store %r, %c[%i, %j] : tensor<64x64xbf16>, !tile.view<?x?xbf16>
  tile.return
}
}

// -----

// A grid of one axis has no groups.

#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>

// CHECK-LABEL: @line
// CHECK-SAME: tile.persistent = #tile.persistent<programs = 0, even = true>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @line(%a: !tile.view<?x?xbf16> {tile.facts = #facts},
                     %b: !tile.view<?x?xbf16> {tile.facts = #facts},
                     %c: !tile.view<?x?xbf16> {tile.facts = #facts}) grid {
  %m = tile.dim %c, 0 : !tile.view<?x?xbf16>
  %n = tile.dim %c, 1 : !tile.view<?x?xbf16>
  tile.grid %m
} {
  %c0 = arith.constant 0 : index
  %step = arith.constant 64 : index
  %i = tile.program_id x

  %k = tile.dim %a, 1 : !tile.view<?x?xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %kk = %c0 to %k step %step iter_args(%s = %zero) -> tensor<64x64xf32> {
    %x = tile.load %a[%i, %kk] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    %y = tile.load %b[%c0, %kk] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    %d = tile.dot %x, %y, %s transpose_b
       : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %r = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xbf16>
  tile.store %r, %c[%i, %c0] : tensor<64x64xbf16>, !tile.view<?x?xbf16>
  tile.return
}
}

// -----

// Two programs of a core: one loads while the other stores.

#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>

// CHECK-LABEL: @two_a_core
// CHECK-NOT: tile.persistent
// CHECK: tile.return
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @two_a_core(%a: !tile.view<?x?xbf16> {tile.facts = #facts},
                     %b: !tile.view<?x?xbf16> {tile.facts = #facts},
                     %c: !tile.view<?x?xbf16> {tile.facts = #facts}) grid {
  %m = tile.dim %c, 0 : !tile.view<?x?xbf16>
  %n = tile.dim %c, 1 : !tile.view<?x?xbf16>
  tile.grid %m, %n
} {
  %c0 = arith.constant 0 : index
  %step = arith.constant 16 : index
  %i = tile.program_id x
  %j = tile.program_id y
  %k = tile.dim %a, 1 : !tile.view<?x?xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %kk = %c0 to %k step %step iter_args(%s = %zero) -> tensor<64x64xf32> {
    %x = tile.load %a[%i, %kk] : !tile.view<?x?xbf16> -> tensor<64x16xbf16>
    %y = tile.load %b[%j, %kk] : !tile.view<?x?xbf16> -> tensor<64x16xbf16>
    %d = tile.dot %x, %y, %s transpose_b
       : tensor<64x16xbf16>, tensor<64x16xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %r = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xbf16>
  tile.store %r, %c[%i, %j] : tensor<64x64xbf16>, !tile.view<?x?xbf16>
  tile.return
}
}

// -----

// The author says no.

#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>

// CHECK-LABEL: @said
// CHECK-NOT: tile.persistent = #
// CHECK: tile.return
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @said(%a: !tile.view<?x?xbf16> {tile.facts = #facts},
                     %b: !tile.view<?x?xbf16> {tile.facts = #facts},
                     %c: !tile.view<?x?xbf16> {tile.facts = #facts}) attributes {tile.persistent = false} grid {
  %m = tile.dim %c, 0 : !tile.view<?x?xbf16>
  %n = tile.dim %c, 1 : !tile.view<?x?xbf16>
  tile.grid %m, %n
} {
  %c0 = arith.constant 0 : index
  %step = arith.constant 64 : index
  %i = tile.program_id x
  %j = tile.program_id y
  %k = tile.dim %a, 1 : !tile.view<?x?xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %kk = %c0 to %k step %step iter_args(%s = %zero) -> tensor<64x64xf32> {
    %x = tile.load %a[%i, %kk] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    %y = tile.load %b[%j, %kk] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    %d = tile.dot %x, %y, %s transpose_b
       : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %r = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xbf16>
  tile.store %r, %c[%i, %j] : tensor<64x64xbf16>, !tile.view<?x?xbf16>
  tile.return
}
}

// -----

// The author says how.

#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>

// CHECK-LABEL: @as_said
// CHECK-SAME: tile.persistent = #tile.persistent<programs = 5>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @as_said(%a: !tile.view<?x?xbf16> {tile.facts = #facts},
                     %b: !tile.view<?x?xbf16> {tile.facts = #facts},
                     %c: !tile.view<?x?xbf16> {tile.facts = #facts}) attributes {tile.persistent = #tile.persistent<programs = 5>} grid {
  %m = tile.dim %c, 0 : !tile.view<?x?xbf16>
  %n = tile.dim %c, 1 : !tile.view<?x?xbf16>
  tile.grid %m, %n
} {
  %c0 = arith.constant 0 : index
  %step = arith.constant 64 : index
  %i = tile.program_id x
  %j = tile.program_id y
  %k = tile.dim %a, 1 : !tile.view<?x?xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %kk = %c0 to %k step %step iter_args(%s = %zero) -> tensor<64x64xf32> {
    %x = tile.load %a[%i, %kk] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    %y = tile.load %b[%j, %kk] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    %d = tile.dot %x, %y, %s transpose_b
       : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %r = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xbf16>
  tile.store %r, %c[%i, %j] : tensor<64x64xbf16>, !tile.view<?x?xbf16>
  tile.return
}
}

// -----

// The launch says which programs run.

#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>

// CHECK-LABEL: @launched
// CHECK-NOT: tile.persistent
// CHECK: tile.return
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @launched(%a: !tile.view<?x?xbf16> {tile.facts = #facts},
                     %b: !tile.view<?x?xbf16> {tile.facts = #facts},
                     %c: !tile.view<?x?xbf16> {tile.facts = #facts}) {
  %c0 = arith.constant 0 : index
  %step = arith.constant 64 : index
  %i = tile.program_id x
  %j = tile.program_id y
  %k = tile.dim %a, 1 : !tile.view<?x?xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %kk = %c0 to %k step %step iter_args(%s = %zero) -> tensor<64x64xf32> {
    %x = tile.load %a[%i, %kk] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    %y = tile.load %b[%j, %kk] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    %d = tile.dot %x, %y, %s transpose_b
       : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %r = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xbf16>
  tile.store %r, %c[%i, %j] : tensor<64x64xbf16>, !tile.view<?x?xbf16>
  tile.return
}
}

// -----

// How long a program runs hangs on what it loads.

#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>

// CHECK-LABEL: @ragged
// CHECK-NOT: tile.persistent
// CHECK: tile.return
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @ragged(%a: !tile.view<?x?xbf16> {tile.facts = #facts},
                     %b: !tile.view<?x?xbf16> {tile.facts = #facts},
                     %c: !tile.view<?x?xbf16> {tile.facts = #facts},
                     %lengths: !tile.view<?xi32>) grid {
  %m = tile.dim %c, 0 : !tile.view<?x?xbf16>
  %n = tile.dim %c, 1 : !tile.view<?x?xbf16>
  tile.grid %m, %n
} {
  %c0 = arith.constant 0 : index
  %step = arith.constant 64 : index
  %i = tile.program_id x
  %j = tile.program_id y
  %k = tile.dim %a, 1 : !tile.view<?x?xbf16>
  %l = tile.load %lengths[%i] : !tile.view<?xi32> -> tensor<1xi32>
  %length = tile.to_scalar %l : tensor<1xi32>
  %end = arith.index_cast %length : i32 to index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %kk = %c0 to %end step %step iter_args(%s = %zero) -> tensor<64x64xf32> {
    %x = tile.load %a[%i, %kk] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    %y = tile.load %b[%j, %kk] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    %d = tile.dot %x, %y, %s transpose_b
       : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %r = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xbf16>
  tile.store %r, %c[%i, %j] : tensor<64x64xbf16>, !tile.view<?x?xbf16>
  tile.return
}
}

// -----

// What a product multiplies, its trip makes of another, in registers.

#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>

// CHECK-LABEL: @chain
// CHECK-SAME: tile.persistent = #tile.persistent<programs = 0, group = 16, even = true>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @chain(%a: !tile.view<?x?xbf16> {tile.facts = #facts},
                     %b: !tile.view<?x?xbf16> {tile.facts = #facts},
                     %c: !tile.view<?x?xbf16> {tile.facts = #facts}) grid {
  %m = tile.dim %c, 0 : !tile.view<?x?xbf16>
  %n = tile.dim %c, 1 : !tile.view<?x?xbf16>
  tile.grid %m, %n
} {
  %c0 = arith.constant 0 : index
  %step = arith.constant 64 : index
  %i = tile.program_id x
  %j = tile.program_id y
  %k = tile.dim %a, 1 : !tile.view<?x?xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %kk = %c0 to %k step %step iter_args(%s = %zero) -> tensor<64x64xf32> {
    %x = tile.load %a[%i, %kk] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    %y = tile.load %b[%j, %kk] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    %p = tile.dot %x, %y, %zero transpose_b
       : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    %w = arith.truncf %p : tensor<64x64xf32> to tensor<64x64xbf16>
    %d = tile.dot %w, %y, %s
       : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %r = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xbf16>
  tile.store %r, %c[%i, %j] : tensor<64x64xbf16>, !tile.view<?x?xbf16>
  tile.return
}
}
