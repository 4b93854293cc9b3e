// What is decided of scratch memory is read for a host alone; other names mean nothing.
// RUN: tile-opt %s -split-input-file -verify-diagnostics

tile.kernel @k(%x: f32) {
  // expected-error@below {{expected attributes that mean something here, got 'cpu.unroll'}}
  %0 = arith.addf %x, %x {cpu.unroll} : f32
  tile.return
}

// -----

// expected-error@below {{expected attributes that mean something here, got 'cpu.temps' on argument 0}}
tile.kernel @k(%x: f32 {cpu.temps = array<i64: 1>}) {
  tile.return
}
