// What ops take of a core: of products and copies by their atoms, of all else by the chip's record.
// RUN: tile-opt %s --tile-print-costs -split-input-file -verify-diagnostics

// A chip whose record has all of it.
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @products() {
  // By the atom that is decided: 2^21 multiply-adds at 2048 a cycle, and what a wait for them takes.
  %a1 = arith.constant dense<0.0> : tensor<128x64xbf16>
  %b1 = arith.constant dense<0.0> : tensor<64x256xbf16>
  %c1 = arith.constant dense<0.0> : tensor<128x256xf32>
  // expected-remark@+1 {{matrix units for 1024 cycles, result after 1060}}
  %d1 = tile.dot %a1, %b1, %c1 {atom = #nvptx.wgmma<"m64n256k16", bf16, f32>}
     : tensor<128x64xbf16>, tensor<64x256xbf16> -> tensor<128x256xf32>
  %a2 = arith.constant dense<0.0> : tensor<128x64xf8E4M3FN>
  %b2 = arith.constant dense<0.0> : tensor<64x256xf8E4M3FN>
  %c2 = arith.constant dense<0.0> : tensor<128x256xf32>
  // expected-remark@+1 {{matrix units for 512 cycles, result after 548}}
  %d2 = tile.dot %a2, %b2, %c2 {atom = #nvptx.wgmma<"m64n256k32", f8E4M3FN, f32>}
     : tensor<128x64xf8E4M3FN>, tensor<64x256xf8E4M3FN> -> tensor<128x256xf32>
  // By the usual one: nobody waits for what ends in its order.
  %a3 = arith.constant dense<0.0> : tensor<128x64xf16>
  %b3 = arith.constant dense<0.0> : tensor<64x256xf16>
  %c3 = arith.constant dense<0.0> : tensor<128x256xf32>
  // expected-remark@+1 {{matrix units for 1649 cycles, result after 1674}}
  %d3 = tile.dot %a3, %b3, %c3
     : tensor<128x64xf16>, tensor<64x256xf16> -> tensor<128x256xf32>
  %a4 = arith.constant dense<0.0> : tensor<128x64xf8E5M2>
  %b4 = arith.constant dense<0.0> : tensor<64x256xf8E5M2>
  %c4 = arith.constant dense<0.0> : tensor<128x256xf32>
  // expected-remark@+1 {{matrix units for 3579 cycles, result after 3604}}
  %d4 = tile.dot %a4, %b4, %c4
     : tensor<128x64xf8E5M2>, tensor<64x256xf8E5M2> -> tensor<128x256xf32>
  %a5 = arith.constant dense<0.0> : tensor<128x64xf32>
  %b5 = arith.constant dense<0.0> : tensor<64x256xf32>
  %c5 = arith.constant dense<0.0> : tensor<128x256xf32>
  // expected-remark@+1 {{matrix units for 3303 cycles, result after 3328}}
  %d5 = tile.dot %a5, %b5, %c5 precision = tf32
     : tensor<128x64xf32>, tensor<64x256xf32> -> tensor<128x256xf32>
  %a6 = arith.constant dense<0> : tensor<128x64xi8>
  %b6 = arith.constant dense<0> : tensor<64x256xi8>
  %c6 = arith.constant dense<0> : tensor<128x256xi32>
  // expected-remark@+1 {{matrix units for 826 cycles, result after 851}}
  %d6 = tile.dot %a6, %b6, %c6
     : tensor<128x64xi8>, tensor<64x256xi8> -> tensor<128x256xi32>
  %a7 = arith.constant dense<0.0> : tensor<128x64xf64>
  %b7 = arith.constant dense<0.0> : tensor<64x256xf64>
  %c7 = arith.constant dense<0.0> : tensor<128x256xf64>
  // expected-remark@+1 {{matrix units for 16384 cycles, result after 16409}}
  %d7 = tile.dot %a7, %b7, %c7
     : tensor<128x64xf64>, tensor<64x256xf64> -> tensor<128x256xf64>
  // No instruction is as exact: a multiply-add an element, 128 a cycle; of integers, 64.
  %a8 = arith.constant dense<0.0> : tensor<128x64xf32>
  %b8 = arith.constant dense<0.0> : tensor<64x256xf32>
  %c8 = arith.constant dense<0.0> : tensor<128x256xf32>
  // expected-remark@+1 {{lanes for 16384 cycles, result after 16388}}
  %d8 = tile.dot %a8, %b8, %c8
     : tensor<128x64xf32>, tensor<64x256xf32> -> tensor<128x256xf32>
  %a9 = arith.constant dense<0> : tensor<128x64xi8>
  %b9 = arith.constant dense<0> : tensor<64x256xi8>
  %c9 = arith.constant dense<0> : tensor<128x256xi32>
  // expected-remark@+1 {{lanes for 32768 cycles, result after 32772}}
  %d9 = tile.dot %a9, %b9, %c9 {atom = #tile.fma}
     : tensor<128x64xi8>, tensor<64x256xi8> -> tensor<128x256xi32>
  tile.return
}
tile.kernel @loads(%v: !tile.view<?x?xbf16>) {
  %c0 = arith.constant 0 : index
  // 16 KiB, of which 32 bytes a cycle come to a core.
  // expected-remark@+1 {{result after 1174}}
  %w = tile.load %v[%c0, %c0] : !tile.view<?x?xbf16> -> tensor<128x64xbf16>
  // expected-remark@+1 {{engine for 0 cycles, result after 1206}}
  %x = tile.load %v[%c0, %c0] {atom = #nvptx.tma} : !tile.view<?x?xbf16> -> tensor<128x64xbf16>
  // 32 instructions of a warp, whose 512 bytes shared memory takes in four cycles.
  // expected-remark@+1 {{lanes for 128 cycles, result after 1186}}
  %y = tile.load %v[%c0, %c0] {atom = #nvptx.cp_async<16>} : !tile.view<?x?xbf16> -> tensor<128x64xbf16>
  // expected-remark@+1 {{lanes for 0 cycles, result after 1197}}
  %z = tile.load %v[%c0, %c0] {atom = #tile.through_registers} : !tile.view<?x?xbf16> -> tensor<128x64xbf16>
  tile.return
}
tile.kernel @lanes() {
  %x = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-remark@+1 {{lanes for 32 cycles, result after 36}}
  %s = arith.addf %x, %x : tensor<64x64xf32>
  // expected-remark@+1 {{lanes for 256 cycles, result after 260}}
  %e = math.exp2 %s : tensor<64x64xf32>
  // expected-remark@+1 {{lanes for 32 cycles, result after 36}}
  %h = arith.truncf %e : tensor<64x64xf32> to tensor<64x64xbf16>
  // Among lanes by two shuffles.
  // expected-remark@+1 {{lanes for 32 cycles, result after 84}}
  %r = tile.reduce %e axis = 1 : tensor<64x64xf32> -> tensor<64xf32> {
  ^bb0(%left: f32, %right: f32):
    %sum = arith.addf %left, %right : f32
    tile.yield %sum : f32
  }
  tile.return
}
}

// -----

// Sums in tensor memory: the wait for them is in the latency.
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
tile.kernel @products() {
  %a10 = arith.constant dense<0.0> : tensor<128x64xbf16>
  %b10 = arith.constant dense<0.0> : tensor<64x256xbf16>
  %c10 = arith.constant dense<0.0> : tensor<128x256xf32>
  // expected-remark@+1 {{matrix units for 512 cycles, result after 664}}
  %d10 = tile.dot %a10, %b10, %c10 {atom = #nvptx.tcgen05<"m128n256k16", bf16, f32>}
     : tensor<128x64xbf16>, tensor<64x256xbf16> -> tensor<128x256xf32>
  // Of two programs' product each makes its own rows.
  %a11 = arith.constant dense<0.0> : tensor<128x64xbf16>
  %b11 = arith.constant dense<0.0> : tensor<64x256xbf16>
  %c11 = arith.constant dense<0.0> : tensor<128x256xf32>
  // expected-remark@+1 {{matrix units for 512 cycles, result after 664}}
  %d11 = tile.dot %a11, %b11, %c11 {atom = #nvptx.tcgen05<"m256n256k16", bf16, f32>}
     : tensor<128x64xbf16>, tensor<64x256xbf16> -> tensor<128x256xf32>
  %a12 = arith.constant dense<0.0> : tensor<128x64xf32>
  %b12 = arith.constant dense<0.0> : tensor<64x256xf32>
  %c12 = arith.constant dense<0.0> : tensor<128x256xf32>
  // expected-remark@+1 {{matrix units for 1024 cycles, result after 1176}}
  %d12 = tile.dot %a12, %b12, %c12 precision = tf32 {atom = #nvptx.tcgen05<"m128n256k8", tf32, f32>}
     : tensor<128x64xf32>, tensor<64x256xf32> -> tensor<128x256xf32>
  tile.return
}
}

// -----

// Narrow integers without a rate of their own go by wider ones.
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
tile.kernel @products() {
  %a13 = arith.constant dense<0.0> : tensor<128x64xf16>
  %b13 = arith.constant dense<0.0> : tensor<64x256xf16>
  %c13 = arith.constant dense<0.0> : tensor<128x256xf32>
  // expected-remark@+1 {{matrix units for 2048 cycles, result after 2066}}
  %d13 = tile.dot %a13, %b13, %c13
     : tensor<128x64xf16>, tensor<64x256xf16> -> tensor<128x256xf32>
  %a14 = arith.constant dense<0> : tensor<128x64xi4>
  %b14 = arith.constant dense<0> : tensor<64x256xi4>
  %c14 = arith.constant dense<0> : tensor<128x256xi32>
  // expected-remark@+1 {{matrix units for 1024 cycles, result after 1042}}
  %d14 = tile.dot %a14, %b14, %c14
     : tensor<128x64xi4>, tensor<64x256xi4> -> tensor<128x256xi32>
  %a15 = arith.constant dense<0.0> : tensor<128x64xf64>
  %b15 = arith.constant dense<0.0> : tensor<64x256xf64>
  %c15 = arith.constant dense<0.0> : tensor<128x256xf64>
  // expected-remark@+1 {{matrix units for 32768 cycles, result after 32786}}
  %d15 = tile.dot %a15, %b15, %c15
     : tensor<128x64xf64>, tensor<64x256xf64> -> tensor<128x256xf64>
  tile.return
}
}

// -----

// A record without latencies: what is known still counts.
module attributes {tile.target = #nvptx.target<chip = "sm_89">} {
tile.kernel @products() {
  %a16 = arith.constant dense<0.0> : tensor<128x64xf8E4M3FN>
  %b16 = arith.constant dense<0.0> : tensor<64x256xf8E4M3FN>
  %c16 = arith.constant dense<0.0> : tensor<128x256xf32>
  // expected-remark@+1 {{matrix units for 4096 cycles, result after 4096}}
  %d16 = tile.dot %a16, %b16, %c16
     : tensor<128x64xf8E4M3FN>, tensor<64x256xf8E4M3FN> -> tensor<128x256xf32>
  %a17 = arith.constant dense<0.0> : tensor<128x64xf32>
  %b17 = arith.constant dense<0.0> : tensor<64x256xf32>
  %c17 = arith.constant dense<0.0> : tensor<128x256xf32>
  // expected-remark@+1 {{matrix units for 16384 cycles, result after 16384}}
  %d17 = tile.dot %a17, %b17, %c17 precision = tf32
     : tensor<128x64xf32>, tensor<64x256xf32> -> tensor<128x256xf32>
  %a18 = arith.constant dense<0.0> : tensor<128x64xf32>
  %b18 = arith.constant dense<0.0> : tensor<64x256xf32>
  %c18 = arith.constant dense<0.0> : tensor<128x256xf32>
  // expected-remark@+1 {{lanes for 16384 cycles, result after 16389}}
  %d18 = tile.dot %a18, %b18, %c18
     : tensor<128x64xf32>, tensor<64x256xf32> -> tensor<128x256xf32>
  tile.return
}
}

// -----

module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
tile.kernel @products() {
  %a19 = arith.constant dense<0.0> : tensor<128x64xbf16>
  %b19 = arith.constant dense<0.0> : tensor<64x256xbf16>
  %c19 = arith.constant dense<0.0> : tensor<128x256xf32>
  // expected-remark@+1 {{matrix units for 2048 cycles, result after 2064}}
  %d19 = tile.dot %a19, %b19, %c19
     : tensor<128x64xbf16>, tensor<64x256xbf16> -> tensor<128x256xf32>
  %a20 = arith.constant dense<0.0> : tensor<128x64xf32>
  %b20 = arith.constant dense<0.0> : tensor<64x256xf32>
  %c20 = arith.constant dense<0.0> : tensor<128x256xf32>
  // expected-remark@+1 {{matrix units for 4096 cycles, result after 4112}}
  %d20 = tile.dot %a20, %b20, %c20 precision = tf32
     : tensor<128x64xf32>, tensor<64x256xf32> -> tensor<128x256xf32>
  %a21 = arith.constant dense<0.0> : tensor<128x64xf32>
  %b21 = arith.constant dense<0.0> : tensor<64x256xf32>
  %c21 = arith.constant dense<0.0> : tensor<128x256xf32>
  // expected-remark@+1 {{matrix units for 16384 cycles, result after 16400}}
  %d21 = tile.dot %a21, %b21, %c21
     : tensor<128x64xf32>, tensor<64x256xf32> -> tensor<128x256xf32>
  %a22 = arith.constant dense<0.0> : tensor<128x64xf64>
  %b22 = arith.constant dense<0.0> : tensor<64x256xf64>
  %c22 = arith.constant dense<0.0> : tensor<128x256xf64>
  // expected-remark@+1 {{matrix units for 16384 cycles, result after 16400}}
  %d22 = tile.dot %a22, %b22, %c22
     : tensor<128x64xf64>, tensor<64x256xf64> -> tensor<128x256xf64>
  %a23 = arith.constant dense<0> : tensor<128x64xi8>
  %b23 = arith.constant dense<0> : tensor<64x256xi8>
  %c23 = arith.constant dense<0> : tensor<128x256xi32>
  // expected-remark@+1 {{matrix units for 1024 cycles, result after 1040}}
  %d23 = tile.dot %a23, %b23, %c23
     : tensor<128x64xi8>, tensor<64x256xi8> -> tensor<128x256xi32>
  // It has no instruction for these floats.
  %a24 = arith.constant dense<0.0> : tensor<128x64xf8E4M3FN>
  %b24 = arith.constant dense<0.0> : tensor<64x256xf8E4M3FN>
  %c24 = arith.constant dense<0.0> : tensor<128x256xf32>
  // expected-remark@+1 {{lanes for 16384 cycles, result after 16388}}
  %d24 = tile.dot %a24, %b24, %c24
     : tensor<128x64xf8E4M3FN>, tensor<64x256xf8E4M3FN> -> tensor<128x256xf32>
  tile.return
}
tile.kernel @others(%v: !tile.view<?x?xbf16>) {
  %c0 = arith.constant 0 : index
  // 64 instructions of a wave, whose 256 bytes LDS takes in two cycles.
  // expected-remark@+1 {{lanes for 128 cycles, result after 1394}}
  %x = tile.load %v[%c0, %c0] {atom = #amdgcn.load_to_lds<"gfx942", 4>} : !tile.view<?x?xbf16> -> tensor<128x64xbf16>
  // expected-remark@+1 {{lanes for 64 cycles, result after 68}}
  %s = arith.addf %x, %x : tensor<128x64xbf16>
  tile.return
}
}

// -----

// Products with scales, by the width of their elements.
module attributes {tile.target = #amdgcn.target<chip = "gfx950">} {
tile.kernel @scaled() {
  %sa = arith.constant dense<1.0> : tensor<128x4xf8E8M0FNU>
  %sb = arith.constant dense<1.0> : tensor<256x4xf8E8M0FNU>
  %c = arith.constant dense<0.0> : tensor<128x256xf32>
  %a1 = arith.constant dense<0.0> : tensor<128x128xf4E2M1FN>
  %b1 = arith.constant dense<0.0> : tensor<128x256xf4E2M1FN>
  // expected-remark@+1 {{matrix units for 512 cycles, result after 528}}
  %d1 = tile.dot_scaled %a1 scale %sa, %b1 scale %sb, %c
     : tensor<128x128xf4E2M1FN>, tensor<128x4xf8E8M0FNU>, tensor<128x256xf4E2M1FN>, tensor<256x4xf8E8M0FNU> -> tensor<128x256xf32>
  %a2 = arith.constant dense<0.0> : tensor<128x128xf6E3M2FN>
  %b2 = arith.constant dense<0.0> : tensor<128x256xf6E3M2FN>
  // expected-remark@+1 {{matrix units for 512 cycles, result after 528}}
  %d2 = tile.dot_scaled %a2 scale %sa, %b2 scale %sb, %c
     : tensor<128x128xf6E3M2FN>, tensor<128x4xf8E8M0FNU>, tensor<128x256xf6E3M2FN>, tensor<256x4xf8E8M0FNU> -> tensor<128x256xf32>
  %a3 = arith.constant dense<0.0> : tensor<128x128xf8E4M3FN>
  %b3 = arith.constant dense<0.0> : tensor<128x256xf8E4M3FN>
  // expected-remark@+1 {{matrix units for 1024 cycles, result after 1040}}
  %d3 = tile.dot_scaled %a3 scale %sa, %b3 scale %sb, %c
     : tensor<128x128xf8E4M3FN>, tensor<128x4xf8E8M0FNU>, tensor<128x256xf8E4M3FN>, tensor<256x4xf8E8M0FNU> -> tensor<128x256xf32>
  tile.return
}
}

// -----

module attributes {tile.target = #amdgcn.target<chip = "gfx1201">} {
tile.kernel @products() {
  %a25 = arith.constant dense<0.0> : tensor<128x64xf16>
  %b25 = arith.constant dense<0.0> : tensor<64x256xf16>
  %c25 = arith.constant dense<0.0> : tensor<128x256xf32>
  // expected-remark@+1 {{matrix units for 2048 cycles, result after 2064}}
  %d25 = tile.dot %a25, %b25, %c25
     : tensor<128x64xf16>, tensor<64x256xf16> -> tensor<128x256xf32>
  %a26 = arith.constant dense<0.0> : tensor<128x64xf8E4M3FN>
  %b26 = arith.constant dense<0.0> : tensor<64x256xf8E4M3FN>
  %c26 = arith.constant dense<0.0> : tensor<128x256xf32>
  // expected-remark@+1 {{matrix units for 1024 cycles, result after 1040}}
  %d26 = tile.dot %a26, %b26, %c26
     : tensor<128x64xf8E4M3FN>, tensor<64x256xf8E4M3FN> -> tensor<128x256xf32>
  %a27 = arith.constant dense<0> : tensor<128x64xi4>
  %b27 = arith.constant dense<0> : tensor<64x256xi4>
  %c27 = arith.constant dense<0> : tensor<128x256xi32>
  // expected-remark@+1 {{matrix units for 512 cycles, result after 528}}
  %d27 = tile.dot %a27, %b27, %c27
     : tensor<128x64xi4>, tensor<64x256xi4> -> tensor<128x256xi32>
  tile.return
}
}

// -----

// Exchanges that nobody has measured go by loads from shared memory.
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
tile.kernel @exchanges() {
  %x = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-remark@+1 {{lanes for 64 cycles, result after 114}}
  %r = tile.reduce %x axis = 1 : tensor<64x64xf32> -> tensor<64xf32> {
  ^bb0(%left: f32, %right: f32):
    %sum = arith.addf %left, %right : f32
    tile.yield %sum : f32
  }
  tile.return
}
}

// -----

// What nobody has published has no cost. Instructions of a warp are slower than those into tensor memory.
module attributes {tile.target = #nvptx.target<chip = "sm_120a">} {
tile.kernel @unknown() {
  %x = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-remark@+1 {{unknown: the record of sm_120a lacks a number for it}}
  %e = math.exp2 %x : tensor<64x64xf32>
  tile.return
}
}

// -----

module attributes {tile.target = #nvptx.target<chip = "sm_103a">} {
tile.kernel @by_warps() {
  %a = arith.constant dense<0.0> : tensor<128x64xf16>
  %b = arith.constant dense<0.0> : tensor<64x256xf16>
  %c = arith.constant dense<0.0> : tensor<128x256xf32>
  // expected-remark@+1 {{matrix units for 2096 cycles, result after 2117}}
  %d = tile.dot %a, %b, %c {atom = #nvptx.mma_sync<"m16n8k16", f16, f32>}
     : tensor<128x64xf16>, tensor<64x256xf16> -> tensor<128x256xf32>
  tile.return
}
}
