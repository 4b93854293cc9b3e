// What the protocol check says of pairs of programs that do not keep to what they use together. The mutants of
// mutants.test break everything else.
// RUN: tile-opt %s --tile-check-protocol -split-input-file -verify-diagnostics

#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
#mma = #nvptx.tcgen05<"m256n32k16", f16, f32>
!a = !tile.buffer<128x16xf16>
!b = !tile.buffer<16x16xf16>
!ring = !tile.channel<1, pair, !a, !b>
!t = tensor<128x32xf32, #sum>
!pending = !tile.pending<!t, tensor_memory>
!sums = !tile.channel<1, pair, !pending>
!view = !tile.view<?x?xf16>

// One program has no other.
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
tile.kernel @alone(%x: !view, %n: index) attributes {tile.cluster = array<i64: 3, 1, 1>, tile.warps = 5 : i64} {
  // expected-error@+1 {{expected a cluster of an even number of programs, since two use the channel together, got 3}}
  %ring = tile.channel full = 1 empty = 1 : !ring
  %sums = tile.channel full = 2 empty = 8 : !sums
  tile.cluster_barrier
  tile.warp_groups(%x, %n, %ring, %sums : !view, index, !ring, !sums) {
    role #tile.role<"mma", warps = 4> {
      %z = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %no = arith.constant false
      %c0 = arith.constant 0 : index
      %c32 = arith.constant 32 : index
      %end:4 = scf.for %i = %c0 to %n step %c32 iter_args(%s = %z, %p = %z, %ss = %z, %sp = %z) -> (i32, i32, i32, i32) {
        %empty = tile.acquire %sums[%ss, %sp] : !sums
        tile.fence tensor_after
        %a, %b = tile.get %ring[%s, %p] to_start {tile.first_of_pair} : !ring
        tile.fence tensor_after
        %d = tile.start_dot %a, %b, %empty when %no transpose_b {atom = #mma, tile.first_of_pair} : !a, !b -> !pending
        tile.one_thread {
          tile.release %ring[%s] commit to %z, %one {tile.first_of_pair} : !ring
          tile.commit %d into %sums[%ss] : !sums
        }
        %full = tile.get %sums[%ss, %sp] : !sums
        tile.fence tensor_after
        %t = tile.fetch %full {atom = #mma} : !pending
        tile.fence tensor_before
        tile.one_thread each_warp {
          tile.release %sums[%ss] lanes to %z, %one : !sums
        }
        %s1, %p1 = tile.advance %s, %p of %ring : !ring
        %ss1, %sp1 = tile.advance %ss, %sp of %sums : !sums
        scf.yield %s1, %p1, %ss1, %sp1 : i32, i32, i32, i32
      }
    }
    role #tile.role<"load", warps = 1> {
      %z = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %c2 = arith.constant 2 : index
      %c32 = arith.constant 32 : index
      %id = tile.program_id x
      %own = arith.remui %id, %c2 : index
      %first = arith.muli %own, %c32 : index
      %end:2 = scf.for %i = %c0 to %n step %c32 iter_args(%s = %z, %p = %z) -> (i32, i32) {
        tile.put %ring[%s, %p] bytes = 4608 {tile.first_of_pair} : !ring {
        ^bb0(%to_a: !a, %to_b: !b):
          tile.copy_in %x[%i, %c0], %to_a {atom = #nvptx.tma} : !view, !a
          tile.copy_in %x[%own, %c0], %to_b {atom = #nvptx.tma} : !view, !b
        }
        %s1, %p1 = tile.advance %s, %p of %ring : !ring
        scf.yield %s1, %p1 : i32, i32
      }
    }
  }
  tile.cluster_barrier
  tile.return
}
}

// -----

#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
#mma = #nvptx.tcgen05<"m256n32k16", f16, f32>
!a = !tile.buffer<128x16xf16>
!b = !tile.buffer<16x16xf16>
!ring = !tile.channel<1, pair, !a, !b>
!t = tensor<128x32xf32, #sum>
!pending = !tile.pending<!t, tensor_memory>
!sums = !tile.channel<1, pair, !pending>
!view = !tile.view<?x?xf16>

// Sums that one program alone announces.
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
tile.kernel @announced(%x: !view, %n: index) attributes {tile.cluster = array<i64: 2, 1, 1>, tile.warps = 5 : i64} {
  %ring = tile.channel full = 1 empty = 1 : !ring
  // expected-note@+1 {{the channel}}
  %sums = tile.channel full = 1 empty = 8 : !sums
  tile.cluster_barrier
  tile.warp_groups(%x, %n, %ring, %sums : !view, index, !ring, !sums) {
    role #tile.role<"mma", warps = 4> {
      %z = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %no = arith.constant false
      %c0 = arith.constant 0 : index
      %c32 = arith.constant 32 : index
      %end:4 = scf.for %i = %c0 to %n step %c32 iter_args(%s = %z, %p = %z, %ss = %z, %sp = %z) -> (i32, i32, i32, i32) {
        %empty = tile.acquire %sums[%ss, %sp] : !sums
        tile.fence tensor_after
        %a, %b = tile.get %ring[%s, %p] to_start {tile.first_of_pair} : !ring
        tile.fence tensor_after
        %d = tile.start_dot %a, %b, %empty when %no transpose_b {atom = #mma, tile.first_of_pair} : !a, !b -> !pending
        tile.one_thread {
          tile.release %ring[%s] commit to %z, %one {tile.first_of_pair} : !ring
          // expected-error@+1 {{expected full = 2, since one thread announces the dots, got 1}}
          tile.commit %d into %sums[%ss] : !sums
        }
        %full = tile.get %sums[%ss, %sp] : !sums
        tile.fence tensor_after
        %t = tile.fetch %full {atom = #mma} : !pending
        tile.fence tensor_before
        tile.one_thread each_warp {
          tile.release %sums[%ss] lanes to %z, %one : !sums
        }
        %s1, %p1 = tile.advance %s, %p of %ring : !ring
        %ss1, %sp1 = tile.advance %ss, %sp of %sums : !sums
        scf.yield %s1, %p1, %ss1, %sp1 : i32, i32, i32, i32
      }
    }
    role #tile.role<"load", warps = 1> {
      %z = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %c2 = arith.constant 2 : index
      %c32 = arith.constant 32 : index
      %id = tile.program_id x
      %own = arith.remui %id, %c2 : index
      %first = arith.muli %own, %c32 : index
      %end:2 = scf.for %i = %c0 to %n step %c32 iter_args(%s = %z, %p = %z) -> (i32, i32) {
        tile.put %ring[%s, %p] bytes = 4608 {tile.first_of_pair} : !ring {
        ^bb0(%to_a: !a, %to_b: !b):
          tile.copy_in %x[%i, %c0], %to_a {atom = #nvptx.tma} : !view, !a
          tile.copy_in %x[%own, %c0], %to_b {atom = #nvptx.tma} : !view, !b
        }
        %s1, %p1 = tile.advance %s, %p of %ring : !ring
        scf.yield %s1, %p1 : i32, i32
      }
    }
  }
  tile.cluster_barrier
  tile.return
}
}

// -----

#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
#mma = #nvptx.tcgen05<"m256n32k16", f16, f32>
!a = !tile.buffer<128x16xf16>
!b = !tile.buffer<16x16xf16>
!ring = !tile.channel<1, pair, !a, !b>
!t = tensor<128x32xf32, #sum>
!pending = !tile.pending<!t, tensor_memory>
!sums = !tile.channel<1, pair, !pending>
!view = !tile.view<?x?xf16>

// The second program fetches what the first may write again.
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
tile.kernel @early(%x: !view, %n: index) attributes {tile.cluster = array<i64: 2, 1, 1>, tile.warps = 5 : i64} {
  %ring = tile.channel full = 1 empty = 1 : !ring
  %sums = tile.channel full = 2 empty = 8 : !sums
  tile.cluster_barrier
  // expected-note@+1 {{found for cluster 0 of 1}}
  tile.warp_groups(%x, %n, %ring, %sums : !view, index, !ring, !sums) {
    role #tile.role<"mma", warps = 4> {
      %z = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %no = arith.constant false
      %c0 = arith.constant 0 : index
      %c32 = arith.constant 32 : index
      %end:4 = scf.for %i = %c0 to %n step %c32 iter_args(%s = %z, %p = %z, %ss = %z, %sp = %z) -> (i32, i32, i32, i32) {
        // expected-error@+1 {{expected every program that the dots reach to have released the slot to this one, got one that has not: number 1 of the cluster}}
        %empty = tile.acquire %sums[%ss, %sp] : !sums
        tile.fence tensor_after
        %a, %b = tile.get %ring[%s, %p] to_start {tile.first_of_pair} : !ring
        tile.fence tensor_after
        %d = tile.start_dot %a, %b, %empty when %no transpose_b {atom = #mma, tile.first_of_pair} : !a, !b -> !pending
        tile.one_thread {
          tile.release %ring[%s] commit to %z, %one {tile.first_of_pair} : !ring
          tile.commit %d into %sums[%ss] : !sums
        }
        %full = tile.get %sums[%ss, %sp] : !sums
        tile.fence tensor_after
        %t = tile.fetch %full {atom = #mma} : !pending
        tile.fence tensor_before
        tile.one_thread each_warp {
          tile.release %sums[%ss] lanes to %z, %z : !sums
        }
        %s1, %p1 = tile.advance %s, %p of %ring : !ring
        %ss1, %sp1 = tile.advance %ss, %sp of %sums : !sums
        scf.yield %s1, %p1, %ss1, %sp1 : i32, i32, i32, i32
      }
    }
    role #tile.role<"load", warps = 1> {
      %z = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %c2 = arith.constant 2 : index
      %c32 = arith.constant 32 : index
      %id = tile.program_id x
      %own = arith.remui %id, %c2 : index
      %first = arith.muli %own, %c32 : index
      %end:2 = scf.for %i = %c0 to %n step %c32 iter_args(%s = %z, %p = %z) -> (i32, i32) {
        tile.put %ring[%s, %p] bytes = 4608 {tile.first_of_pair} : !ring {
        ^bb0(%to_a: !a, %to_b: !b):
          tile.copy_in %x[%i, %c0], %to_a {atom = #nvptx.tma} : !view, !a
          tile.copy_in %x[%own, %c0], %to_b {atom = #nvptx.tma} : !view, !b
        }
        %s1, %p1 = tile.advance %s, %p of %ring : !ring
        scf.yield %s1, %p1 : i32, i32
      }
    }
  }
  tile.cluster_barrier
  tile.return
}
}

// -----

#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
#mma = #nvptx.tcgen05<"m256n32k16", f16, f32>
!a = !tile.buffer<128x16xf16>
!b = !tile.buffer<16x16xf16>
!ring = !tile.channel<1, pair, !a, !b>
!t = tensor<128x32xf32, #sum>
!pending = !tile.pending<!t, tensor_memory>
!sums = !tile.channel<1, pair, !pending>
!view = !tile.view<?x?xf16>

// The second program brings its part less often.
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
tile.kernel @trips(%x: !view, %n: index) attributes {tile.cluster = array<i64: 2, 1, 1>, tile.warps = 5 : i64} {
  // expected-note@+1 {{the ring}}
  %ring = tile.channel full = 1 empty = 1 : !ring
  // expected-note@+1 {{the ring}}
  %sums = tile.channel full = 2 empty = 8 : !sums
  tile.cluster_barrier
  // expected-note@+1 {{found for cluster 0 of 1}}
  tile.warp_groups(%x, %n, %ring, %sums : !view, index, !ring, !sums) {
    role #tile.role<"mma", warps = 4> {
      %z = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %no = arith.constant false
      %c0 = arith.constant 0 : index
      %c32 = arith.constant 32 : index
      %end:4 = scf.for %i = %c0 to %n step %c32 iter_args(%s = %z, %p = %z, %ss = %z, %sp = %z) -> (i32, i32, i32, i32) {
        %empty = tile.acquire %sums[%ss, %sp] : !sums
        tile.fence tensor_after
        // expected-error@+1 {{expected not to wait forever, got a wait of role "mma" that nothing ends}}
        %a, %b = tile.get %ring[%s, %p] to_start {tile.first_of_pair} : !ring
        tile.fence tensor_after
        %d = tile.start_dot %a, %b, %empty when %no transpose_b {atom = #mma, tile.first_of_pair} : !a, !b -> !pending
        tile.one_thread {
          tile.release %ring[%s] commit to %z, %one {tile.first_of_pair} : !ring
          tile.commit %d into %sums[%ss] : !sums
        }
        // expected-note@+1 {{role "mma" waits here}}
        %full = tile.get %sums[%ss, %sp] : !sums
        tile.fence tensor_after
        %t = tile.fetch %full {atom = #mma} : !pending
        tile.fence tensor_before
        tile.one_thread each_warp {
          tile.release %sums[%ss] lanes to %z, %one : !sums
        }
        %s1, %p1 = tile.advance %s, %p of %ring : !ring
        %ss1, %sp1 = tile.advance %ss, %sp of %sums : !sums
        scf.yield %s1, %p1, %ss1, %sp1 : i32, i32, i32, i32
      }
    }
    role #tile.role<"load", warps = 1> {
      %z = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %c2 = arith.constant 2 : index
      %c32 = arith.constant 32 : index
      %id = tile.program_id x
      %own = arith.remui %id, %c2 : index
      %first = arith.muli %own, %c32 : index
      %end:2 = scf.for %i = %first to %n step %c32 iter_args(%s = %z, %p = %z) -> (i32, i32) {
        tile.put %ring[%s, %p] bytes = 4608 {tile.first_of_pair} : !ring {
        ^bb0(%to_a: !a, %to_b: !b):
          tile.copy_in %x[%i, %c0], %to_a {atom = #nvptx.tma} : !view, !a
          tile.copy_in %x[%own, %c0], %to_b {atom = #nvptx.tma} : !view, !b
        }
        %s1, %p1 = tile.advance %s, %p of %ring : !ring
        scf.yield %s1, %p1 : i32, i32
      }
    }
  }
  tile.cluster_barrier
  tile.return
}
}

// -----

#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
#mma = #nvptx.tcgen05<"m256n32k16", f16, f32>
!a = !tile.buffer<128x16xf16>
!b = !tile.buffer<16x16xf16>
!ring = !tile.channel<1, !a, !b>
!t = tensor<128x32xf32, #sum>
!pending = !tile.pending<!t, tensor_memory>
!sums = !tile.channel<1, pair, !pending>
!view = !tile.view<?x?xf16>

// Dots of two programs out of a ring that one fills.
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
tile.kernel @single(%x: !view, %n: index) attributes {tile.cluster = array<i64: 2, 1, 1>, tile.warps = 5 : i64} {
  %ring = tile.channel full = 1 empty = 2 : !ring
  %sums = tile.channel full = 2 empty = 8 : !sums
  tile.cluster_barrier
  // expected-note@+1 {{found for cluster 0 of 1}}
  tile.warp_groups(%x, %n, %ring, %sums : !view, index, !ring, !sums) {
    role #tile.role<"mma", warps = 4> {
      %z = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %no = arith.constant false
      %c0 = arith.constant 0 : index
      %c32 = arith.constant 32 : index
      %end:4 = scf.for %i = %c0 to %n step %c32 iter_args(%s = %z, %p = %z, %ss = %z, %sp = %z) -> (i32, i32, i32, i32) {
        %empty = tile.acquire %sums[%ss, %sp] : !sums
        tile.fence tensor_after
        %a, %b = tile.get %ring[%s, %p] to_start : !ring
        tile.fence tensor_after
        // expected-error@+1 {{expected slots of two programs for #nvptx.tcgen05<"m256n32k16", f16, f32>, got one of '!tile.channel<1, !tile.buffer}}
        %d = tile.start_dot %a, %b, %empty when %no transpose_b {atom = #mma, tile.first_of_pair} : !a, !b -> !pending
        tile.one_thread {
          tile.release %ring[%s] commit to %z, %one : !ring
          tile.commit %d into %sums[%ss] : !sums
        }
        %full = tile.get %sums[%ss, %sp] : !sums
        tile.fence tensor_after
        %t = tile.fetch %full {atom = #mma} : !pending
        tile.fence tensor_before
        tile.one_thread each_warp {
          tile.release %sums[%ss] lanes to %z, %one : !sums
        }
        %s1, %p1 = tile.advance %s, %p of %ring : !ring
        %ss1, %sp1 = tile.advance %ss, %sp of %sums : !sums
        scf.yield %s1, %p1, %ss1, %sp1 : i32, i32, i32, i32
      }
    }
    role #tile.role<"load", warps = 1> {
      %z = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %c2 = arith.constant 2 : index
      %c32 = arith.constant 32 : index
      %id = tile.program_id x
      %own = arith.remui %id, %c2 : index
      %first = arith.muli %own, %c32 : index
      %end:2 = scf.for %i = %c0 to %n step %c32 iter_args(%s = %z, %p = %z) -> (i32, i32) {
        tile.put %ring[%s, %p] bytes = 4608 : !ring {
        ^bb0(%to_a: !a, %to_b: !b):
          tile.copy_in %x[%i, %c0], %to_a {atom = #nvptx.tma} : !view, !a
          tile.copy_in %x[%own, %c0], %to_b {atom = #nvptx.tma} : !view, !b
        }
        %s1, %p1 = tile.advance %s, %p of %ring : !ring
        scf.yield %s1, %p1 : i32, i32
      }
    }
  }
  tile.cluster_barrier
  tile.return
}
}
