// What a realised schedule takes beyond what the chip has.
// RUN: tile-opt %s --tile-check-protocol -split-input-file -verify-diagnostics

// Three slots of 256 columns each take more than there are.
#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[0,64],[0,128]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!sums = !tile.channel<3, !tile.pending<tensor<128x256xf32, #sum>, tensor_memory>>
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
tile.kernel @too_many() attributes {tile.warps = 4 : i64} {
  // expected-note@+2 {{393216 bytes for 3 of 'tensor<128x256xf32>'}}
  // expected-error@+1 {{expected accumulators of at most 262144 bytes of tensor memory on nvptx:sm_100a, got 393216}}
  %sums = tile.channel full = 1 empty = 4 : !sums
  tile.warp_groups(%sums : !sums) {
    role #tile.role<"mma", warps = 4> {}
  }
  tile.return
}
}

// -----

// Two that fit alone, but not together.
#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[0,64],[0,128]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!sums = !tile.channel<1, !tile.pending<tensor<128x256xf32, #sum>, tensor_memory>>
!two = !tile.channel<2, !tile.pending<tensor<128x256xf32, #sum>, tensor_memory>>
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
tile.kernel @together() attributes {tile.warps = 4 : i64} {
  // expected-note@+1 {{131072 bytes for 1 of 'tensor<128x256xf32>'}}
  %one = tile.channel full = 1 empty = 4 : !sums
  // expected-note@+2 {{262144 bytes for 2 of 'tensor<128x256xf32>'}}
  // expected-error@+1 {{expected accumulators of at most 262144 bytes of tensor memory on nvptx:sm_100a, got 393216}}
  %two = tile.channel full = 1 empty = 4 : !two
  tile.warp_groups(%one, %two : !sums, !two) {
    role #tile.role<"mma", warps = 4> {}
  }
  tile.return
}
}

// -----

#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!sums = !tile.channel<1, !tile.pending<tensor<128x16xf32, #sum>, tensor_memory>>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @none_there() attributes {tile.warps = 4 : i64} {
  // expected-note@+2 {{16384 bytes for 1 of 'tensor<128x16xf32>'}}
  // expected-error@+1 {{expected accumulators of at most 0 bytes of tensor memory on nvptx:sm_90a, got 16384}}
  %sums = tile.channel full = 1 empty = 4 : !sums
  tile.warp_groups(%sums : !sums) {
    role #tile.role<"mma", warps = 4> {}
  }
  tile.return
}
}

// -----

// A barrier of each copy, one of each role, and one of the program: 16 have numbers.
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @barriers() attributes {tile.warps = 15 : i64} {
  // expected-error@+1 {{expected roles and copies that take at most 15 barriers on nvptx:sm_90a, one each, got 17: "load" takes 2, "mma" takes 15}}
  tile.warp_groups() {
    role #tile.role<"load", warps = 1> {
      %c0 = arith.constant 0 : index
    }
    role #tile.role<"mma", warps = 1, copies = 14> {
      %c0 = arith.constant 0 : index
    }
  }
  tile.return
}
}
