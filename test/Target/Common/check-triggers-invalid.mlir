// What lets the next launch begin means nothing in a kernel that waits for none before it: neither
// on chips nor on a host, which reads no trigger.
// RUN: tile-opt %s --tile-check-decisions -split-input-file -verify-diagnostics

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @alone(%x: !tile.view<?xf32>) {
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{'tile.load' op expected a kernel with 'tile.overlap', since 'tile.triggers' is decided}}
    %t = tile.load %x[%c0] {tile.triggers} : !tile.view<?xf32> -> tensor<256xf32>
    tile.return
  }
}

// -----

module attributes {tile.target = #cpu.target<vector_bits = 256, registers = 16>} {
  tile.kernel @host(%x: !tile.view<?xf32>) {
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{'tile.load' op expected a kernel with 'tile.overlap', since 'tile.triggers' is decided}}
    %t = tile.load %x[%c0] {tile.triggers} : !tile.view<?xf32> -> tensor<256xf32>
    tile.return
  }
}
