// RUN: tile-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{expected matrix, vector, scalar, transcendental, load, store, read or write, got 'product'}}
#a = #tile.interleave<2 x (1 product)>

// -----

// expected-error @below {{expected rounds of at least one group, at least once each, got 0 x (1 groups)}}
#b = #tile.interleave<0 x (1 matrix)>

// -----

// expected-error @below {{expected rounds of at least one group, at least once each, got 3 x (0 groups)}}
#c = #tile.interleave<3 x ()>

// -----

// expected-error @below {{expected groups of at least one instruction, got 0 matrix}}
#d = #tile.interleave<1 x (0 matrix)>

// -----

// expected-error @below {{expected at most 1024 groups in all rounds together}}
#e = #tile.interleave<1000 x (1 matrix), 30 x (1 load)>

// -----

// expected-error @below {{expected at most 1024 groups in all rounds together}}
#f = #tile.interleave<9223372036854775807 x (1 matrix, 1 load)>

// -----

tile.kernel @none() {
  // expected-error @below {{expected count to be at least 1, got 0}}
  tile.schedule_group 0 matrix of 0
  tile.return
}

// -----

tile.kernel @before() {
  // expected-error @below {{expected pipeline to be at least 0, got -1}}
  tile.schedule_group 1 matrix of -1
  tile.return
}
