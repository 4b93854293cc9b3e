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
    // expected-error @+1 {{expected 'atom', since 'tile.write_stage' is decided}}
    %w = tile.load %a[%c0, %c0] {tile.write_stage = 1, role = "load"} : !view -> tensor<64x64xbf16>
    // expected-error @+1 {{expected 'atom', since 'tile.carried' is decided}}
    %g = tile.dot %y, %z, %zero {tile.carried = "registers", role = "mma"} : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    // expected-error @+1 {{expected 'role', since #nvptx.wgmma<"m64n64k16", bf16, f32> runs on after it has started}}
    %d = tile.dot %x, %y, %zero {atom = #wgmma} : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    // expected-error @+1 {{expected an atom that runs on after it has started, since 'in_flight' is decided, got #tile.fma}}
    %e = tile.dot %x, %z, %zero {atom = #tile.fma, role = "mma", in_flight = 0} : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    // expected-error @+1 {{expected 'atom', since 'in_flight' is decided}}
    %f = tile.dot %y, %z, %zero {role = "mma", in_flight = 0} : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    // expected-error @+1 {{expected 'role', since 'atom' is decided}}
    tile.store %x, %a[%c0, %c0] {atom = #nvptx.tma, buffer = !buffer} : tensor<64x64xbf16>, !view
    // expected-error @+1 {{expected 'atom', since 'in_flight' is decided}}
    tile.store %y, %a[%c0, %c0] {in_flight = 0, role = "mma"} : tensor<64x64xbf16>, !view
    tile.return
  }

  // Hints about caches that the instruction does not follow.
  tile.kernel @hints(%a: !view) attributes {tile.roles = #roles} {
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{expected hints that #nvptx.tma follows (cache = global streaming; evict = normal first last), got cache = bypass}}
    %x = tile.load %a[%c0, %c0] cache = bypass {atom = #nvptx.tma, buffer = !buffer, role = "load"} : !view -> tensor<64x64xbf16>
    // expected-error @+1 {{expected hints that #nvptx.tma follows together, got cache = streaming evict = last}}
    %y = tile.load %a[%c0, %c0] cache = streaming evict = last {atom = #nvptx.tma, buffer = !buffer, role = "load"} : !view -> tensor<64x64xbf16>
    // expected-error @+1 {{expected hints that #nvptx.cp_async<16> follows (cache = all global; evict = normal), got evict = last}}
    %z = tile.load %a[%c0, %c0] evict = last {atom = #nvptx.cp_async<16>, buffer = !buffer, role = "load"} : !view -> tensor<64x64xbf16>
    // expected-error @+1 {{expected hints that #nvptx.tma follows (cache = global streaming; evict = normal first last), got cache = all}}
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
  // How many warps issue the instruction.
  tile.kernel @operands(%a: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2]>}) attributes {tile.roles = #roles} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %x = tile.load %a[%c0, %c0] {role = "mma"} : !view -> tensor<64x64xbf16>
    %y = tile.load %a[%c0, %c0] {atom = #nvptx.tma, buffer = !buffer, role = "load"} : !view -> tensor<64x64xbf16>
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
  // Each copy makes a share of a product that the instruction can make.
  tile.kernel @share(%a: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2]>}) attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4, copies = 2>]} {
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

// -----

!view = !tile.view<?x?xbf16>

module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
  // Plain accesses, and those through registers, follow what the target does.
  tile.kernel @plain(%a: !view) {
    %i = tile.iota 0 : tensor<64xi32>
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{expected hints that amdgpu:gfx942 follows (cache = all global streaming bypass; evict = normal first), got evict = last}}
    %x = tile.load %a[%c0, %c0] evict = last : !view -> tensor<64x64xbf16>
    // expected-error @+1 {{expected hints that amdgpu:gfx942 follows (cache = all global streaming bypass; evict = normal first), got evict = last}}
    tile.store %x, %a[%c0, %c0] evict = last : tensor<64x64xbf16>, !view
    // expected-error @+1 {{expected hints that amdgpu:gfx942 follows together, got cache = bypass evict = first}}
    %y = tile.gather %a[%i, %i] cache = bypass evict = first : !view, [tensor<64xi32>, tensor<64xi32>] -> tensor<64xbf16>
    // expected-error @+1 {{expected hints that amdgpu:gfx942 follows together, got cache = streaming evict = normal}}
    tile.scatter %y, %a[%i, %i] cache = streaming evict = normal : tensor<64xbf16>, !view, [tensor<64xi32>, tensor<64xi32>]
    tile.return
  }
}

// -----

!view = !tile.view<?xf32>

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  // What is kept nowhere is not kept for long, and what is used once is.
  tile.kernel @contradicting(%a: !view) {
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{expected hints that nvptx:sm_90a follows together, got cache = streaming evict = last}}
    %x = tile.load %a[%c0] cache = streaming evict = last : !view -> tensor<64xf32>
    // expected-error @+1 {{expected hints that nvptx:sm_90a follows together, got cache = bypass evict = last}}
    tile.store %x, %a[%c0] cache = bypass evict = last : tensor<64xf32>, !view
    tile.return
  }
}

// -----

!view = !tile.view<?xf32>

module attributes {tile.target = #emulated.target<#amdgcn.target<chip = "gfx942">>} {
  // An emulated chip follows what the chip does.
  tile.kernel @emulated(%a: !view) {
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{expected hints that emu:gfx942 follows (cache = all global streaming bypass; evict = normal first), got evict = last}}
    %x = tile.load %a[%c0] evict = last : !view -> tensor<64xf32>
    tile.return
  }
}

// -----

!view = !tile.view<?xf32>

module attributes {tile.target = #amdgcn.target<chip = "gfx90a">} {
  // Not every chip can go past what the device caches.
  tile.kernel @older(%a: !view) {
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{expected hints that amdgpu:gfx90a follows (cache = all global streaming; evict = normal first), got cache = bypass}}
    %x = tile.load %a[%c0] cache = bypass : !view -> tensor<64xf32>
    tile.return
  }
}

// -----

!view = !tile.view<?xf32>

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  // Attributes that nothing reads where they stand.
  // expected-error @+1 {{expected attributes that mean something here, got 'tile.persitent'}}
  tile.kernel @misspelt(%a: !view) attributes {tile.persitent = 132 : i64} {
    tile.return
  }
}

// -----

!view = !tile.view<?xf32>

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @nowhere(%a: !view, %f: f32) {
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{expected attributes that mean something here, got 'in_flight'}}
    %x = tile.load %a[%c0] {in_flight = 1 : i64} : !view -> tensor<64xf32>
    // expected-error @+1 {{expected attributes that mean something here, got 'stage'}}
    %e = arith.addf %f, %f {stage = 0 : i64} : f32
    // expected-error @+1 {{expected attributes that mean something here, got 'cache'}}
    %y = tile.reshape %x {cache = "global"} : tensor<64xf32> -> tensor<8x8xf32>
    // expected-error @+1 {{expected no 'tile.least_trips' in a source: a pass says so, once it has made it so}}
    scf.for %i = %c0 to %c0 step %c0 {
    } {tile.least_trips = 2 : i64}
    tile.return
  }
}

// -----

module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  // expected-error @+1 {{'tile.kernel' op expected a chip that has clusters, since 'tile.cluster' is decided, got nvptx:sm_80}}
  tile.kernel @cluster() attributes {tile.cluster = array<i64: 2, 1, 1>} {
    tile.return
  }
}

// -----

module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  // expected-error @+1 {{'tile.kernel' op expected a chip whose kernels wait for those before them, since 'tile.overlap' is decided, got nvptx:sm_80}}
  tile.kernel @overlap() attributes {tile.overlap} {
    tile.return
  }
}

// -----

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  // expected-error @+1 {{expected 'tile.cluster' of at most 8 programs on nvptx:sm_90a, got 16}}
  tile.kernel @cluster() attributes {tile.cluster = array<i64: 4, 2, 2>} {
    tile.return
  }
}

// -----

// A host's programs neither run side by side nor overlap, and its caches take no hints.
!view = !tile.view<?xf32>
module attributes {tile.target = #cpu.target<vector_bits = 256, registers = 16>} {
  tile.kernel @host(%a: !view) attributes {tile.cluster = array<i64: 2, 1, 1>, tile.overlap} {
    %c0 = arith.constant 0 : index
    %x = tile.load %a[%c0] cache = global evict = last : !view -> tensor<64xf32>
    tile.return
  }
}

// -----

!view = !tile.view<?x?xbf16>
!s = tensor<64x64xf32>
!a = tensor<64x64xbf16>

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @interleave(%a: !view) attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : !s
    %x = tile.load %a[%c0, %c0] {role = "all"} : !view -> !a
    // expected-error @+1 {{expected no 'interleave' on nvptx:sm_90a, where nothing says in which order instructions come, got #tile.interleave<2 x (1 matrix, 1 load)>}}
    %d = tile.dot %x, %x, %zero transpose_b {role = "all", interleave = #tile.interleave<2 x (1 matrix, 1 load)>} : !a, !a -> !s
    tile.return
  }
}

// -----

!view = !tile.view<?x?xbf16>
!s = tensor<64x64xf32>
!a = tensor<64x64xbf16>

module attributes {tile.target = #amdgcn.target<chip = "gfx950">} {
  tile.kernel @no_dot(%a: !view) attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : !s
    // expected-error @+1 {{expected attributes that mean something here, got 'interleave'}}
    %x = tile.load %a[%c0, %c0] {role = "all", interleave = #tile.interleave<1 x (1 load)>} : !view -> !a
    %d = tile.dot %x, %x, %zero transpose_b {role = "all", interleave = #tile.interleave<2 x (1 matrix, 1 load)>} : !a, !a -> !s
    tile.return
  }
}

// -----

!view = !tile.view<?x?xbf16>
!buffer = !tile.buffer<64x64xbf16>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @alone(%a: !view) attributes {tile.roles = [#tile.role<"load", warps = 1>]} {
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{expected a kernel with 'tile.cluster', since 'multicast' is decided}}
    %x = tile.load %a[%c0, %c0] {atom = #nvptx.tma, buffer = !buffer, role = "load", multicast = ["x"]} : !view -> tensor<64x64xbf16>
    tile.return
  }

  tile.kernel @clusters(%a: !view) attributes {tile.roles = [#tile.role<"load", warps = 1>], tile.cluster = array<i64: 2, 1, 1>} {
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{expected 'atom', since 'multicast' is decided}}
    %x = tile.load %a[%c0, %c0] {role = "load", multicast = ["x"]} : !view -> tensor<64x64xbf16>
    // expected-error @+1 {{expected 'atom' of an engine that counts the bytes it brings, since 'multicast' is decided, got #nvptx.cp_async<16>}}
    %y = tile.load %a[%c0, %c0] {atom = #nvptx.cp_async<16>, buffer = !buffer, role = "load", multicast = ["x"]} : !view -> tensor<64x64xbf16>
    // expected-error @+1 {{expected several programs of a cluster along y, since 'multicast' is decided, got one}}
    %z = tile.load %a[%c0, %c0] {atom = #nvptx.tma, buffer = !buffer, role = "load", multicast = ["y"]} : !view -> tensor<64x64xbf16>
    tile.return
  }
}

// -----

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  // expected-error @+1 {{expected at most 32 warps of a program on nvptx:sm_90a, got 64}}
  tile.kernel @warps(%n: index) attributes {tile.warps = 64 : i64} {
    tile.return
  }
}

// -----

module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
  // expected-error @+1 {{expected at most 16 warps of a program on amdgpu:gfx942, got 32}}
  tile.kernel @waves(%n: index) attributes {tile.roles = [#tile.role<"all", warps = 4, copies = 8>]} {
    tile.return
  }
}
