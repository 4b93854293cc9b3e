// RUN: tile-opt %s --tile-order-accesses --split-input-file | FileCheck %s

// Roles of two copies, each of four warps, that share 128 rows out.
#l = #tile.layout<register = [[1,0],[2,0],[4,0],[8,0]], lane = [[0,1],[0,2],[0,4],[0,8],[0,16]], warp = [[16,0],[32,0]]>
!view = !tile.view<?x?xf32>

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// What is stored may lie where a thread of any copy has yet to load.
// CHECK-LABEL: tile.kernel @any_copy
// CHECK: tile.load
// CHECK-NEXT: tile.barrier global all_copies
// CHECK-NEXT: tile.store
tile.kernel @any_copy(%x: !view, %y: !view) attributes {tile.warps = 8 : i64} {
  tile.warp_groups(%x, %y : !view, !view) {
    role #tile.role<"all", warps = 4, copies = 2> {
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %copy = tile.copy_id
      %row = arith.muli %copy, %c64 : index
      %t = tile.load %x[%row, %c0] : !view -> tensor<64x32xf32, #l>
      tile.store %t, %y[%row, %c0] : tensor<64x32xf32, #l>, !view
    }
  }
  tile.return
}

// A copy's rows are its own, the columns overlap.
// CHECK-LABEL: tile.kernel @own_rows
// CHECK: tile.load
// CHECK-NEXT: tile.barrier global{{$}}
// CHECK-NEXT: tile.store
// CHECK-NEXT: tile.store
// CHECK-NEXT: }
tile.kernel @own_rows(%x: !view, %o: index) attributes {tile.warps = 8 : i64} {
  tile.warp_groups(%x, %o : !view, index) {
    role #tile.role<"all", warps = 4, copies = 2> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c64 = arith.constant 64 : index
      %copy = tile.copy_id
      %share = arith.muli %copy, %c64 : index
      %row = arith.addi %o, %share : index
      %t = tile.load %x[%row, %c0] : !view -> tensor<64x32xf32, #l>
      tile.store %t, %x[%row, %c1] : tensor<64x32xf32, #l>, !view
      tile.store %t, %x[%row, %c1] : tensor<64x32xf32, #l>, !view
    }
  }
  tile.return
}

// What all copies access is no copy's own, though each thread comes back to its elements.
// CHECK-LABEL: tile.kernel @shared_rows
// CHECK: tile.load
// CHECK-NEXT: tile.barrier global all_copies
// CHECK-NEXT: tile.store
tile.kernel @shared_rows(%x: !view) attributes {tile.warps = 8 : i64} {
  tile.warp_groups(%x : !view) {
    role #tile.role<"all", warps = 4, copies = 2> {
      %c0 = arith.constant 0 : index
      %t = tile.load %x[%c0, %c0] : !view -> tensor<64x32xf32, #l>
      tile.store %t, %x[%c0, %c0] : tensor<64x32xf32, #l>, !view
    }
  }
  tile.return
}

// Copies that lag behind one another catch up first: the first of two has met once less.
// CHECK-LABEL: tile.kernel @skewed
// CHECK: tile.load
// CHECK: scf.if
// CHECK-NEXT: tile.barrier all_copies
// CHECK: tile.barrier global all_copies
// CHECK: scf.if
// CHECK-NEXT: tile.barrier all_copies
// CHECK: tile.store
tile.kernel @skewed(%x: !view, %y: !view) attributes {tile.warps = 8 : i64} {
  tile.warp_groups(%x, %y : !view, !view) {
    role #tile.role<"all", warps = 4, copies = 2, skew = 1> {
      %c0 = arith.constant 0 : index
      %t = tile.load %x[%c0, %c0] : !view -> tensor<64x32xf32, #l>
      tile.store %t, %y[%c0, %c0] : tensor<64x32xf32, #l>, !view
    }
  }
  tile.return
}
}

// -----

#l = #tile.layout<register = [[1,0],[2,0],[4,0],[8,0]], lane = [[0,1],[0,2],[0,4],[0,8],[0,16]], warp = [[16,0],[32,0]]>
#rows = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[1,0],[2,0],[4,0],[8,0],[16,0],[32,0]]>
!view = !tile.view<?x?xf32>
!box = !tile.buffer<64x32xf32, #rows>

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// The engine stores behind the barrier that tells it of the buffer; what it has written is waited
// for, and engines see what was stored before they load or store it.
// CHECK-LABEL: tile.kernel @engine
// CHECK: tile.load
// CHECK: tile.barrier publish global{{$}}
// CHECK-NEXT: tile.copy_out
// CHECK-NEXT: tile.wait_stores in_flight = 0 written
// CHECK-NEXT: tile.barrier global{{$}}
// CHECK-NEXT: tile.store
// CHECK-NEXT: tile.barrier publish global{{$}}
// CHECK-NEXT: tile.copy_out
// CHECK-NEXT: tile.wait_stores in_flight = 0{{$}}
tile.kernel @engine(%x: !view, %y: !view) attributes {tile.warps = 4 : i64} {
  tile.warp_groups(%x, %y : !view, !view) {
    role #tile.role<"all", warps = 4> {
      %c0 = arith.constant 0 : index
      %b = tile.alloc : !box
      %t = tile.load %x[%c0, %c0] : !view -> tensor<64x32xf32, #l>
      tile.write %t, %b : tensor<64x32xf32, #l>, !box
      tile.barrier publish
      tile.copy_out %b, %y[%c0, %c0] {atom = #nvptx.tma} : !box, !view
      tile.store %t, %x[%c0, %c0] : tensor<64x32xf32, #l>, !view
      tile.copy_out %b, %y[%c0, %c0] {atom = #nvptx.tma} : !box, !view
      tile.wait_stores in_flight = 0
    }
  }
  tile.return
}

// Boxes of one tensor lie apart, and a loop over programs has no order.
// CHECK-LABEL: tile.kernel @boxes
// CHECK: tile.barrier publish{{$}}
// CHECK-NEXT: tile.copy_out
// CHECK-NEXT: tile.copy_out
// CHECK-NEXT: }{{$}}
tile.kernel @boxes(%y: !view, %n: index) attributes {tile.warps = 4 : i64} {
  tile.warp_groups(%y, %n : !view, index) {
    role #tile.role<"all", warps = 4> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c7 = arith.constant 7 : index
      %c32 = arith.constant 32 : index
      %b = tile.alloc : !box
      scf.for %i = %c0 to %n step %c1 {
        %row = arith.remui %i, %c7 : index
        tile.barrier publish
        tile.copy_out %b, %y[%row, %c0] {atom = #nvptx.tma} : !box, !view
        tile.copy_out %b, %y[%row, %c32] {atom = #nvptx.tma} : !box, !view
      } {tile.programs}
      tile.wait_stores in_flight = 0
    }
  }
  tile.return
}

// A ring's loads come behind what their role has stored; what it stores then, the ring has told of.
// CHECK-LABEL: tile.kernel @ring
// CHECK: tile.store
// CHECK-NEXT: tile.barrier publish global{{$}}
// CHECK-NEXT: tile.put
// CHECK: tile.release
// CHECK-NEXT: tile.store
tile.kernel @ring(%x: !view, %y: !view) attributes {tile.warps = 4 : i64} {
  %ring = tile.channel full = 1 empty = 4 : !tile.channel<1, !box>
  tile.warp_groups(%ring, %x, %y : !tile.channel<1, !box>, !view, !view) {
    role #tile.role<"all", warps = 4> {
      %c0 = arith.constant 0 : index
      %zero = arith.constant 0 : i32
      %v = arith.constant dense<1.0> : tensor<64x32xf32, #l>
      tile.store %v, %x[%c0, %c0] : tensor<64x32xf32, #l>, !view
      tile.put %ring[%zero, %zero] bytes = 8192 : !tile.channel<1, !box> {
      ^bb0(%to: !box):
        tile.copy_in %y[%c0, %c0], %to {atom = #nvptx.tma} : !view, !box
      }
      %b = tile.get %ring[%zero, %zero] : !tile.channel<1, !box>
      tile.release %ring[%zero] lanes : !tile.channel<1, !box>
      tile.store %v, %y[%c0, %c0] : tensor<64x32xf32, #l>, !view
    }
  }
  tile.return
}
}

// -----

#l = #tile.layout<register = [[1,0],[2,0],[4,0],[8,0]], lane = [[0,1],[0,2],[0,4],[0,8],[0,16]], warp = [[16,0],[32,0]]>
!view = !tile.view<?x?xf32>

module attributes {tile.target = #amdgcn.target<chip = "gfx1201">} {
// Barriers that are words order shared memory alone: warps wait for what they tell of, and see what
// they have been told of.
// CHECK-LABEL: tile.kernel @told
// CHECK: role #tile.role<"write"
// CHECK: tile.barrier global
// CHECK-NEXT: tile.store
// CHECK-NEXT: tile.barrier global
// CHECK-NEXT: tile.put
// CHECK: role #tile.role<"read"
// CHECK: tile.get
// CHECK-NEXT: tile.barrier global
// CHECK-NEXT: tile.load
// CHECK-NEXT: tile.barrier global
tile.kernel @told(%x: !view, %o: index) attributes {tile.warps = 8 : i64} {
  %told = tile.channel full = 4 empty = 4 : !tile.channel<1>
  tile.warp_groups(%x, %o, %told : !view, index, !tile.channel<1>) {
    role #tile.role<"write", warps = 4> {
      %c0 = arith.constant 0 : index
      %z = arith.constant 0 : i32
      %t = arith.constant dense<1.0> : tensor<64x32xf32, #l>
      tile.store %t, %x[%c0, %c0] : tensor<64x32xf32, #l>, !view
      tile.put %told[%z, %z] bytes = 0 : !tile.channel<1> {
      }
    }
    role #tile.role<"read", warps = 4> {
      %c0 = arith.constant 0 : index
      %z = arith.constant 0 : i32
      tile.get %told[%z, %z] : !tile.channel<1>
      %t = tile.load %x[%o, %c0] : !view -> tensor<64x32xf32, #l>
      tile.print "x" (%t) : tensor<64x32xf32, #l>
    }
  }
  tile.return
}
}

// -----

#l = #tile.layout<register = [[1,0],[2,0],[4,0],[8,0]], lane = [[0,1],[0,2],[0,4],[0,8],[0,16]], warp = [[16,0],[32,0]]>
!view = !tile.view<?x?xf32>

module attributes {tile.target = #amdgcn.target<chip = "gfx1201">} {
// So it is where another role's atomic tells other programs of what a role stores, or learns of what
// one loads: the atomic waits for accesses of its own warp alone. One that is relaxed does not.
// CHECK-LABEL: tile.kernel @counted
// CHECK: role #tile.role<"write"
// CHECK: tile.barrier global
// CHECK-NEXT: tile.store
// CHECK-NEXT: tile.barrier global
// CHECK-NEXT: tile.put
// CHECK: role #tile.role<"count"
// CHECK: tile.atomic_rmw
// CHECK: role #tile.role<"read"
// CHECK: tile.get
// CHECK-NEXT: tile.barrier global
// CHECK-NEXT: tile.load
// CHECK-NEXT: tile.barrier global
// CHECK-LABEL: tile.kernel @relaxed
// CHECK-NOT: tile.barrier
// CHECK: tile.return
tile.kernel @counted(%x: !view, %y: !view, %n: !tile.view<?xi32>) attributes {tile.warps = 12 : i64} {
  %told = tile.channel full = 4 empty = 4 : !tile.channel<1>
  %asked = tile.channel full = 4 empty = 4 : !tile.channel<1>
  tile.warp_groups(%x, %y, %n, %told, %asked : !view, !view, !tile.view<?xi32>, !tile.channel<1>, !tile.channel<1>) {
    role #tile.role<"write", warps = 4> {
      %c0 = arith.constant 0 : index
      %z = arith.constant 0 : i32
      %t = arith.constant dense<1.0> : tensor<64x32xf32, #l>
      tile.store %t, %x[%c0, %c0] : tensor<64x32xf32, #l>, !view
      tile.put %told[%z, %z] bytes = 0 : !tile.channel<1> {
      }
    }
    role #tile.role<"count", warps = 4> {
      %c0 = arith.constant 0 : index
      %z = arith.constant 0 : i32
      tile.get %told[%z, %z] : !tile.channel<1>
      %before = tile.atomic_rmw addi %n[%c0], %z : !tile.view<?xi32>, [index], i32
      tile.print "n" (%before) : i32
      tile.put %asked[%z, %z] bytes = 0 : !tile.channel<1> {
      }
    }
    role #tile.role<"read", warps = 4> {
      %c0 = arith.constant 0 : index
      %z = arith.constant 0 : i32
      tile.get %asked[%z, %z] : !tile.channel<1>
      %t = tile.load %y[%c0, %c0] : !view -> tensor<64x32xf32, #l>
      tile.print "y" (%t) : tensor<64x32xf32, #l>
    }
  }
  tile.return
}

tile.kernel @relaxed(%x: !view, %n: !tile.view<?xi32>) attributes {tile.warps = 8 : i64} {
  %told = tile.channel full = 4 empty = 4 : !tile.channel<1>
  tile.warp_groups(%x, %n, %told : !view, !tile.view<?xi32>, !tile.channel<1>) {
    role #tile.role<"write", warps = 4> {
      %c0 = arith.constant 0 : index
      %z = arith.constant 0 : i32
      %t = arith.constant dense<1.0> : tensor<64x32xf32, #l>
      tile.store %t, %x[%c0, %c0] : tensor<64x32xf32, #l>, !view
      tile.put %told[%z, %z] bytes = 0 : !tile.channel<1> {
      }
    }
    role #tile.role<"count", warps = 4> {
      %c0 = arith.constant 0 : index
      %z = arith.constant 0 : i32
      tile.get %told[%z, %z] : !tile.channel<1>
      %before = tile.atomic_rmw addi %n[%c0], %z order = relaxed : !tile.view<?xi32>, [index], i32
      tile.print "n" (%before) : i32
    }
  }
  tile.return
}
}
