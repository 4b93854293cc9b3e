// Tiles that are too large to be held beside sums are loaded some boxes at a time.
// RUN: tile-opt %s --tile-decide-box-loads | FileCheck %s

#sum = #tile.layout<register = [[0,1],[8,0],[0,8],[0,16],[0,32],[0,64],[0,128]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0],[32,0]]>
#box = #tile.layout<register = [[0,1],[8,0],[0,8],[0,16],[0,32]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0],[32,0]]>
!wide = !tile.view<?x?xf32>
!narrow = !tile.view<?x?xbf16>
!buffer = !tile.buffer<64x64xf32>

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  // 240 registers: 128 of sums, 32 of what is made of a box and 24 that any role has leave room for one
  // box of 32, of four.
  // CHECK-LABEL: tile.kernel @wide
  // CHECK: tile.load {{.*}} {tile.held = 1 : i64}
  tile.kernel @wide(%r: !wide {tile.facts = #tile.facts<noalias>}, %c: !wide, %n: index) {
    tile.warp_groups(%r, %c, %n : !wide, !wide, index) {
      role #tile.role<"load", warps = 4, registers = 24> {
      }
      role #tile.role<"compute", warps = 4, copies = 2, registers = 240> {
        %buffer = tile.alloc : !buffer
        %sum = ub.poison : tensor<64x256xf32, #sum>
        %t = tile.load %r[%n, %n] : !wide -> tensor<64x256xf32, #sum>
        %a = tile.slice %sum [0, 0] : tensor<64x256xf32, #sum> -> tensor<64x64xf32, #box>
        %b = tile.slice %t [0, 0] : tensor<64x256xf32, #sum> -> tensor<64x64xf32, #box>
        %x = arith.addf %a, %b : tensor<64x64xf32, #box>
        tile.write %x, %buffer : tensor<64x64xf32, #box>, !buffer
        tile.copy_out %buffer, %c[%n, %n] {atom = #nvptx.tma} : !buffer, !wide
        %d = tile.slice %sum [0, 64] : tensor<64x256xf32, #sum> -> tensor<64x64xf32, #box>
        %e = tile.slice %t [0, 64] : tensor<64x256xf32, #sum> -> tensor<64x64xf32, #box>
        %y = arith.addf %d, %e : tensor<64x64xf32, #box>
        tile.write %y, %buffer : tensor<64x64xf32, #box>, !buffer
      }
    }
    tile.return
  }

  // Half of that for bf16: three boxes of 16, of four; two are used here, so all are held.
  // CHECK-LABEL: tile.kernel @narrow
  // CHECK-NOT: tile.held
  tile.kernel @narrow(%r: !narrow {tile.facts = #tile.facts<noalias>}, %n: index) {
    tile.warp_groups(%r, %n : !narrow, index) {
      role #tile.role<"load", warps = 4, registers = 24> {
      }
      role #tile.role<"compute", warps = 4, copies = 2, registers = 240> {
        %sum = ub.poison : tensor<64x256xf32, #sum>
        %t = tile.load %r[%n, %n] : !narrow -> tensor<64x256xbf16, #sum>
        %a = tile.slice %sum [0, 0] : tensor<64x256xf32, #sum> -> tensor<64x64xf32, #box>
        %b = tile.slice %t [0, 0] : tensor<64x256xbf16, #sum> -> tensor<64x64xbf16, #box>
        %e = tile.slice %t [0, 64] : tensor<64x256xbf16, #sum> -> tensor<64x64xbf16, #box>
      }
    }
    tile.return
  }

  // It may be what is stored: each box may be loaded in front of the first store alone.
  // CHECK-LABEL: tile.kernel @same
  // CHECK-NOT: tile.held
  tile.kernel @same(%r: !wide, %c: !wide, %n: index) {
    tile.warp_groups(%r, %c, %n : !wide, !wide, index) {
      role #tile.role<"load", warps = 4, registers = 24> {
      }
      role #tile.role<"compute", warps = 4, copies = 2, registers = 240> {
        %buffer = tile.alloc : !buffer
        %sum = ub.poison : tensor<64x256xf32, #sum>
        %t = tile.load %r[%n, %n] : !wide -> tensor<64x256xf32, #sum>
        %a = tile.slice %sum [0, 0] : tensor<64x256xf32, #sum> -> tensor<64x64xf32, #box>
        %b = tile.slice %t [0, 0] : tensor<64x256xf32, #sum> -> tensor<64x64xf32, #box>
        tile.write %b, %buffer : tensor<64x64xf32, #box>, !buffer
        tile.copy_out %buffer, %c[%n, %n] {atom = #nvptx.tma} : !buffer, !wide
        %e = tile.slice %t [0, 64] : tensor<64x256xf32, #sum> -> tensor<64x64xf32, #box>
      }
    }
    tile.return
  }
}
