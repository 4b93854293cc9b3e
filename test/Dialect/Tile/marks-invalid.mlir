// No attribute of the dialect is ignored: one that it does not know is refused on any op, and those
// that say something beside decisions stand where they are read.
// RUN: tile-opt %s -split-input-file -verify-diagnostics

// expected-error@below {{'builtin.module' op expected attributes that mean something here, got 'tile.banana'}}
module attributes {tile.banana = 1 : i64} {}

// -----

// expected-error@below {{expected attributes that mean something here, got 'tile.split_k'}}
module attributes {tile.split_k = 4 : i64} {}

// -----

// expected-error@below {{expected 'tile.shared_offset' on an op of a program}}
module attributes {tile.shared_offset = 0 : i64} {}

// -----

// expected-error@below {{expected 'tile.metadata' on a module, as a dictionary}}
module attributes {tile.metadata = 3 : i64} {}

// -----

// expected-error@below {{expected 'tile.emitted' on a module, as the name of a stage}}
module attributes {tile.emitted} {}

// -----

// expected-error@below {{expected 'tile.vendor_math' on a kernel or a function, without value}}
module attributes {tile.vendor_math} {}

// -----

// expected-error@below {{expected 'tile.flush_subnormals' on a module, without value}}
func.func @f() attributes {tile.flush_subnormals} { return }

// -----

// expected-error@below {{expected 'tile.any_memory' on a kernel, without value}}
tile.kernel @k(%x: f32) attributes {tile.any_memory = 1 : i64} {
  tile.return
}

// -----

// expected-error@below {{expected 'tile.foreign' on a function, as a dictionary}}
tile.kernel @k(%x: f32) attributes {tile.foreign = {}} {
  tile.return
}

// -----

tile.kernel @k(%x: f32) {
  // expected-error@below {{expected 'tile.traps' on an op of one thread, without value}}
  %0 = tile.program_id x {tile.traps}
  tile.return
}

// -----

// A clean-up counts ops by such a name, for itself alone.
tile.kernel @k(%x: f32) {
  // expected-error@below {{expected attributes that mean something here, got 'tile.number'}}
  %0 = arith.addf %x, %x {tile.number = 3 : i64} : f32
  tile.return
}

// -----

// expected-error@below {{expected attributes that mean something here, got 'tile.facts' on argument 0}}
func.func @f(%x: f32 {tile.facts}) { return }
