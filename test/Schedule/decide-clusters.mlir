// Which products have two programs load together what is the same tile for both.
// RUN: tile-opt %s --split-input-file --tile-decide-clusters | FileCheck %s
// RUN: tile-opt %s --split-input-file --tile-pipeline=stop-after=layout \
// RUN:   | FileCheck %s --check-prefix=ROLES

// Rows of 8 elements more than a multiple of 16 begin amid a sector. Programs below one another load the
// same rows of b, of which there are more.

#rows = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 8], index32>
#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>

// CHECK-LABEL: @below
// CHECK-SAME: tile.cluster = array<i64: 2, 1, 1>
// ROLES-LABEL: @below
// ROLES-SAME: tile.cluster = array<i64: 2, 1, 1>, tile.persistent = #tile.persistent<programs = 0, group = 16, even = true>
// ROLES: tile.load %{{.*}} {atom = #nvptx.tma, {{.*}}>, ring = "ring0", role = "load"} :
// ROLES: tile.load %{{.*}} {atom = #nvptx.tma, {{.*}}>, multicast = ["x"], ring = "ring0", role = "load"} :
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @below(%a: !tile.view<?x?xbf16> {tile.facts = #rows},
                    %b: !tile.view<?x?xbf16> {tile.facts = #rows},
                    %c: !tile.view<?x?xbf16> {tile.facts = #facts}) grid {
  %m = tile.dim %c, 0 : !tile.view<?x?xbf16>
  %n = tile.dim %c, 1 : !tile.view<?x?xbf16>
  tile.grid %m, %n
} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %rows = arith.constant 128 : index
  %columns = arith.constant 256 : index
  %x = tile.program_id x
  %y = tile.program_id y
  %i = arith.muli %x, %rows : index
  %j = arith.muli %y, %columns : index
  %k = tile.dim %a, 1 : !tile.view<?x?xbf16>
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<128x256xf32> {
    %u = tile.load %a[%i, %kk] : !tile.view<?x?xbf16> -> tensor<128x64xbf16>
    %v = tile.load %b[%j, %kk] : !tile.view<?x?xbf16> -> tensor<256x64xbf16>
    %d = tile.dot %u, %v, %s transpose_b
       : tensor<128x64xbf16>, tensor<256x64xbf16> -> tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  }
  %r = arith.truncf %sum : tensor<128x256xf32> to tensor<128x256xbf16>
  tile.store %r, %c[%i, %j] : tensor<128x256xbf16>, !tile.view<?x?xbf16>
  tile.return
}
}

// -----

// Here a has more.

#rows = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 8], index32>
#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>

// CHECK-LABEL: @beside
// CHECK-SAME: tile.cluster = array<i64: 1, 2, 1>
// ROLES-LABEL: @beside
// ROLES-SAME: tile.cluster = array<i64: 1, 2, 1>
// ROLES: tile.load %{{.*}} {atom = #nvptx.tma, {{.*}}>, multicast = ["y"], ring = "ring0", role = "load"} :
// ROLES: tile.load %{{.*}} {atom = #nvptx.tma, {{.*}}>, ring = "ring0", role = "load"} :
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @beside(%a: !tile.view<?x?xbf16> {tile.facts = #rows},
                    %b: !tile.view<?x?xbf16> {tile.facts = #rows},
                    %c: !tile.view<?x?xbf16> {tile.facts = #facts}) grid {
  %m = tile.dim %c, 0 : !tile.view<?x?xbf16>
  %n = tile.dim %c, 1 : !tile.view<?x?xbf16>
  tile.grid %m, %n
} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %rows = arith.constant 256 : index
  %columns = arith.constant 128 : index
  %x = tile.program_id x
  %y = tile.program_id y
  %i = arith.muli %x, %rows : index
  %j = arith.muli %y, %columns : index
  %k = tile.dim %a, 1 : !tile.view<?x?xbf16>
  %zero = arith.constant dense<0.0> : tensor<256x128xf32>
  %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<256x128xf32> {
    %u = tile.load %a[%i, %kk] : !tile.view<?x?xbf16> -> tensor<256x64xbf16>
    %v = tile.load %b[%j, %kk] : !tile.view<?x?xbf16> -> tensor<128x64xbf16>
    %d = tile.dot %u, %v, %s transpose_b
       : tensor<256x64xbf16>, tensor<128x64xbf16> -> tensor<256x128xf32>
    scf.yield %d : tensor<256x128xf32>
  }
  %r = arith.truncf %sum : tensor<256x128xf32> to tensor<256x128xbf16>
  tile.store %r, %c[%i, %j] : tensor<256x128xbf16>, !tile.view<?x?xbf16>
  tile.return
}
}

// -----

// Whole sectors.

#rows = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 8], index32>
#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>

// CHECK-LABEL: @whole
// CHECK-NOT: tile.cluster
// ROLES-LABEL: @whole
// ROLES-NOT: tile.cluster
// ROLES: tile.persistent = #tile.persistent<programs = 0, group = 16, even = true>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @whole(%a: !tile.view<?x?xbf16> {tile.facts = #facts},
                    %b: !tile.view<?x?xbf16> {tile.facts = #facts},
                    %c: !tile.view<?x?xbf16> {tile.facts = #facts}) grid {
  %m = tile.dim %c, 0 : !tile.view<?x?xbf16>
  %n = tile.dim %c, 1 : !tile.view<?x?xbf16>
  tile.grid %m, %n
} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %rows = arith.constant 128 : index
  %columns = arith.constant 256 : index
  %x = tile.program_id x
  %y = tile.program_id y
  %i = arith.muli %x, %rows : index
  %j = arith.muli %y, %columns : index
  %k = tile.dim %a, 1 : !tile.view<?x?xbf16>
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<128x256xf32> {
    %u = tile.load %a[%i, %kk] : !tile.view<?x?xbf16> -> tensor<128x64xbf16>
    %v = tile.load %b[%j, %kk] : !tile.view<?x?xbf16> -> tensor<256x64xbf16>
    %d = tile.dot %u, %v, %s transpose_b
       : tensor<128x64xbf16>, tensor<256x64xbf16> -> tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  }
  %r = arith.truncf %sum : tensor<128x256xf32> to tensor<128x256xbf16>
  tile.store %r, %c[%i, %j] : tensor<128x256xbf16>, !tile.view<?x?xbf16>
  tile.return
}
}

// -----

// No two programs load the same tile.

#rows = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 8], index32>
#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>

// CHECK-LABEL: @apart
// CHECK-NOT: tile.cluster
// ROLES-LABEL: @apart
// ROLES-NOT: tile.cluster
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @apart(%a: !tile.view<?x?xbf16> {tile.facts = #rows},
                    %b: !tile.view<?x?xbf16> {tile.facts = #rows},
                    %c: !tile.view<?x?xbf16> {tile.facts = #facts}) grid {
  %m = tile.dim %c, 0 : !tile.view<?x?xbf16>
  %n = tile.dim %c, 1 : !tile.view<?x?xbf16>
  tile.grid %m
} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %rows = arith.constant 128 : index
  %columns = arith.constant 256 : index
  %x = tile.program_id x
  %y = tile.program_id x
  %i = arith.muli %x, %rows : index
  %j = arith.muli %y, %columns : index
  %k = tile.dim %a, 1 : !tile.view<?x?xbf16>
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<128x256xf32> {
    %u = tile.load %a[%i, %kk] : !tile.view<?x?xbf16> -> tensor<128x64xbf16>
    %v = tile.load %b[%j, %kk] : !tile.view<?x?xbf16> -> tensor<256x64xbf16>
    %d = tile.dot %u, %v, %s transpose_b
       : tensor<128x64xbf16>, tensor<256x64xbf16> -> tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  }
  %r = arith.truncf %sum : tensor<128x256xf32> to tensor<128x256xbf16>
  tile.store %r, %c[%i, %j] : tensor<128x256xbf16>, !tile.view<?x?xbf16>
  tile.return
}
}

// -----

// Each program runs its own tile, whatever grid a launch says: it need not be one of pairs.

#rows = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 8], index32>
#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>

// CHECK-LABEL: @alone
// CHECK-NOT: tile.cluster
// ROLES-LABEL: @alone
// ROLES-NOT: tile.cluster
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @alone(%a: !tile.view<?x?xbf16> {tile.facts = #rows},
                    %b: !tile.view<?x?xbf16> {tile.facts = #rows},
                    %c: !tile.view<?x?xbf16> {tile.facts = #facts}) attributes {tile.persistent = false} grid {
  %m = tile.dim %c, 0 : !tile.view<?x?xbf16>
  %n = tile.dim %c, 1 : !tile.view<?x?xbf16>
  tile.grid %m, %n
} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %rows = arith.constant 128 : index
  %columns = arith.constant 256 : index
  %x = tile.program_id x
  %y = tile.program_id y
  %i = arith.muli %x, %rows : index
  %j = arith.muli %y, %columns : index
  %k = tile.dim %a, 1 : !tile.view<?x?xbf16>
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<128x256xf32> {
    %u = tile.load %a[%i, %kk] : !tile.view<?x?xbf16> -> tensor<128x64xbf16>
    %v = tile.load %b[%j, %kk] : !tile.view<?x?xbf16> -> tensor<256x64xbf16>
    %d = tile.dot %u, %v, %s transpose_b
       : tensor<128x64xbf16>, tensor<256x64xbf16> -> tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  }
  %r = arith.truncf %sum : tensor<128x256xf32> to tensor<128x256xbf16>
  tile.store %r, %c[%i, %j] : tensor<128x256xbf16>, !tile.view<?x?xbf16>
  tile.return
}
}

// -----

// Who says clusters has their tiles shared, too: by four programs both.

#rows = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 8], index32>
#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>

// CHECK-LABEL: @said
// CHECK-SAME: tile.cluster = array<i64: 2, 2, 1>
// ROLES-LABEL: @said
// ROLES-SAME: tile.cluster = array<i64: 2, 2, 1>, tile.persistent = #tile.persistent<programs = 0, group = 16, even = true>
// ROLES: tile.load %{{.*}} {atom = #nvptx.tma, {{.*}}>, multicast = ["y"], ring = "ring0", role = "load"} :
// ROLES: tile.load %{{.*}} {atom = #nvptx.tma, {{.*}}>, multicast = ["x"], ring = "ring0", role = "load"} :
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @said(%a: !tile.view<?x?xbf16> {tile.facts = #facts},
                    %b: !tile.view<?x?xbf16> {tile.facts = #facts},
                    %c: !tile.view<?x?xbf16> {tile.facts = #facts}) attributes {tile.cluster = array<i64: 2, 2, 1>} grid {
  %m = tile.dim %c, 0 : !tile.view<?x?xbf16>
  %n = tile.dim %c, 1 : !tile.view<?x?xbf16>
  tile.grid %m, %n
} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %rows = arith.constant 128 : index
  %columns = arith.constant 128 : index
  %x = tile.program_id x
  %y = tile.program_id y
  %i = arith.muli %x, %rows : index
  %j = arith.muli %y, %columns : index
  %k = tile.dim %a, 1 : !tile.view<?x?xbf16>
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<128x128xf32> {
    %u = tile.load %a[%i, %kk] : !tile.view<?x?xbf16> -> tensor<128x64xbf16>
    %v = tile.load %b[%j, %kk] : !tile.view<?x?xbf16> -> tensor<128x64xbf16>
    %d = tile.dot %u, %v, %s transpose_b
       : tensor<128x64xbf16>, tensor<128x64xbf16> -> tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %r = arith.truncf %sum : tensor<128x128xf32> to tensor<128x128xbf16>
  tile.store %r, %c[%i, %j] : tensor<128x128xbf16>, !tile.view<?x?xbf16>
  tile.return
}
}
