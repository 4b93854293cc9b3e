// Sums that cannot be fetched as they are stored, though it was decided.
// RUN: tile-opt %s --tile-realise-fetches -split-input-file -verify-diagnostics

#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
#box = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!pending = !tile.pending<tensor<128x32xf32, #sum>, tensor_memory>
!sums = !tile.channel<1, !pending>
!buffer = !tile.buffer<128x16xf32>
#atom = #nvptx.tcgen05<"m128n32k16", f16, f32>

// Something else uses the tensor, too.
tile.kernel @used(%s: i32, %p: i32) {
  %sums = tile.channel full = 1 empty = 4 : !sums
  tile.warp_groups(%sums, %s, %p : !sums, i32, i32) {
    role #tile.role<"mma", warps = 4> {
      %to = tile.alloc : !buffer
      %g = tile.get %sums[%s, %p] : !sums
      %sum = tile.fetch %g {atom = #atom} : !pending
      tile.release %sums[%s] lanes : !sums
      // expected-error@+1 {{expected a tensor of which nothing but boxes is used, since 'tile.fetched' is "boxes"}}
      %left = tile.slice %sum [0, 0] {tile.fetched = "boxes"} : tensor<128x32xf32, #sum> -> tensor<128x16xf32, #box>
      tile.write %left, %to : tensor<128x16xf32, #box>, !buffer
      tile.print "sum" (%sum) : tensor<128x32xf32, #sum>
      %right = tile.slice %sum [0, 16] {tile.fetched = "boxes"} : tensor<128x32xf32, #sum> -> tensor<128x16xf32, #box>
      tile.write %right, %to : tensor<128x16xf32, #box>, !buffer
    }
  }
  tile.return
}

// -----

#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
#box = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!pending = !tile.pending<tensor<128x32xf32, #sum>, tensor_memory>
!sums = !tile.channel<1, !pending>
!buffer = !tile.buffer<128x16xf32>
#atom = #nvptx.tcgen05<"m128n32k16", f16, f32>

// The role waits for its own slot, which would be released behind the last box.
tile.kernel @again(%s: i32, %p: i32) {
  %sums = tile.channel full = 1 empty = 4 : !sums
  tile.warp_groups(%sums, %s, %p : !sums, i32, i32) {
    role #tile.role<"mma", warps = 4> {
      %to = tile.alloc : !buffer
      %g = tile.get %sums[%s, %p] : !sums
      %sum = tile.fetch %g {atom = #atom} : !pending
      tile.release %sums[%s] lanes : !sums
      // expected-error@+1 {{expected a tensor made of sums in tensor memory element by element, which nothing else uses, and no wait for another role behind their fetches, since 'tile.fetched' is "boxes"}}
      %left = tile.slice %sum [0, 0] {tile.fetched = "boxes"} : tensor<128x32xf32, #sum> -> tensor<128x16xf32, #box>
      tile.write %left, %to : tensor<128x16xf32, #box>, !buffer
      %empty = tile.acquire %sums[%s, %p] : !sums
      %right = tile.slice %sum [0, 16] {tile.fetched = "boxes"} : tensor<128x32xf32, #sum> -> tensor<128x16xf32, #box>
      tile.write %right, %to : tensor<128x16xf32, #box>, !buffer
    }
  }
  tile.return
}

// -----

#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
#box = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!pending = !tile.pending<tensor<128x32xf32, #sum>, tensor_memory>
!sums = !tile.channel<1, !pending>
!buffer = !tile.buffer<128x16xf32>
#atom = #nvptx.tcgen05<"m128n32k16", f16, f32>
#rows = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[0,0]]>

// Rows are no boxes of columns.
tile.kernel @rows(%s: i32, %p: i32) {
  %sums = tile.channel full = 1 empty = 4 : !sums
  tile.warp_groups(%sums, %s, %p : !sums, i32, i32) {
    role #tile.role<"mma", warps = 4> {
      %to = tile.alloc : !buffer
      %g = tile.get %sums[%s, %p] : !sums
      %sum = tile.fetch %g {atom = #atom} : !pending
      tile.release %sums[%s] lanes : !sums
      // expected-error@+1 {{expected boxes of one kind, each of some columns in all rows, of a tensor made in front of them, since 'tile.fetched' is "boxes"}}
      %top = tile.slice %sum [0, 0] {tile.fetched = "boxes"} : tensor<128x32xf32, #sum> -> tensor<64x32xf32, #rows>
      tile.print "top" (%top) : tensor<64x32xf32, #rows>
    }
  }
  tile.return
}

// -----

#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
#box = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!pending = !tile.pending<tensor<128x32xf32, #sum>, tensor_memory>
!sums = !tile.channel<1, !pending>
!buffer = !tile.buffer<128x16xf32>
#atom = #nvptx.tcgen05<"m128n32k16", f16, f32>

// One box says otherwise than the other.
tile.kernel @either(%s: i32, %p: i32) {
  %sums = tile.channel full = 1 empty = 4 : !sums
  tile.warp_groups(%sums, %s, %p : !sums, i32, i32) {
    role #tile.role<"mma", warps = 4> {
      %to = tile.alloc : !buffer
      %g = tile.get %sums[%s, %p] : !sums
      %sum = tile.fetch %g {atom = #atom} : !pending
      tile.release %sums[%s] lanes : !sums
      %left = tile.slice %sum [0, 0] {tile.fetched = "boxes"} : tensor<128x32xf32, #sum> -> tensor<128x16xf32, #box>
      tile.write %left, %to : tensor<128x16xf32, #box>, !buffer
      // expected-error@+1 {{expected 'tile.fetched' of the other boxes of its tensor, "boxes", got "whole"}}
      %right = tile.slice %sum [0, 16] {tile.fetched = "whole"} : tensor<128x32xf32, #sum> -> tensor<128x16xf32, #box>
      tile.write %right, %to : tensor<128x16xf32, #box>, !buffer
    }
  }
  tile.return
}
