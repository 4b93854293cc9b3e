// RUN: tile-opt --tile-decide-roles --split-input-file %s | FileCheck %s
// RUN: tile-opt --tile-decide-roles --split-input-file %s | FileCheck %s --check-prefix=WHY

// Two copies of the role that multiplies share 128 rows; one warp has the engine bring both operands,
// which fill one ring. The result is stored by the engine.

#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>

// CHECK-LABEL: @product
// CHECK-SAME: tile.roles = [#tile.role<"compute", warps = 4, copies = 2>, #tile.role<"load", warps = 1>]
// CHECK: tile.load %{{.*}} {atom = #nvptx.tma, ring = "ring0", role = "load"}
// CHECK: tile.load %{{.*}} {atom = #nvptx.tma, ring = "ring0", role = "load"}
// CHECK: tile.dot %{{.*}} transpose_b {atom = #nvptx.wgmma<"m64n128k16", bf16, f32>, role = "compute"}
// CHECK: tile.store %{{.*}} {atom = #nvptx.tma, role = "compute"}
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @product(%a: !tile.view<?x?xbf16> {tile.facts = #facts},
                     %b: !tile.view<?x?xbf16> {tile.facts = #facts},
                     %c: !tile.view<?x?xbf16> {tile.facts = #facts}) grid {
  %m = tile.dim %c, 0 : !tile.view<?x?xbf16>
  %n = tile.dim %c, 1 : !tile.view<?x?xbf16>
  tile.grid %m, %n
} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %i = tile.program_id x
  %j = tile.program_id y
  %k = tile.dim %a, 1 : !tile.view<?x?xbf16>
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<128x128xf32> {
    %x = tile.load %a[%i, %kk] : !tile.view<?x?xbf16> -> tensor<128x64xbf16>
    %y = tile.load %b[%j, %kk] : !tile.view<?x?xbf16> -> tensor<128x64xbf16>
    %d = tile.dot %x, %y, %s transpose_b
       : tensor<128x64xbf16>, tensor<128x64xbf16> -> tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %r = arith.truncf %sum : tensor<128x128xf32> to tensor<128x128xbf16>
  tile.store %r, %c[%i, %j] : tensor<128x128xbf16>, !tile.view<?x?xbf16>
  tile.return
}
}

// -----

// An operand whose rows lie along the other dimension is brought too. 64 rows are one copy's. What
// each product reads for itself has a ring of its own; the weights come out of registers. So many
// of these are at hand only if the warps that load give theirs away. Two stores are not the
// engine's: they might be of the same memory.

#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>
#turned = #tile.facts<pointer = 16, strides = [2, 16], extents = [16, 16], index32>

// CHECK-LABEL: @chain
// CHECK-SAME: tile.roles = [#tile.role<"load", warps = 4, registers = 32>, #tile.role<"compute", warps = 4, registers = 248>]
// CHECK: tile.load %{{.*}} {atom = #nvptx.tma, ring = "ring0", role = "load"}
// CHECK: tile.load %{{.*}} {atom = #nvptx.tma, ring = "ring1", role = "load"}
// CHECK: tile.load %{{.*}} {atom = #nvptx.tma, ring = "ring2", role = "load"}
// CHECK: tile.dot %{{.*}} {atom = #nvptx.wgmma<"m64n128k16", f16, f32>, role = "compute"}
// CHECK: tile.dot %{{.*}} {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, role = "compute"}
// CHECK: tile.store %{{.*}} {role = "compute"}
// CHECK-NEXT: tile.store %{{.*}} {role = "compute"}
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @chain(%q: !tile.view<?x?xf16> {tile.facts = #facts},
                   %k: !tile.view<?x?xf16, strides [1, ?]> {tile.facts = #turned},
                   %v: !tile.view<?x?xf16> {tile.facts = #facts},
                   %o: !tile.view<?x?xf32> {tile.facts = #facts},
                   %l: !tile.view<?x?xf32> {tile.facts = #facts}) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %n = tile.dim %v, 0 : !tile.view<?x?xf16>
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.load %q[%c0, %c0] : !tile.view<?x?xf16> -> tensor<64x64xf16>
  %sum = scf.for %j = %c0 to %n step %c128 iter_args(%s = %none) -> tensor<64x64xf32> {
    %y = tile.load %k[%c0, %j] : !tile.view<?x?xf16, strides [1, ?]> -> tensor<64x128xf16>
    %z = tile.load %v[%j, %c0] : !tile.view<?x?xf16> -> tensor<128x64xf16>
    %d = tile.dot %x, %y, %zero : tensor<64x64xf16>, tensor<64x128xf16> -> tensor<64x128xf32>
    %e = math.exp2 %d : tensor<64x128xf32>
    %w = arith.truncf %e : tensor<64x128xf32> to tensor<64x128xf16>
    %t = tile.dot %w, %z, %s : tensor<64x128xf16>, tensor<128x64xf16> -> tensor<64x64xf32>
    scf.yield %t : tensor<64x64xf32>
  }
  tile.store %sum, %o[%c0, %c0] : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.store %sum, %l[%c0, %c0] : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}
}

// -----

// What is loaded in front of a store may lie in the memory that is stored to. The order of one role's
// accesses is kept, and an engine's loads have come by then, unless nothing in front of the store
// uses them.

#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// CHECK-LABEL: @residual
// CHECK: tile.load %{{.*}} {role = "compute"}
// CHECK: tile.store %{{.*}} {atom = #nvptx.tma, role = "compute"}
tile.kernel @residual(%a: !tile.view<?x?xbf16> {tile.facts = #facts},
                      %r: !tile.view<?x?xf32> {tile.facts = #facts},
                      %c: !tile.view<?x?xf32> {tile.facts = #facts}) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %k = tile.dim %a, 1 : !tile.view<?x?xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<64x64xf32> {
    %x = tile.load %a[%c0, %kk] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    %d = tile.dot %x, %x, %s transpose_b
       : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %t = tile.load %r[%c0, %c0] : !tile.view<?x?xf32> -> tensor<64x64xf32>
  %u = arith.addf %sum, %t : tensor<64x64xf32>
  tile.store %u, %c[%c0, %c0] : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}

// CHECK-LABEL: @used_behind
// CHECK-SAME: tile.roles = [#tile.role<"all", warps = 4>]
// CHECK: scf.for
// CHECK-NEXT: {atom = #nvptx.cp_async<16>, ring = "copied0", role = "all"}
// CHECK-NEXT: tile.dot {{.*}} {atom = #nvptx.wgmma<"m64n64k16", bf16, f32>, role = "all"}
tile.kernel @used_behind(%a: !tile.view<?x?xbf16> {tile.facts = #facts},
                         %c: !tile.view<?x?xf32> {tile.facts = #facts}) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %k = tile.dim %a, 1 : !tile.view<?x?xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %q = tile.load %a[%c0, %c0] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
  tile.store %zero, %c[%c0, %c0] : tensor<64x64xf32>, !tile.view<?x?xf32>
  %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<64x64xf32> {
    %x = tile.load %a[%c0, %kk] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    %d = tile.dot %q, %x, %s transpose_b
       : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %sum, %c[%c64, %c0] : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}
}

// -----

// What no role of its own loads: strides that are not known to be multiples of 16 bytes; sums that
// are less exact than the source's. The warps that multiply load it ahead of themselves, by copies
// as wide as loads. What stays as it is: what a loop stores and may load again; a number of warps
// that someone has written.

#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>
#odd = #tile.facts<pointer = 16, strides = [8, 2], extents = [16, 16], index32>
#bytes = #tile.facts<pointer = 16, strides = [16, 1], extents = [16, 16], index32>

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// CHECK-LABEL: @odd_strides
// CHECK-SAME: tile.roles = [#tile.role<"all", warps = 4>]
// CHECK: tile.load {{.*}} {atom = #nvptx.cp_async<8>, ring = "copied0", role = "all"}
// CHECK: tile.dot {{.*}} {atom = #nvptx.wgmma<"m64n64k16", bf16, f32>, role = "all"}
tile.kernel @odd_strides(%a: !tile.view<?x?xbf16> {tile.facts = #odd},
                         %b: !tile.view<?x?xbf16> {tile.facts = #facts},
                         %c: !tile.view<?x?xf32> {tile.facts = #facts}) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %k = tile.dim %a, 1 : !tile.view<?x?xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<64x64xf32> {
    %x = tile.load %a[%c0, %kk] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    %y = tile.load %b[%c0, %kk] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    %d = tile.dot %x, %y, %s transpose_b
       : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %sum, %c[%c0, %c0] : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}

// An instruction that keeps few bits of a sum sums up at most 128 of k, and these sums are added.
// CHECK-LABEL: @rounded_sums
// CHECK-SAME: tile.roles = [#tile.role<"compute", warps = 4>, #tile.role<"load", warps = 1>]
// CHECK: tile.load {{.*}} {atom = #nvptx.tma, ring = "ring0", role = "load"}
// CHECK: tile.dot {{.*}} {atom = #nvptx.wgmma<"m64n64k32", f8E4M3FN, f32>, promote = true, role = "compute"}
tile.kernel @rounded_sums(%a: !tile.view<?x?xf8E4M3FN> {tile.facts = #bytes},
                          %c: !tile.view<?x?xf32> {tile.facts = #facts}) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %k = tile.dim %a, 1 : !tile.view<?x?xf8E4M3FN>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<64x64xf32> {
    %x = tile.load %a[%c0, %kk] : !tile.view<?x?xf8E4M3FN> -> tensor<64x64xf8E4M3FN>
    %d = tile.dot %x, %x, %s transpose_b : tensor<64x64xf8E4M3FN>, tensor<64x64xf8E4M3FN> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %sum, %c[%c0, %c0] : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}

// CHECK-LABEL: @sums_as_they_are
// CHECK: tile.dot {{.*}} {atom = #nvptx.wgmma<"m64n64k32", f8E4M3FN, f32>, promote = false, role = "compute"}
tile.kernel @sums_as_they_are(%a: !tile.view<?x?xf8E4M3FN> {tile.facts = #bytes},
                          %c: !tile.view<?x?xf32> {tile.facts = #facts}) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %k = tile.dim %a, 1 : !tile.view<?x?xf8E4M3FN>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<64x64xf32> {
    %x = tile.load %a[%c0, %kk] : !tile.view<?x?xf8E4M3FN> -> tensor<64x64xf8E4M3FN>
    %d = tile.dot %x, %x, %s transpose_b {promote = false} : tensor<64x64xf8E4M3FN>, tensor<64x64xf8E4M3FN> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %sum, %c[%c0, %c0] : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}

// CHECK-LABEL: @rounded_sums_in_parts
// CHECK: tile.dot {{.*}} {atom = #nvptx.wgmma<"m64n64k32", f8E4M3FN, f32>, parts = array<i64: 1, 1, 2>, promote = true, role = "compute"}
tile.kernel @rounded_sums_in_parts(%a: !tile.view<?x?xf8E4M3FN> {tile.facts = #bytes},
                          %c: !tile.view<?x?xf32> {tile.facts = #facts}) {
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  %k = tile.dim %a, 1 : !tile.view<?x?xf8E4M3FN>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %kk = %c0 to %k step %c256 iter_args(%s = %zero) -> tensor<64x64xf32> {
    %x = tile.load %a[%c0, %kk] : !tile.view<?x?xf8E4M3FN> -> tensor<64x256xf8E4M3FN>
    %d = tile.dot %x, %x, %s transpose_b : tensor<64x256xf8E4M3FN>, tensor<64x256xf8E4M3FN> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %sum, %c[%c0, %c0] : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}

// CHECK-LABEL: @stored_and_loaded
// CHECK-NOT: role =
tile.kernel @stored_and_loaded(%a: !tile.view<?x?xbf16> {tile.facts = #facts}) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %k = tile.dim %a, 1 : !tile.view<?x?xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  scf.for %kk = %c0 to %k step %c64 {
    %x = tile.load %a[%c0, %kk] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    %d = tile.dot %x, %x, %zero transpose_b
       : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    %r = arith.truncf %d : tensor<64x64xf32> to tensor<64x64xbf16>
    tile.store %r, %a[%kk, %c0] : tensor<64x64xbf16>, !tile.view<?x?xbf16>
  }
  tile.return
}

// CHECK-LABEL: @written_warps
// CHECK-NOT: role =
tile.kernel @written_warps(%a: !tile.view<?x?xbf16> {tile.facts = #facts},
                           %c: !tile.view<?x?xf32> {tile.facts = #facts})
    attributes {tile.warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %k = tile.dim %a, 1 : !tile.view<?x?xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<64x64xf32> {
    %x = tile.load %a[%c0, %kk] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    %d = tile.dot %x, %x, %s transpose_b
       : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %sum, %c[%c0, %c0] : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}
}

// -----

// Whoever asks is told why: what stands in the way, and where.

#odd = #tile.facts<pointer = 16, strides = [8, 2], extents = [16, 16], index32>

// CHECK-LABEL: @told
// WHY: tile.metadata = {no_roles = {line = {{[0-9]+}} : i64, why = "no copy engine brings this operand as its product reads it"}, proposal = 2 : i64}
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @told(%a: !tile.view<?x?xbf16> {tile.facts = #odd}, %c: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %k = tile.dim %a, 1 : !tile.view<?x?xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<64x64xf32> {
    %x = tile.load %a[%c0, %kk] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    %d = tile.dot %x, %x, %s transpose_b
       : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %sum, %c[%c0, %c0] : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}
}

// -----

// A pinned kernel is as its author wants it.
// WHY-NOT: no_roles
// WHY: @pinned
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @pinned(%a: !tile.view<?x?xbf16>) attributes {tile.warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.load %a[%c0, %c0] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
  %d = tile.dot %x, %x, %zero transpose_b
     : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
  tile.return
}
}

// -----

// Where one counter counts copies past the registers and loads into them, a wait for a load is one
// for all copies before it: where some loads go into registers, all do.

#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>
module attributes {tile.target = #amdgcn.target<chip = "gfx950">} {
// CHECK-LABEL: @past
// CHECK: tile.load %{{.*}} {atom = #amdgcn.load_to_lds<"gfx950", 16>, ring = "copied0", role = "all"}
tile.kernel @past(%a: !tile.view<?x?xbf16> {tile.facts = #facts}, %c: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %k = tile.dim %a, 1 : !tile.view<?x?xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<64x64xf32> {
    %x = tile.load %a[%c0, %kk] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    %d = tile.dot %x, %x, %s transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %sum, %c[%c0, %c0] : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}

// CHECK-LABEL: @beside_a_load
// CHECK: tile.load %{{.*}} {atom = #tile.through_registers, ring = "written0", role = "all"}
// CHECK: tile.load %{{.*}} {role = "all"}
tile.kernel @beside_a_load(%a: !tile.view<?x?xbf16> {tile.facts = #facts}, %c: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %k = tile.dim %a, 1 : !tile.view<?x?xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<64x64xf32> {
    %x = tile.load %a[%c0, %kk] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    %d = tile.dot %x, %x, %s transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    %y = tile.load %c[%kk, %c0] : !tile.view<?x?xf32> -> tensor<64x64xf32>
    %e = arith.addf %d, %y : tensor<64x64xf32>
    scf.yield %e : tensor<64x64xf32>
  }
  tile.store %sum, %c[%c0, %c0] : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}
}
