// What two programs of a cluster cannot multiply together.
// RUN: tile-opt %s --tile-realise-pairs -split-input-file -verify-diagnostics

// No cluster.
!view = !tile.view<?x?xbf16>
#mma = #nvptx.tcgen05<"m256n64k16", bf16, f32>
tile.kernel @alone(%a: !view, %b: !view, %c: !tile.view<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %x = tile.program_id x
  %at = tile.load %a[%x, %c0] {atom = #nvptx.tma} : !view -> tensor<128x64xbf16>
  %bt = tile.load %b[%c0, %c0] {atom = #nvptx.tma} : !view -> tensor<64x64xbf16>
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  // expected-error@+1 {{expected a kernel with 'tile.cluster', since #nvptx.tcgen05<"m256n64k16", bf16, f32> multiplies for two programs of a cluster}}
  %d = tile.dot %at, %bt, %zero transpose_b {atom = #mma, in_flight = 0}
     : tensor<128x64xbf16>, tensor<64x64xbf16> -> tensor<128x64xf32>
  tile.store %d, %c[%x, %c0] : tensor<128x64xf32>, !tile.view<?x?xf32>
  tile.return
}

// -----

// Programs of which one would have no other.
!view = !tile.view<?x?xbf16>
#mma = #nvptx.tcgen05<"m256n64k16", bf16, f32>
tile.kernel @odd(%a: !view, %b: !view, %c: !tile.view<?x?xf32>, %n: index) attributes {tile.cluster = array<i64: 3, 2, 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %x = tile.program_id x
  %at = tile.load %a[%x, %c0] {atom = #nvptx.tma} : !view -> tensor<128x64xbf16>
  %bt = tile.load %b[%c0, %c0] {atom = #nvptx.tma} : !view -> tensor<64x64xbf16>
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  // expected-error@+1 {{expected a cluster of an even number of programs along x, since #nvptx.tcgen05<"m256n64k16", bf16, f32> multiplies for two of them, got 3}}
  %d = tile.dot %at, %bt, %zero transpose_b {atom = #mma, in_flight = 0}
     : tensor<128x64xbf16>, tensor<64x64xbf16> -> tensor<128x64xf32>
  tile.store %d, %c[%x, %c0] : tensor<128x64xf32>, !tile.view<?x?xf32>
  tile.return
}

// -----

// Copies at their own pace.
!view = !tile.view<?x?xbf16>
#mma = #nvptx.tcgen05<"m256n64k16", bf16, f32>
tile.kernel @turns(%a: !view, %b: !view, %c: !tile.view<?x?xf32>, %n: index) attributes {tile.cluster = array<i64: 2, 1, 1>, tile.turns = {mma = 2 : i64},
    tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %x = tile.program_id x
  %at = tile.load %a[%x, %c0] {atom = #nvptx.tma} : !view -> tensor<128x64xbf16>
  %bt = tile.load %b[%c0, %c0] {atom = #nvptx.tma} : !view -> tensor<64x64xbf16>
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  // expected-error@+1 {{expected no copies of a role that take programs in turn}}
  %d = tile.dot %at, %bt, %zero transpose_b {atom = #mma, in_flight = 0}
     : tensor<128x64xbf16>, tensor<64x64xbf16> -> tensor<128x64xf32>
  tile.store %d, %c[%x, %c0] : tensor<128x64xf32>, !tile.view<?x?xf32>
  tile.return
}

// -----

// A dot of one program beside it: a program uses tensor memory in one way.
!view = !tile.view<?x?xbf16>
#mma = #nvptx.tcgen05<"m256n64k16", bf16, f32>
tile.kernel @mixed(%a: !view, %b: !view, %c: !tile.view<?x?xf32>, %n: index) attributes {tile.cluster = array<i64: 2, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %x = tile.program_id x
  %at = tile.load %a[%x, %c0] {atom = #nvptx.tma} : !view -> tensor<128x64xbf16>
  %bt = tile.load %b[%c0, %c0] {atom = #nvptx.tma} : !view -> tensor<64x64xbf16>
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  // expected-note@+1 {{the other dot}}
  %d = tile.dot %at, %bt, %zero transpose_b {atom = #mma, in_flight = 0}
     : tensor<128x64xbf16>, tensor<64x64xbf16> -> tensor<128x64xf32>
  // expected-error@+1 {{expected an atom of two programs, as that of the kernel's other dots in tensor memory, got #nvptx.tcgen05<"m128n64k16", bf16, f32>}}
  %e = tile.dot %at, %bt, %d transpose_b {atom = #nvptx.tcgen05<"m128n64k16", bf16, f32>, in_flight = 0}
     : tensor<128x64xbf16>, tensor<64x64xbf16> -> tensor<128x64xf32>
  tile.store %e, %c[%x, %c0] : tensor<128x64xf32>, !tile.view<?x?xf32>
  tile.return
}

// -----

// Several instructions would each have halves of their own.
!view = !tile.view<?x?xbf16>
#mma = #nvptx.tcgen05<"m256n32k16", bf16, f32>
tile.kernel @columns(%a: !view, %b: !view, %c: !tile.view<?x?xf32>, %n: index) attributes {tile.cluster = array<i64: 2, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %x = tile.program_id x
  %at = tile.load %a[%x, %c0] {atom = #nvptx.tma} : !view -> tensor<128x64xbf16>
  %bt = tile.load %b[%c0, %c0] {atom = #nvptx.tma} : !view -> tensor<64x64xbf16>
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  // expected-error@+1 {{expected 32 columns for #nvptx.tcgen05<"m256n32k16", bf16, f32>, of which each of two programs brings half, got 64}}
  %d = tile.dot %at, %bt, %zero transpose_b {atom = #mma, in_flight = 0}
     : tensor<128x64xbf16>, tensor<64x64xbf16> -> tensor<128x64xf32>
  tile.store %d, %c[%x, %c0] : tensor<128x64xf32>, !tile.view<?x?xf32>
  tile.return
}

// -----

// Parts of a tile.
!view = !tile.view<?x?xbf16>
#mma = #nvptx.tcgen05<"m256n64k16", bf16, f32>
tile.kernel @parts(%a: !view, %b: !view, %c: !tile.view<?x?xf32>, %n: index) attributes {tile.cluster = array<i64: 2, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %x = tile.program_id x
  %at = tile.load %a[%x, %c0] {atom = #nvptx.tma} : !view -> tensor<128x64xbf16>
  %bt = tile.load %b[%c0, %c0] {atom = #nvptx.tma} : !view -> tensor<64x64xbf16>
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  // expected-error@+1 {{expected no 'parts', since}}
  %d = tile.dot %at, %bt, %zero transpose_b {atom = #mma, in_flight = 0, parts = array<i64: 1, 1, 2>}
     : tensor<128x64xbf16>, tensor<64x64xbf16> -> tensor<128x64xf32>
  tile.store %d, %c[%x, %c0] : tensor<128x64xf32>, !tile.view<?x?xf32>
  tile.return
}

// -----

// One program would come to it more often than the other.
!view = !tile.view<?x?xbf16>
#mma = #nvptx.tcgen05<"m256n64k16", bf16, f32>
tile.kernel @trips(%a: !view, %b: !view, %c: !tile.view<?x?xf32>, %n: index) attributes {tile.cluster = array<i64: 2, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %x = tile.program_id x
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  // expected-note@+1 {{the loop}}
  %d = scf.for %k = %c0 to %x step %c64 iter_args(%s = %zero) -> tensor<128x64xf32> {
    %at = tile.load %a[%x, %c0] {atom = #nvptx.tma} : !view -> tensor<128x64xbf16>
    %bt = tile.load %b[%c0, %c0] {atom = #nvptx.tma} : !view -> tensor<64x64xbf16>
    // expected-error@+1 {{expected two programs along x to come to what they multiply together alike, got a loop with trips that may differ from program to program}}
    %e = tile.dot %at, %bt, %s transpose_b {atom = #mma, in_flight = 0}
       : tensor<128x64xbf16>, tensor<64x64xbf16> -> tensor<128x64xf32>
    scf.yield %e : tensor<128x64xf32>
  }
  tile.store %d, %c[%x, %c0] : tensor<128x64xf32>, !tile.view<?x?xf32>
  tile.return
}

// -----

// Another b for each.
!view = !tile.view<?x?xbf16>
#mma = #nvptx.tcgen05<"m256n64k16", bf16, f32>
tile.kernel @tile(%a: !view, %b: !view, %c: !tile.view<?x?xf32>, %n: index) attributes {tile.cluster = array<i64: 2, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %x = tile.program_id x
  %at = tile.load %a[%x, %c0] {atom = #nvptx.tma} : !view -> tensor<128x64xbf16>
  // expected-error@+1 {{expected the same tile for two programs along x, since #nvptx.tcgen05<"m256n64k16", bf16, f32> multiplies by it for both, got an offset along dimension 0 that may differ from program to program}}
  %bt = tile.load %b[%x, %c0] {atom = #nvptx.tma} : !view -> tensor<64x64xbf16>
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %d = tile.dot %at, %bt, %zero transpose_b {atom = #mma, in_flight = 0}
     : tensor<128x64xbf16>, tensor<64x64xbf16> -> tensor<128x64xf32>
  tile.store %d, %c[%x, %c0] : tensor<128x64xf32>, !tile.view<?x?xf32>
  tile.return
}

// -----

// What lanes read, too, they would have to wait for.
!view = !tile.view<?x?xbf16>
#mma = #nvptx.tcgen05<"m256n64k16", bf16, f32>
tile.kernel @read(%a: !view, %b: !view, %c: !tile.view<?x?xf32>, %n: index) attributes {tile.cluster = array<i64: 2, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %x = tile.program_id x
  // expected-error@+1 {{expected a tile that is operand a of dots of two programs alone}}
  %at = tile.load %a[%x, %c0] {atom = #nvptx.tma} : !view -> tensor<128x64xbf16>
  %bt = tile.load %b[%c0, %c0] {atom = #nvptx.tma} : !view -> tensor<64x64xbf16>
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %d = tile.dot %at, %bt, %zero transpose_b {atom = #mma, in_flight = 0}
     : tensor<128x64xbf16>, tensor<64x64xbf16> -> tensor<128x64xf32>
  tile.store %d, %c[%x, %c0] : tensor<128x64xf32>, !tile.view<?x?xf32>
  // expected-note@+1 {{the other use}}
  tile.store %at, %a[%x, %c0] : tensor<128x64xbf16>, !view
  tile.return
}

// -----

// Both have all of it then.
!view = !tile.view<?x?xbf16>
#mma = #nvptx.tcgen05<"m256n64k16", bf16, f32>
tile.kernel @multicast(%a: !view, %b: !view, %c: !tile.view<?x?xf32>, %n: index) attributes {tile.cluster = array<i64: 2, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %x = tile.program_id x
  %at = tile.load %a[%x, %c0] {atom = #nvptx.tma} : !view -> tensor<128x64xbf16>
  // expected-error@+1 {{expected no 'multicast' along x, along which}}
  %bt = tile.load %b[%c0, %c0] {atom = #nvptx.tma, multicast = ["x"]} : !view -> tensor<64x64xbf16>
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %d = tile.dot %at, %bt, %zero transpose_b {atom = #mma, in_flight = 0}
     : tensor<128x64xbf16>, tensor<64x64xbf16> -> tensor<128x64xf32>
  tile.store %d, %c[%x, %c0] : tensor<128x64xf32>, !tile.view<?x?xf32>
  tile.return
}

// -----

// Warps that copy tell nobody of the other program.
!view = !tile.view<?x?xbf16>
#mma = #nvptx.tcgen05<"m256n64k16", bf16, f32>
tile.kernel @warps(%a: !view, %b: !view, %c: !tile.view<?x?xf32>, %n: index) attributes {tile.cluster = array<i64: 2, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %x = tile.program_id x
  %at = tile.load %a[%x, %c0] {atom = #nvptx.tma} : !view -> tensor<128x64xbf16>
  // expected-error@+1 {{expected 'atom' of an engine that counts the bytes it brings}}
  %bt = tile.load %b[%c0, %c0] {atom = #nvptx.cp_async<16>} : !view -> tensor<64x64xbf16>
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %d = tile.dot %at, %bt, %zero transpose_b {atom = #mma, in_flight = 0}
     : tensor<128x64xbf16>, tensor<64x64xbf16> -> tensor<128x64xf32>
  tile.store %d, %c[%x, %c0] : tensor<128x64xf32>, !tile.view<?x?xf32>
  tile.return
}

// -----

// An operand that no load brings.
!view = !tile.view<?x?xbf16>
#mma = #nvptx.tcgen05<"m256n64k16", bf16, f32>
tile.kernel @computed(%a: !view, %b: !view, %c: !tile.view<?x?xf32>, %n: index) attributes {tile.cluster = array<i64: 2, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %x = tile.program_id x
  %at = tile.load %a[%x, %c0] {atom = #nvptx.tma} : !view -> tensor<128x64xbf16>
  %bt = arith.constant dense<1.0> : tensor<64x64xbf16>
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  // expected-error@+1 {{expected 'atom' of an engine that counts the bytes it brings}}
  %d = tile.dot %at, %bt, %zero transpose_b {atom = #mma, in_flight = 0}
     : tensor<128x64xbf16>, tensor<64x64xbf16> -> tensor<128x64xf32>
  tile.store %d, %c[%x, %c0] : tensor<128x64xf32>, !tile.view<?x?xf32>
  tile.return
}

// -----

// Half of it from the start: who would have the other?
!view = !tile.view<?x?xbf16>
#mma = #nvptx.tcgen05<"m256n64k16", bf16, f32>
tile.kernel @given(%a: !view, %b: !view, %c: !tile.view<?x?xf32>, %n: index) attributes {tile.cluster = array<i64: 2, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %x = tile.program_id x
  %at = tile.load %a[%x, %c0] {atom = #nvptx.tma} : !view -> tensor<128x64xbf16>
  // expected-error@+1 {{expected all 64 columns of #nvptx.tcgen05<"m256n64k16", bf16, f32>, of which each of two programs is given half, got 32}}
  %bt = tile.load %b[%c0, %c0] {atom = #nvptx.tma} : !view -> tensor<32x64xbf16>
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %d = tile.dot %at, %bt, %zero transpose_b {atom = #mma, in_flight = 0}
     : tensor<128x64xbf16>, tensor<32x64xbf16> -> tensor<128x64xf32>
  tile.store %d, %c[%x, %c0] : tensor<128x64xf32>, !tile.view<?x?xf32>
  tile.return
}
