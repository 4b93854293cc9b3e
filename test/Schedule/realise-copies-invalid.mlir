// Tensors that copies cannot share out.
// RUN: tile-opt %s --tile-realise-copies -split-input-file -verify-diagnostics

tile.kernel @none(%a: !tile.view<?xf32>, %n: index) {
  tile.warp_groups(%a, %n : !tile.view<?xf32>, index) {
    role #tile.role<"all", warps = 1, copies = 2> {
      // expected-error@+1 {{expected a tensor with a layout in a role of several copies, got 'tensor<64xf32>'}}
      %x = tile.load %a[%n] : !tile.view<?xf32> -> tensor<64xf32>
    }
  }
  tile.return
}

// -----

#four = #tile.layout<register = [], lane = [[1],[2],[4],[8],[16]], warp = [[32],[64]]>
tile.kernel @warps(%a: !tile.view<?xf32>, %n: index) {
  tile.warp_groups(%a, %n : !tile.view<?xf32>, index) {
    role #tile.role<"all", warps = 1, copies = 2> {
      // expected-error@+1 {{expected a layout of the 2 warps of role "all", got}}
      %x = tile.load %a[%n] : !tile.view<?xf32> -> tensor<128xf32, #four>
    }
  }
  tile.return
}

// -----

#interleaved = #tile.layout<register = [[64]], lane = [[1],[2],[4],[8],[16]], warp = [[32]]>
tile.kernel @order(%a: !tile.view<?xf32>, %n: index) {
  tile.warp_groups(%a, %n : !tile.view<?xf32>, index) {
    role #tile.role<"all", warps = 1, copies = 2> {
      // expected-error@+1 {{expected a layout by which each copy has consecutive rows or columns, got}}
      %x = tile.load %a[%n] : !tile.view<?xf32> -> tensor<128xf32, #interleaved>
    }
  }
  tile.return
}

// -----

#two = #tile.layout<register = [], lane = [[1],[2],[4],[8],[16]], warp = [[32]]>
tile.kernel @place(%n: index) {
  tile.warp_groups(%n : index) {
    role #tile.role<"all", warps = 1, copies = 2> {
      // expected-error@+1 {{expected a tensor that the copies of role "all" do not share out, got}}
      %x = tile.iota 0 : tensor<64xi32, #two>
    }
  }
  tile.return
}

// -----

#two = #tile.layout<register = [], lane = [[1],[2],[4],[8],[16]], warp = [[32]]>
#scalar = #tile.layout<register = [], lane = [], warp = []>
tile.kernel @reduce(%a: !tile.view<?xf32>, %n: index) {
  tile.warp_groups(%a, %n : !tile.view<?xf32>, index) {
    role #tile.role<"all", warps = 1, copies = 2> {
      %x = tile.load %a[%n] : !tile.view<?xf32> -> tensor<64xf32, #two>
      // expected-error@+1 {{expected operands and results that the copies of role "all" share out alike, got}}
      %s = tile.reduce %x axis = 0 : tensor<64xf32, #two> -> tensor<f32, #scalar> {
      ^bb0(%l: f32, %r: f32):
        %t = arith.addf %l, %r : f32
        tile.yield %t : f32
      }
    }
  }
  tile.return
}
