// RUN: tile-opt %s --tile-realise-batch --split-input-file --verify-diagnostics

module {
// expected-error@+1 {{expected 'tile.batch' on a kernel, as an i64 of at least 1, got 0 : i64}}
tile.kernel @count() attributes {tile.batch = 0 : i64} {
  tile.return
}
}

// -----

!view = !tile.view<?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// expected-error@+1 {{expected no 'tile.persistent' beside 'tile.batch', since a persistent grid is one of the source's programs}}
tile.kernel @persistent(%x: !view) attributes {tile.batch = 8 : i64, tile.persistent = #tile.persistent<programs = 4>} grid {
  %n = tile.dim %x, 0 : !view
  tile.grid %n
} {
  tile.return
}
}

// -----

!view = !tile.view<?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// expected-error@+1 {{expected programs that can run in step, since 'tile.batch' is 8}}
tile.kernel @trips(%x: !view) attributes {tile.batch = 8 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = tile.program_id x
  // expected-note@+1 {{'scf.for': its trips depend on the program's number}}
  scf.for %k = %c0 to %i step %c1 {
    %t = tile.load %x[%k] : !view -> tensor<1xf32>
    tile.store %t, %x[%i] : tensor<1xf32>, !view
  }
  tile.return
}
}

// -----

!view = !tile.view<?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// expected-error@+1 {{expected programs that can run in step}}
tile.kernel @condition(%x: !view) attributes {tile.batch = 8 : i64} {
  %c4 = arith.constant 4 : index
  %i = tile.program_id x
  %is = arith.cmpi slt, %i, %c4 : index
  // expected-note@+1 {{'scf.if': its condition depends on the program's number}}
  scf.if %is {
    %t = tile.load %x[%i] : !view -> tensor<1xf32>
  }
  tile.return
}
}

// -----

!view = !tile.view<?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// expected-error@+1 {{expected programs that can run in step}}
tile.kernel @place(%x: !view) attributes {tile.batch = 8 : i64} {
  %c0 = arith.constant 0 : index
  %i = tile.program_id x
  %t = tile.load %x[%i] : !view -> tensor<1xf32>
  // expected-note@+1 {{'tile.store': all programs write to the same place}}
  tile.store %t, %x[%c0] : tensor<1xf32>, !view
  tile.return
}
}

// -----

!view = !tile.view<?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// expected-error@+1 {{expected programs that can run in step}}
tile.kernel @atomic(%x: !view) attributes {tile.batch = 8 : i64} {
  %one = arith.constant 1.0 : f32
  %i = tile.program_id x
  // expected-note@+1 {{'tile.atomic_rmw': this is one program's alone}}
  %old = tile.atomic_rmw addf %x[%i], %one : !view, [index], f32
  tile.return
}
}

// -----

!view = !tile.view<?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// expected-error@+1 {{expected programs that can run in step}}
tile.kernel @counted(%x: !view) attributes {tile.batch = 8 : i64} {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  // expected-note@+1 {{'tile.atomic_rmw': all programs would do this as one}}
  %old = tile.atomic_rmw addf %x[%c0], %one : !view, [index], f32
  tile.return
}
}

// -----

!view = !tile.view<?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// expected-error@+1 {{expected programs that can run in step}}
tile.kernel @sorted(%x: !view) attributes {tile.batch = 8 : i64} {
  %c64 = arith.constant 64 : index
  %i = tile.program_id x
  %at = arith.muli %i, %c64 : index
  %t = tile.load %x[%at] : !view -> tensor<64xf32>
  // expected-note@+1 {{'tile.sort': this is one program's alone}}
  %s = tile.sort %t axis = 0 : tensor<64xf32> -> tensor<64xf32>
  tile.store %s, %x[%at] : tensor<64xf32>, !view
  tile.return
}
}

// -----

!view = !tile.view<?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @decided(%x: !view) attributes {tile.batch = 8 : i64} {
  %i = tile.program_id x
  // expected-error@+1 {{expected no 'tile.residency' in a kernel with 'tile.batch', since it is decided of one program's tile}}
  %t = tile.load %x[%i] {tile.residency = "registers"} : !view -> tensor<1xf32>
  tile.store %t, %x[%i] : tensor<1xf32>, !view
  tile.return
}
}

// -----

!view = !tile.view<?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// expected-error@+1 {{expected programs that can run in step}}
tile.kernel @view(%p: !tile.pointer<f32>, %x: !view) attributes {tile.batch = 8 : i64} {
  %c0 = arith.constant 0 : index
  %i = tile.program_id x
  // expected-note@+1 {{'tile.view_from_pointer': this is one program's alone}}
  %v = tile.view_from_pointer %p extents [%i] strides [] : !tile.pointer<f32> -> !tile.view<?xf32, strides [1]>
  %t = tile.load %v[%c0] : !tile.view<?xf32, strides [1]> -> tensor<1xf32>
  tile.store %t, %x[%i] : tensor<1xf32>, !view
  tile.return
}
}

// -----

!view = !tile.view<?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// expected-error@+1 {{expected programs that can run in step}}
tile.kernel @large(%x: !view) attributes {tile.batch = 1048576 : i64} {
  %c64 = arith.constant 64 : index
  %i = tile.program_id x
  %at = arith.muli %i, %c64 : index
  // expected-note@+1 {{'tile.load': a tile for all of them would have too many dimensions or elements}}
  %t = tile.load %x[%at] : !view -> tensor<64xf32>
  tile.store %t, %x[%at] : tensor<64xf32>, !view
  tile.return
}
}
