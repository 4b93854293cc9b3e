// What verification says of schedules that make no sense.
// RUN: tile-opt %s -split-input-file -verify-diagnostics

// expected-error@+1 {{expected a role with a name}}
#no_name = #tile.role<"", warps = 4>

// -----

// expected-error@+1 {{expected at least one warp and one copy of role "mma", got 4 and 0}}
#no_copies = #tile.role<"mma", warps = 4, copies = 0>

// -----

// expected-error@+1 {{expected a skew of at least 0 of role "mma", got -1}}
#skew = #tile.role<"mma", warps = 4, skew = -1>

// -----

// expected-error@+1 {{expected at least 0 registers of role "mma", got -8}}
#registers = #tile.role<"mma", warps = 4, registers = -8>

// -----

// expected-error@+1 {{expected no negative number of programs and a group of at least one tile, got 132 and 0}}
#group = #tile.persistent<programs = 132, group = 0>

// -----

// expected-error@+1 {{expected a channel of at least one slot, got 0}}
!ring = !tile.channel<0, !tile.buffer<8xf32>>

// -----

// A role's own ring is no other program's.
// expected-error@+1 {{expected non-function type}}
!ring = !tile.channel<1, own, pair, !tile.buffer<8xf32>>

// -----

// expected-error@+1 {{expected non-function type}}
!ring = !tile.channel<1, pair, >

// -----

// expected-error@+1 {{expected buffers in a channel, or one accumulator in tensor memory, got 'f32'}}
!ring = !tile.channel<1, f32>

// -----

// expected-error@+1 {{expected buffers in a channel, or one accumulator in tensor memory, got '!tile.pending<tensor<8x8xf32>>'}}
!ring = !tile.channel<1, !tile.pending<tensor<8x8xf32>>>

// -----

!sum = !tile.pending<tensor<8x8xf32>, tensor_memory>
// expected-error@+1 {{expected buffers in a channel, or one accumulator in tensor memory, got '!tile.pending<tensor<8x8xf32>, tensor_memory>'}}
!ring = !tile.channel<1, !sum, !sum>

// -----

// expected-error@+1 {{expected 'tensor_memory'}}
!sum = !tile.pending<tensor<8x8xf32>, registers>

// -----

// expected-error@+1 {{expected a tile to be pending, got 'tensor<?xf32>'}}
!pending = !tile.pending<tensor<?xf32>>

// -----

// expected-error@+1 {{expected 'tile.roles' on a kernel, as an array of #tile.role}}
module attributes {tile.roles = []} {}

// -----

// expected-error@+1 {{expected roles of different names, got "a" twice}}
tile.kernel @k() attributes {tile.roles = [#tile.role<"a", warps = 1>, #tile.role<"a", warps = 1>]} {
  tile.return
}

// -----

// expected-error@+1 {{expected 'tile.persistent' on a kernel, as #tile.persistent}}
tile.kernel @k() attributes {tile.persistent = 132} {
  tile.return
}

tile.kernel @trips(%n: index) {
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{expected 'tile.least_trips' on an scf.for, as an i64 of at least 1}}
  scf.for %i = %c1 to %n step %c1 {
  } {tile.least_trips = 0 : i64}
  tile.return
}

// -----

// expected-error@+1 {{expected 'tile.proposal' on a kernel, as an i64 of at least 0}}
tile.kernel @proposal(%n: index) attributes {tile.proposal = -1 : i64} {
  tile.return
}

// -----

tile.kernel @k(%x: !tile.view<?xf32>) {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{expected 'tile.stage' on an op of another dialect; ops of tile spell it 'stage'}}
  %t = tile.load %x[%c0] {tile.stage = 1 : i64} : !tile.view<?xf32> -> tensor<8xf32>
  tile.return
}

// -----

tile.kernel @k() {
  // expected-error@+1 {{expected 'tile.stage' to be an integer of at least 0, got -1 : i64}}
  %c0 = arith.constant {tile.stage = -1} 0 : index
  tile.return
}

// -----

tile.kernel @k() {
  // expected-error@+1 {{expected 'tile.role' to be the name of a role, got 1 : i64}}
  %c0 = arith.constant {tile.role = 1} 0 : index
  tile.return
}

// -----

tile.kernel @k() {
  // expected-error@+1 {{expected 'tile.depth' on an scf.for, an scf.while or an op with one tensor that is no load}}
  %c0 = arith.constant {tile.depth = 1} 0 : index
  tile.return
}

// -----

tile.kernel @k(%n: index) {
  // expected-error@+1 {{expected 'tile.depth' to be an integer of at least 1, got 0 : i64}}
  scf.for %i = %n to %n step %n {
  } {tile.depth = 0}
  tile.return
}

// -----

tile.kernel @k(%x: !tile.view<?xf32>) {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{expected stage to be at least 0, got -2}}
  %t = tile.load %x[%c0] {stage = -2} : !tile.view<?xf32> -> tensor<8xf32>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.view<?xf32>) {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{expected a buffer of the shape and element type of 'tensor<8xf32>', got '!tile.buffer<4xf32>'}}
  %t = tile.load %x[%c0] {buffer = !tile.buffer<4xf32>} : !tile.view<?xf32> -> tensor<8xf32>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.view<?xf32>, %t: f32) {
  %c0 = arith.constant 0 : index
  %v = tile.splat %t : tensor<8xf32>
  // expected-error@+1 {{expected a buffer of parts of 'tensor<8xf32>', got '!tile.buffer<3xf32>'}}
  tile.store %v, %x[%c0] {buffer = !tile.buffer<3xf32>} : tensor<8xf32>, !tile.view<?xf32>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.view<?xf32>, %t: f32) {
  %c0 = arith.constant 0 : index
  %v = tile.splat %t : tensor<8xf32>
  // expected-error@+1 {{expected in_flight to be at least 0, got -1}}
  tile.store %v, %x[%c0] {in_flight = -1} : tensor<8xf32>, !tile.view<?xf32>
  tile.return
}

// -----

// expected-error@+1 {{expected 'tile.per_core' to be an i64 of at least 1, got 0 : i64}}
tile.kernel @k() attributes {tile.persistent = #tile.persistent<programs = 0>, tile.per_core = 0} {
  tile.return
}

// -----

// expected-error@+1 {{expected programs = 0, since 'tile.per_core' counts those of a core, got #tile.persistent<programs = 8>}}
tile.kernel @k() attributes {tile.persistent = #tile.persistent<programs = 8>, tile.per_core = 2} {
  tile.return
}

// -----

// expected-error@+1 {{expected 'tile.raster' on a kernel with 'tile.persistent'}}
tile.kernel @k() attributes {tile.raster = "chiplets"} {
  tile.return
}

// -----

// expected-error@+1 {{expected 'tile.raster' to be one of grouped, chiplets, longest_x, longest_y, longest_z, got "spiral"}}
tile.kernel @k() attributes {tile.persistent = #tile.persistent<programs = 0>, tile.raster = "spiral"} {
  tile.return
}

// -----

tile.kernel @k(%c: i1) {
  // expected-error@+1 {{expected 'tile.share' on an scf.for, as an i64 of at least 2 or "stream"}}
  scf.if %c {
  } {tile.share = 2}
  tile.return
}

// -----

tile.kernel @k(%c: index) {
  // expected-error@+1 {{expected 'tile.share' on an scf.for, as an i64 of at least 2 or "stream"}}
  scf.for %i = %c to %c step %c {
  } {tile.share = 1}
  tile.return
}

// -----

tile.kernel @k(%c: index) {
  // expected-error@+1 {{expected 'tile.share' on an scf.for, as an i64 of at least 2 or "stream"}}
  scf.for %i = %c to %c step %c {
  } {tile.share = "banana"}
  tile.return
}

// -----

tile.kernel @k(%c: index) {
  // expected-error@+1 {{expected 'tile.share', since 'tile.share_atomic' is decided}}
  scf.for %i = %c to %c step %c {
  } {tile.share_atomic}
  tile.return
}

// -----

// expected-error@+1 {{expected arguments of the caller's in front of all others, got argument 1 behind one that a launch makes}}
tile.kernel @k(%a: !tile.pointer<i32> {tile.counter = 4}, %n: index) grid {
  tile.grid %n
} {
  tile.return
}

// -----

// expected-error@+1 {{expected 'tile.counter' on a pointer, once, as an i64 of at least 1, got 4 : i64 on argument 0 of type 'index'}}
tile.kernel @k(%n: index {tile.counter = 4}) grid {
  tile.grid %n
} {
  tile.return
}

// -----

// expected-error@+1 {{expected 'tile.workspace' on a pointer, once, as an i64 of at least 1, got 0 : i64 on argument 0}}
tile.kernel @k(%n: !tile.pointer<i32> {tile.workspace = 0}) {
  tile.return
}

// -----

// expected-error@+1 {{expected 'tile.grid_extent' on an index, once, without value, got unit on argument 0 of type 'i32'}}
tile.kernel @k(%n: i32 {tile.grid_extent}) {
  tile.return
}

// -----

// expected-error@+1 {{expected 'tile.grid_extent' on an index, once, without value, got unit on argument 1 of type 'index'}}
tile.kernel @k(%n: index {tile.grid_extent}, %m: index {tile.grid_extent}) {
  tile.return
}

// -----

// expected-error@+1 {{expected a grid region, since argument 0 is memory for each of its programs}}
tile.kernel @k(%a: !tile.pointer<i32> {tile.counter = 4}) {
  tile.return
}

// -----

// expected-error@+1 {{expected 'tile.turns' on a kernel, as a dictionary of roles and how many copies of each take programs in turn, an i64 of at least 2, got {mma = 1 : i64}}}
tile.kernel @k() attributes {tile.turns = {mma = 1 : i64}} {
  tile.return
}

// -----

// expected-error@+1 {{expected 'tile.turns' on a kernel, as a dictionary of roles and how many copies of each take programs in turn, an i64 of at least 2, got 2 : i64}}
tile.kernel @k() attributes {tile.turns = 2 : i64} {
  tile.return
}

// -----

tile.kernel @k(%n: index) {
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{expected 'tile.turns' on a kernel, as a dictionary of roles and how many copies of each take programs in turn, an i64 of at least 2, got {mma = 2 : i64}}}
  scf.for %i = %c1 to %n step %c1 {
  } {tile.turns = {mma = 2 : i64}}
  tile.return
}
