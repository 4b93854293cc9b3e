// Roles that are written as they are realised are held to what is asked of those that are decided.
// RUN: tile-opt %s --tile-check-protocol -split-input-file -verify-diagnostics

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @odd() attributes {tile.warps = 7 : i64} {
  // expected-error@+1 {{expected a power of two of warps in each copy of role "a", got 3}}
  tile.warp_groups() {
    role #tile.role<"a", warps = 3> {}
    role #tile.role<"b", warps = 4> {}
  }
  tile.return
}
}

// -----

#wgmma = #nvptx.wgmma<"m64n64k16", bf16, f32>
#sum = #tile.layout<register = [[0,1],[8,0],[0,8],[0,16],[0,32]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0],[32,0]]>
!x = !tile.buffer<64x64xbf16>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @issuers() attributes {tile.warps = 6 : i64} {
  tile.warp_groups() {
    role #tile.role<"load", warps = 2> {}
    role #tile.role<"mma", warps = 4> {
      %x = tile.alloc : !x
      %zero = arith.constant dense<0.0> : tensor<64x64xf32, #sum>
      %init = tile.pend %zero : !tile.pending<tensor<64x64xf32, #sum>>
      // expected-error@+1 {{expected 4 warps in each copy of role "mma", behind a multiple of them, for #nvptx.wgmma<"m64n64k16", bf16, f32>, got 4 behind 2}}
      %p = tile.start_dot %x, %x, %init transpose_b {atom = #wgmma}
         : !x, !x -> !tile.pending<tensor<64x64xf32, #sum>>
    }
  }
  tile.return
}
}
