// RUN: tile-opt %s --tile-decide-layouts | FileCheck %s

// Warps share out the rows of products that are reduced along them, or that the next product of the
// trip reads: nothing goes from warp to warp. A product alone is shared out both ways.
// CHECK-DAG: #[[ROWS:.*]] = #tile.layout<{{.*}}warp = {{\[}}[16,0],[32,0]]>
// CHECK-DAG: #[[BOTH:.*]] = #tile.layout<{{.*}}warp = {{\[}}[32,0],[0,32]]>
#atom = #nvptx.mma_sync<"m16n8k16", bf16, f32>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  // CHECK-LABEL: tile.kernel @chain
  tile.kernel @chain(%x: !tile.view<?x?xbf16>, %o: !tile.view<?x?xf32>) attributes {tile.warps = 4 : i64} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %a = tile.load %x[%c0, %c0] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    // CHECK: tile.dot {{.*}} -> tensor<64x64xf32, #[[ROWS]]>
    %s = tile.dot %a, %a, %zero transpose_b {atom = #atom} : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    %e = math.exp2 %s : tensor<64x64xf32>
    %p = arith.truncf %e : tensor<64x64xf32> to tensor<64x64xbf16>
    // CHECK-NOT: tile.convert_layout %{{.*}} : tensor<64x64xbf16, #[[ROWS]]>
    // CHECK: tile.dot {{.*}} : tensor<64x64xbf16, #[[ROWS]]>, {{.*}} -> tensor<64x64xf32, #[[ROWS]]>
    %d = tile.dot %p, %a, %zero {atom = #atom} : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    tile.print "weighted" (%d) : tensor<64x64xf32>
    tile.return
  }

  // CHECK-LABEL: tile.kernel @reduced
  tile.kernel @reduced(%x: !tile.view<?x?xbf16>) attributes {tile.warps = 4 : i64} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %a = tile.load %x[%c0, %c0] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    // CHECK: tile.dot {{.*}} -> tensor<64x64xf32, #[[ROWS]]>
    %s = tile.dot %a, %a, %zero transpose_b {atom = #atom} : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    %m = tile.reduce %s axis = 1 : tensor<64x64xf32> -> tensor<64xf32> {
    ^bb0(%left: f32, %right: f32):
      %0 = arith.maximumf %left, %right : f32
      tile.yield %0 : f32
    }
    tile.print "largest" (%m) : tensor<64xf32>
    tile.return
  }

  // CHECK-LABEL: tile.kernel @alone
  tile.kernel @alone(%x: !tile.view<?x?xbf16>) attributes {tile.warps = 4 : i64} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %a = tile.load %x[%c0, %c0] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    // CHECK: tile.dot {{.*}} -> tensor<64x64xf32, #[[BOTH]]>
    %s = tile.dot %a, %a, %zero transpose_b {atom = #atom} : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    tile.print "product" (%s) : tensor<64x64xf32>
    tile.return
  }
}
