// Tiles that cannot be cut into chunks.
// RUN: tile-opt %s -split-input-file -verify-diagnostics --tile-realise-chunks

!row = !tile.view<?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @sorted(%a: !row) attributes {tile.chunk = array<i64: 1024, 1>} {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0] : !row -> tensor<8192xf32>
  // expected-error @+1 {{expected ops that work element by element, or sums, loads and stores, since 'tile.chunk' is decided}}
  %y = tile.sort %x axis = 0 : tensor<8192xf32> -> tensor<8192xf32>
  tile.store %y, %a[%c0] : tensor<8192xf32>, !row
  tile.return
}
}

// -----

!row = !tile.view<?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// expected-error @+1 {{expected chunks that divide the longest extent of a tile, 6000, got 1024 elements in 'tile.chunk'}}
tile.kernel @rest(%a: !row) attributes {tile.chunk = array<i64: 1024, 4>} {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0] : !row -> tensor<6000xf32>
  tile.store %x, %a[%c0] : tensor<6000xf32>, !row
  tile.return
}
}

// -----

// The last loop would load what it has stored of chunks before.
!row = !tile.view<?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @shifted(%a: !row, %b: !row) attributes {tile.chunk = array<i64: 1024, 1>} {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0] : !row -> tensor<8192xf32>
  // expected-error @+1 {{expected memory that nothing before it accesses in another order, as the facts of arguments say, since 'tile.chunk' is decided}}
  tile.store %x, %b[%c0] : tensor<8192xf32>, !row
  tile.return
}
}

// -----

// What is loaded behind a store may be what was stored, also of one tile.
!row = !tile.view<?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @loaded_behind(%a: !row, %b: !row {tile.facts = #tile.facts<noalias>})
    attributes {tile.chunk = array<i64: 1024, 1>} {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0] : !row -> tensor<8192xf32>
  tile.store %x, %b[%c0] : tensor<8192xf32>, !row
  // expected-error @+1 {{expected memory that nothing before it accesses in another order}}
  %y = tile.load %b[%c0] : !row -> tensor<8192xf32>
  tile.store %y, %a[%c0] : tensor<8192xf32>, !row
  tile.return
}
}

// -----

!row = !tile.view<?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @carried(%a: !row) attributes {tile.chunk = array<i64: 1024, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %x = tile.load %a[%c0] : !row -> tensor<8192xf32>
  // expected-error @+1 {{expected no loop or condition that gives tiles which are cut}}
  %y = scf.for %i = %c0 to %c4 step %c1 iter_args(%z = %x) -> tensor<8192xf32> {
    %w = arith.addf %z, %z : tensor<8192xf32>
    scf.yield %w : tensor<8192xf32>
  }
  tile.store %y, %a[%c0] : tensor<8192xf32>, !row
  tile.return
}
}

// -----

!row = !tile.view<?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @inside(%a: !row, %holds: i1) attributes {tile.chunk = array<i64: 1024, 1>} {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0] : !row -> tensor<8192xf32>
  scf.if %holds {
    // expected-error @+1 {{expected all tiles that are cut in one block}}
    tile.store %x, %a[%c0] : tensor<8192xf32>, !row
  }
  tile.return
}
}

// -----

!row = !tile.view<?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @square(%a: !tile.view<?x?xf32>) attributes {tile.chunk = array<i64: 16, 1>} {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{expected tensors with one dimension of the longest extent}}
  %x = tile.load %a[%c0, %c0] : !tile.view<?x?xf32> -> tensor<64x64xf32>
  tile.store %x, %a[%c0, %c0] : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}
}

// -----

// Nothing is kept of what one loop uses alone.
!row = !tile.view<?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @kept(%a: !row) attributes {tile.chunk = array<i64: 1024, 1>} {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{expected a tile of whole bytes that several loops over chunks use, since 'tile.kept' is decided}}
  %x = tile.load %a[%c0] {tile.kept = "shared"} : !row -> tensor<8192xf32>
  tile.store %x, %a[%c0] : tensor<8192xf32>, !row
  tile.return
}
}

// -----

!row = !tile.view<?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @whole(%a: !row) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{expected a kernel with 'tile.chunk', since 'tile.kept' is decided}}
  %x = tile.load %a[%c0] {tile.kept = "shared"} : !row -> tensor<8192xf32>
  tile.store %x, %a[%c0] : tensor<8192xf32>, !row
  tile.return
}
}

// -----

// expected-error @+1 {{expected 'tile.chunk' on a kernel, as false or an array of two i64 that are powers of two, got array<i64: 1000, 1>}}
tile.kernel @length(%a: !tile.view<?xf32>) attributes {tile.chunk = array<i64: 1000, 1>} {
  tile.return
}

// -----

tile.kernel @place(%a: !tile.view<?xf32>) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{expected 'tile.kept' on a load, as "shared", got "registers"}}
  %x = tile.load %a[%c0] {tile.kept = "registers"} : !tile.view<?xf32> -> tensor<64xf32>
  tile.return
}

// -----

!row = !tile.view<?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @beside(%a: !row)
    attributes {tile.chunk = array<i64: 1024, 1>, tile.block_programs = 2 : i64} {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{expected no 'tile.block_programs' beside 'tile.kept', since all warps of a block keep the tile together}}
  %x = tile.load %a[%c0] {tile.kept = "shared"} : !row -> tensor<8192xf32>
  %sum = tile.reduce %x axis = 0 : tensor<8192xf32> -> tensor<f32> {
  ^bb0(%left: f32, %right: f32):
    %s = arith.addf %left, %right : f32
    tile.yield %s : f32
  }
  %scalar = tile.to_scalar %sum : tensor<f32>
  %sums = tile.splat %scalar : tensor<8192xf32>
  %y = arith.subf %x, %sums : tensor<8192xf32>
  tile.store %y, %a[%c0] : tensor<8192xf32>, !row
  tile.return
}
}
