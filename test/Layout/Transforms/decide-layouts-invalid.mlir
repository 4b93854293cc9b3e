// RUN: tile-opt %s --tile-decide-layouts --split-input-file --verify-diagnostics

module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  // expected-error @+1 {{expected 'tile.warps', which is decided with atoms}}
  tile.kernel @warps(%x: index) {
    tile.return
  }
}

// -----

module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  tile.kernel @extent(%x: index) attributes {tile.warps = 1 : i64} {
    // Registers count three of one extent, not of two.
    %a = arith.constant dense<1.0> : tensor<12xf32>
    // expected-error @+1 {{expected extents that are powers of two, or that one part of a place counts, got 'tensor<12x6xf32>'}}
    %b = arith.constant dense<1.0> : tensor<12x6xf32>
    tile.return
  }
}

// -----

// Who keeps the extents is said of a product.
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  tile.kernel @kept(%x: index) attributes {tile.warps = 1 : i64} {
    %a = arith.constant dense<1.0> : tensor<48x16xf16>
    // expected-error @+1 {{expected extents that are powers of two, or that one part of a place counts, got 'tensor<48x48xf32>'}}
    %c = arith.constant dense<1.0> : tensor<48x48xf32>
    // expected-note @+1 {{this product keeps an extent of 48 by its 'tile.extents'}}
    %d = tile.dot %a, %a, %c transpose_b {atom = #nvptx.mma_sync<"m16n8k16", f16, f32>} : tensor<48x16xf16>, tensor<48x16xf16> -> tensor<48x48xf32>
    tile.return
  }
}

// -----

module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  tile.kernel @atom(%a: index) attributes {tile.warps = 1 : i64} {
    %x = arith.constant dense<1.0> : tensor<16x16xf32>
    // expected-error @+1 {{expected an atom}}
    %d = tile.dot %x, %x, %x : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
    tile.return
  }
}

// -----

#rows = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8]], lane = [[1,0],[2,0],[4,0],[8,0],[0,0]]>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  tile.kernel @pinned(%a: index) attributes {tile.warps = 1 : i64} {
    %x = arith.constant dense<1.0> : tensor<16x16xf16>
    %c = arith.constant dense<1.0> : tensor<16x16xf32, #rows>
    // expected-error @+1 {{expected a result laid out as its atom has it, or not yet, got 'tensor<16x16xf32, #tile.layout<}}
    %d = tile.dot %x, %x, %c {atom = #nvptx.mma_sync<"m16n8k16", f16, f32>} : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf32, #rows>
    tile.return
  }
}

// -----

module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  tile.kernel @unknown(%a: index) attributes {tile.warps = 1 : i64} {
    // expected-error @+1 {{expected an op that says how it is spread over threads}}
    %x = tensor.empty() : tensor<16xf32>
    tile.return
  }
}

// -----

#swizzled = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[1,8],[2,16],[4,32],[8,0],[16,0],[32,0]]>
#rows = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16]], lane = [[0,32],[1,0],[2,0],[4,0],[8,0]], warp = [[16,0],[32,0]]>
!buffer = !tile.buffer<64x64xbf16, #swizzled>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @in_a_buffer(%x: !tile.view<?x?xbf16>, %z: !tile.view<?x?xf32>) attributes {tile.warps = 8 : i64, tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>]} {
    %c0 = arith.constant 0 : index
    %s = arith.constant dense<0.0> : tensor<64x64xf32>
    // expected-error @+1 {{expected no 'tile.layout', since all that use it read it out of its buffer}}
    %t = tile.load %x[%c0, %c0] {atom = #nvptx.tma, buffer = !buffer, role = "load", tile.layout = #rows} : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    %d = tile.dot %t, %t, %s transpose_b {atom = #nvptx.wgmma<"m64n64k16", bf16, f32>, in_flight = 0 : i64, role = "mma"} : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    tile.store %d, %z[%c0, %c0] {role = "mma"} : tensor<64x64xf32>, !tile.view<?x?xf32>
    tile.return
  }
}

// -----

// Who writes roles by hand says how their tensors lie.
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @realised(%x: !tile.view<?xf32>) attributes {tile.warps = 1 : i64} {
    %own = tile.alloc : !tile.buffer<64xf32>
    tile.warp_groups(%own : !tile.buffer<64xf32>) {
      role #tile.role<"all", warps = 1> {
        // expected-error @+1 {{expected a result with a layout, since roles are realised}}
        %f = arith.constant dense<1.0> : tensor<64xf32>
        tile.write %f, %own : tensor<64xf32>, !tile.buffer<64xf32>
      }
    }
    tile.return
  }
}

// -----

module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  tile.kernel @warps(%x: index) attributes {tile.warps = 2 : i64} {
    // expected-error @+1 {{expected a layout for at most 32 lanes and 2 warps, got}}
    %a = arith.constant {tile.layout = #tile.layout<warp = [[1],[2]]>} dense<1.0> : tensor<4xf32>
    tile.return
  }
}

// -----

module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  tile.kernel @lanes(%x: index) attributes {tile.warps = 2 : i64} {
    // expected-error @+1 {{expected a layout for at most 32 lanes and 2 warps, got}}
    %a = arith.constant {tile.layout = #tile.layout<lane = [[1],[2],[4],[8],[16],[32]]>} dense<1.0> : tensor<64xf32>
    tile.return
  }
}

// -----

// Warps of three copies count the rows of a sum, and registers its columns; one copy of another role
// has registers alone for both.
#mma = #nvptx.wgmma<"m64n96k16", f16, f32>
#copy = #nvptx.tma
!view = !tile.view<?x?xf16>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @taken(%a: !view, %c: !tile.view<?x?xf32>) attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4, copies = 3>, #tile.role<"store", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<192x96xf32>
  %x = tile.load %a[%c0, %c0] {atom = #copy, role = "load"} : !view -> tensor<192x64xf16>
  %y = tile.load %a[%c0, %c0] {atom = #copy, role = "load"} : !view -> tensor<96x64xf16>
  // expected-error @+2 {{expected extents that are powers of two, or that one part of a place counts, got 'tensor<192x96xf32, }}
  // expected-note @+1 {{this product keeps an extent of 192 by its 'tile.extents'}}
  %d = tile.dot %x, %y, %zero transpose_b {atom = #mma, in_flight = 0 : i64, role = "mma", tile.extents = array<i64: 192, 96, 64>} : tensor<192x64xf16>, tensor<96x64xf16> -> tensor<192x96xf32>
  // expected-note @+1 {{role "store" takes it, of which 3 copies ('copies') have a power of two of 192 each}}
  tile.store %d, %c[%c0, %c0] {role = "store"} : tensor<192x96xf32>, !tile.view<?x?xf32>
  tile.return
}
}
