// RUN: tile-opt %s --tile-plan-shared-memory --split-input-file --verify-diagnostics | FileCheck %s

#l = #tile.layout<register = [], lane = [[1],[2],[4],[8],[16]], warp = [[32]]>
#r = #tile.layout<register = [], lane = [[],[],[],[],[]], warp = [[]]>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  // CHECK-LABEL: tile.kernel @lives{{.*}} attributes {tile.shared_bytes = 512 : i64}
  tile.kernel @lives(%v: f32) {
    %x = tile.splat %v : tensor<64xf32, #l>
    // CHECK: tile.alloc {tile.shared_offset = 0 : i64}
    %a = tile.alloc : !tile.buffer<64xf32>
    tile.write %x, %a : tensor<64xf32, #l>, !tile.buffer<64xf32>
    // Lives while the first does.
    // CHECK: tile.alloc {tile.shared_offset = 256 : i64}
    %b = tile.alloc : !tile.buffer<64xf32>
    tile.write %x, %b : tensor<64xf32, #l>, !tile.buffer<64xf32>
    %y = tile.read %a : !tile.buffer<64xf32> -> tensor<64xf32, #l>
    // The first is dead, the second is not.
    // CHECK: tile.reduce {{.*}} {tile.shared_offset = 0 : i64}
    %s = tile.reduce %y axis = 0 : tensor<64xf32, #l> -> tensor<f32, #r> {
    ^bb0(%left: f32, %right: f32):
      %t = arith.addf %left, %right : f32
      tile.yield %t : f32
    }
    %z = tile.read %b : !tile.buffer<64xf32> -> tensor<64xf32, #l>
    tile.return
  }

  // A buffer from outside a loop lives to the loop's end.
  // CHECK-LABEL: tile.kernel @loop{{.*}} attributes {tile.shared_bytes = 512 : i64}
  tile.kernel @loop(%v: f32, %n: index) {
    %x = tile.splat %v : tensor<64xf32, #l>
    // CHECK: tile.alloc {tile.shared_offset = 0 : i64}
    %a = tile.alloc : !tile.buffer<64xf32>
    tile.write %x, %a : tensor<64xf32, #l>, !tile.buffer<64xf32>
    scf.for %i = %n to %n step %n {
      %y = tile.read %a : !tile.buffer<64xf32> -> tensor<64xf32, #l>
      // CHECK: tile.alloc {tile.shared_offset = 256 : i64}
      %b = tile.alloc : !tile.buffer<64xf32>
      tile.write %y, %b : tensor<64xf32, #l>, !tile.buffer<64xf32>
    }
    tile.return
  }
}

// -----

#l = #tile.layout<register = [[0,64],[0,128],[1,0],[2,0],[4,0],[8,0],[16,0],[32,0]], lane = [[0,1],[0,2],[0,4],[0,8],[0,16]], warp = [[0,32]]>
module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
  // expected-error @+1 {{expected at most 65536 bytes of shared memory on amdgpu:gfx942, got 131072}}
  tile.kernel @large(%n: index) {
    // expected-note @+1 {{65536 bytes for a buffer of 64x256xf32}}
    %a = tile.alloc : !tile.buffer<64x256xf32>
    // expected-note @+1 {{65536 bytes for a buffer of 64x256xf32}}
    %b = tile.alloc : !tile.buffer<64x256xf32>
    %x = tile.read %a : !tile.buffer<64x256xf32> -> tensor<64x256xf32, #l>
    %y = tile.read %b : !tile.buffer<64x256xf32> -> tensor<64x256xf32, #l>
    tile.return
  }
}
