// Masks that cannot be left out of any trips.
// RUN: tile-opt %s --tile-guard-masks -split-input-file -verify-diagnostics

#mma = #nvptx.wgmma<"m64n64k16", bf16, f32>
!buffer = !tile.buffer<64x64xbf16>

tile.kernel @unknown(%n: index, %c: !tile.view<?x?xf32>)
    attributes {tile.roles = [#tile.role<"compute", warps = 4>]} {
  %a = tile.alloc : !buffer
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %j = %c0 to %n step %c64 iter_args(%s = %zero) -> tensor<64x64xf32> {
    %from = tile.splat %j : tensor<64x64xindex>
    %column = tile.iota 1 : tensor<64x64xindex>
    %keys = arith.addi %from, %column : tensor<64x64xindex>
    %ns = tile.splat %n : tensor<64x64xindex>
    %sees = arith.cmpi ne, %keys, %ns : tensor<64x64xindex>
    %d = tile.dot %a, %a, %zero transpose_b {atom = #mma, role = "compute"}
       : !buffer, !buffer -> tensor<64x64xf32>
    // expected-error@+1 {{expected a mask, in a loop itself, that compares integers which the loop's variable changes by one each, or not at all, since 'tile.guarded' is decided}}
    %masked = arith.select %sees, %d, %zero {tile.guarded = true} : tensor<64x64xi1>, tensor<64x64xf32>
    %next = arith.addf %s, %masked : tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  tile.store %sum, %c[%c0, %c0] {role = "compute"} : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}

// -----

tile.kernel @nowhere() {
  %sees = arith.constant dense<true> : tensor<64x64xi1>
  %x = arith.constant dense<1.0> : tensor<64x64xf32>
  // expected-error@+1 {{expected a mask, in a loop itself, that compares integers}}
  %masked = arith.select %sees, %x, %x {tile.guarded = true} : tensor<64x64xi1>, tensor<64x64xf32>
  tile.return
}
