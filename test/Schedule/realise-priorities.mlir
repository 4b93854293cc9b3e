// Warps of copies that lag behind one another go first while they multiply.
// RUN: tile-opt %s --tile-realise-priorities --split-input-file | FileCheck %s

#a = #tile.layout<register = [[0,1],[0,2]], lane = [[1,0],[2,0],[4,0],[8,0],[0,4],[0,8]], warp = []>
#b = #tile.layout<register = [[1,0],[2,0]], lane = [[0,1],[0,2],[0,4],[0,8],[4,0],[8,0]], warp = []>
#c = #tile.layout<register = [[1,0],[2,0]], lane = [[0,1],[0,2],[0,4],[0,8],[4,0],[8,0]], warp = []>
#mfma = #amdgcn.matrix<"mfma.f32.16x16x16f16", "gfx942", f16>

module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
  // Two dots that follow one another are raised as one; without a skew nothing is.
  // CHECK-LABEL: tile.kernel @turns
  // CHECK: role #tile.role<"all", warps = 1, copies = 2, skew = 1>
  // CHECK: tile.priority 1
  // CHECK-NEXT: tile.dot
  // CHECK-NEXT: tile.dot
  // CHECK-NEXT: tile.priority 0
  // CHECK-NEXT: tile.print
  tile.kernel @turns() {
    tile.warp_groups() {
      role #tile.role<"all", warps = 1, copies = 2, skew = 1> {
        %x = arith.constant dense<1.0> : tensor<16x16xf16, #a>
        %y = arith.constant dense<1.0> : tensor<16x16xf16, #b>
        %z = arith.constant dense<0.0> : tensor<16x16xf32, #c>
        %d = tile.dot %x, %y, %z {atom = #mfma} : tensor<16x16xf16, #a>, tensor<16x16xf16, #b> -> tensor<16x16xf32, #c>
        %e = tile.dot %x, %y, %d {atom = #mfma} : tensor<16x16xf16, #a>, tensor<16x16xf16, #b> -> tensor<16x16xf32, #c>
        tile.print "sum" (%e) : tensor<16x16xf32, #c>
      }
    }
    tile.return
  }
}

// -----

#a = #tile.layout<register = [[0,1],[0,2]], lane = [[1,0],[2,0],[4,0],[8,0],[0,4],[0,8]], warp = []>
#b = #tile.layout<register = [[1,0],[2,0]], lane = [[0,1],[0,2],[0,4],[0,8],[4,0],[8,0]], warp = []>
#c = #tile.layout<register = [[1,0],[2,0]], lane = [[0,1],[0,2],[0,4],[0,8],[4,0],[8,0]], warp = []>
#mfma = #amdgcn.matrix<"mfma.f32.16x16x16f16", "gfx942", f16>

module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
  // CHECK-LABEL: tile.kernel @together
  // CHECK-NOT: tile.priority
  tile.kernel @together() {
    tile.warp_groups() {
      role #tile.role<"all", warps = 1, copies = 2> {
        %x = arith.constant dense<1.0> : tensor<16x16xf16, #a>
        %y = arith.constant dense<1.0> : tensor<16x16xf16, #b>
        %z = arith.constant dense<0.0> : tensor<16x16xf32, #c>
        %d = tile.dot %x, %y, %z {atom = #mfma} : tensor<16x16xf16, #a>, tensor<16x16xf16, #b> -> tensor<16x16xf32, #c>
        tile.print "sum" (%d) : tensor<16x16xf32, #c>
      }
    }
    tile.return
  }
}
