// An operand that is written over a sum that the role has fetched, as it should be; and each thing
// that one may forget.
// RUN: tile-opt %s --tile-check-protocol
// RUN: sed '/M1/d' %s | not tile-opt --tile-check-protocol 2>&1 | FileCheck %s --check-prefix=M1
// RUN: sed '/M[234]/d' %s | not tile-opt --tile-check-protocol 2>&1 | FileCheck %s --check-prefix=M234
// RUN: sed 's/commit : !sums/lanes : !sums/' %s | not tile-opt --tile-check-protocol 2>&1 | FileCheck %s --check-prefix=LANES
// RUN: sed -e 's/%w, %y, %q when/%x, %y, %q when/' -e '/%read = /s/!rows, !b/!x, !b/' %s | not tile-opt --tile-check-protocol 2>&1 | FileCheck %s --check-prefix=UNREAD
// RUN: sed 's/.got = tile.get .sums.*odd\]/& to_start/' %s | not tile-opt --tile-check-protocol 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: sed 's,// LATE,%late = tile.fetch %got {atom = #atom} : !sum,' %s | not tile-opt --tile-check-protocol 2>&1 | FileCheck %s --check-prefix=LATE
// RUN: sed 's,// TWICE,%again = tile.fill %u into %place {atom = #atom} : !rows,' %s | not tile-opt --tile-check-protocol 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: sed 's/empty = 1 : !sums/empty = 4 : !sums/' %s | not tile-opt --tile-check-protocol 2>&1 | FileCheck %s --check-prefix=EMPTY

// M1: 'tile.fetch' op expected a tile.fence tensor_after behind what told of accesses to tensor memory by others
// M234: 'tile.start_dot' op expected a tile.fence tensor_before and a tile.barrier behind the tile.fill, since one thread starts the dot
// LANES: 'tile.channel' op expected empty = 4, one arrival of each warp that releases it
// UNREAD: 'tile.release' op expected a dot in front that reads what was written over the sum
// ONE: 'tile.fetch' op expected a slot that all threads have waited for, got one that some have not
// LATE: 'tile.fetch' op expected a sum that nothing has been written over
// TWICE: 'tile.fill' op expected a sum that nothing was written over, since dots may read it
// EMPTY: 'tile.channel' op expected empty = 1, one arrival of each warp that releases it, or copy that commits to, got 4

#rows = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!t = tensor<128x32xf16, #rows>
!rows = !tile.pending<!t, tensor_memory>
!sum = !tile.pending<tensor<128x32xf32, #rows>, tensor_memory>
!sums = !tile.channel<1, !sum>
!others = !tile.channel<1, !sum>
!b = !tile.buffer<32x32xf16>
!x = !tile.buffer<128x32xf16>
#atom = #nvptx.tcgen05<"m128n32k16", f16, f32>
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
tile.kernel @k(%n: index) attributes {tile.warps = 4 : i64} {
  %sums = tile.channel full = 1 empty = 1 : !sums
  %others = tile.channel full = 1 empty = 4 : !others
  tile.warp_groups(%n, %sums, %others : index, !sums, !others) {
    role #tile.role<"mma", warps = 4> {
      %u = arith.constant dense<1.0> : !t
      %x = tile.alloc : !x
      %y = tile.alloc : !b
      %z = arith.constant 0 : i32
      %no = arith.constant false
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %end:2 = scf.for %i = %c0 to %n step %c64 iter_args(%at = %z, %odd = %z) -> (i32, i32) {
        %p = tile.acquire %sums[%at, %odd] : !sums
        tile.fence tensor_after
        %d = tile.start_dot %x, %y, %p when %no transpose_b {atom = #atom} : !x, !b -> !sum
        tile.one_thread {
          tile.commit %d into %sums[%at] : !sums
        }
        %got = tile.get %sums[%at, %odd] : !sums
        tile.fence tensor_after // M1
        %t = tile.fetch %got {atom = #atom} : !sum
        %place = tile.part %got[%c0, %c0] : !sum -> !rows
        %w = tile.fill %u into %place {atom = #atom} : !rows
        // TWICE
        // LATE
        tile.fence tensor_before // M2
        tile.barrier // M3
        tile.fence tensor_after // M4
        %q = tile.acquire %others[%at, %odd] : !others
        tile.fence tensor_after
        %read = tile.start_dot %w, %y, %q when %no transpose_b {atom = #atom} : !rows, !b -> !sum
        tile.one_thread {
          tile.release %sums[%at] commit : !sums
          tile.commit %read into %others[%at] : !others
        }
        %full = tile.get %others[%at, %odd] : !others
        tile.fence tensor_after
        %sum = tile.fetch %full {atom = #atom} : !sum
        tile.fence tensor_before
        tile.one_thread each_warp {
          tile.release %others[%at] lanes : !others
        }
        %at1, %odd1 = tile.advance %at, %odd of %sums : !sums
        scf.yield %at1, %odd1 : i32, i32
      }
    }
  }
  tile.return
}
}
