// Threads of 16 warps begin with 128 registers, which the sums of 64 by 256 fill. The role that has an
// engine copy keeps the least, the one that casts what its tensor takes and a few more, and those that
// multiply share out the rest.
// RUN: tile-opt %s --tile-decide-registers --split-input-file | FileCheck %s

#cast = #tile.layout<register = [[0,1],[0,2],[0,4],[16,0],[32,0],[64,0],[128,0]], lane = [[0,8],[0,16],[0,32],[1,0],[2,0]], warp = [[4,0],[8,0]]>
#sum = #tile.layout<register = [[0,1],[8,0],[0,8],[0,16],[0,32],[0,64],[0,128]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0],[32,0],[64,0]]>
!bytes = tensor<256x64xi8, #cast>
!wide = tensor<256x64xbf16, #cast>
!s = tensor<128x256xf32, #sum>
!view = !tile.view<?x?xi8>
!out = !tile.view<?x?xf32>
#wgmma = #nvptx.wgmma<"m64n128k16", bf16, f32>

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// CHECK-LABEL: tile.kernel @cast
// CHECK: roles = [#tile.role<"load", warps = 4, registers = 24>, #tile.role<"cast", warps = 4, registers = 88>, #tile.role<"mma", warps = 4, copies = 2, registers = 200>]
tile.kernel @cast(%a: !view, %o: !out, %n: index) attributes {
    tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"cast", warps = 4>, #tile.role<"mma", warps = 4, copies = 2>]} {
  %x = tile.alloc : !tile.buffer<128x64xbf16>
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : !s
  %r = scf.for %i = %c0 to %n step %c64 iter_args(%s = %zero) -> !s {
    %y = tile.load %a[%c0, %i] {atom = #nvptx.tma, buffer = !tile.buffer<256x64xi8>, role = "load"} : !view -> !bytes
    %w = arith.sitofp %y {tile.role = "cast"} : !bytes to !wide
    %d = tile.dot %x, %w, %s transpose_b {atom = #wgmma, role = "mma", in_flight = 1} : !tile.buffer<128x64xbf16>, !wide -> !s
    scf.yield %d : !s
  }
  tile.store %r, %o[%c0, %c0] {role = "mma"} : !s, !out
  tile.return
}

// What a role says stays, and the others have what is left.
// CHECK-LABEL: tile.kernel @said
// CHECK: roles = [#tile.role<"load", warps = 4, registers = 40>, #tile.role<"cast", warps = 4, registers = 104>, #tile.role<"mma", warps = 4, copies = 2, registers = 184>]
tile.kernel @said(%a: !view, %o: !out, %n: index) attributes {
    tile.roles = [#tile.role<"load", warps = 4, registers = 40>, #tile.role<"cast", warps = 4, registers = 104>, #tile.role<"mma", warps = 4, copies = 2>]} {
  %x = tile.alloc : !tile.buffer<128x64xbf16>
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : !s
  %r = scf.for %i = %c0 to %n step %c64 iter_args(%s = %zero) -> !s {
    %y = tile.load %a[%c0, %i] {atom = #nvptx.tma, buffer = !tile.buffer<256x64xi8>, role = "load"} : !view -> !bytes
    %w = arith.sitofp %y {tile.role = "cast"} : !bytes to !wide
    %d = tile.dot %x, %w, %s transpose_b {atom = #wgmma, role = "mma", in_flight = 1} : !tile.buffer<128x64xbf16>, !wide -> !s
    scf.yield %d : !s
  }
  tile.store %r, %o[%c0, %c0] {role = "mma"} : !s, !out
  tile.return
}

// Twelve warps begin with 168, which suffices: nothing is decided.
// CHECK-LABEL: tile.kernel @suffices
// CHECK: roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4, copies = 2>]
tile.kernel @suffices(%o: !out, %n: index) attributes {
    tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4, copies = 2>]} {
  %x = tile.alloc : !tile.buffer<128x64xbf16>
  %w = tile.alloc : !tile.buffer<256x64xbf16>
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : !s
  %r = scf.for %i = %c0 to %n step %c64 iter_args(%s = %zero) -> !s {
    %d = tile.dot %x, %w, %s transpose_b {atom = #wgmma, role = "mma", in_flight = 1} : !tile.buffer<128x64xbf16>, !tile.buffer<256x64xbf16> -> !s
    scf.yield %d : !s
  }
  tile.store %r, %o[%c0, %c0] {role = "mma"} : !s, !out
  tile.return
}

// A warp alone hands no registers on.
// CHECK-LABEL: tile.kernel @alone
// CHECK: roles = [#tile.role<"mma", warps = 4, copies = 2>, #tile.role<"others", warps = 5>]
tile.kernel @alone(%o: !out, %n: index) attributes {
    tile.roles = [#tile.role<"mma", warps = 4, copies = 2>, #tile.role<"others", warps = 5>]} {
  %x = tile.alloc : !tile.buffer<128x64xbf16>
  %w = tile.alloc : !tile.buffer<256x64xbf16>
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : !s
  %r = scf.for %i = %c0 to %n step %c64 iter_args(%s = %zero) -> !s {
    %d = tile.dot %x, %w, %s transpose_b {atom = #wgmma, role = "mma", in_flight = 1} : !tile.buffer<128x64xbf16>, !tile.buffer<256x64xbf16> -> !s
    scf.yield %d : !s
  }
  tile.store %r, %o[%c0, %c0] {role = "mma"} : !s, !out
  tile.return
}

// There are too few for two such sums: what is wrong is said later.
// CHECK-LABEL: tile.kernel @few
// CHECK: roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4, copies = 2>]
tile.kernel @few(%o: !out, %n: index) attributes {
    tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4, copies = 2>]} {
  %x = tile.alloc : !tile.buffer<128x64xbf16>
  %w = tile.alloc : !tile.buffer<256x64xbf16>
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : !s
  %r:2 = scf.for %i = %c0 to %n step %c64 iter_args(%s = %zero, %t = %zero) -> (!s, !s) {
    %d = tile.dot %x, %w, %s transpose_b {atom = #wgmma, role = "mma", in_flight = 1} : !tile.buffer<128x64xbf16>, !tile.buffer<256x64xbf16> -> !s
    %e = tile.dot %x, %w, %t transpose_b {atom = #wgmma, role = "mma", in_flight = 1} : !tile.buffer<128x64xbf16>, !tile.buffer<256x64xbf16> -> !s
    scf.yield %d, %e : !s, !s
  }
  tile.store %r#0, %o[%c0, %c0] {role = "mma"} : !s, !out
  tile.store %r#1, %o[%c0, %c64] {role = "mma"} : !s, !out
  tile.return
}
}
