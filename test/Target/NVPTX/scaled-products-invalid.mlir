// What tcgen05 does not make of products with scales.
// RUN: tile-opt %s -split-input-file -verify-diagnostics --tile-pipeline=stop-after=schedule

module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
tile.kernel @rows(%x: !tile.view<?x?xf8E4M3FN>, %u: !tile.view<?x?xf8E8M0FNU>, %o: !tile.view<?x?xf32>)
    attributes {tile.roles = [#tile.role<"mma", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0, %c0] {role = "mma"} : !tile.view<?x?xf8E4M3FN> -> tensor<64x128xf8E4M3FN>
  %s = tile.load %u[%c0, %c0] {role = "mma"} : !tile.view<?x?xf8E8M0FNU> -> tensor<64x4xf8E8M0FNU>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-error@+2 {{expected 'atom' to be an instruction of nvptx:sm_100a that fits, of which there is none, got "tcgen05"}}
  // expected-note@+1 {{expected rows, columns and a depth that are multiples of 128, 64 and 32, got 64, 64 and 128}}
  %d = tile.dot_scaled %a scale %s, %a scale %s, %zero transpose_b {in_flight = 0, role = "mma", tile.atom = "tcgen05"}
     : tensor<64x128xf8E4M3FN>, tensor<64x4xf8E8M0FNU>, tensor<64x128xf8E4M3FN>, tensor<64x4xf8E8M0FNU> -> tensor<64x64xf32>
  tile.store %d, %o[%c0, %c0] {role = "mma"} : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}
}

// -----

module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
tile.kernel @computed(%x: !tile.view<?x?xf4E2M1FN>, %u: !tile.view<?x?xf8E8M0FNU>, %o: !tile.view<?x?xf32>)
    attributes {tile.roles = [#tile.role<"mma", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0, %c0] {role = "mma"} : !tile.view<?x?xf4E2M1FN> -> tensor<128x128xf4E2M1FN>
  %s = tile.load %u[%c0, %c0] {role = "mma"} : !tile.view<?x?xf8E8M0FNU> -> tensor<128x4xf8E8M0FNU>
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  // expected-error@+2 {{expected 'atom' to be an instruction of nvptx:sm_100a that fits, of which there is none, got "tcgen05"}}
  // expected-note@+1 {{expected operands of four bits to be bitcasts of bytes, two elements along k in each, and b by rows of k, 'transpose_b'}}
  %d = tile.dot_scaled %a scale %s, %a scale %s, %zero transpose_b {in_flight = 0, role = "mma", tile.atom = "tcgen05"}
     : tensor<128x128xf4E2M1FN>, tensor<128x4xf8E8M0FNU>, tensor<128x128xf4E2M1FN>, tensor<128x4xf8E8M0FNU> -> tensor<128x128xf32>
  tile.store %d, %o[%c0, %c0] {role = "mma"} : tensor<128x128xf32>, !tile.view<?x?xf32>
  tile.return
}
}

// -----

// A sum of all columns leaves none for scales.
#facts = #tile.facts<pointer = 16, strides = [16, 1], extents = [16, 16], index32>
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
tile.kernel @room(%x: !tile.view<?x?xf8E4M3FN> {tile.facts = #facts}, %u: !tile.view<?x?xf8E8M0FNU>, %o: !tile.view<?x?xf32>)
    attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %n = tile.dim %x, 1 : !tile.view<?x?xf8E4M3FN>
  %zero = arith.constant dense<0.0> : tensor<128x512xf32>
  %sum = scf.for %k = %c0 to %n step %c32 iter_args(%c = %zero) -> tensor<128x512xf32> {
    %a = tile.load %x[%c0, %k] {role = "load", atom = #nvptx.tma, depth = 1, stage = 0} : !tile.view<?x?xf8E4M3FN> -> tensor<128x32xf8E4M3FN>
    %b = tile.load %x[%c0, %k] {role = "load", atom = #nvptx.tma, depth = 1, stage = 0} : !tile.view<?x?xf8E4M3FN> -> tensor<512x32xf8E4M3FN>
    %block = arith.divui %k, %c32 : index
    %s = tile.load %u[%c0, %block] {role = "mma", stage = 0} : !tile.view<?x?xf8E8M0FNU> -> tensor<128x1xf8E8M0FNU>
    %t = tile.load %u[%c0, %block] {role = "mma", stage = 0} : !tile.view<?x?xf8E8M0FNU> -> tensor<512x1xf8E8M0FNU>
    // expected-error@+1 {{expected sums, of all copies and turns, of at most 262144 bytes of tensor memory on nvptx:sm_100a, got 262144, of which this one takes 262144, beside 32768 of scales, in two slots for each copy; make fewer rows or columns in a program}}
    %d = tile.dot_scaled %a scale %s, %b scale %t, %c transpose_b {in_flight = 0, stage = 0, role = "mma", tile.atom = "tcgen05"}
       : tensor<128x32xf8E4M3FN>, tensor<128x1xf8E8M0FNU>, tensor<512x32xf8E4M3FN>, tensor<512x1xf8E8M0FNU> -> tensor<128x512xf32>
    scf.yield %d : tensor<128x512xf32>
  }
  tile.store %sum, %o[%c0, %c0] {role = "mma"} : tensor<128x512xf32>, !tile.view<?x?xf32>
  tile.return
}
}
