// Copies that take programs in turn need roles, programs that a block has several of, and barriers of
// their own.
// RUN: tile-opt %s --tile-check-decisions --split-input-file --verify-diagnostics

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  // expected-error @+1 {{expected 'tile.roles', since 'tile.turns' is decided}}
  tile.kernel @no_roles(%n: index) attributes {tile.turns = {mma = 2 : i64},
      tile.persistent = #tile.persistent<programs = 2>} grid { tile.grid %n } { tile.return }
}

// -----

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  // expected-error @+1 {{expected 'tile.persistent', since 'tile.turns' is decided}}
  tile.kernel @once() attributes {tile.turns = {all = 2 : i64},
      tile.roles = [#tile.role<"all", warps = 4>]} { tile.return }
}

// -----

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  // expected-error @+1 {{expected roles of the kernel in 'tile.turns', got "store"}}
  tile.kernel @another(%n: index) attributes {tile.turns = {store = 2 : i64},
      tile.roles = [#tile.role<"all", warps = 4>],
      tile.persistent = #tile.persistent<programs = 2>} grid { tile.grid %n } { tile.return }
}

// -----

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  // expected-error @+1 {{expected one copy of role "mma" to run a program, since copies take programs in turn, got 2}}
  tile.kernel @shared(%n: index) attributes {tile.turns = {mma = 2 : i64},
      tile.roles = [#tile.role<"mma", warps = 4, copies = 2>],
      tile.persistent = #tile.persistent<programs = 2>} grid { tile.grid %n } { tile.return }
}
