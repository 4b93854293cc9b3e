// Instructions that an author names, as those of the target that fit.
// RUN: tile-opt %s --tile-resolve-atom-names --split-input-file --verify-diagnostics | FileCheck %s

!view = !tile.view<?x?xbf16>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// CHECK-LABEL: tile.kernel @names
// CHECK-NOT: tile.atom
tile.kernel @names(%a: !view {tile.facts = #tile.facts<pointer = 8, strides = [8, 2], index32>},
                    %b: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [1, 8]>}) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x192xf32>
  // CHECK: tile.load %b{{.*}} {atom = #nvptx.tma, role = "load"}
  %x = tile.load %b[%c0, %c0] {tile.atom = "tma", role = "load"} : !view -> tensor<64x64xbf16>
  // The widest that the view is aligned to.
  // CHECK: tile.load %a{{.*}} {atom = #nvptx.cp_async<8>}
  %y = tile.load %a[%c0, %c0] {tile.atom = "cp_async"} : !view -> tensor<64x192xbf16>
  // All columns, as they are.
  // CHECK: tile.dot {{.*}} {atom = #nvptx.wgmma<"m64n192k16", bf16, f32>}
  %d = tile.dot %x, %y, %zero {tile.atom = "wgmma"} : tensor<64x64xbf16>, tensor<64x192xbf16> -> tensor<64x192xf32>
  // CHECK: tile.dot {{.*}} {atom = #nvptx.mma_sync<"m16n8k16", bf16, f32>}
  %e = tile.dot %x, %y, %d {tile.atom = "mma_sync"} : tensor<64x64xbf16>, tensor<64x192xbf16> -> tensor<64x192xf32>
  %t = arith.truncf %e : tensor<64x192xf32> to tensor<64x192xbf16>
  // CHECK: tile.store {{.*}} {atom = #nvptx.tma}
  tile.store %t, %b[%c0, %c0] {tile.atom = "tma"} : tensor<64x192xbf16>, !view
  tile.return
}
}

// -----

// Copies that are too many for the rows of a product share out its columns.
!view = !tile.view<?x?xbf16>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// CHECK-LABEL: tile.kernel @copies
tile.kernel @copies(%a: !view) attributes {tile.roles = [#tile.role<"mma", warps = 4, copies = 2>]} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %zero2 = arith.constant dense<0.0> : tensor<128x128xf32>
  %x = tile.load %a[%c0, %c0] {role = "mma"} : !view -> tensor<64x64xbf16>
  %y = tile.load %a[%c0, %c0] {role = "mma"} : !view -> tensor<64x128xbf16>
  %z = tile.load %a[%c0, %c0] {role = "mma"} : !view -> tensor<128x64xbf16>
  // CHECK: tile.dot {{.*}} {atom = #nvptx.wgmma<"m64n64k16", bf16, f32>, role = "mma"}
  %d = tile.dot %x, %y, %zero {tile.atom = "wgmma", role = "mma"} : tensor<64x64xbf16>, tensor<64x128xbf16> -> tensor<64x128xf32>
  // CHECK: tile.dot {{.*}} {atom = #nvptx.wgmma<"m64n128k16", bf16, f32>, role = "mma"}
  %e = tile.dot %z, %y, %zero2 {tile.atom = "wgmma", role = "mma"} : tensor<128x64xbf16>, tensor<64x128xbf16> -> tensor<128x128xf32>
  tile.return
}
}

// -----

!view = !tile.view<?x?xbf16>
module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
// CHECK-LABEL: tile.kernel @amd
tile.kernel @amd(%a: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [1, 2], index32>}) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  // CHECK: tile.load %a{{.*}} {atom = #amdgcn.load_to_lds<"gfx942", 4>}
  %x = tile.load %a[%c0, %c0] {tile.atom = "load_to_lds"} : !view -> tensor<64x64xbf16>
  // CHECK: tile.dot {{.*}} {atom = #amdgcn.matrix<
  %d = tile.dot %x, %x, %zero {tile.atom = "matrix"} : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
  tile.return
}
}

// -----

// Rows of a view that is addressable in 32 bits are so, too, wherever they begin and end.
!view = !tile.view<?x?xbf16, strides [?, 1]>
module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
// CHECK-LABEL: tile.kernel @slice
tile.kernel @slice(%a: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [1, 2], index32>}, %from: index, %to: index) {
  %c0 = arith.constant 0 : index
  %rows = tile.dim %a, 0 : !view
  %columns = tile.dim %a, 1 : !view
  %step = tile.stride %a, 0 : !view
  %first = arith.maxsi %from, %c0 : index
  %last = arith.minsi %to, %rows : index
  %left = arith.subi %last, %first : index
  %count = arith.maxsi %left, %c0 : index
  %begin = arith.muli %first, %step : index
  %part = tile.subview %a at %begin extents [%count, %columns] strides [%step] : !view -> !view
  // CHECK: tile.load %{{.*}} {atom = #amdgcn.load_to_lds<"gfx942", 4>}
  %x = tile.load %part[%c0, %c0] {tile.atom = "load_to_lds"} : !view -> tensor<64x64xbf16>
  tile.return
}
}

// -----

// Of an extent that is computed otherwise nobody knows how far it reaches.
!view = !tile.view<?x?xbf16, strides [?, 1]>
module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
tile.kernel @merged(%a: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [1, 2], index32>}) {
  %c0 = arith.constant 0 : index
  %rows = tile.dim %a, 0 : !view
  %columns = tile.dim %a, 1 : !view
  %step = tile.stride %a, 0 : !view
  %count = arith.muli %rows, %rows : index
  %part = tile.subview %a at %c0 extents [%count, %columns] strides [%step] : !view -> !view
  // expected-note @+2 {{expected a view that facts say is addressable in 32 bits}}
  // expected-error @+1 {{expected 'atom' to be an instruction of amdgpu:gfx942 that fits, "through_registers", got "load_to_lds"}}
  %x = tile.load %part[%c0, %c0] {tile.atom = "load_to_lds"} : !view -> tensor<64x64xbf16>
  tile.return
}
}

// -----

!view = !tile.view<?x?xbf16>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @wrong(%a: !view, %i: index) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<32x64xf32>
  // expected-note @+2 {{nvptx:sm_90a has no "tmb" for 'tile.load'}}
  // expected-error @+1 {{expected 'atom' to be an instruction of nvptx:sm_90a that fits, "through_registers", got "tmb"}}
  %x = tile.load %a[%c0, %c0] {tile.atom = "tmb"} : !view -> tensor<32x64xbf16>
  %y = tile.load %a[%c0, %c0] : !view -> tensor<64x64xbf16>
  // 32 rows are half of what wgmma multiplies.
  // expected-note @+2 {{expected rows that are a multiple of 64, got 32}}
  // expected-error @+1 {{expected 'atom' to be an instruction of nvptx:sm_90a that fits, "mma_sync", got "wgmma"}}
  %d = tile.dot %x, %y, %zero {tile.atom = "wgmma"} : tensor<32x64xbf16>, tensor<64x64xbf16> -> tensor<32x64xf32>
  tile.return
}
}

// -----

!view = !tile.view<?x?xbf16>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
tile.kernel @none(%a: !view, %t: index) {
  %c0 = arith.constant 0 : index
  %x = arith.constant dense<0.0> : tensor<32x64xbf16>
  // expected-note @+2 {{nvptx:sm_80 has no "tma" for 'tile.store'}}
  // expected-error @+1 {{expected 'atom' to be an instruction of nvptx:sm_80 that fits, of which there is none, got "tma"}}
  tile.store %x, %a[%c0, %c0] {tile.atom = "tma"} : tensor<32x64xbf16>, !view
  tile.return
}
}

// -----

!view = !tile.view<?x?xbf16>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
tile.kernel @few(%a: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2], index32>})
    attributes {tile.roles = [#tile.role<"all", warps = 8>]} {
  %c0 = arith.constant 0 : index
  // Less than four bytes for each of 256 lanes.
  // expected-note @+2 {{expected a tile that 8 warps, of all copies of its role, share out by 4 bytes a lane, got 512 bytes for 256 lanes}}
  // expected-error @+1 {{expected 'atom' to be an instruction of nvptx:sm_80 that fits, "through_registers", got "cp_async"}}
  %x = tile.load %a[%c0, %c0] {tile.atom = "cp_async", role = "all"} : !view -> tensor<8x32xbf16>
  tile.return
}
}

// -----

// What facts do not say, no engine can count on: the tile would be refused when it is lowered.
!view = !tile.view<?x?xbf16>
!open = !tile.view<?x?xbf16, strides [?, ?]>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @unaligned(%a: !view {tile.facts = #tile.facts<pointer = 8, strides = [16, 2]>},
                       %b: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2]>},
                       %c: !open {tile.facts = #tile.facts<pointer = 16, strides = [16, 2]>}) {
  %c0 = arith.constant 0 : index
  // expected-error @+2 {{expected 'atom' to be an instruction of nvptx:sm_90a that fits, "cp_async" or "through_registers", got "tma"}}
  // expected-note @+1 {{expected an address that is known to be a multiple of 16 bytes}}
  %x = tile.load %a[%c0, %c0] {tile.atom = "tma"} : !view -> tensor<64x64xbf16>
  // expected-error @+2 {{expected 'atom' to be an instruction of nvptx:sm_90a that fits, of which there is none, got "tma"}}
  // expected-note @+1 {{expected a last extent that is known to be a multiple of 16 bytes}}
  tile.store %x, %b[%c0, %c0] {tile.atom = "tma"} : tensor<64x64xbf16>, !view
  // expected-error @+2 {{expected 'atom' to be an instruction of nvptx:sm_90a that fits, "through_registers", got "tma"}}
  // expected-note @+1 {{expected a view whose last stride is 1}}
  %y = tile.load %c[%c0, %c0] {tile.atom = "tma"} : !open -> tensor<64x64xbf16>
  tile.return
}
}

// -----

// Lanes that copy all of their bytes or none need rows of whole pieces.
!view = !tile.view<?x?xbf16>
module attributes {tile.target = #amdgcn.target<chip = "gfx950">} {
tile.kernel @rows(%a: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [1, 1], index32>}) {
  %c0 = arith.constant 0 : index
  // expected-error @+2 {{expected 'atom' to be an instruction of amdgpu:gfx950 that fits, "through_registers", got "load_to_lds"}}
  // expected-note @+1 {{expected rows that begin at multiples of 4 bytes and are as long}}
  %x = tile.load %a[%c0, %c0] {tile.atom = "load_to_lds"} : !view -> tensor<64x64xbf16>
  tile.return
}
}
