// RUN: tile-opt %s --split-input-file --tile-pipeline=stop-after=layout | FileCheck %s

// In which order programs that take tiles in turn take them.

// Tiles end later the further along an axis they lie: the longest come first, section by section.

#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>

// CHECK-LABEL: @of_the_place
// CHECK-SAME: tile.persistent = #tile.persistent<programs = 0, group = 1024>
// CHECK-SAME: tile.raster = "longest_x"
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @of_the_place(%a: !tile.view<?x?xbf16> {tile.facts = #facts},
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
  %end = arith.minui %k, %i : index
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

// Lengths that hang on the place otherwise, turns mix.

#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>

// CHECK-LABEL: @shorter
// CHECK-SAME: tile.persistent = #tile.persistent<programs = 0, group = 16>
// CHECK-NOT: tile.raster
// CHECK: tile.return
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @shorter(%a: !tile.view<?x?xbf16> {tile.facts = #facts},
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
  %end = arith.subi %k, %i : index
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

// What the loop loads is the same for all tiles along x, as keys and values of attention: these follow
// one another.

#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>

// CHECK-LABEL: @shared
// CHECK-SAME: tile.persistent = #tile.persistent<programs = 0, group = 65536, even = true>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @shared(%a: !tile.view<?x?xbf16> {tile.facts = #facts},
                     %b: !tile.view<?x?xbf16> {tile.facts = #facts},
                     %c: !tile.view<?x?xbf16> {tile.facts = #facts}) grid {
  %m = tile.dim %c, 0 : !tile.view<?x?xbf16>
  %n = tile.dim %c, 1 : !tile.view<?x?xbf16>
  tile.grid %m, %n
} {
  %c0 = arith.constant 0 : index
  %step = arith.constant 128 : index
  %i = tile.program_id x
  %j = tile.program_id y
  %k = tile.dim %a, 1 : !tile.view<?x?xbf16>
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %x = tile.load %a[%i, %c0] : !tile.view<?x?xbf16> -> tensor<128x128xbf16>
  %sum = scf.for %kk = %c0 to %k step %step iter_args(%s = %zero) -> tensor<128x128xf32> {
    %y = tile.load %b[%kk, %c0] : !tile.view<?x?xbf16> -> tensor<128x128xbf16>
    %p = tile.dot %x, %y, %zero transpose_b
       : tensor<128x128xbf16>, tensor<128x128xbf16> -> tensor<128x128xf32>
    %w = arith.truncf %p : tensor<128x128xf32> to tensor<128x128xbf16>
    %d = tile.dot %w, %y, %s
       : tensor<128x128xbf16>, tensor<128x128xbf16> -> tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %r = arith.truncf %sum : tensor<128x128xf32> to tensor<128x128xbf16>
  tile.store %r, %c[%i, %j] : tensor<128x128xbf16>, !tile.view<?x?xbf16>
  tile.return
}
}
