// What the kernel and the ops that stand only in one refuse.
// RUN: tile-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{expected views, pointers and scalars as arguments, got 'tensor<8xf32>' as argument 0}}
tile.kernel @k(%x: tensor<8xf32>) { tile.return }

// -----

// expected-error @below {{expected views, pointers and scalars as arguments, got 'i3' as argument 0}}
tile.kernel @k(%x: i3) { tile.return }

// -----

// expected-error @below {{expected a name}}
tile.kernel @""() { tile.return }

// -----

// expected-error @below {{expected no results, got 1}}
"tile.kernel"() <{sym_name = "k", function_type = () -> i32}> ({ tile.return }, {}) : () -> ()

// -----

// expected-error @below {{expected the body to take the kernel's arguments}}
"tile.kernel"() <{sym_name = "k", function_type = (i32) -> ()}> ({ tile.return }, {}) : () -> ()

// -----

// expected-error @below {{expected the grid region to take the kernel's arguments}}
"tile.kernel"() <{sym_name = "k", function_type = () -> ()}> ({
  tile.return
}, {
^bb0(%n: index):
  tile.grid %n
}) : () -> ()

// -----

// expected-error @below {{expected 1 dictionaries of argument attributes, got 0}}
"tile.kernel"() <{sym_name = "k", function_type = (i32) -> (), arg_attrs = []}> ({
^bb0(%x: i32):
  tile.return
}, {}) : () -> ()

// -----

// expected-error @below {{region #0 ('body') failed to verify constraint: region with 1 blocks}}
"tile.kernel"() <{sym_name = "k", function_type = () -> ()}> ({}, {}) : () -> ()

// -----

// expected-error @below {{empty block: expect at least a terminator}}
"tile.kernel"() <{sym_name = "k", function_type = () -> ()}> ({
^bb0:
}, {}) : () -> ()

// -----

// expected-error @below {{expected the body to end in tile.return}}
"tile.kernel"() <{sym_name = "k", function_type = () -> ()}> ({ "ub.unreachable"() : () -> () }, {}) : () -> ()

// -----

// expected-error @below {{expected the grid region to end in tile.grid}}
tile.kernel @k() grid { tile.return } { tile.return }

// -----

tile.kernel @k(%n: index) {
  // expected-error @below {{expected to end the grid region, not the body}}
  tile.grid %n
}

// -----

tile.kernel @k(%n: index) grid {
  // expected-error @below {{expected one to three extents, got 4}}
  tile.grid %n, %n, %n, %n
} { tile.return }

// -----

tile.kernel @k() grid {
  // expected-error @below {{expected no access to memory, no program's position and no foreign code in a grid region}}
  %i = tile.program_id x
  tile.grid %i
} { tile.return }

// -----

tile.kernel @k(%x: !tile.view<i32>) grid {
  // expected-error @below {{expected no access to memory, no program's position and no foreign code in a grid region}}
  %t = tile.load %x[] : !tile.view<i32> -> tensor<i32>
  %s = tile.to_scalar %t : tensor<i32>
  %n = arith.index_cast %s : i32 to index
  tile.grid %n
} { tile.return }

// -----

// expected-error @below {{expected #tile.facts as facts of argument 0, got 16}}
tile.kernel @k(%x: i32 {tile.facts = 16 : i64}) { tile.return }

// -----

// expected-error @below {{expected facts of 2 strides and extents of argument 0, got #tile.facts<strides = [16]>}}
tile.kernel @k(%x: !tile.view<?x?xf32> {tile.facts = #tile.facts<strides = [16]>}) { tile.return }

// -----

// expected-error @below {{expected facts that a value of type 'i32' can have of argument 0, got #tile.facts<noalias>}}
tile.kernel @k(%x: i32 {tile.facts = #tile.facts<noalias>}) { tile.return }

// -----

// expected-error @below {{expected facts that a value of type '!tile.pointer<f32>' can have of argument 0}}
tile.kernel @k(%x: !tile.pointer<f32> {tile.facts = #tile.facts<divisor = 2>}) { tile.return }

// -----

// expected-error @below {{expected 'tile.tunables' on a kernel, as an array of #tile.tunable}}
tile.kernel @k() attributes {tile.tunables = [1]} { tile.return }

// -----

// expected-error @below {{expected 'tile.facts' on an argument of a kernel}}
module attributes {tile.facts = #tile.facts<pointer = 16>} {}

// -----

// expected-error @below {{expected 'tile.target' on a module}}
func.func private @f() attributes {tile.target = "cpu"}

// -----

// expected-error @+1 {{expected scalar arguments that memory can hold, got 'tf32' as argument 0}}
tile.kernel @no_form_in_memory(%x: tf32) {
  tile.return
}

// -----

// expected-error @+1 {{expected 'tile.cluster' on a kernel, as an array of three i64 of at least 1, got array<i64: 2, 0, 1>}}
tile.kernel @odd() attributes {tile.cluster = array<i64: 2, 0, 1>} {
  tile.return
}

// -----

// expected-error @below {{expected attributes that mean something of argument 1, got 'tile.stage'}}
tile.kernel @k(%x: i32, %y: f32 {tile.name = "y", tile.stage = 1 : i64}) { tile.return }

// -----

// expected-error @below {{expected attributes that mean something of argument 0, got 'depth'}}
tile.kernel @k(%x: i32 {depth = 2 : i64}) { tile.return }

// -----

// expected-error @below {{expected 'tile.stage' on an op of a program}}
module attributes {tile.stage = 1 : i64} {}

// -----

// expected-error @below {{expected 'tile.triggers' on an op of a program, as a unit}}
module attributes {tile.triggers} {}
