// Parts are held against instructions and in_flight before anything is realised, and so is who of a
// role's copies has which.
// RUN: tile-opt %s --tile-check-schedule --split-input-file --verify-diagnostics

#wgmma = #nvptx.wgmma<"m64n64k16", bf16, f32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @promoted(%x: !tile.view<?x?xbf16>) attributes {
      tile.roles = [#tile.role<"mma", warps = 4>]} {
    %c0 = arith.constant 0 : index
    %s = arith.constant dense<0.0> : tensor<64x64xf32>
    %a = tile.load %x[%c0, %c0] {role = "mma"} : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    // expected-error @+1 {{expected an in_flight of less than the parts along k, 2, since 'promote' adds them up in their trip, got 2}}
    %d = tile.dot %a, %a, %s {atom = #wgmma, role = "mma", in_flight = 2, promote = true, parts = array<i64: 1, 1, 2>} : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    tile.return
  }
}

// -----

#wgmma = #nvptx.wgmma<"m64n64k16", bf16, f32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @of_an_instruction(%x: !tile.view<?x?xbf16>) attributes {
      tile.roles = [#tile.role<"mma", warps = 4>]} {
    %c0 = arith.constant 0 : index
    %s = arith.constant dense<0.0> : tensor<64x64xf32>
    %a = tile.load %x[%c0, %c0] {role = "mma"} : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    // expected-error @+1 {{expected parts of a multiple of 64 along m for #nvptx.wgmma<"m64n64k16", bf16, f32>, got parts of 32}}
    %d = tile.dot %a, %a, %s {atom = #wgmma, role = "mma", in_flight = 0, parts = array<i64: 2, 1, 1>} : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    tile.return
  }
}

// -----

#wgmma = #nvptx.wgmma<"m64n64k16", bf16, f32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @reads(%x: !tile.view<?x?xbf16>) attributes {
      tile.roles = [#tile.role<"mma", warps = 4>]} {
    %c0 = arith.constant 0 : index
    %s = arith.constant dense<0.0> : tensor<64x64xf32>
    %a = tile.load %x[%c0, %c0] {role = "mma"} : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    // expected-error @+1 {{expected no 'reads_ahead' of a dot that reads its buffers itself}}
    %d = tile.dot %a, %a, %s {atom = #wgmma, role = "mma", in_flight = 0, reads_ahead = 1, parts = array<i64: 1, 1, 2>} : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    tile.return
  }
}

// -----

module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  tile.kernel @stages(%x: !tile.view<?x?xbf16>, %n: index) attributes {
      tile.roles = [#tile.role<"mma", warps = 4>]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %s = arith.constant dense<0.0> : tensor<64x64xf32>
    %a = tile.load %x[%c0, %c0] {role = "mma"} : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    scf.for %i = %c0 to %n step %c1 {
      // expected-error @+1 {{expected 'stage' to be that of the last dot in 'part_stages', 2, got 0}}
      %d = tile.dot %a, %a, %s {role = "mma", stage = 0, parts = array<i64: 1, 1, 2>, part_stages = array<i64: 2, 2, 2, 2>} : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    }
    tile.return
  }
}
