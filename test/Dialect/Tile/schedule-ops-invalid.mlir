// What verification says of roles, channels, copies and dots in flight that make no sense.
// RUN: tile-opt %s -split-input-file -verify-diagnostics

tile.kernel @k() {
  // expected-error@+1 {{expected one #tile.role a region, and at least one}}
  tile.warp_groups() {
  }
  tile.return
}

// -----

tile.kernel @k() {
  // expected-error@+1 {{expected roles of different names, got "a" twice}}
  tile.warp_groups() {
    role #tile.role<"a", warps = 1> {
      tile.barrier
    }
    role #tile.role<"a", warps = 1> {
      tile.barrier
    }
  }
  tile.return
}

// -----

tile.kernel @k() {
  // expected-error@+1 {{expected to stand in a role of tile.warp_groups}}
  %i = tile.copy_id
  tile.return
}

// -----

tile.kernel @k(%n: index) {
  tile.warp_groups() {
    role #tile.role<"a", warps = 1> {
      // expected-error@+1 {{expected to stand in the body of a kernel}}
      tile.warp_groups() {
        role #tile.role<"b", warps = 1> {
          tile.barrier
        }
      }
    }
  }
  tile.return
}

// -----

tile.kernel @k() {
  // expected-error@+1 {{expected empty to be at least 1, got 0}}
  %ring = tile.channel full = 1 empty = 0 : !tile.channel<2, !tile.buffer<8xf32>>
  tile.return
}

// -----

tile.kernel @k(%s: i32) {
  %ring = tile.channel full = 1 empty = 1 : !tile.channel<2, !tile.buffer<8xf32>>
  // expected-error@+1 {{expected the region to take the buffers of '!tile.channel<2, !tile.buffer<8xf32>>'}}
  tile.put %ring[%s, %s] bytes = 0 : !tile.channel<2, !tile.buffer<8xf32>> {
  ^bb0(%x: !tile.buffer<8xf16>):
  }
  tile.return
}

// -----

tile.kernel @k(%s: i32) {
  %ring = tile.channel full = 1 empty = 1 : !tile.channel<2, !tile.buffer<8xf32>>
  // expected-error@+1 {{expected in_flight to be at least 0, got -1}}
  tile.wait_puts in_flight = -1
  tile.return
}

// -----

tile.kernel @k(%s: i32) {
  %ring = tile.alloc : !tile.buffer<8xf32>
  // expected-error@+1 {{operand #0 must be}}
  %x = "tile.get"(%ring, %s, %s) : (!tile.buffer<8xf32>, i32, i32) -> !tile.buffer<8xf32>
  tile.return
}

// -----

tile.kernel @k(%a: !tile.view<?xf32>, %n: index) {
  %x = tile.alloc : !tile.buffer<8xf32>
  // expected-error@+1 {{expected to stand in a tile.put}}
  tile.copy_in %a[%n], %x {atom = #nvptx.cp_async<16>} : !tile.view<?xf32>, !tile.buffer<8xf32>
  tile.return
}

// -----

tile.kernel @k(%a: !tile.view<?xf32>, %n: index) {
  tile.warp_groups(%a, %n : !tile.view<?xf32>, index) {
    role #tile.role<"a", warps = 1> {
      %x = tile.alloc : !tile.buffer<8xf16>
      // expected-error@+1 {{expected a buffer of the view's element type 'f32', got 'f16'}}
      tile.copy_out %x, %a[%n] {atom = #nvptx.tma} : !tile.buffer<8xf16>, !tile.view<?xf32>
    }
  }
  tile.return
}

// -----

tile.kernel @k(%a: !tile.view<?xf32>, %n: index) {
  tile.warp_groups(%a, %n : !tile.view<?xf32>, index) {
    role #tile.role<"a", warps = 1> {
      %x = tile.alloc : !tile.buffer<8x8xf32>
      // expected-error@+1 {{expected a buffer and offsets of the view's rank 1, got 2 and 1}}
      tile.copy_out %x, %a[%n] {atom = #nvptx.tma} : !tile.buffer<8x8xf32>, !tile.view<?xf32>
    }
  }
  tile.return
}

// -----

tile.kernel @k() {
  tile.warp_groups() {
    role #tile.role<"a", warps = 1> {
      // expected-error@+1 {{expected in_flight to be at least 0, got -1}}
      tile.wait_stores in_flight = -1
    }
  }
  tile.return
}

// -----

tile.kernel @k(%i: index) {
  %x = tile.alloc : !tile.buffer<8x8xf32>
  // expected-error@+1 {{expected extents that divide the buffer's, got '!tile.buffer<3x8xf32>' of '!tile.buffer<8x8xf32>'}}
  %y = tile.part %x[%i, %i] : !tile.buffer<8x8xf32> -> !tile.buffer<3x8xf32>
  tile.return
}

// -----

#whole = #tile.layout<offset = [[0,1],[0,2],[1,0],[2,0]]>
#wrong = #tile.layout<offset = [[1,0],[0,1],[0,2]]>
tile.kernel @k(%i: index) {
  %x = tile.alloc : !tile.buffer<4x4xf32, #whole>
  // expected-error@+1 {{expected a part of type}}
  %y = tile.part %x[%i, %i] : !tile.buffer<4x4xf32, #whole> -> !tile.buffer<2x4xf32, #wrong>
  tile.return
}

// -----

// Half of six rows is three, but what counts rows has columns in between.
#boxes = #tile.layout<offset = [[0,1],[1,0],[0,2],[2,0],[4,0]]>
#part = #tile.layout<offset = [[0,1],[0,2],[1,0],[2,0]]>
tile.kernel @k(%i: index) {
  %x = tile.alloc : !tile.buffer<6x4xf32, #boxes>
  // expected-error@+1 {{expected a part whose place does not permute what is in it}}
  %y = tile.part %x[%i, %i] : !tile.buffer<6x4xf32, #boxes> -> !tile.buffer<3x4xf32, #part>
  tile.return
}

// -----

#mixed = #tile.layout<offset = [[2,1],[0,2],[1,0],[2,0]]>
#part = #tile.layout<offset = [[0,1],[0,2],[1,0]]>
tile.kernel @k(%i: index) {
  %x = tile.alloc : !tile.buffer<4x4xf32, #mixed>
  // expected-error@+1 {{expected a part of type '!tile.buffer<2x4xf32 of 4x4}}
  %y = tile.part %x[%i, %i] : !tile.buffer<4x4xf32, #mixed> -> !tile.buffer<2x4xf32, #part>
  tile.return
}

// -----

tile.kernel @k(%p: f32) {
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %x = tile.alloc : !tile.buffer<8x8xf16>
  %y = tile.alloc : !tile.buffer<16x8xf16>
  %none = tile.pend %zero : !tile.pending<tensor<8x8xf32>>
  // expected-error@+1 {{expected the same K in both operands, got 8 and 16}}
  %d = tile.start_dot %x, %y, %none {atom = #nvptx.wgmma<"m64n64k16", f16, f32>}
     : !tile.buffer<8x8xf16>, !tile.buffer<16x8xf16> -> !tile.pending<tensor<8x8xf32>>
  tile.return
}

// -----

// Of two programs each has half of b's columns.
!pending = !tile.pending<tensor<128x32xf32>, tensor_memory>
tile.kernel @k(%n: f32) {
  %zero = arith.constant dense<0.0> : tensor<128x32xf32>
  %p = tile.pend %zero : !pending
  %x = tile.alloc : !tile.buffer<128x16xf16>
  %y = tile.alloc : !tile.buffer<32x16xf16>
  // expected-error@+1 {{expected an accumulator of 128x64, got 128x32}}
  %d = tile.start_dot %x, %y, %p transpose_b {atom = #nvptx.tcgen05<"m256n32k16", f16, f32>}
     : !tile.buffer<128x16xf16>, !tile.buffer<32x16xf16> -> !pending
  tile.return
}

// -----

tile.kernel @k() {
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %none = tile.pend %zero : !tile.pending<tensor<8x8xf32>>
  // expected-error@+1 {{expected a result of 'tensor<8x8xf32>', pending or not, got 'tensor<8xf32>'}}
  %d = tile.wait %none in_flight = 0 : !tile.pending<tensor<8x8xf32>> -> tensor<8xf32>
  tile.return
}

// -----

!ring = !tile.channel<1, !tile.buffer<8x8xf32>>
tile.kernel @k(%s: i32) {
  %ring = tile.channel full = 1 empty = 4 : !ring
  // expected-error@+1 {{expected lanes that have read the slot or dots that read it, got 'lanes' and 'commit'}}
  tile.release %ring[%s] lanes commit : !ring
  tile.return
}

// -----

!ring = !tile.channel<1, own, !tile.buffer<8x8xf32>>
tile.kernel @k(%s: i32) {
  %ring = tile.channel full = 1 empty = 4 : !ring
  // expected-error@+1 {{expected a channel of buffers that another role fills, since dots read them}}
  tile.release %ring[%s] commit : !ring
  tile.return
}

// -----

tile.kernel @k() {
  tile.warp_groups() {
    role #tile.role<"a", warps = 4> {
      %t = arith.constant dense<0.0> : tensor<8x8xf32>
      %p = tile.pend %t : !tile.pending<tensor<8x8xf32>>
      // expected-error@+1 {{expected an accumulator in tensor memory, got '!tile.pending<tensor<8x8xf32>>'}}
      %u = tile.fetch %p {atom = #tile.fma} : !tile.pending<tensor<8x8xf32>>
    }
  }
  tile.return
}

// -----

!ring = !tile.channel<1, !tile.buffer<8x8xf32>>
tile.kernel @k(%s: i32) {
  %ring = tile.channel full = 1 empty = 4 : !ring
  // expected-error@+1 {{the accumulator is what the channel's slots are}}
  %p = "tile.acquire"(%ring, %s, %s) : (!ring, i32, i32) -> !tile.pending<tensor<8x8xf32>>
  tile.return
}

// -----

tile.kernel @k() {
  tile.warp_groups() {
    role #tile.role<"a", warps = 4> {
      %t = arith.constant dense<0.0> : tensor<8x8xf32>
      %p = tile.pend %t : !tile.pending<tensor<8x8xf32>>
      // expected-error@+1 {{expected an accumulator in tensor memory, got '!tile.pending<tensor<8x8xf32>>'}}
      %q = tile.fill %t into %p {atom = #tile.fma} : !tile.pending<tensor<8x8xf32>>
    }
  }
  tile.return
}

// -----

!ring = !tile.channel<2, !tile.buffer<64x64xf16>>
!sum = !tile.pending<tensor<128x32xf32>, tensor_memory>
// expected-note@+1 {{prior use here}}
func.func @ring_of_buffers(%ring: !ring, %p: !sum, %s: i32) {
  // expected-error@+1 {{use of value '%p' expects different type than prior uses}}
  tile.commit %p into %ring[%s] : !ring
  return
}

// -----

!sums = !tile.channel<1, !tile.pending<tensor<8x8xf32>, tensor_memory>>
tile.kernel @k(%s: i32) {
  %sums = tile.channel full = 1 empty = 4 : !sums
  // expected-error@+1 {{expected a channel of buffers that another role fills, since other programs fill its slots, too}}
  tile.release %sums[%s] to %s : !sums
  tile.return
}

// -----

!ring = !tile.channel<1, !tile.buffer<8x8xf32>>
tile.kernel @k(%a: !tile.view<?x?xf32>, %s: i32, %n: index) {
  %ring = tile.channel full = 1 empty = 4 : !ring
  tile.put %ring[%s, %s] bytes = 256 : !ring {
  ^bb0(%x: !tile.buffer<8x8xf32>):
    // expected-error@+1 {{expected axes to share the tile out along, or a mask, got both}}
    tile.copy_in %a[%n, %n], %x to %s {atom = #nvptx.tma, multicast = ["x"]} : !tile.view<?x?xf32>, !tile.buffer<8x8xf32>
  }
  tile.return
}

// -----

!ring = !tile.channel<1, !tile.buffer<8x8xf32>>
tile.kernel @k(%s: i32) {
  %ring = tile.channel full = 1 empty = 4 : !ring
  // expected-error@+1 {{expected 'to_start', since 'one_thread' is of what one thread waits for}}
  %x = tile.get %ring[%s, %s] one_thread : !ring
  tile.return
}

// -----

!ring = !tile.channel<1, !tile.buffer<8x8xf32>>
tile.kernel @k(%s: i32) {
  %ring = tile.channel full = 1 empty = 4 : !ring
  tile.one_thread {
    // expected-error@+1 {{expected no 'one_thread', since it stands in 'tile.one_thread'}}
    %x = tile.get %ring[%s, %s] to_start one_thread : !ring
  }
  tile.return
}

// -----

!sums = !tile.channel<1, !tile.pending<tensor<8x8xf32>, tensor_memory>>
tile.kernel @k(%s: i32) {
  %sums = tile.channel full = 1 empty = 4 : !sums
  tile.one_thread {
    // expected-error@+1 {{expected no 'one_thread', since it stands in 'tile.one_thread'}}
    %p = tile.acquire %sums[%s, %s] one_thread : !sums
  }
  tile.return
}

// -----

tile.kernel @k() {
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %x = tile.alloc : !tile.buffer<8x8xf16>
  %none = tile.pend %zero : !tile.pending<tensor<8x8xf32>>
  // expected-error@+1 {{expected an accumulator in tensor memory, since one thread starts the dot, got '!tile.pending<tensor<8x8xf32>>'}}
  %d = tile.start_dot %x, %x, %none one_thread {atom = #nvptx.wgmma<"m64n64k16", f16, f32>}
     : !tile.buffer<8x8xf16>, !tile.buffer<8x8xf16> -> !tile.pending<tensor<8x8xf32>>
  tile.return
}
