// RUN: tile-opt %s --tile-gather-programs --tile-check-decisions --split-input-file --verify-diagnostics

!view = !tile.view<?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// expected-error@+1 {{expected no 'tile.persistent' beside 'tile.block_programs'}}
tile.kernel @persistent(%a: !view) attributes {tile.block_programs = 8 : i64, tile.persistent = #tile.persistent<programs = 4>} grid {
  %n = tile.dim %a, 0 : !view
  tile.grid %n
} {
  tile.return
}
}

// -----

!view = !tile.view<?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @shared(%a: !view) attributes {tile.block_programs = 8 : i64, tile.warps = 1 : i64} grid {
  %n = tile.dim %a, 0 : !view
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  // expected-error@+1 {{expected no 'tile.share' in a kernel with 'tile.block_programs', since programs that share a loop out are counted by blocks}}
  %sum = scf.for %i = %c0 to %c1 step %c1 iter_args(%s = %zero) -> tensor<16xf32> {
    %x = tile.load %a[%i] : !view -> tensor<16xf32>
    %t = arith.addf %s, %x : tensor<16xf32>
    scf.yield %t : tensor<16xf32>
  } {tile.share = 4 : i64}
  tile.store %sum, %a[%c0] : tensor<16xf32>, !view
  tile.return
}
}

// -----

!view = !tile.view<?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// expected-error@+1 {{expected roles and copies that take at most 15 barriers on nvptx:sm_90a, one each, got 16: "program" takes 16}}
tile.kernel @barriers(%a: !view) attributes {tile.block_programs = 15 : i64, tile.warps = 2 : i64} grid {
  %n = tile.dim %a, 0 : !view
  tile.grid %n
} {
  tile.return
}
}

// -----

module {
// expected-error@+1 {{expected 'tile.block_programs' on a kernel, as an i64 of at least 1, got 0 : i64}}
tile.kernel @count() attributes {tile.block_programs = 0 : i64} {
  tile.return
}
}

// -----

!view = !tile.view<?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// expected-error@+1 {{expected at most 32 warps of a block on nvptx:sm_90a, got 64, since 'tile.block_programs' is 8}}
tile.kernel @many(%a: !view) attributes {tile.block_programs = 8 : i64, tile.warps = 8 : i64} grid {
  %n = tile.dim %a, 0 : !view
  tile.grid %n
} {
  tile.return
}
}
