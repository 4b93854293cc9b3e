// RUN: tile-opt %s --split-input-file --verify-diagnostics

tile.kernel @place(%x: !tile.view<?xf32>) {
  // expected-error @below {{expected 'tile.whole_rows' on a load or a store, as a unit}}
  %c0 = arith.constant {tile.whole_rows} 0 : index
  tile.return
}

// -----

tile.kernel @value(%x: !tile.view<?xf32>) {
  %i = tile.iota 0 : tensor<64xi32>
  // expected-error @below {{expected 'tile.run' to be a dimension of the tile's and a power of two, got array<i64: 0, 3>}}
  %t = tile.gather %x[%i] {tile.run = array<i64: 0, 3>} : !tile.view<?xf32>, [tensor<64xi32>] -> tensor<64xf32>
  tile.return
}

// -----

tile.kernel @op(%x: !tile.view<?xf32>) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{expected 'tile.run' on a gather or a scatter, as a dimension and a width}}
  %t = tile.load %x[%c0] {tile.run = array<i64: 0, 4>} : !tile.view<?xf32> -> tensor<64xf32>
  tile.return
}

// -----

tile.kernel @write_stage(%x: !tile.view<?xf32>) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{expected 'tile.write_stage' on a load, as an i64 of at least 0}}
  %t = tile.load %x[%c0] {tile.write_stage = -1 : i64} : !tile.view<?xf32> -> tensor<64xf32>
  tile.return
}

// -----

tile.kernel @meets_bare() {
  // expected-error @below {{expected 'tile.meets_bare' on an op with 'tile.shared_offset', without value}}
  %c0 = arith.constant {tile.meets_bare} 0 : index
  tile.return
}

// -----

tile.kernel @dropped(%a: !tile.view<?x?x?xf32>, %i: index) {
  // expected-error @+1 {{expected an atom, since 'dropped' is decided}}
  %x = tile.load %a[%i, %i, %i] {dropped = array<i64: 0>} : !tile.view<?x?x?xf32> -> tensor<8x8xf32>
  tile.return
}

// -----

tile.kernel @dropped(%a: !tile.view<?x?x?xf32>, %i: index) {
  // expected-error @+1 {{expected 'dropped' to be the dimensions in order by which '!tile.view<?x?x?xf32>' has more than a tile of rank 1, got 1, 0}}
  %x = tile.load %a[%i, %i, %i] {dropped = array<i64: 1, 0>, tile.atom = "tma"} : !tile.view<?x?x?xf32> -> tensor<8xf32>
  tile.return
}

// -----

tile.kernel @carried() {
  %x = arith.constant dense<1.0> : tensor<64xf32>
  // expected-error @below {{expected 'tile.carried' on a dot or the wait for one, as "registers" or "tensor_memory", got "registers"}}
  %t = arith.addf %x, %x {tile.carried = "registers"} : tensor<64xf32>
  tile.return
}

// -----

tile.kernel @carried() {
  %x = arith.constant dense<1.0> : tensor<64x64xf16>
  %s = arith.constant dense<1.0> : tensor<64x64xf32>
  // expected-error @below {{expected 'tile.carried' on a dot or the wait for one, as "registers" or "tensor_memory", got "shared"}}
  %t = tile.dot %x, %x, %s {tile.carried = "shared"} : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  tile.return
}

// -----

tile.kernel @fetched(%x: !tile.view<?xf32>) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{expected 'tile.fetched' on a store or a slice, as "whole" or "boxes", got "boxes"}}
  %t = tile.load %x[%c0] {tile.fetched = "boxes"} : !tile.view<?xf32> -> tensor<64xf32>
  tile.return
}

// -----

tile.kernel @fetched() {
  %x = arith.constant dense<1.0> : tensor<64xf32>
  // expected-error @below {{expected 'tile.fetched' on a store or a slice, as "whole" or "boxes", got 2 : i64}}
  %t = tile.slice %x [0] {tile.fetched = 2 : i64} : tensor<64xf32> -> tensor<32xf32>
  tile.return
}

// -----

#one = #tile.layout<register = [[1]], lane = [[2],[4],[8],[16],[32]]>
tile.kernel @handed() {
  %x = arith.constant dense<1.0> : tensor<64xf32, #one>
  // expected-error @below {{expected 'tile.handed' on a tile.convert_layout, as a channel with slots of the tensor, got !tile.channel<1, !tile.buffer<32xf32>>}}
  %y = tile.convert_layout %x {tile.handed = !tile.channel<1, !tile.buffer<32xf32>>} : tensor<64xf32, #one> -> tensor<64xf32, #one>
  tile.return
}

// -----

// As many boxes as the tensor has, and of one shape.
#one = #tile.layout<register = [[32],[64]], lane = [[1],[2],[4],[8],[16]]>
tile.kernel @boxes() {
  %x = arith.constant dense<1.0> : tensor<96xf32, #one>
  // expected-error @below {{expected 'tile.handed' on a tile.convert_layout, as a channel with slots of the tensor, got !tile.channel<1, !tile.buffer<32xf32>, !tile.buffer<32xf32>>}}
  %y = tile.convert_layout %x {tile.handed = !tile.channel<1, !tile.buffer<32xf32>, !tile.buffer<32xf32>>} : tensor<96xf32, #one> -> tensor<96xf32, #one>
  tile.return
}

// -----

#one = #tile.layout<register = [[32],[64]], lane = [[1],[2],[4],[8],[16]]>
tile.kernel @unlike_boxes() {
  %x = arith.constant dense<1.0> : tensor<96xf32, #one>
  // expected-error @below {{as a channel with slots of the tensor, got !tile.channel<1, !tile.buffer<64xf32>, !tile.buffer<32xf32>>}}
  %y = tile.convert_layout %x {tile.handed = !tile.channel<1, !tile.buffer<64xf32>, !tile.buffer<32xf32>>} : tensor<96xf32, #one> -> tensor<96xf32, #one>
  tile.return
}

// -----

tile.kernel @guarded() {
  %x = arith.constant dense<1.0> : tensor<64xf32>
  // expected-error @below {{expected 'tile.guarded' on an arith.select of tensors, as a boolean, got true}}
  %y = arith.addf %x, %x {tile.guarded = true} : tensor<64xf32>
  tile.return
}

// -----

tile.kernel @extents() {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = arith.constant dense<1.0> : tensor<64x96xf32>
  %y = arith.constant dense<1.0> : tensor<96x64xf32>
  // expected-error @below {{expected 'tile.extents' on a dot of rank 2, as an array of at least three i64 of at least 1: rows, columns and inner extents, got array<i64: 64, 64>}}
  %d = tile.dot %x, %y, %zero {tile.extents = array<i64: 64, 64>} : tensor<64x96xf32>, tensor<96x64xf32> -> tensor<64x64xf32>
  tile.return
}

// -----

tile.kernel @extents() {
  // expected-error @below {{expected 'tile.extents' on a dot of rank 2, as an array of at least three i64 of at least 1: rows, columns and inner extents, got array<i64: 1, 1, 1>}}
  %x = arith.constant {tile.extents = array<i64: 1, 1, 1>} dense<1.0> : tensor<64xf32>
  tile.return
}

// -----

tile.kernel @extents() {
  %zero = arith.constant dense<0.0> : tensor<2x64x64xf32>
  // expected-error @below {{expected 'tile.extents' on a dot of rank 2, as an array of at least three i64 of at least 1: rows, columns and inner extents, got array<i64: 64, 64, 64>}}
  %d = tile.dot %zero, %zero, %zero {tile.extents = array<i64: 64, 64, 64>} : tensor<2x64x64xf32>, tensor<2x64x64xf32> -> tensor<2x64x64xf32>
  tile.return
}
