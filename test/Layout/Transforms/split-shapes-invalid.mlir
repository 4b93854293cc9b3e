// RUN: tile-opt %s --tile-split-shapes --verify-diagnostics --split-input-file

tile.kernel @effects(%x: !tile.view<?xf32>) {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0] : !tile.view<?xf32> -> tensor<5xf32>
  // expected-error @+1 {{expected extents that are powers of two around code with effects}}
  %y = tile.inline_asm "mov.f32 $0, $1;" "=f,f" (%t) : (tensor<5xf32>) -> tensor<5xf32>
  tile.store %y, %x[%c0] : tensor<5xf32>, !tile.view<?xf32>
  tile.return
}

// -----

// An instruction stores all of a tile, and reads all of an operand in shared memory.
!view = !tile.view<?x?xbf16>
tile.kernel @whole(%a: !view) attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.load %a[%c0, %c0] {atom = #nvptx.tma, role = "load"} : !view -> tensor<64x24xbf16>
  // expected-error @+1 {{expected an inner extent that is a power of two, since #nvptx.wgmma<"m64n64k16", bf16, f32> reads operand b from memory, got 24}}
  %d = tile.dot %x, %x, %zero transpose_b {atom = #nvptx.wgmma<"m64n64k16", bf16, f32>, role = "mma", in_flight = 0}
     : tensor<64x24xbf16>, tensor<64x24xbf16> -> tensor<64x64xf32>
  tile.return
}

// -----

!view = !tile.view<?x?xf32>
tile.kernel @stored(%a: !view) attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %x = arith.constant dense<1.0> : tensor<96x32xf32>
  // expected-error @+1 {{expected extents that are powers of two of what an instruction stores, got 'tensor<96x32xf32>'}}
  tile.store %x, %a[%c0, %c0] {atom = #nvptx.tma, role = "all", in_flight = 0} : tensor<96x32xf32>, !view
  tile.return
}

// -----

// A slot is what both of its sides agreed on: neither grows alone.
tile.kernel @slots() {
  // expected-error @+1 {{'tile.channel' op expected extents that are powers of two in slots, got '!tile.buffer<9x32xf32>'}}
  %ring = tile.channel full = 1 empty = 1 : !tile.channel<1, !tile.buffer<9x32xf32>>
  tile.return
}
