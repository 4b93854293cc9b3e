// Columns of tensor memory that are said to be sums' or operands' are counted before anything is
// realised.
// RUN: tile-opt %s --tile-check-schedule --split-input-file --verify-diagnostics

#scores = #nvptx.tcgen05<"m128n256k16", bf16, f32>
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
  tile.kernel @operands(%x: !tile.view<?x?xbf16>) attributes {
      tile.roles = [#tile.role<"mma", warps = 4>]} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<128x256xf32>
    %a = tile.load %x[%c0, %c0] {role = "mma"} : !tile.view<?x?xbf16> -> tensor<128x64xbf16>
    %b = tile.load %x[%c0, %c0] {role = "mma"} : !tile.view<?x?xbf16> -> tensor<64x256xbf16>
    %v = tile.load %x[%c0, %c0] {role = "mma"} : !tile.view<?x?xbf16> -> tensor<256x256xbf16>
    // expected-error @+1 {{expected sums and operands, of all copies and turns, of at most 262144 bytes of tensor memory on nvptx:sm_100a, got 327680, of which this one takes 131072}}
    %s = tile.dot %a, %b, %zero {atom = #scores, role = "mma", in_flight = 0, tile.columns = 0 : i64} : tensor<128x64xbf16>, tensor<64x256xbf16> -> tensor<128x256xf32>
    %w = arith.truncf %s {tile.role = "mma"} : tensor<128x256xf32> to tensor<128x256xbf16>
    // expected-note @+2 {{131072 bytes for 1 of 'tensor<128x256xf32>'}}
    // expected-note @+1 {{65536 bytes for 1 of 'tensor<128x256xbf16>', since 'tile.operand_columns' are no sum's}}
    %d = tile.dot %w, %v, %zero {atom = #scores, role = "mma", in_flight = 0, tile.columns = 1 : i64, tile.operand_columns = 2 : i64} : tensor<128x256xbf16>, tensor<256x256xbf16> -> tensor<128x256xf32>
    tile.return
  }
}

// -----

#scores = #nvptx.tcgen05<"m128n256k16", bf16, f32>
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
  // Of one type, and yet each has columns of its own.
  tile.kernel @sums(%x: !tile.view<?x?xbf16>) attributes {
      tile.roles = [#tile.role<"mma", warps = 4>]} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<128x256xf32>
    %a = tile.load %x[%c0, %c0] {role = "mma"} : !tile.view<?x?xbf16> -> tensor<128x64xbf16>
    %b = tile.load %x[%c0, %c0] {role = "mma"} : !tile.view<?x?xbf16> -> tensor<64x256xbf16>
    // expected-error @+1 {{expected sums, of all copies and turns, of at most 262144 bytes of tensor memory on nvptx:sm_100a, got 393216, of which this one takes 131072}}
    %s = tile.dot %a, %b, %zero {atom = #scores, role = "mma", in_flight = 0, tile.columns = 0 : i64} : tensor<128x64xbf16>, tensor<64x256xbf16> -> tensor<128x256xf32>
    // expected-note @+1 {{131072 bytes for 1 of 'tensor<128x256xf32>'}}
    %t = tile.dot %a, %b, %zero {atom = #scores, role = "mma", in_flight = 0, tile.columns = 1 : i64} : tensor<128x64xbf16>, tensor<64x256xbf16> -> tensor<128x256xf32>
    // expected-note @+1 {{131072 bytes for 1 of 'tensor<128x256xf32>'}}
    %u = tile.dot %a, %b, %zero {atom = #scores, role = "mma", in_flight = 0, tile.columns = 2 : i64} : tensor<128x64xbf16>, tensor<64x256xbf16> -> tensor<128x256xf32>
    tile.return
  }
}

// -----

// The only sum of its role leaves the first number out.
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
  tile.kernel @gap(%x: !tile.view<?x?xf16>, %out: !tile.view<?x?xf32>) attributes {
      tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>]} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<128x32xf32>
    %a = tile.load %x[%c0, %c0] {atom = #nvptx.tma, buffer = !tile.buffer<128x32xf16>, role = "load"} : !tile.view<?x?xf16> -> tensor<128x32xf16>
    %b = tile.load %x[%c0, %c0] {atom = #nvptx.tma, buffer = !tile.buffer<32x32xf16>, role = "load"} : !tile.view<?x?xf16> -> tensor<32x32xf16>
    // expected-error @+1 {{expected numbers from 0 on without a gap, the next of which is 0, since 'tile.columns' is 1}}
    %d = tile.dot %a, %b, %zero {atom = #nvptx.tcgen05<"m128n32k16", f16, f32>, role = "mma", in_flight = 0, tile.columns = 1 : i64} : tensor<128x32xf16>, tensor<32x32xf16> -> tensor<128x32xf32>
    tile.store %d, %out[%c0, %c0] {role = "mma"} : tensor<128x32xf32>, !tile.view<?x?xf32>
    tile.return
  }
}
