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

// 48 elements of 6 bits are 36 bytes, but 64 are 48, which is no power of two.
tile.kernel @bits(%x: !tile.view<?xi8>, %y: !tile.view<?xf6E2M3FN>) {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0] : !tile.view<?xi8> -> tensor<36xi8>
  // expected-error @+1 {{expected rows that have as many bits once their extents are powers of two, got 'tensor<36xi8>' and 'tensor<48xf6E2M3FN>'}}
  %u = tile.bitcast %t : tensor<36xi8> -> tensor<48xf6E2M3FN>
  tile.store %u, %y[%c0] : tensor<48xf6E2M3FN>, !tile.view<?xf6E2M3FN>
  tile.return
}
