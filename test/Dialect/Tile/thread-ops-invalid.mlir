// What the ops refuse that say which threads run what, and what stays in front of what.
// RUN: tile-opt %s -split-input-file -verify-diagnostics

tile.kernel @prefetch(%a: !tile.view<?x?xf16>) attributes {tile.warps = 4 : i64} {
  // expected-error @+1 {{attribute 'atom' failed to satisfy constraint: a copy instruction of an engine}}
  tile.prefetch %a for !tile.buffer<64x64xf16> {atom = #nvptx.cp_async<16>} : !tile.view<?x?xf16>
  tile.return
}

// -----

!own = !tile.channel<2, own, !tile.buffer<64x64xf16>>
tile.kernel @own() attributes {tile.warps = 4 : i64} {
  %ring = tile.channel full = 1 empty = 4 : !own
  // expected-error @+1 {{expected a channel at whose slots others wait, got '!tile.channel<2, own, !tile.buffer<64x64xf16>>'}}
  tile.init %ring : !own
  tile.return
}

// -----

!ring = !tile.channel<2, !tile.buffer<64x64xf16>>
tile.kernel @inside() attributes {tile.warps = 4 : i64} {
  %ring = tile.channel full = 1 empty = 4 : !ring
  tile.warp_groups(%ring : !ring) {
    role #tile.role<"all", warps = 4> {
      // expected-error @+1 {{expected to stand outside of roles}}
      tile.init %ring : !ring
    }
  }
  tile.return
}

// -----

!ring = !tile.channel<2, !tile.buffer<64x64xf16>>
tile.kernel @alloc_tensor() attributes {tile.warps = 4 : i64} {
  %ring = tile.channel full = 1 empty = 4 : !ring
  // expected-error @+1 {{expected channels of accumulators in tensor memory, got '!tile.channel<2, !tile.buffer<64x64xf16>>'}}
  tile.alloc_tensor %ring : !ring
  tile.return
}

// -----

!ring = !tile.channel<2, !tile.buffer<64x64xf16>>
tile.kernel @free_tensor() attributes {tile.warps = 4 : i64} {
  %ring = tile.channel full = 1 empty = 4 : !ring
  // expected-error @+1 {{expected channels of accumulators in tensor memory, got '!tile.channel<2, !tile.buffer<64x64xf16>>'}}
  tile.free_tensor %ring : !ring
  tile.return
}

// -----

!ring = !tile.channel<2, !tile.buffer<64x64xf16>>
tile.kernel @end_dots() attributes {tile.warps = 4 : i64} {
  %ring = tile.channel full = 1 empty = 4 : !ring
  tile.warp_groups(%ring : !ring) {
    role #tile.role<"all", warps = 4> {
      // expected-error @+1 {{expected a channel of accumulators in tensor memory, got '!tile.channel<2, !tile.buffer<64x64xf16>>'}}
      tile.end_dots %ring : !ring
    }
  }
  tile.return
}

// -----

#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!sums = !tile.channel<1, !tile.pending<tensor<128x64xf32, #sum>, tensor_memory>>
tile.kernel @end_dots_outside() attributes {tile.warps = 4 : i64} {
  %sums = tile.channel full = 1 empty = 4 : !sums
  // expected-error @+1 {{expected to stand in a role}}
  tile.end_dots %sums : !sums
  tile.return
}

// -----

tile.kernel @fence() attributes {tile.warps = 4 : i64} {
  // expected-error @+1 {{cannot name an operation with no results}}
  %a = tile.fence shared
  tile.return
}

// -----

tile.kernel @priority() attributes {tile.warps = 4 : i64} {
  // expected-error @+1 {{expected a priority from 0 to 3, got 4}}
  tile.priority 4
  tile.return
}

// -----

tile.kernel @schedule_barrier() attributes {tile.warps = 4 : i64} {
  // expected-error @+1 {{cannot name an operation with no results}}
  %a = tile.schedule_barrier
  tile.return
}

// -----

tile.kernel @wait_shared() attributes {tile.warps = 4 : i64} {
  // expected-error @+1 {{cannot name an operation with no results}}
  %a = tile.wait_shared
  tile.return
}

// -----

tile.kernel @launch_dependents() attributes {tile.warps = 4 : i64} {
  // expected-error @+1 {{cannot name an operation with no results}}
  %a = tile.launch_dependents
  tile.return
}

// -----

tile.kernel @wait_dependencies() attributes {tile.warps = 4 : i64} {
  // expected-error @+1 {{cannot name an operation with no results}}
  %a = tile.wait_dependencies
  tile.return
}

// -----

!ring = !tile.channel<2, own, !tile.buffer<64x64xf16>>
tile.kernel @together() attributes {tile.warps = 8 : i64} {
  %ring = tile.channel full = 8 empty = 8 : !ring
  tile.warp_groups(%ring : !ring) {
    role #tile.role<"all", warps = 8> {
      tile.one_thread {
        // expected-error @+1 {{expected an op that one thread can run, since it stands in 'tile.one_thread'}}
        tile.barrier
      }
    }
  }
  tile.return
}

// -----

tile.kernel @cluster_barrier() attributes {tile.warps = 4 : i64} {
  // expected-error @+1 {{expected to stand in the body of a kernel with 'tile.cluster'}}
  tile.cluster_barrier
  tile.return
}

// -----

!ring = !tile.channel<2, !tile.buffer<64x64xf16>>
tile.kernel @lanes(%a: !tile.view<?x?xf16>) attributes {tile.warps = 8 : i64} {
  %ring = tile.channel full = 1 empty = 8 : !ring
  tile.warp_groups(%a, %ring : !tile.view<?x?xf16>, !ring) {
    role #tile.role<"all", warps = 8> {
      %z = arith.constant 0 : i32
      // expected-error @+1 {{expected 'tile.lanes' on a put that each warp tells of, without bytes, into a channel that is not the role's own}}
      tile.put %ring[%z, %z] bytes = 8192 {tile.lanes} : !ring {
      ^bb0(%x: !tile.buffer<64x64xf16>):
      }
    }
  }
  tile.return
}

// -----

!ring = !tile.channel<2, !tile.buffer<64x64xf16>>
tile.kernel @value(%a: !tile.view<?x?xf16>) attributes {tile.warps = 8 : i64} {
  %ring = tile.channel full = 1 empty = 8 : !ring
  tile.warp_groups(%a, %ring : !tile.view<?x?xf16>, !ring) {
    role #tile.role<"all", warps = 8> {
      %z = arith.constant 0 : i32
      // expected-error @+1 {{expected 'tile.lanes' without value, got 1 : i64}}
      tile.put %ring[%z, %z] bytes = 0 {tile.lanes = 1 : i64} : !ring {
      ^bb0(%x: !tile.buffer<64x64xf16>):
      }
    }
  }
  tile.return
}

// -----

!ring = !tile.channel<2, !tile.buffer<64x64xf16>>
tile.kernel @first_of_pair(%a: !tile.view<?x?xf16>) attributes {tile.warps = 8 : i64} {
  %ring = tile.channel full = 1 empty = 8 : !ring
  tile.warp_groups(%a, %ring : !tile.view<?x?xf16>, !ring) {
    role #tile.role<"all", warps = 8> {
      %z = arith.constant 0 : i32
      // expected-error @+1 {{expected 'tile.first_of_pair' on what one of two programs does for both: a put with bytes, a get to_start or a release by commit of a channel of pairs, or a dot that two programs multiply}}
      %x = tile.get %ring[%z, %z] to_start {tile.first_of_pair} : !ring
    }
  }
  tile.return
}

// -----

#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!sums = !tile.channel<1, !tile.pending<tensor<128x16xf32, #sum>, tensor_memory>>
tile.kernel @by_warp() attributes {tile.warps = 4 : i64} {
  %sums = tile.channel full = 1 empty = 4 : !sums
  // expected-error @+1 {{expected 'tile.by_warp' on what sets tensor memory aside or frees it, as an i64 of at least 0, got -1 : i64}}
  tile.alloc_tensor %sums {tile.by_warp = -1 : i64} : !sums
  tile.return
}

// -----

#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!sums = !tile.channel<1, !tile.pending<tensor<128x16xf32, #sum>, tensor_memory>>
tile.kernel @by_warp_elsewhere() attributes {tile.warps = 4 : i64} {
  %sums = tile.channel full = 1 empty = 4 : !sums
  // expected-error @+1 {{expected 'tile.by_warp' on what sets tensor memory aside or frees it, as an i64 of at least 0, got 0 : i64}}
  tile.init %sums {tile.by_warp = 0 : i64} : !sums
  tile.return
}

// -----

#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!sums = !tile.channel<1, !tile.pending<tensor<128x16xf32, #sum>, tensor_memory>>
tile.kernel @ends() attributes {tile.warps = 4 : i64} {
  %sums = tile.channel full = 1 empty = 4 : !sums
  // expected-error @+1 {{expected 'tile.ends' on a tile.init, as an i64 of at least 1, got 0 : i64}}
  tile.init %sums {tile.ends = 0 : i64} : !sums
  tile.return
}

// -----

tile.kernel @instructions() attributes {tile.warps = 4 : i64} {
  // expected-error @+1 {{expected 'tile.instructions' on a tile.wait_puts, as an i64 of at least 0, got "all"}}
  tile.wait_puts in_flight = 1 {tile.instructions = "all"}
  tile.return
}

// -----

!sums = !tile.channel<1, !tile.pending<tensor<128x16xf32, #tile.layout<register = [[0,1],[0,2],[0,4],[0,8]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>>, tensor_memory>>
tile.kernel @set_aside_twice() attributes {tile.warps = 4 : i64} {
  %sums = tile.channel full = 1 empty = 4 : !sums
  // expected-error@+1 {{expected no other 'tile.alloc_tensor' of its channels, and each of them once}}
  tile.alloc_tensor %sums : !sums
  tile.alloc_tensor %sums : !sums
  tile.return
}

// -----

!sums = !tile.channel<1, !tile.pending<tensor<128x16xf32, #tile.layout<register = [[0,1],[0,2],[0,4],[0,8]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>>, tensor_memory>>
tile.kernel @freed_twice() attributes {tile.warps = 4 : i64} {
  %sums = tile.channel full = 1 empty = 4 : !sums
  tile.alloc_tensor %sums : !sums
  // expected-error@+1 {{expected no other 'tile.free_tensor' of its channels, and each of them once}}
  tile.free_tensor %sums, %sums : !sums, !sums
  tile.return
}

// -----

tile.kernel @none_set_aside() attributes {tile.warps = 4 : i64} {
  // expected-error@+1 {{expected at least one channel}}
  "tile.alloc_tensor"() : () -> ()
  tile.return
}
