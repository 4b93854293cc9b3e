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
tile.kernel @place(%a: !tile.view<?xf32>, %n: index) {
  tile.warp_groups(%a, %n : !tile.view<?xf32>, index) {
    role #tile.role<"all", warps = 1, copies = 2> {
      %x = tile.load %a[%n] : !tile.view<?xf32> -> tensor<64xf32, #two>
      // expected-error@+1 {{expected a tensor that the copies of role "all" do not share out, got}}
      %y = tile.sort %x axis = 0 : tensor<64xf32, #two> -> tensor<64xf32, #two>
    }
  }
  tile.return
}

// -----

// So does what is taken along the dimension that they share out.
#two = #tile.layout<register = [], lane = [[1],[2],[4],[8],[16]], warp = [[32]]>
tile.kernel @taken(%a: !tile.view<?xf32>, %i: !tile.view<?xi32>, %n: index) {
  tile.warp_groups(%a, %i, %n : !tile.view<?xf32>, !tile.view<?xi32>, index) {
    role #tile.role<"all", warps = 1, copies = 2> {
      %x = tile.load %a[%n] : !tile.view<?xf32> -> tensor<64xf32, #two>
      %at = tile.load %i[%n] : !tile.view<?xi32> -> tensor<64xi32, #two>
      // expected-error@+1 {{expected a tensor that the copies of role "all" do not share out, got}}
      %y = tile.take %x[%at] axis = 0 : tensor<64xf32, #two>, tensor<64xi32, #two> -> tensor<64xf32, #two>
    }
  }
  tile.return
}

// -----

// And what is counted.
#two = #tile.layout<register = [], lane = [[1],[2],[4],[8],[16]], warp = [[32]]>
#bins = #tile.layout<register = [], lane = [[1],[2],[4],[8],[0]], warp = []>
tile.kernel @counted(%i: !tile.view<?xi32>, %n: index) {
  tile.warp_groups(%i, %n : !tile.view<?xi32>, index) {
    role #tile.role<"all", warps = 1, copies = 2> {
      %x = tile.load %i[%n] : !tile.view<?xi32> -> tensor<64xi32, #two>
      // expected-error@+1 {{expected a tensor that the copies of role "all" do not share out, got}}
      %y = tile.histogram %x : tensor<64xi32, #two> -> tensor<16xi32, #bins>
      tile.print "counts" (%y) : tensor<16xi32, #bins>
    }
  }
  tile.return
}

// -----

// Half of the rows is two pieces, one a box of 64 columns, and which half it is permutes these: no
// window begins where it does.
#acc = #tile.layout<register = [[0,1],[8,0],[0,8]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0],[32,0],[64,0]]>
#boxes = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[1,8],[2,16],[4,32],[8,0],[16,0],[32,0],[64,8],[0,64]]>
!boxes = !tile.buffer<128x128xf16, #boxes>
!few = !tile.buffer<16x128xf16>
tile.kernel @pieces(%s: i32) {
  %ring = tile.channel full = 4 empty = 8 : !tile.channel<1, !boxes, !few>
  tile.warp_groups(%ring, %s : !tile.channel<1, !boxes, !few>, i32) {
    role #tile.role<"all", warps = 4, copies = 2> {
      %x, %y = tile.get %ring[%s, %s] : !tile.channel<1, !boxes, !few>
      %p = ub.poison : !tile.pending<tensor<128x16xf32, #acc>>
      // expected-error@+1 {{expected operands and results that the copies of role "all" share out alike, got '!tile.buffer<128x128xf16>'}}
      %d = tile.start_dot %x, %y, %p transpose_b {atom = #nvptx.wgmma<"m64n64k16", f16, f32>}
         : !boxes, !few -> !tile.pending<tensor<128x16xf32, #acc>>
    }
  }
  tile.return
}

// -----

// Each copy has all of it, and one makes the access: the other would not know what was there.
#whole = #tile.layout<register = [], lane = [[1],[0],[0],[0],[0]], warp = [[0],[0],[0]]>
tile.kernel @old(%a: !tile.view<?xi32>, %n: index) {
  tile.warp_groups(%a, %n : !tile.view<?xi32>, index) {
    role #tile.role<"all", warps = 4, copies = 2> {
      %at = tile.iota 0 : tensor<2xi32, #whole>
      // expected-error@+1 {{expected a result that nothing uses, or a tensor that the copies of role "all" share out, since one of them makes the access, got}}
      %old = tile.atomic_rmw addi %a[%at], %at : !tile.view<?xi32>, [tensor<2xi32, #whole>], tensor<2xi32, #whole>
      tile.print "old" (%old) : tensor<2xi32, #whole>
    }
  }
  tile.return
}
