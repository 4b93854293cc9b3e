// What verification says of counts of threads and bytes that make no sense, or stand elsewhere.
// RUN: tile-opt %s -split-input-file -verify-diagnostics

// expected-error@+1 {{expected 'tile.warps' to be an integer of at least 1, got 0 : i64}}
tile.kernel @warps() attributes {tile.warps = 0 : i64} {
  tile.return
}

// -----

// expected-error@+1 {{expected 'tile.warps' to be an integer of at least 1, got "4"}}
tile.kernel @warps() attributes {tile.warps = "4"} {
  tile.return
}

// -----

// expected-error@+1 {{expected 'tile.warps' on a kernel}}
func.func private @warps() attributes {tile.warps = 4 : i64}

// -----

// expected-error@+1 {{expected 'tile.shared_bytes' on a kernel or a function}}
module attributes {tile.shared_bytes = 4 : i64} {}

// -----

// expected-error@+1 {{expected 'tile.shared_bytes' to be an integer of at least 0, got -1 : i64}}
tile.kernel @bytes() attributes {tile.shared_bytes = -1 : i64} {
  tile.return
}

// -----

// expected-error@+1 {{expected 'tile.threads' on a function}}
tile.kernel @threads() attributes {tile.threads = 64 : i64} {
  tile.return
}

// -----

tile.kernel @offset() {
  // expected-error@+1 {{expected 'tile.shared_offset' to be an integer of at least 0, got -128 : i64}}
  %b = tile.alloc {tile.shared_offset = -128 : i64} : !tile.buffer<32xf32>
  tile.return
}
