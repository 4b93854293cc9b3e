// Loops whose trips several programs cannot share out.
// RUN: tile-opt %s --tile-realise-shares -split-input-file -verify-diagnostics

!x = !tile.view<?xf32>
!t = tensor<64xf32>

tile.kernel @no_sum(%x: !x, %n: index) grid {
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{expected a loop that carries a sum, since 'tile.share' is decided}}
  scf.for %i = %c0 to %n step %c1 {
  } {tile.share = 4 : i64}
  tile.return
}

// -----

!x = !tile.view<?xf32>
!t = tensor<64xf32>

// expected-error@+1 {{expected a grid region, since 'tile.share' is decided}}
tile.kernel @no_grid(%x: !x, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : !t
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> !t {
    scf.yield %s : !t
  } {tile.share = 4 : i64}
  tile.return
}

// -----

!x = !tile.view<?xf32>
!t = tensor<64xf32>

tile.kernel @begins(%x: !x, %n: index) grid {
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant dense<1.0> : !t
  // expected-error@+1 {{expected nothing but sums in what the loop carries, since 'tile.share' is decided, got 'tensor<64xf32>' as its value 0, which does not begin as zeros}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %one) -> !t {
    %t = tile.load %x[%i] : !x -> !t
    %a = arith.addf %s, %t : !t
    scf.yield %a : !t
  } {tile.share = 4 : i64}
  tile.return
}

// -----

!x = !tile.view<?xf32>
!t = tensor<64xf32>

tile.kernel @scaled(%x: !x, %n: index) grid {
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : !t
  // expected-error@+1 {{got 'tensor<64xf32>' as its value 0, which is more than added to}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> !t {
    %t = tile.load %x[%i] : !x -> !t
    %a = arith.mulf %s, %t : !t
    scf.yield %a : !t
  } {tile.share = 4 : i64}
  tile.return
}

// -----

!x = !tile.view<?xf32>
!t = tensor<64xf32>

tile.kernel @read(%x: !x, %n: index) grid {
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : !t
  // expected-error@+1 {{got 'tensor<64xf32>' as its value 0, which a trip reads}}
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero, %u = %zero) -> (!t, !t) {
    %t = tile.load %x[%i] : !x -> !t
    %a = arith.addf %s, %t : !t
    %b = arith.addf %u, %a : !t
    scf.yield %a, %b : !t, !t
  } {tile.share = 4 : i64}
  tile.return
}

// -----

!x = !tile.view<?xf32>
!t = tensor<64xf32>

tile.kernel @counts(%x: !x, %n: index) grid {
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{got 'index' as its value 0, which is no tensor of elements of whole bytes}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c0) -> index {
    %a = arith.addi %s, %c1 : index
    scf.yield %a : index
  } {tile.share = 4 : i64}
  tile.return
}

// -----

!x = !tile.view<?xf32>
!t = tensor<64xf32>

tile.kernel @nested(%x: !x, %n: index, %c: i1) grid {
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : !t
  scf.if %c {
    // expected-error@+1 {{expected a loop of the kernel's body itself, since 'tile.share' is decided, got one in 'scf.if'}}
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> !t {
      scf.yield %s : !t
    } {tile.share = 4 : i64}
  }
  tile.return
}

// -----

!x = !tile.view<?xf32>
!t = tensor<64xf32>

tile.kernel @two(%x: !x, %n: index) grid {
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : !t
  // expected-note@+1 {{this is the other loop}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> !t {
    scf.yield %s : !t
  } {tile.share = 4 : i64}
  // expected-error@+1 {{expected one loop with 'tile.share' in a kernel, got two}}
  %q = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> !t {
    scf.yield %s : !t
  } {tile.share = 4 : i64}
  tile.return
}

// -----

!x = !tile.view<?xf32>
!t = tensor<64xf32>

tile.kernel @stores(%x: !x, %n: index) grid {
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : !t
  // expected-note@+1 {{the loop whose trips they share out}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> !t {
    // expected-error@+1 {{expected no effect of a trip that others see, since several programs run it}}
    tile.store %zero, %x[%i] : !t, !x
    scf.yield %s : !t
  } {tile.share = 4 : i64}
  tile.return
}

// -----

!x = !tile.view<?xf32>
!t = tensor<64xf32>

tile.kernel @prints(%x: !x, %n: index) grid {
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : !t
  // expected-error@+1 {{expected no effect in front of the loop that others see, since several programs run it}}
  tile.print "here"
  // expected-note@+1 {{the loop whose trips they share out}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> !t {
    tile.print "there"
    scf.yield %s : !t
  } {tile.share = 4 : i64}
  tile.return
}
