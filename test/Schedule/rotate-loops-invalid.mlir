// RUN: tile-opt %s --tile-count-whiles --tile-rotate-loops --split-input-file --verify-diagnostics

tile.kernel @condition(%n: i32) attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c1 = arith.constant 1 : i32
  %end = scf.while (%i = %n) : (i32) -> i32 {
    // expected-error@+1 {{expected to stand in the body of the scf.while, since 'tile.stage' is decided: what its condition is made of runs at stage 0, a trip ahead}}
    %goes = arith.cmpi sgt, %i, %c1 {tile.stage = 0, tile.role = "all"} : i32
    scf.condition(%goes) %i : i32
  } do {
  ^bb0(%i: i32):
    %less = arith.subi %i, %c1 {tile.stage = 0, tile.role = "all"} : i32
    scf.yield %less : i32
  }
  tile.return
}

// -----

// Though its trips are counted: it is no loop of these if something is decided of its condition.
tile.kernel @counted(%n: i32) attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %end = scf.while (%i = %c0) : (i32) -> i32 {
    // expected-error@+1 {{expected to stand in the body of the scf.while, since 'tile.order' is decided: what its condition is made of runs at stage 0, a trip ahead}}
    %goes = arith.cmpi slt, %i, %n {tile.order = 0, tile.role = "all"} : i32
    scf.condition(%goes) %i : i32
  } do {
  ^bb0(%i: i32):
    %more = arith.addi %i, %c1 {tile.stage = 0, tile.role = "all"} : i32
    scf.yield %more : i32
  }
  tile.return
}
