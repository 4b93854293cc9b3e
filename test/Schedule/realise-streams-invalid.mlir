// Loops whose trips the programs of a persistent grid cannot share out.
// RUN: tile-opt %s --tile-realise-streams -split-input-file -verify-diagnostics

!x = !tile.view<?xf32>
!t = tensor<64xf32>

tile.kernel @no_persistence(%x: !x, %n: index) grid {
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : !t
  // expected-error@+1 {{expected 'tile.persistent' on the kernel, since 'tile.share' is "stream"}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> !t {
    scf.yield %s : !t
  } {tile.share = "stream"}
  tile.return
}

// -----

!x = !tile.view<?xf32>
!t = tensor<64xf32>

// expected-error@+1 {{expected a grid region, since 'tile.share' is decided}}
tile.kernel @no_grid(%x: !x, %n: index) attributes {
    tile.persistent = #tile.persistent<programs = 2>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : !t
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> !t {
    scf.yield %s : !t
  } {tile.share = "stream"}
  tile.return
}

// -----

!x = !tile.view<?xf32>
!t = tensor<64xf32>

tile.kernel @clusters(%x: !x, %n: index) attributes {
    tile.persistent = #tile.persistent<programs = 2>, tile.cluster = array<i64: 2, 1, 1>} grid {
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : !t
  // expected-error@+1 {{expected no 'tile.cluster' on the kernel, since 'tile.share' is "stream": its programs run other trips each}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> !t {
    scf.yield %s : !t
  } {tile.share = "stream"}
  tile.return
}

// -----

!x = !tile.view<?xf32>
!t = tensor<64xf32>

tile.kernel @longest(%x: !x, %n: index) attributes {
    tile.persistent = #tile.persistent<programs = 2>, tile.raster = "longest_x"} grid {
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : !t
  // expected-error@+1 {{expected "grouped" or "chiplets" as 'tile.raster' on the kernel, since 'tile.share' is "stream": all tiles have the same trips, got "longest_x"}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> !t {
    scf.yield %s : !t
  } {tile.share = "stream"}
  tile.return
}

// -----

!x = !tile.view<?xf32>
!t = tensor<64xf32>

tile.kernel @causal(%x: !x, %n: index) attributes {
    tile.persistent = #tile.persistent<programs = 2>} grid {
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note@+1 {{a bound is made of this}}
  %x0 = tile.program_id x
  %end = arith.addi %x0, %c1 : index
  %zero = arith.constant dense<0.0> : !t
  // expected-error@+1 {{expected bounds that the kernel's arguments alone tell, since 'tile.share' is "stream" and all tiles have the same trips}}
  %r = scf.for %i = %c0 to %end step %c1 iter_args(%s = %zero) -> !t {
    scf.yield %s : !t
  } {tile.share = "stream"}
  tile.return
}

// -----

!x = !tile.view<?xf32>
!t = tensor<64xf32>

tile.kernel @read(%x: !x, %lengths: !tile.view<?xi32>) attributes {
    tile.persistent = #tile.persistent<programs = 2>} grid {
  %n = tile.dim %lengths, 0 : !tile.view<?xi32>
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  // expected-note@+1 {{a bound is made of this}}
  %loaded = tile.load %lengths[%c0] : !tile.view<?xi32> -> tensor<1xi32>
  %none = tile.reshape %loaded : tensor<1xi32> -> tensor<i32>
  %end = tile.to_scalar %none : tensor<i32>
  %sum = arith.constant dense<0.0> : !t
  // expected-error@+1 {{expected bounds that the kernel's arguments alone tell}}
  %r = scf.for %i = %zero to %end step %one iter_args(%s = %sum) -> !t : i32 {
    scf.yield %s : !t
  } {tile.share = "stream"}
  tile.return
}

// -----

!x = !tile.view<?xf32>
!t = tensor<64xf32>

tile.kernel @nested(%x: !x, %n: index) attributes {
    tile.persistent = #tile.persistent<programs = 2>} grid {
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : !t
  scf.for %j = %c0 to %n step %c1 {
    // expected-error@+1 {{expected a loop of the kernel's body itself, since 'tile.share' is decided, got one in 'scf.for'}}
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> !t {
      scf.yield %s : !t
    } {tile.share = "stream"}
  }
  tile.return
}

// -----

!x = !tile.view<?xf32>
!t = tensor<64xf32>

tile.kernel @scaled(%x: !x, %n: index) attributes {
    tile.persistent = #tile.persistent<programs = 2>} grid {
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : !t
  // expected-error@+1 {{got 'tensor<64xf32>' as its value 0, which is more than added to}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> !t {
    %t = tile.load %x[%i] : !x -> !t
    %a = arith.maximumf %s, %t : !t
    scf.yield %a : !t
  } {tile.share = "stream"}
  tile.return
}

// -----

!x = !tile.view<?xf32>
!t = tensor<64xf32>

tile.kernel @two(%x: !x, %n: index) attributes {
    tile.persistent = #tile.persistent<programs = 2>} grid {
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : !t
  // expected-note@+1 {{this is the other loop}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> !t {
    scf.yield %s : !t
  } {tile.share = "stream"}
  // expected-error@+1 {{expected one loop with 'tile.share' in a kernel, got two}}
  %q = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> !t {
    scf.yield %s : !t
  } {tile.share = 4 : i64}
  tile.return
}

// -----

!x = !tile.view<?xf32>
!t = tensor<64xf32>

// expected-error@+1 {{expected 'tile.persistent' without even programs, since 'tile.share' gives all of them as many trips, got even ones}}
tile.kernel @even(%x: !x, %n: index) attributes {
    tile.persistent = #tile.persistent<programs = 2, even = true>} grid {
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : !t
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> !t {
    %t = tile.load %x[%i] : !x -> !t
    %a = arith.addf %s, %t : !t
    scf.yield %a : !t
  } {tile.share = "stream"}
  tile.return
}
