// When ops of decided roles run, and how many slots their rings have.
// RUN: tile-opt %s --split-input-file --tile-pipeline=stop-after=layout --tile-decide-stages | FileCheck %s

// Sums that go on from trip to trip are waited for a trip later. As many slots as there is room for
// beside two boxes of what is stored, of each copy.
// CHECK-LABEL: @product
// CHECK-COUNT-2: tile.load {{.*}}depth = 6 : i64, ring = "ring0", role = "load", stage = 0 : i64}
// CHECK: tile.dot {{.*}}in_flight = 1 : i64, role = "compute", stage = 0 : i64}
// CHECK: tile.store {{.*}}in_flight = 1 : i64, role = "compute"}
#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @product(%a: !tile.view<?x?xbf16> {tile.facts = #facts},
                     %b: !tile.view<?x?xbf16> {tile.facts = #facts},
                     %c: !tile.view<?x?xbf16> {tile.facts = #facts}) grid {
  %m = tile.dim %c, 0 : !tile.view<?x?xbf16>
  %n = tile.dim %c, 1 : !tile.view<?x?xbf16>
  tile.grid %m, %n
} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %i = tile.program_id x
  %j = tile.program_id y
  %k = tile.dim %a, 1 : !tile.view<?x?xbf16>
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<128x128xf32> {
    %x = tile.load %a[%i, %kk] : !tile.view<?x?xbf16> -> tensor<128x64xbf16>
    %y = tile.load %b[%j, %kk] : !tile.view<?x?xbf16> -> tensor<128x64xbf16>
    %d = tile.dot %x, %y, %s transpose_b
       : tensor<128x64xbf16>, tensor<128x64xbf16> -> tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %r = arith.truncf %sum : tensor<128x128xf32> to tensor<128x128xbf16>
  tile.store %r, %c[%i, %j] : tensor<128x128xbf16>, !tile.view<?x?xbf16>
  tile.return
}
}

// -----

// The weights of one trip are multiplied in the next: that product starts after the scores' and runs
// while their weights are made. So the scores are waited for while it is in flight, and what reads
// registers is waited for in its own trip. No ring has more than eight slots; what is loaded once has
// one.
// CHECK-LABEL: @chain
// CHECK: tile.load {{.*}}ring = "ring0", role = "load"}
// CHECK-COUNT-2: tile.load {{.*}}depth = 6 : i64, {{.*}}role = "load", stage = 0 : i64}
// CHECK: tile.dot {{.*}}in_flight = 1 : i64, order = 0 : i64, role = "compute", stage = 0 : i64}
// CHECK: math.exp2 {{.*}}tile.order = 2 : i64, tile.role = "compute", tile.stage = 0 : i64}
// CHECK: arith.truncf {{.*}}tile.order = 3 : i64, tile.role = "compute", tile.stage = 0 : i64}
// CHECK: tile.dot {{.*}}in_flight = 0 : i64, order = 1 : i64, role = "compute", stage = 1 : i64}
#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>
#turned = #tile.facts<pointer = 16, strides = [2, 16], extents = [16, 16], index32>

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @chain(%q: !tile.view<?x?xf16> {tile.facts = #facts},
                   %k: !tile.view<?x?xf16, strides [1, ?]> {tile.facts = #turned},
                   %v: !tile.view<?x?xf16> {tile.facts = #facts},
                   %o: !tile.view<?x?xf32> {tile.facts = #facts},
                   %l: !tile.view<?x?xf32> {tile.facts = #facts}) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %n = tile.dim %v, 0 : !tile.view<?x?xf16>
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.load %q[%c0, %c0] : !tile.view<?x?xf16> -> tensor<64x64xf16>
  %sum = scf.for %j = %c0 to %n step %c128 iter_args(%s = %none) -> tensor<64x64xf32> {
    %y = tile.load %k[%c0, %j] : !tile.view<?x?xf16, strides [1, ?]> -> tensor<64x128xf16>
    %z = tile.load %v[%j, %c0] : !tile.view<?x?xf16> -> tensor<128x64xf16>
    %d = tile.dot %x, %y, %zero : tensor<64x64xf16>, tensor<64x128xf16> -> tensor<64x128xf32>
    %e = math.exp2 %d : tensor<64x128xf32>
    %w = arith.truncf %e : tensor<64x128xf32> to tensor<64x128xf16>
    %t = tile.dot %w, %z, %s : tensor<64x128xf16>, tensor<128x64xf16> -> tensor<64x64xf32>
    scf.yield %t : tensor<64x64xf32>
  }
  tile.store %sum, %o[%c0, %c0] : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.store %sum, %l[%c0, %c0] : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}
}

// -----

// What a loop stores keeps its place, and so do products around it.
// CHECK-LABEL: @stores
// CHECK: tile.dot {{.*}}in_flight = 0 : i64, role = "compute", stage = 0 : i64}
// CHECK: tile.dot {{.*}}in_flight = 0 : i64, role = "compute"{{.*}}}
// CHECK-NOT: tile.order
#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32, noalias>

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @stores(%q: !tile.view<?x?xf16> {tile.facts = #facts},
                    %k: !tile.view<?x?xf16> {tile.facts = #facts},
                    %v: !tile.view<?x?xf16> {tile.facts = #facts},
                    %o: !tile.view<?x?xf32> {tile.facts = #facts},
                    %l: !tile.view<?x?xf32> {tile.facts = #facts}) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %n = tile.dim %v, 0 : !tile.view<?x?xf16>
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.load %q[%c0, %c0] : !tile.view<?x?xf16> -> tensor<64x64xf16>
  %sum = scf.for %j = %c0 to %n step %c128 iter_args(%s = %none) -> tensor<64x64xf32> {
    %y = tile.load %k[%j, %c0] : !tile.view<?x?xf16> -> tensor<128x64xf16>
    %z = tile.load %v[%j, %c0] : !tile.view<?x?xf16> -> tensor<128x64xf16>
    %d = tile.dot %x, %y, %zero transpose_b
       : tensor<64x64xf16>, tensor<128x64xf16> -> tensor<64x128xf32>
    %e = math.exp2 %d : tensor<64x128xf32>
    tile.store %e, %l[%c0, %j] : tensor<64x128xf32>, !tile.view<?x?xf32>
    %w = arith.truncf %e : tensor<64x128xf32> to tensor<64x128xf16>
    %t = tile.dot %w, %z, %s : tensor<64x128xf16>, tensor<128x64xf16> -> tensor<64x64xf32>
    scf.yield %t : tensor<64x64xf32>
  }
  tile.store %sum, %o[%c0, %c0] : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}
}

// -----

// Of own rings with room for one slot each trip reads what it has copied: no register holds it on the way.
// CHECK-LABEL: @one_slot
// CHECK-COUNT-2: tile.load {{.*}}atom = #nvptx.cp_async<16>{{.*}}depth = 1 : i64, {{.*}}stage = 0 : i64}
// CHECK: tile.dot {{.*}}stage = 0 : i64}
#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
tile.kernel @one_slot(%a: !tile.view<?x?xbf16> {tile.facts = #facts}, %b: !tile.view<?x?xbf16> {tile.facts = #facts},
                      %c: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  %k = tile.dim %a, 1 : !tile.view<?x?xbf16>
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %kk = %c0 to %k step %c256 iter_args(%s = %zero) -> tensor<128x128xf32> {
    %x = tile.load %a[%c0, %kk] : !tile.view<?x?xbf16> -> tensor<128x256xbf16>
    %y = tile.load %b[%c0, %kk] : !tile.view<?x?xbf16> -> tensor<128x256xbf16>
    %d = tile.dot %x, %y, %s transpose_b
       : tensor<128x256xbf16>, tensor<128x256xbf16> -> tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  tile.store %sum, %c[%c0, %c0] : tensor<128x128xf32>, !tile.view<?x?xf32>
  tile.return
}
}
