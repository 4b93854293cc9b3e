// Layouts that no threads are there for, in IR that was handed back.
// RUN: tile-opt %s --tile-check-threads --split-input-file --verify-diagnostics

#two = #tile.layout<register = [], lane = [[1],[2],[4],[8],[16]], warp = [[32]]>
#wide = #tile.layout<register = [], lane = [[1],[2],[4],[8],[16],[32]]>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @warps(%v: f32) attributes {tile.warps = 1 : i64} {
    // expected-error @+1 {{expected a layout for at most 32 lanes and 1 warps, got #tile.layout<register = [], lane = [[1],[2],[4],[8],[16]], warp = [[32]]>}}
    %x = tile.splat %v : tensor<64xf32, #two>
    tile.return
  }
  tile.kernel @fits(%v: f32) attributes {tile.warps = 2 : i64} {
    %x = tile.splat %v : tensor<64xf32, #two>
    tile.return
  }
}

// -----

#wide = #tile.layout<register = [], lane = [[1],[2],[4],[8],[16],[32]]>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @lanes(%v: f32) attributes {tile.warps = 2 : i64} {
    // expected-error @+1 {{expected a layout for at most 32 lanes and 2 warps}}
    %x = tile.splat %v : tensor<64xf32, #wide>
    tile.return
  }
}

// -----

// Before roles are realised, and behind it.
#two = #tile.layout<register = [], lane = [[1],[2],[4],[8],[16]], warp = [[32]]>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @pinned(%v: f32) attributes {tile.roles = [#tile.role<"one", warps = 1>, #tile.role<"two", warps = 2>]} {
    // Nobody says who makes it.
    %x = tile.splat %v : tensor<64xf32, #two>
    // expected-error @+1 {{expected a layout for at most 32 lanes and 1 warps}}
    %y = math.exp %x {tile.role = "one"} : tensor<64xf32, #two>
    tile.return
  }
}

// -----

#two = #tile.layout<register = [], lane = [[1],[2],[4],[8],[16]], warp = [[32]]>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @realised(%v: f32) attributes {tile.warps = 3 : i64} {
    tile.warp_groups(%v : f32) {
      role #tile.role<"two", warps = 2> {
        %x = tile.splat %v : tensor<64xf32, #two>
      }
      role #tile.role<"one", warps = 1> {
        // expected-error @+1 {{expected a layout for at most 32 lanes and 1 warps}}
        %x = tile.splat %v : tensor<64xf32, #two>
      }
    }
    tile.return
  }
}

// -----

module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
  // expected-error @+1 {{expected at most 16 warps of a program on amdgpu:gfx942, got 9223372036854775807}}
  tile.kernel @many() attributes {tile.roles = [#tile.role<"all", warps = 4611686018427387904>, #tile.role<"more", warps = 4611686018427387904>]} {
    tile.return
  }
}

// -----

module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
  // expected-error @+1 {{expected 'tile.warps' of at least 1}}
  tile.kernel @none() {
    tile.return
  }
}

// -----

// Each thread has of a result what it has of what that is made of.
#rows = #tile.layout<register = [[0,1],[0,2]], lane = [[1,0],[2,0],[4,0],[0,0],[0,0]]>
#line = #tile.layout<register = [], lane = [[4],[2],[1],[0],[0]]>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @sums(%v: f32) attributes {tile.warps = 1 : i64} {
    %x = tile.splat %v : tensor<8x4xf32, #rows>
    // expected-error @+1 {{expected the layout that follows from that of its operand, #tile.layout<register = [], lane = [[1],[2],[4],[0],[0]], warp = []>, got 'tensor<8xf32}}
    %s = tile.reduce %x axis = 1 : tensor<8x4xf32, #rows> -> tensor<8xf32, #line> {
    ^bb0(%a: f32, %b: f32):
      %sum = arith.addf %a, %b : f32
      tile.yield %sum : f32
    }
    tile.return
  }
}

// -----

#line = #tile.layout<register = [], lane = [[1],[2],[4],[0],[0]]>
#rows = #tile.layout<register = [], lane = [[1,0],[0,1],[0,2],[0,0],[0,0]]>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @renamed(%v: f32) attributes {tile.warps = 1 : i64} {
    %x = tile.splat %v : tensor<8xf32, #line>
    // expected-error @+1 {{expected the layout that follows from that of its operand, #tile.layout<register = [], lane = [[0,1],[0,2],[1,0],[0,0],[0,0]], warp = []>, got 'tensor<2x4xf32}}
    %s = tile.reshape %x : tensor<8xf32, #line> -> tensor<2x4xf32, #rows>
    tile.return
  }
}
