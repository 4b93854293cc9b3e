// A bf16 GEMM (A·Bᵀ), persistent, with one role that loads and two copies of one that multiplies, as
// the realising passes leave it. This is what targets lower, and what they may rely on.
// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s --canonicalize --cse --loop-invariant-code-motion | FileCheck %s
// RUN: tile-opt %s --tile-check-protocol -o /dev/null

#copy = #nvptx.tma
#mma = #nvptx.wgmma<"m64n256k16", bf16, f32>

// 64 columns are 128 bytes; their 16-byte pieces are permuted by the row's low three bits.
#a = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[1,8],[2,16],[4,32],[8,0],[16,0],[32,0],[64,0]]>
#b = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[1,8],[2,16],[4,32],[8,0],[16,0],[32,0],[64,0],[128,0]]>
#half = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[1,8],[2,16],[4,32],[8,0],[16,0],[32,0]]>
#acc = #tile.layout<register = [[0,1],[8,0],[0,8],[0,16],[0,32],[0,64],[0,128]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0],[32,0]]>
#box = #tile.layout<register = [[0,1],[8,0],[0,8],[0,16],[0,32]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0],[32,0]]>

!view = !tile.view<?x?xbf16>
!bufa = !tile.buffer<128x64xbf16, #a>
!bufb = !tile.buffer<256x64xbf16, #b>
!half = !tile.buffer<64x64xbf16, #half>
!ring = !tile.channel<4, !bufa, !bufb>
!pending = !tile.pending<tensor<64x256xf32, #acc>>

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// CHECK-LABEL: tile.kernel @gemm
tile.kernel @gemm(%a: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2]>},
                  %b: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2]>},
                  %c: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [0, 8]>})
    attributes {tile.warps = 12 : i64} grid {
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %most = arith.constant 132 : index
  %m = tile.dim %c, 0 : !view
  %n = tile.dim %c, 1 : !view
  %tm = arith.ceildivui %m, %c128 : index
  %tn = arith.ceildivui %n, %c256 : index
  %tiles = arith.muli %tm, %tn : index
  %programs = arith.minui %tiles, %most : index
  tile.grid %programs
} {
  // CHECK: %[[RING:.*]] = tile.channel full = 1 empty = 8
  %ring = tile.channel full = 1 empty = 8 : !ring
  // CHECK: tile.warp_groups(%a, %b, %c, %[[RING]] :
  tile.warp_groups(%a, %b, %c, %ring : !view, !view, !view, !ring) {
    // CHECK: role #tile.role<"load", warps = 4, registers = 40>
    role #tile.role<"load", warps = 4, registers = 40> {
      %s0 = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %c16 = arith.constant 16 : index
      %c64 = arith.constant 64 : index
      %c128 = arith.constant 128 : index
      %c256 = arith.constant 256 : index
      %m = tile.dim %c, 0 : !view
      %n = tile.dim %c, 1 : !view
      %k = tile.dim %a, 1 : !view
      %tm = arith.ceildivui %m, %c128 : index
      %tn = arith.ceildivui %n, %c256 : index
      %tiles = arith.muli %tm, %tn : index
      %first = tile.program_id x
      %step = tile.num_programs x
      %end:2 = scf.for %t = %first to %tiles step %step iter_args(%s = %s0, %p = %s0) -> (i32, i32) {
        // Which tile this is: groups of 16 tiles along x, in each all tiles at one place along y.
        %in_group = arith.muli %tn, %c16 : index
        %group = arith.divui %t, %in_group : index
        %first_x = arith.muli %group, %c16 : index
        %left = arith.subi %tm, %first_x : index
        %wide = arith.minui %left, %c16 : index
        %rest = arith.remui %t, %in_group : index
        %dx = arith.remui %rest, %wide : index
        %x = arith.addi %first_x, %dx : index
        %y = arith.divui %rest, %wide : index
        %row = arith.muli %x, %c128 : index
        %column = arith.muli %y, %c256 : index
        %next:2 = scf.for %kk = %c0 to %k step %c64 iter_args(%s1 = %s, %p1 = %p) -> (i32, i32) {
          // CHECK: tile.put %{{.*}}[%{{.*}}, %{{.*}}] bytes = 49152
          tile.put %ring[%s1, %p1] bytes = 49152 : !ring {
          ^bb0(%to_a: !bufa, %to_b: !bufb):
            // CHECK: tile.copy_in %a[{{.*}}], %{{.*}} {atom = #nvptx.tma}
            tile.copy_in %a[%row, %kk], %to_a {atom = #copy} : !view, !bufa
            tile.copy_in %b[%column, %kk], %to_b {atom = #copy} : !view, !bufb
          }
          // CHECK: tile.advance
          %s2, %p2 = tile.advance %s1, %p1 of %ring : !ring
          scf.yield %s2, %p2 : i32, i32
        }
        scf.yield %next#0, %next#1 : i32, i32
      }
    }
    // CHECK: role #tile.role<"mma", warps = 4, copies = 2, registers = 232>
    role #tile.role<"mma", warps = 4, copies = 2, registers = 232> {
      %s0 = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %c16 = arith.constant 16 : index
      %c64 = arith.constant 64 : index
      %c128 = arith.constant 128 : index
      %c256 = arith.constant 256 : index
      %zero = arith.constant dense<0.0> : tensor<64x256xf32, #acc>
      // CHECK: %[[COPY:.*]] = tile.copy_id
      %copy = tile.copy_id
      %share = arith.muli %copy, %c64 : index
      // CHECK: tile.alloc
      %box0 = tile.alloc : !half
      %box1 = tile.alloc : !half
      %m = tile.dim %c, 0 : !view
      %n = tile.dim %c, 1 : !view
      %k = tile.dim %a, 1 : !view
      %tm = arith.ceildivui %m, %c128 : index
      %tn = arith.ceildivui %n, %c256 : index
      %tiles = arith.muli %tm, %tn : index
      %first = tile.program_id x
      %step = tile.num_programs x
      %end:2 = scf.for %t = %first to %tiles step %step iter_args(%s = %s0, %p = %s0) -> (i32, i32) {
        %in_group = arith.muli %tn, %c16 : index
        %group = arith.divui %t, %in_group : index
        %first_x = arith.muli %group, %c16 : index
        %left = arith.subi %tm, %first_x : index
        %wide = arith.minui %left, %c16 : index
        %rest = arith.remui %t, %in_group : index
        %dx = arith.remui %rest, %wide : index
        %x = arith.addi %first_x, %dx : index
        %y = arith.divui %rest, %wide : index
        %row = arith.muli %x, %c128 : index
        %column = arith.muli %y, %c256 : index
        // No trip, no dot: then the tile is zero.
        %any = arith.cmpi slt, %c0, %k : index
        %tile:3 = scf.if %any -> (tensor<64x256xf32, #acc>, i32, i32) {
          %none = ub.poison : !pending
          %loop:4 = scf.for %kk = %c0 to %k step %c64
              iter_args(%acc = %none, %s1 = %s, %p1 = %p, %old = %s)
              -> (!pending, i32, i32, i32) {
            // CHECK: tile.get %{{.*}}[%{{.*}}, %{{.*}}]
            %from_a, %from_b = tile.get %ring[%s1, %p1] : !ring
            // CHECK: tile.part
            %mine = tile.part %from_a[%share, %c0] : !bufa -> !half
            %more = arith.cmpi ne, %kk, %c0 : index
            // CHECK: tile.start_dot
            %dot = tile.start_dot %mine, %from_b, %acc when %more transpose_b
                {atom = #mma} : !half, !bufb -> !pending
            // CHECK: tile.wait %{{.*}} in_flight = 1
            %held = tile.wait %dot in_flight = 1 : !pending -> !pending
            // The dot before this one is done with its slot.
            scf.if %more {
              // CHECK: tile.release
              tile.release %ring[%old] : !ring
            }
            %s2, %p2 = tile.advance %s1, %p1 of %ring : !ring
            scf.yield %held, %s2, %p2, %s1 : !pending, i32, i32, i32
          }
          // CHECK: tile.wait %{{.*}} in_flight = 0
          %sum = tile.wait %loop#0 in_flight = 0 : !pending -> tensor<64x256xf32, #acc>
          tile.release %ring[%loop#3] : !ring
          scf.yield %sum, %loop#1, %loop#2 : tensor<64x256xf32, #acc>, i32, i32
        } else {
          scf.yield %zero, %s, %p : tensor<64x256xf32, #acc>, i32, i32
        }
        %narrow = arith.truncf %tile#0 : tensor<64x256xf32, #acc> to tensor<64x256xbf16, #acc>
        // CHECK-COUNT-4: tile.copy_out
        %my_row = arith.addi %row, %share : index
        %part0 = tile.slice %narrow [0, 0] : tensor<64x256xbf16, #acc> -> tensor<64x64xbf16, #box>
        tile.wait_stores in_flight = 1
        tile.barrier
        tile.write %part0, %box0 : tensor<64x64xbf16, #box>, !half
        tile.barrier publish
        tile.copy_out %box0, %c[%my_row, %column] {atom = #copy} : !half, !view
        %part1 = tile.slice %narrow [0, 64] : tensor<64x256xbf16, #acc> -> tensor<64x64xbf16, #box>
        tile.wait_stores in_flight = 1
        tile.barrier
        tile.write %part1, %box1 : tensor<64x64xbf16, #box>, !half
        tile.barrier publish
        %column1 = arith.addi %column, %c64 : index
        tile.copy_out %box1, %c[%my_row, %column1] {atom = #copy} : !half, !view
        %part2 = tile.slice %narrow [0, 128] : tensor<64x256xbf16, #acc> -> tensor<64x64xbf16, #box>
        tile.wait_stores in_flight = 1
        tile.barrier
        tile.write %part2, %box0 : tensor<64x64xbf16, #box>, !half
        tile.barrier publish
        %column2 = arith.addi %column1, %c64 : index
        tile.copy_out %box0, %c[%my_row, %column2] {atom = #copy} : !half, !view
        %part3 = tile.slice %narrow [0, 192] : tensor<64x256xbf16, #acc> -> tensor<64x64xbf16, #box>
        tile.wait_stores in_flight = 1
        tile.barrier
        tile.write %part3, %box1 : tensor<64x64xbf16, #box>, !half
        tile.barrier publish
        %column3 = arith.addi %column2, %c64 : index
        tile.copy_out %box1, %c[%my_row, %column3] {atom = #copy} : !half, !view
        scf.yield %tile#1, %tile#2 : i32, i32
      }
      // CHECK: tile.wait_stores in_flight = 0
      tile.wait_stores in_flight = 0
    }
  }
  tile.return
}
}
