// RUN: tile-opt %s --tile-realise-box-loads --split-input-file --verify-diagnostics

#sum = #tile.layout<register = [[0,1],[8,0],[0,8],[0,16]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0],[32,0]]>
!view = !tile.view<?x?xf32>
tile.kernel @whole(%r: !view, %n: index) {
  tile.warp_groups(%r, %n : !view, index) {
    role #tile.role<"all", warps = 4> {
      // expected-error @below {{expected a load of which nothing but boxes are used, among which registers choose, in its block, since 'tile.held' is 1}}
      %t = tile.load %r[%n, %n] {tile.held = 1 : i64} : !view -> tensor<64x32xf32, #sum>
      tile.store %t, %r[%n, %n] : tensor<64x32xf32, #sum>, !view
    }
  }
  tile.return
}

// -----

#sum = #tile.layout<register = [[0,1],[8,0],[0,8],[0,16]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0],[32,0]]>
#box = #tile.layout<register = [[0,1],[8,0],[0,8]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0],[32,0]]>
!view = !tile.view<?x?xf32>
tile.kernel @stored(%r: !view, %n: index) {
  tile.warp_groups(%r, %n : !view, index) {
    role #tile.role<"all", warps = 4> {
      // expected-error @below {{expected memory that nobody stores to in front of the last box, since 'tile.held' is 1}}
      %t = tile.load %r[%n, %n] {tile.held = 1 : i64} : !view -> tensor<64x32xf32, #sum>
      %0 = tile.slice %t [0, 0] : tensor<64x32xf32, #sum> -> tensor<64x16xf32, #box>
      tile.store %0, %r[%n, %n] : tensor<64x16xf32, #box>, !view
      %1 = tile.slice %t [0, 16] : tensor<64x32xf32, #sum> -> tensor<64x16xf32, #box>
      tile.store %1, %r[%n, %n] : tensor<64x16xf32, #box>, !view
    }
  }
  tile.return
}

// -----

#sum = #tile.layout<register = [[0,1],[8,0],[0,8],[0,16]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0],[32,0]]>
#box = #tile.layout<register = [[0,1],[8,0],[0,8]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0],[32,0]]>
!view = !tile.view<?x?xf32>
tile.kernel @many(%r: !view, %n: index) {
  tile.warp_groups(%r, %n : !view, index) {
    role #tile.role<"all", warps = 4> {
      // expected-error @below {{expected 2 boxes or more, since 'tile.held' is 2}}
      %t = tile.load %r[%n, %n] {tile.held = 2 : i64} : !view -> tensor<64x32xf32, #sum>
      %0 = tile.slice %t [0, 0] : tensor<64x32xf32, #sum> -> tensor<64x16xf32, #box>
      tile.print "box" (%0) : tensor<64x16xf32, #box>
    }
  }
  tile.return
}

// -----

// Another role stores to it behind the barrier.
#sum = #tile.layout<register = [[0,1],[8,0],[0,8],[0,16]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0],[32,0]]>
#box = #tile.layout<register = [[0,1],[8,0],[0,8]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0],[32,0]]>
!view = !tile.view<?x?xf32>
tile.kernel @told(%r: !view, %n: index) {
  tile.warp_groups(%r, %n : !view, index) {
    role #tile.role<"all", warps = 4> {
      // expected-error @below {{expected memory that nobody stores to in front of the last box, since 'tile.held' is 1}}
      %t = tile.load %r[%n, %n] {tile.held = 1 : i64} : !view -> tensor<64x32xf32, #sum>
      tile.barrier global
      %0 = tile.slice %t [0, 0] : tensor<64x32xf32, #sum> -> tensor<64x16xf32, #box>
      tile.print "box" (%0) : tensor<64x16xf32, #box>
      %1 = tile.slice %t [0, 16] : tensor<64x32xf32, #sum> -> tensor<64x16xf32, #box>
      tile.print "box" (%1) : tensor<64x16xf32, #box>
    }
  }
  tile.return
}
