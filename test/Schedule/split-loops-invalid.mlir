// Conditions that no loop can be cut at.
// RUN: tile-opt %s --tile-split-loops -split-input-file -verify-diagnostics

tile.kernel @else(%n: index, %is: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    // expected-error@+1 {{expected a comparison of the loop's induction variable, since 'tile.split_loop' is decided}}
    scf.if %is {
      tile.print "x"
    } {tile.split_loop}
  }
  tile.return
}

// -----

tile.kernel @moves(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %half = arith.divui %n, %i : index
    %is = arith.cmpi slt, %i, %half : index
    // expected-error@+1 {{expected a comparison with what does not change in the loop, since 'tile.split_loop' is decided}}
    scf.if %is {
      tile.print "x"
    } {tile.split_loop}
  }
  tile.return
}

// -----

tile.kernel @once(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %is = arith.cmpi eq, %i, %c1 : index
    // expected-error@+1 {{expected a condition that changes once, since 'tile.split_loop' is decided}}
    scf.if %is {
      tile.print "x"
    } {tile.split_loop}
  }
  tile.return
}

// -----

tile.kernel @negative(%m: index, %n: index) {
  %c1 = arith.constant 1 : index
  scf.for %i = %m to %n step %c1 {
    %is = arith.cmpi ult, %i, %c1 : index
    // expected-error@+1 {{expected a signed comparison, or a loop from no negative number, since 'tile.split_loop' is decided}}
    scf.if %is {
      tile.print "x"
    } {tile.split_loop}
  }
  tile.return
}

// -----

tile.kernel @place(%n: index, %is: i1) {
  // expected-error@+1 {{expected 'tile.split_loop' on an scf.if in an scf.for or in another such scf.if, without value}}
  scf.if %is {
    tile.print "x"
  } {tile.split_loop}
  tile.return
}

// -----

// What is compared may be below zero, which counts as huge.
tile.kernel @shifted(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %less = arith.constant -4 : index
  scf.for %i = %c0 to %n step %c1 {
    %before = arith.addi %i, %less : index
    %is = arith.cmpi ult, %before, %c1 : index
    // expected-error@+1 {{expected a signed comparison, or a loop from no negative number, since 'tile.split_loop' is decided}}
    scf.if %is {
      tile.print "x"
    } {tile.split_loop}
  }
  tile.return
}
