// Roles and sums that take more than the chip has: each error stands at the op that decides it.
// RUN: tile-opt %s --tile-check-schedule -split-input-file -verify-diagnostics

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// expected-error@+1 {{expected registers of role "add" to be a multiple of 8 from 24 to 256 on nvptx:sm_90a, got 100}}
tile.kernel @step(%a: !tile.view<?xf32>) attributes {tile.roles = [#tile.role<"add", warps = 4, registers = 100>]} {
  tile.return
}
}

// -----

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// expected-error@+1 {{expected registers of role "add" to be a multiple of 8 from 24 to 256 on nvptx:sm_90a, got 264}}
tile.kernel @most(%a: !tile.view<?xf32>) attributes {tile.roles = [#tile.role<"add", warps = 4, registers = 264>]} {
  tile.return
}
}

// -----

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// expected-error@+1 {{expected a multiple of 4 warps in role "add", which says its registers, got 2}}
tile.kernel @group(%a: !tile.view<?xf32>) attributes {tile.roles = [#tile.role<"add", warps = 2, registers = 104>]} {
  tile.return
}
}

// -----

// Nine warps share four schedulers as twelve do: each begins with 168 registers, not with 224.
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// expected-error@+1 {{expected roles, with all copies and turns, of at most 48384 registers together, which 9 warps begin with, got 60672}}
tile.kernel @nine(%a: !tile.view<?xf32>) attributes {tile.roles = [#tile.role<"load", warps = 1>, #tile.role<"add", warps = 4, copies = 2, registers = 216>]} {
  tile.return
}
}

// -----

// No more than the core has, but more than the warps begin with: one that waits for the rest never goes on.
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// expected-error@+1 {{expected roles, with all copies and turns, of at most 64512 registers together, which 12 warps begin with, got 65536}}
tile.kernel @begin(%a: !tile.view<?xf32>) attributes {tile.roles = [#tile.role<"load", warps = 4, registers = 32>, #tile.role<"add", warps = 4, copies = 2, registers = 240>]} {
  tile.return
}
}

// -----

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// expected-error@+1 {{expected roles, with all copies and turns, of at most 64512 registers together, which 12 warps begin with, got 68608}}
tile.kernel @together(%a: !tile.view<?xf32>) attributes {tile.roles = [#tile.role<"load", warps = 4, registers = 40>, #tile.role<"add", warps = 4, copies = 2, registers = 248>]} {
  tile.return
}
}

// -----

// Where roles cannot hand registers to one another, none may say any.
module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
// expected-error@+1 {{expected no registers of role "add", since no role hands any to another on amdgpu:gfx942, got 128}}
tile.kernel @fixed(%a: !tile.view<?xf32>) attributes {tile.roles = [#tile.role<"add", warps = 4, registers = 128>]} {
  tile.return
}
}

// -----

// A barrier of each copy, and one of each role.
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// expected-error@+1 {{expected roles and copies that take at most 15 barriers on nvptx:sm_90a, one each, got 17: "load" takes 2, "mma" takes 15}}
tile.kernel @barriers() attributes {tile.roles = [#tile.role<"load", warps = 1>, #tile.role<"mma", warps = 1, copies = 14>]} {
  tile.return
}
}

// -----

// Copies that take programs in turn count.
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// expected-error@+1 {{expected roles and copies that take at most 15 barriers on nvptx:sm_90a, one each, got 17: "load" takes 2, "mma" takes 15}}
tile.kernel @turns(%n: index) attributes {tile.turns = {mma = 14 : i64}, tile.persistent = #tile.persistent<programs = 2>,
    tile.roles = [#tile.role<"load", warps = 1>, #tile.role<"mma", warps = 1>]} grid { tile.grid %n } {
  tile.return
}
}

// -----

module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
// expected-error@+1 {{expected no registers of role "load", since no role hands any to another on nvptx:sm_80, got 40}}
tile.kernel @fixed() attributes {tile.roles = [#tile.role<"load", warps = 4, registers = 40>, #tile.role<"mma", warps = 4>]} {
  tile.return
}
}

// -----

// Four sums of 256 columns each, since three more than one may be in flight.
#mma = #nvptx.tcgen05<"m128n256k16", bf16, f32>
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
tile.kernel @sums(%c: !tile.view<?x?xf32>)
    attributes {tile.roles = [#tile.role<"mma", warps = 4>, #tile.role<"store", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %a = arith.constant dense<1.0> : tensor<128x64xbf16>
  %b = arith.constant dense<1.0> : tensor<256x64xbf16>
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  // expected-error@+1 {{expected sums, of all copies and turns, of at most 262144 bytes of tensor memory on nvptx:sm_100a, got 524288, of which this one takes 524288 for 4 slots, one more than 'in_flight', since another role fetches it}}
  %d = tile.dot %a, %b, %zero transpose_b {atom = #mma, role = "mma", in_flight = 3}
     : tensor<128x64xbf16>, tensor<256x64xbf16> -> tensor<128x256xf32>
  tile.store %d, %c[%c0, %c0] {role = "store"} : tensor<128x256xf32>, !tile.view<?x?xf32>
  tile.return
}
}

// -----

// Sums that are not alike have slots of their own: one that another role fetches, and one that stays.
#wide = #nvptx.tcgen05<"m128n256k16", bf16, f32>
#narrow = #nvptx.tcgen05<"m128n128k16", bf16, f32>
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
tile.kernel @together(%c: !tile.view<?x?xf32>)
    attributes {tile.roles = [#tile.role<"mma", warps = 4>, #tile.role<"store", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %a = arith.constant dense<1.0> : tensor<128x64xbf16>
  %b = arith.constant dense<1.0> : tensor<256x64xbf16>
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %less = arith.constant dense<0.0> : tensor<128x128xf32>
  // expected-error@+1 {{got 327680, of which this one takes 262144 for 2 slots, one more than 'in_flight', since another role fetches it}}
  %d = tile.dot %a, %b, %zero transpose_b {atom = #wide, role = "mma", in_flight = 1}
     : tensor<128x64xbf16>, tensor<256x64xbf16> -> tensor<128x256xf32>
  // expected-note@+1 {{65536 bytes for 1 of 'tensor<128x128xf32>'}}
  %e = tile.dot %a, %a, %less transpose_b {atom = #narrow, role = "mma", in_flight = 0}
     : tensor<128x64xbf16>, tensor<128x64xbf16> -> tensor<128x128xf32>
  tile.store %d, %c[%c0, %c0] {role = "store"} : tensor<128x256xf32>, !tile.view<?x?xf32>
  tile.store %e, %c[%c0, %c0] {role = "mma"} : tensor<128x128xf32>, !tile.view<?x?xf32>
  tile.return
}
}

// -----

// Three sums are in flight that a trip two stages later uses, in front of which it starts its own; and
// one that goes from trip to trip.
#mma = #nvptx.tcgen05<"m128n128k16", bf16, f32>
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
tile.kernel @later(%c: !tile.view<?x?xf32>, %n: index) attributes {tile.roles = [#tile.role<"mma", warps = 4, copies = 2>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = arith.constant dense<1.0> : tensor<256x64xbf16>
  %b = arith.constant dense<1.0> : tensor<128x64xbf16>
  %zero = arith.constant dense<0.0> : tensor<256x128xf32>
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> tensor<256x128xf32> {
    // expected-error@+1 {{expected sums, of all copies and turns, of at most 262144 bytes of tensor memory on nvptx:sm_100a, got 524288, of which this one takes 524288 for 4 slots, since so many of its type are in flight at once, as 'stage' and 'order' have it}}
    %d = tile.dot %a, %b, %zero transpose_b {atom = #mma, role = "mma", in_flight = 0, stage = 0, order = 0}
       : tensor<256x64xbf16>, tensor<128x64xbf16> -> tensor<256x128xf32>
    tile.store %d, %c[%i, %c0] {role = "mma", stage = 2, order = 1} : tensor<256x128xf32>, !tile.view<?x?xf32>
    %e = tile.dot %a, %b, %s transpose_b {atom = #mma, role = "mma", in_flight = 0, stage = 0, order = 2}
       : tensor<256x64xbf16>, tensor<128x64xbf16> -> tensor<256x128xf32>
    scf.yield %e : tensor<256x128xf32>
  }
  tile.store %last, %c[%c0, %c0] {role = "mma"} : tensor<256x128xf32>, !tile.view<?x?xf32>
  tile.return
}
}
