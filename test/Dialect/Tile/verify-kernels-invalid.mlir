// What a kernel may not hold.
// RUN: tile-opt %s -tile-verify-kernels=max-depth=2 -split-input-file -verify-diagnostics

// expected-error @below {{expected only kernels in the module}}
func.func private @f()

// -----

// expected-error @below {{expected a name of letters, digits and underscores, got 'a b'}}
tile.kernel @"a b"() {
  tile.return
}

// -----

// expected-error @below {{expected a name of letters, digits and underscores, got '2'}}
tile.kernel @"2"() {
  tile.return
}

// -----

tile.kernel @k(%n: index) {
  // expected-error @below {{expected an operation of tile, arith, math or structured control flow in a kernel}}
  %0 = tensor.empty() : tensor<8xf32>
  tile.return
}

// -----

tile.kernel @k(%n: index) {
  // expected-error @below {{expected an operation of tile, arith, math or structured control flow in a kernel}}
  scf.forall (%i) in (8) {
  }
  tile.return
}

// -----

tile.kernel @k(%n: index) {
  // expected-error @below {{expected scalars and tiles within the limits of the tile dialect, got 'vector<8xf32>'}}
  %0 = arith.constant dense<0.0> : vector<8xf32>
  tile.return
}

// -----

tile.kernel @k(%n: index) {
  // expected-error @below {{expected scalars and tiles within the limits of the tile dialect, got 'tensor<16777217xf32>'}}
  %0 = arith.constant dense<0.0> : tensor<16777217xf32>
  tile.return
}

// -----

tile.kernel @k(%n: i64) {
  // expected-error @below {{expected scalars and tiles within the limits of the tile dialect, got 'i128'}}
  %0 = arith.extsi %n : i64 to i128
  tile.return
}

// -----

tile.kernel @k(%x: !tile.view<?xf32>, %y: !tile.view<?xf32>, %c: i1) {
  // expected-error @below {{expected views, pointers and buffers to be used where they are made, got one carried as '!tile.view<?xf32>'}}
  %0 = arith.select %c, %x, %y : !tile.view<?xf32>
  tile.return
}

// -----

tile.kernel @k(%c: i1) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{expected a step of at least 1, got 0}}
  scf.for %i = %c0 to %c0 step %c0 {
  }
  tile.return
}

// -----

tile.kernel @k(%c: i1) {
  scf.if %c {
    scf.if %c {
      // expected-error @below {{expected regions nested at most 2 deep}}
      tile.print "deep"
    }
  }
  tile.return
}

// -----

// The clean-ups behind would drop it together with the op.
tile.kernel @k(%v: !tile.view<?xf32>) {
  %c0 = arith.constant 0 : index
  %x = tile.load %v[%c0] : !tile.view<?xf32> -> tensor<64xf32>
  // expected-error @below {{expected attributes that mean something here, got 'ring'}}
  %y = tile.reshape %x {ring = "r"} : tensor<64xf32> -> tensor<64x1xf32>
  tile.return
}

// -----

tile.kernel @k(%v: !tile.view<?xi32>) {
  %c0 = arith.constant 0 : index
  %x = tile.load %v[%c0] : !tile.view<?xi32> -> tensor<64xi32>
  // expected-error @below {{expected attributes that mean something here, got 'tile.ring'}}
  %y = arith.extsi %x {tile.ring = "r"} : tensor<64xi32> to tensor<64xi64>
  tile.return
}

// -----

tile.kernel @k(%n: index) grid {
  // expected-error @below {{expected 'tile.role' in a program, got it in a grid region}}
  %0 = arith.addi %n, %n {tile.role = "all"} : index
  tile.grid %0
} {
  tile.return
}

// -----

// Who waits for another program looks by atomic accesses.
tile.kernel @wait(%v: !tile.view<?xi32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  %first = tile.load %v[%c0] : !tile.view<?xi32> -> tensor<1xi32>
  %seen = tile.to_scalar %first : tensor<1xi32>
  // expected-note @below {{nothing in the loop changes it}}
  %last = scf.while (%s = %seen) : (i32) -> i32 {
    %goes = arith.cmpi eq, %s, %zero : i32
    scf.condition(%goes) %s : i32
  } do {
  ^bb0(%s: i32):
    %c0_0 = arith.constant 0 : index
    // expected-error @below {{expected an atomic access that acquires, since the loop waits for another program to write what it reads: a load is not made again}}
    %again = tile.load %v[%c0_0] : !tile.view<?xi32> -> tensor<1xi32>
    %next = tile.to_scalar %again : tensor<1xi32>
    scf.yield %next : i32
  }
  tile.return
}

// -----

tile.kernel @ask(%v: !tile.view<?xi32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  // expected-note @below {{nothing in the loop changes it}}
  scf.while : () -> () {
    // expected-error @below {{expected an atomic access that acquires}}
    %seen = tile.load %v[%c0] : !tile.view<?xi32> -> tensor<1xi32>
    %number = tile.to_scalar %seen : tensor<1xi32>
    %goes = arith.cmpi eq, %number, %zero : i32
    scf.condition(%goes)
  } do {
    scf.yield
  }
  tile.return
}
