// By which instruction warps write to shared memory: where rows lie across lanes, matrices at once.
// RUN: tile-opt %s --tile-decide-writes --split-input-file | FileCheck %s

#acc = #tile.layout<register = [[0,1],[8,0],[0,8],[0,16],[0,32]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0],[32,0]]>
#swizzled = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[1,8],[2,16],[4,32],[8,0],[16,0],[32,0]]>
#rows = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16]], lane = [[0,32],[1,0],[2,0],[4,0],[8,0]], warp = [[16,0],[32,0]]>

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  // CHECK-LABEL: tile.kernel @accumulator
  // CHECK: tile.write {{.*}} {atom = #nvptx.stmatrix<4, 16>}
  // Each lane has rows of its own to write: vectors are as quick.
  // CHECK: tile.write %{{.*}}, %{{[^{]*}} :
  tile.kernel @accumulator() {
    tile.warp_groups() {
      role #tile.role<"all", warps = 4> {
        %b = tile.alloc : !tile.buffer<64x64xbf16, #swizzled>
        %t = arith.constant dense<1.0> : tensor<64x64xbf16, #acc>
        tile.write %t, %b : tensor<64x64xbf16, #acc>, !tile.buffer<64x64xbf16, #swizzled>
        %u = arith.constant dense<1.0> : tensor<64x64xbf16, #rows>
        tile.write %u, %b : tensor<64x64xbf16, #rows>, !tile.buffer<64x64xbf16, #swizzled>
      }
    }
    tile.return
  }
}

// -----

#acc = #tile.layout<register = [[0,1],[8,0],[0,8],[0,16],[0,32]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0],[32,0]]>
#swizzled = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[1,8],[2,16],[4,32],[8,0],[16,0],[32,0]]>

module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  // This chip has no such instruction.
  // CHECK-LABEL: tile.kernel @older
  // CHECK-NOT: atom
  tile.kernel @older() {
    tile.warp_groups() {
      role #tile.role<"all", warps = 4> {
        %b = tile.alloc : !tile.buffer<64x64xbf16, #swizzled>
        %t = arith.constant dense<1.0> : tensor<64x64xbf16, #acc>
        tile.write %t, %b : tensor<64x64xbf16, #acc>, !tile.buffer<64x64xbf16, #swizzled>
      }
    }
    tile.return
  }
}
