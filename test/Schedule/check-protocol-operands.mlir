// Dots that read operand a in tensor memory, as it should be; and each thing that one may forget.
// RUN: tile-opt %s --tile-check-protocol
// RUN: sed '/M1/d' %s | not tile-opt --tile-check-protocol 2>&1 | FileCheck %s --check-prefix=M1
// RUN: sed '/M2/d' %s | not tile-opt --tile-check-protocol 2>&1 | FileCheck %s --check-prefix=M2
// RUN: sed '/M3/d' %s | not tile-opt --tile-check-protocol 2>&1 | FileCheck %s --check-prefix=M3
// RUN: sed '/M4/d' %s | not tile-opt --tile-check-protocol 2>&1 | FileCheck %s --check-prefix=M4
// RUN: sed '/M5/d' %s | not tile-opt --tile-check-protocol 2>&1 | FileCheck %s --check-prefix=M5
// RUN: sed '/M[345]/d' %s | not tile-opt --tile-check-protocol 2>&1 | FileCheck %s --check-prefix=M345
// RUN: sed '/M6/d' %s | not tile-opt --tile-check-protocol 2>&1 | FileCheck %s --check-prefix=M6
// RUN: sed -e '/%x = tile.fill/d' -e '/M[345]/d' -e 's/start_dot %x,/start_dot %w,/' %s | not tile-opt --tile-check-protocol 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: sed 's/commit : !operands/lanes : !operands/' %s | not tile-opt --tile-check-protocol 2>&1 | FileCheck %s --check-prefix=LANES
// RUN: sed 's/full = 0/full = 1/' %s | not tile-opt --tile-check-protocol 2>&1 | FileCheck %s --check-prefix=FULL
// RUN: sed 's/%got = .*/%got = tile.get %weights[%at, %odd] : !operands/' %s | not tile-opt --tile-check-protocol 2>&1 | FileCheck %s --check-prefix=GOT
// RUN: sed 's/scf.yield %at1, %odd1/scf.yield %at1, %odd/' %s | not tile-opt --tile-check-protocol 2>&1 | FileCheck %s --check-prefix=SLOT

// M1: 'tile.fill' op expected a tile.barrier behind the tile.acquire, since one thread has waited for all
// M2: 'tile.fill' op expected a tile.fence tensor_after behind what told of accesses to tensor memory by others
// M3: 'tile.fence' op expected an access to tensor memory that it orders, got none
// M4: 'tile.fence' op expected an access to tensor memory that it orders, got none
// M345: 'tile.start_dot' op expected a tile.fence tensor_before and a tile.barrier behind the tile.fill, since one thread starts the dot
// M5: 'tile.start_dot' op expected a tile.fence tensor_after behind what told of accesses to tensor memory by others
// M6: 'tile.channel' op expected role "mma" to acquire and to release what its dots read in tensor memory
// EMPTY: 'tile.start_dot' op expected an operand that a tile.fill has written
// LANES: 'tile.release' op expected 'commit', since dots that read the slot may be in flight
// FULL: 'tile.channel' op expected full = 0 and empty = 1, since one thread releases what the dots of its copy read, got 1 and 1
// GOT: 'tile.get' op expected a tile.commit into the channel, since nobody is told otherwise that a slot is full
// SLOT: expected slot 0 and phase 1 for use 1 of the channel by role "mma"

#rows = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!t = tensor<128x32xf16, #rows>
!rows = !tile.pending<!t, tensor_memory>
!sum = !tile.pending<tensor<128x32xf32, #rows>, tensor_memory>
!operands = !tile.channel<1, !rows>
!sums = !tile.channel<1, !sum>
!b = !tile.buffer<32x32xf16>
#atom = #nvptx.tcgen05<"m128n32k16", f16, f32>
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
tile.kernel @k(%n: index) attributes {tile.warps = 4 : i64} {
  %weights = tile.channel full = 0 empty = 1 : !operands
  %sums = tile.channel full = 1 empty = 4 : !sums
  tile.warp_groups(%n, %weights, %sums : index, !operands, !sums) {
    role #tile.role<"mma", warps = 4> {
      %t = arith.constant dense<1.0> : !t
      %y = tile.alloc : !b
      %z = arith.constant 0 : i32
      %no = arith.constant false
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %end:2 = scf.for %i = %c0 to %n step %c64 iter_args(%at = %z, %odd = %z) -> (i32, i32) {
        %q = tile.acquire %sums[%at, %odd] : !sums
        %w = tile.acquire %weights[%at, %odd] : !operands
        tile.barrier // M1
        tile.fence tensor_after // M2
        %x = tile.fill %t into %w {atom = #atom} : !rows
        tile.fence tensor_before // M3
        tile.barrier // M4
        tile.fence tensor_after // M5
        %d = tile.start_dot %x, %y, %q when %no transpose_b {atom = #atom} : !rows, !b -> !sum
        %got = arith.constant 0 : i32
        tile.one_thread {
          tile.release %weights[%at] commit : !operands // M6
          tile.commit %d into %sums[%at] : !sums
        }
        %full = tile.get %sums[%at, %odd] : !sums
        tile.fence tensor_after
        %sum = tile.fetch %full {atom = #atom} : !sum
        tile.fence tensor_before
        tile.one_thread each_warp {
          tile.release %sums[%at] lanes : !sums
        }
        %at1, %odd1 = tile.advance %at, %odd of %weights : !operands
        scf.yield %at1, %odd1 : i32, i32
      }
    }
  }
  tile.return
}
}
