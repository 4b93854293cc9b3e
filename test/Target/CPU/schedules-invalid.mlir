// RUN: tile-opt %s --tile-check-target --verify-diagnostics

// What schedules are realised by is for chips with warps.
module attributes {tile.target = #cpu.target<vector_bits = 256, registers = 16>} {
  tile.kernel @k() {
    // expected-error @+1 {{'tile.channel' is not supported on cpu yet: expected a program that one thread can run, got one for several warps}}
    %ring = tile.channel full = 1 empty = 1 : !tile.channel<2, !tile.buffer<64xf32>>
    tile.return
  }
}
