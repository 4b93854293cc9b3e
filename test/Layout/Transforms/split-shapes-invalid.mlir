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

// An instruction reads all of an operand in shared memory.
!view = !tile.view<?x?xbf16>
tile.kernel @whole(%a: !view) attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.load %a[%c0, %c0] {atom = #nvptx.tma, role = "load"} : !view -> tensor<64x24xbf16>
  // expected-note @+2 {{it multiplies 16 of it at a time}}
  // expected-error @+1 {{expected an inner extent that is a power of two, since #nvptx.wgmma<"m64n64k16", bf16, f32> reads operand b from memory, got 24}}
  %d = tile.dot %x, %x, %zero transpose_b {atom = #nvptx.wgmma<"m64n64k16", bf16, f32>, role = "mma", in_flight = 0}
     : tensor<64x24xbf16>, tensor<64x24xbf16> -> tensor<64x64xf32>
  tile.return
}

// -----

// A slot is what both of its sides agreed on: neither grows alone.
tile.kernel @slots() {
  // expected-error @+1 {{'tile.channel' op expected extents that are powers of two in slots, got '!tile.buffer<9x32xf32>'}}
  %ring = tile.channel full = 1 empty = 1 : !tile.channel<1, !tile.buffer<9x32xf32>>
  tile.return
}

// -----

// Elements change their places, and warps of a role would have to meet for it.
tile.kernel @moved(%a: !tile.view<?xf32>) attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %x = arith.constant dense<1.0> : tensor<96x32xf32>
  // Where rows stay rows none does.
  %y = tile.reshape %x : tensor<96x32xf32> -> tensor<96x1x32xf32>
  // expected-error @+1 {{expected extents that are powers of two of what a role reshapes, got 'tensor<96x32xf32>' as 'tensor<32x96xf32>'}}
  %z = tile.reshape %x : tensor<96x32xf32> -> tensor<32x96xf32>
  tile.return
}
