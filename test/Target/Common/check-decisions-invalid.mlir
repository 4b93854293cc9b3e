// RUN: tile-opt %s --tile-check-decisions --split-input-file --verify-diagnostics

!view = !tile.view<?x?xbf16>
!buffer = !tile.buffer<64x64xbf16>
#wgmma = #nvptx.wgmma<"m64n64k16", bf16, f32>
#roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>]

module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  // Instructions that the chip does not have.
  tile.kernel @chip(%a: !view) attributes {tile.roles = #roles} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    // expected-error @+1 {{expected 'atom' to be an instruction of nvptx:sm_80, got #nvptx.tma}}
    %x = tile.load %a[%c0, %c0] {atom = #nvptx.tma, buffer = !buffer, role = "load"} : !view -> tensor<64x64xbf16>
    // expected-error @+1 {{expected 'atom' to be an instruction of nvptx:sm_80, got #nvptx.wgmma<"m64n64k16", bf16, f32>}}
    %d = tile.dot %x, %x, %zero {atom = #wgmma, role = "mma", in_flight = 0} : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    tile.return
  }
}

// -----

!view = !tile.view<?x?xbf16>
!buffer = !tile.buffer<64x64xbf16>

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  // Decisions that mean nothing without roles.
  tile.kernel @no_roles(%a: !view, %f: f32) {
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{expected a kernel with 'tile.roles', since 'atom' is decided}}
    %x = tile.load %a[%c0, %c0] {atom = #nvptx.tma, buffer = !buffer} : !view -> tensor<64x64xbf16>
    // expected-error @+1 {{expected a kernel with 'tile.roles', since 'stage' is decided}}
    %y = tile.load %a[%c0, %c0] {stage = 1} : !view -> tensor<64x64xbf16>
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    // expected-error @+1 {{expected a kernel with 'tile.roles', since 'role' is decided}}
    %d = tile.dot %x, %y, %zero {role = "mma"} : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    // expected-error @+1 {{expected a kernel with 'tile.roles', since 'tile.role' is decided}}
    %e = arith.addf %f, %f {tile.role = "mma"} : f32
    // expected-error @+1 {{expected a kernel with 'tile.roles', since 'role' is decided}}
    tile.store %x, %a[%c0, %c0] {role = "mma"} : tensor<64x64xbf16>, !view
    // expected-error @+1 {{expected a kernel with 'tile.roles', since 'tile.depth' is decided}}
    scf.for %i = %c0 to %c0 step %c0 {
    } {tile.depth = 2}
    tile.return
  }
}

// -----

!view = !tile.view<?x?xbf16>
!buffer = !tile.buffer<64x64xbf16>
#wgmma = #nvptx.wgmma<"m64n64k16", bf16, f32>
#roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>]

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  // Decisions that come together.
  tile.kernel @together(%a: !view) attributes {tile.roles = #roles} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    // expected-error @+1 {{expected 'role', since 'atom' is decided}}
    %x = tile.load %a[%c0, %c0] {atom = #nvptx.tma} : !view -> tensor<64x64xbf16>
    // expected-error @+1 {{expected 'atom', since 'buffer' is decided}}
    %y = tile.load %a[%c0, %c0] {buffer = !buffer, role = "load"} : !view -> tensor<64x64xbf16>
    // expected-error @+1 {{expected 'atom', since 'read_atom' is decided}}
    %r = tile.load %a[%c0, %c0] {read_atom = #nvptx.ldmatrix<4, 16>, role = "load"} : !view -> tensor<64x64xbf16>
    // expected-error @+1 {{expected 'atom', since 'ring' is decided}}
    %z = tile.load %a[%c0, %c0] {ring = "keys", role = "load"} : !view -> tensor<64x64xbf16>
    // expected-error @+1 {{expected 'in_flight', since #nvptx.wgmma<"m64n64k16", bf16, f32> runs on after it has started}}
    %d = tile.dot %x, %y, %zero {atom = #wgmma, role = "mma"} : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    // expected-error @+1 {{expected an atom that runs on after it has started, since 'in_flight' is decided, got #tile.fma}}
    %e = tile.dot %x, %z, %zero {atom = #tile.fma, role = "mma", in_flight = 0} : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    // expected-error @+1 {{expected 'atom', since 'in_flight' is decided}}
    %f = tile.dot %y, %z, %zero {role = "mma", in_flight = 0} : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    // expected-error @+1 {{expected 'in_flight', since 'atom' is decided}}
    tile.store %x, %a[%c0, %c0] {atom = #nvptx.tma, buffer = !buffer, role = "mma"} : tensor<64x64xbf16>, !view
    // expected-error @+1 {{expected 'atom', since 'in_flight' is decided}}
    tile.store %y, %a[%c0, %c0] {in_flight = 0, role = "mma"} : tensor<64x64xbf16>, !view
    tile.return
  }

  // Hints about caches that the instruction does not follow.
  tile.kernel @hints(%a: !view) attributes {tile.roles = #roles} {
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{expected hints that #nvptx.tma follows, got cache = bypass}}
    %x = tile.load %a[%c0, %c0] cache = bypass {atom = #nvptx.tma, buffer = !buffer, role = "load"} : !view -> tensor<64x64xbf16>
    // expected-error @+1 {{expected hints that #nvptx.tma follows, got cache = streaming evict = last}}
    %y = tile.load %a[%c0, %c0] cache = streaming evict = last {atom = #nvptx.tma, buffer = !buffer, role = "load"} : !view -> tensor<64x64xbf16>
    // expected-error @+1 {{expected hints that #nvptx.cp_async<16> follows, got evict = last}}
    %z = tile.load %a[%c0, %c0] evict = last {atom = #nvptx.cp_async<16>, buffer = !buffer, role = "load"} : !view -> tensor<64x64xbf16>
    // expected-error @+1 {{expected hints that #nvptx.tma follows, got cache = all}}
    tile.store %x, %a[%c0, %c0] cache = all {atom = #nvptx.tma, buffer = !buffer, in_flight = 0, role = "mma"} : tensor<64x64xbf16>, !view
    tile.return
  }
}

// -----

!view = !tile.view<?x?xbf16>
!buffer = !tile.buffer<64x64xbf16>
#wgmma = #nvptx.wgmma<"m64n64k16", bf16, f32>
#roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 8>]

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  // Where operands are, and how many warps issue the instruction.
  tile.kernel @operands(%a: !view) attributes {tile.roles = #roles} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %x = tile.load %a[%c0, %c0] {role = "mma"} : !view -> tensor<64x64xbf16>
    %y = tile.load %a[%c0, %c0] {atom = #nvptx.tma, buffer = !buffer, role = "load"} : !view -> tensor<64x64xbf16>
    // expected-error @+1 {{expected operand b of a load with 'atom', since #nvptx.wgmma<"m64n64k16", bf16, f32> reads it from memory}}
    %d = tile.dot %y, %x, %zero {atom = #wgmma, role = "mma", in_flight = 0} : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    // expected-error @+1 {{expected 4 warps in each copy of role "mma" for #nvptx.wgmma<"m64n64k16", bf16, f32>, got 8}}
    %e = tile.dot %x, %y, %zero {atom = #wgmma, role = "mma", in_flight = 0} : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    tile.return
  }
}

// -----

!view = !tile.view<?x?xbf16>

module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
  tile.kernel @chip(%a: !view) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %x = tile.load %a[%c0, %c0] : !view -> tensor<64x64xbf16>
    // expected-error @+1 {{expected 'atom' to be an instruction of amdgpu:gfx942, got #amdgcn.matrix<"mfma.f32.32x32x8bf16.1k", "gfx90a", bf16>}}
    %d = tile.dot %x, %x, %zero {atom = #amdgcn.matrix<"mfma.f32.32x32x8bf16.1k", "gfx90a", bf16>} : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    tile.return
  }
}

// -----

!view = !tile.view<?x?xbf16>
!buffer = !tile.buffer<64x64xbf16>
#wgmma = #nvptx.wgmma<"m64n64k16", bf16, f32>

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  // The warps of a group begin at a multiple of its size.
  tile.kernel @group(%a: !view) attributes {tile.roles = [#tile.role<"load", warps = 1>, #tile.role<"mma", warps = 4>]} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %y = tile.load %a[%c0, %c0] {atom = #nvptx.tma, buffer = !buffer, role = "load"} : !view -> tensor<64x64xbf16>
    // expected-error @+1 {{expected roles in front of role "mma" of a multiple of 4 warps for #nvptx.wgmma<"m64n64k16", bf16, f32>, got 1}}
    %e = tile.dot %y, %y, %zero {atom = #wgmma, role = "mma", in_flight = 0} : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    tile.return
  }
}

// -----

!view = !tile.view<?x?xbf16>
!buffer = !tile.buffer<64x64xbf16>
#wgmma = #nvptx.wgmma<"m64n64k16", bf16, f32>

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  // Each copy makes a share of a product that the instruction can make.
  tile.kernel @share(%a: !view) attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4, copies = 2>]} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %y = tile.load %a[%c0, %c0] {atom = #nvptx.tma, buffer = !buffer, role = "load"} : !view -> tensor<64x64xbf16>
    // expected-error @+1 {{expected 64 rows or 64 columns, times a power of two, for each of the 2 copies of role "mma" to make by #nvptx.wgmma<"m64n64k16", bf16, f32>, got 64 and 64 for all}}
    %e = tile.dot %y, %y, %zero {atom = #wgmma, role = "mma", in_flight = 0} : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    tile.return
  }
}

// -----

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  // expected-error @+1 {{expected a power of two of warps in each copy of role "mma", got 3}}
  tile.kernel @warps() attributes {tile.roles = [#tile.role<"mma", warps = 3, copies = 4>]} {
    tile.return
  }
}
