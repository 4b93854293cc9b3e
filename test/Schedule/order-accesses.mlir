// RUN: tile-opt %s --tile-order-accesses | FileCheck %s

#l = #tile.layout<register = [[1],[2]], lane = [[4],[8],[16],[32],[64]], warp = [[128]]>
#r = #tile.layout<register = [[1],[2]], lane = [[4],[8],[16],[0],[0]], warp = [[0]]>
#row = #tile.layout<register = [[0,1],[0,2]], lane = [[0,4],[0,8],[0,16],[0,32],[0,64]], warp = [[0,128]]>

module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  // What is stored may lie where another thread has yet to load.
  // CHECK-LABEL: tile.kernel @copy
  // CHECK: tile.load
  // CHECK: tile.barrier global
  // CHECK: tile.store
  tile.kernel @copy(%x: !tile.view<?xf32>, %y: !tile.view<?xf32>)
      attributes {tile.warps = 2 : i64} {
    %c0 = arith.constant 0 : index
    %t = tile.load %x[%c0] : !tile.view<?xf32> -> tensor<256xf32, #l>
    tile.store %t, %y[%c0] : tensor<256xf32, #l>, !tile.view<?xf32>
    tile.return
  }

  // An atomic that releases tells others what all threads have written, and after one that acquires all
  // threads see what others have told, whatever memory it lies in. A result that nobody reads tells
  // nothing.
  // CHECK-LABEL: tile.kernel @counts_itself_in(
  // CHECK: tile.store
  // CHECK-NEXT: tile.barrier global
  // CHECK-NEXT: tile.atomic_rmw addi
  // CHECK: tile.barrier global
  // CHECK-NEXT: tile.load
  // CHECK-NOT: tile.barrier
  // CHECK: tile.kernel @learns_nothing
  tile.kernel @counts_itself_in(%x: !tile.view<?xf32>,
                                %p: !tile.pointer<i32> {tile.facts = #tile.facts<noalias>},
                                %y: !tile.view<?xf32> {tile.facts = #tile.facts<noalias>})
      attributes {tile.warps = 2 : i64} {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i32
    %t = arith.constant dense<0.0> : tensor<256xf32, #l>
    %n = tile.view_from_pointer %p extents [] strides [] : !tile.pointer<i32> -> !tile.view<1xi32, strides [1]>
    tile.store %t, %x[%c0] : tensor<256xf32, #l>, !tile.view<?xf32>
    %before = tile.atomic_rmw addi %n[%c0], %one : !tile.view<1xi32, strides [1]>, [index], i32
    %last = arith.cmpi eq, %before, %one : i32
    scf.if %last {
      %u = tile.load %x[%c0] : !tile.view<?xf32> -> tensor<256xf32, #l>
      tile.store %u, %y[%c0] : tensor<256xf32, #l>, !tile.view<?xf32>
    }
    tile.return
  }

  // CHECK-NOT: tile.barrier
  // CHECK: tile.return
  tile.kernel @learns_nothing(%x: !tile.view<?xf32>,
                              %p: !tile.pointer<i32> {tile.facts = #tile.facts<noalias>})
      attributes {tile.warps = 2 : i64} {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i32
    %n = tile.view_from_pointer %p extents [] strides [] : !tile.pointer<i32> -> !tile.view<1xi32, strides [1]>
    %before = tile.atomic_rmw addi %n[%c0], %one : !tile.view<1xi32, strides [1]>, [index], i32
    %u = tile.load %x[%c0] : !tile.view<?xf32> -> tensor<256xf32, #l>
    tile.store %u, %x[%c0] : tensor<256xf32, #l>, !tile.view<?xf32>
    tile.return
  }

  // CHECK-LABEL: tile.kernel @disjoint(
  // CHECK-NOT: tile.barrier
  // CHECK: tile.return
  tile.kernel @disjoint(%x: !tile.view<?xf32>,
                        %y: !tile.view<?xf32> {tile.facts = #tile.facts<noalias>})
      attributes {tile.warps = 2 : i64} {
    %c0 = arith.constant 0 : index
    %t = tile.load %x[%c0] : !tile.view<?xf32> -> tensor<256xf32, #l>
    tile.store %t, %y[%c0] : tensor<256xf32, #l>, !tile.view<?xf32>
    tile.return
  }

  // Each thread comes back to its own elements.
  // CHECK-LABEL: tile.kernel @in_place(
  // CHECK-NOT: tile.barrier
  // CHECK: tile.return
  tile.kernel @in_place(%x: !tile.view<?xf32>) attributes {tile.warps = 2 : i64} {
    %c0 = arith.constant 0 : index
    %t = tile.load %x[%c0] : !tile.view<?xf32> -> tensor<256xf32, #l>
    tile.store %t, %x[%c0] : tensor<256xf32, #l>, !tile.view<?xf32>
    tile.return
  }

  // CHECK-LABEL: tile.kernel @apart(
  // CHECK-NOT: tile.barrier
  // CHECK: tile.return
  tile.kernel @apart(%x: !tile.view<?xf32>, %o: index) attributes {tile.warps = 2 : i64} {
    %c256 = arith.constant 256 : index
    %p = arith.addi %o, %c256 : index
    %t = tile.load %x[%o] : !tile.view<?xf32> -> tensor<256xf32, #l>
    tile.store %t, %x[%p] : tensor<256xf32, #l>, !tile.view<?xf32>
    tile.return
  }

  // A turn's tile lies behind those of the turns before.
  // CHECK-LABEL: tile.kernel @turns(
  // CHECK-NOT: tile.barrier
  // CHECK: tile.return
  tile.kernel @turns(%x: !tile.view<?xf32>, %n: index) attributes {tile.warps = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c256 = arith.constant 256 : index
    scf.for %i = %c0 to %n step %c1 {
      %o = arith.muli %i, %c256 : index
      %t = tile.load %x[%o] : !tile.view<?xf32> -> tensor<256xf32, #l>
      tile.store %t, %x[%o] : tensor<256xf32, #l>, !tile.view<?xf32>
    }
    tile.return
  }

  // CHECK-LABEL: tile.kernel @sums(
  // CHECK-NOT: tile.barrier
  // CHECK: tile.return
  tile.kernel @sums(%x: !tile.view<?xi32>) attributes {tile.warps = 2 : i64} {
    %i = tile.iota 0 : tensor<256xi32, #l>
    %v = arith.constant dense<1> : tensor<256xi32, #l>
    tile.atomic_rmw addi %x[%i], %v order = relaxed : !tile.view<?xi32>, [tensor<256xi32, #l>], tensor<256xi32, #l>
    tile.atomic_rmw addi %x[%i], %v order = relaxed : !tile.view<?xi32>, [tensor<256xi32, #l>], tensor<256xi32, #l>
    tile.return
  }

  // CHECK-LABEL: tile.kernel @shifted
  // CHECK: tile.load
  // CHECK: tile.barrier global
  // CHECK: tile.store
  tile.kernel @shifted(%x: !tile.view<?xf32>, %o: index) attributes {tile.warps = 2 : i64} {
    %c255 = arith.constant 255 : index
    %p = arith.addi %o, %c255 : index
    %t = tile.load %x[%o] : !tile.view<?xf32> -> tensor<256xf32, #l>
    tile.store %t, %x[%p] : tensor<256xf32, #l>, !tile.view<?xf32>
    tile.return
  }

  // Several threads read an element, one of them writes it.
  // CHECK-LABEL: tile.kernel @repeated
  // CHECK: tile.load
  // CHECK: tile.barrier global
  // CHECK: tile.store
  tile.kernel @repeated(%x: !tile.view<?xf32>) attributes {tile.warps = 2 : i64} {
    %c0 = arith.constant 0 : index
    %t = tile.load %x[%c0] : !tile.view<?xf32> -> tensor<32xf32, #r>
    tile.store %t, %x[%c0] : tensor<32xf32, #r>, !tile.view<?xf32>
    tile.return
  }

  // The tiles of two turns overlap: before the load, for what the last turn stored, and before the
  // store. A load alone needs none, and what comes after the loop meets what it stored.
  // CHECK-LABEL: tile.kernel @overlapping_turns
  // CHECK: scf.for
  // CHECK: tile.barrier global
  // CHECK: tile.load
  // CHECK: tile.barrier global
  // CHECK: tile.store
  // CHECK: tile.barrier global
  // CHECK: tile.load
  // CHECK-NOT: tile.barrier
  tile.kernel @overlapping_turns(%x: !tile.view<?xf32>, %n: index,
                                 %y: !tile.view<?xf32> {tile.facts = #tile.facts<noalias>})
      attributes {tile.warps = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    scf.for %i = %c0 to %n step %c1 {
      %o = arith.muli %i, %c128 : index
      %p = arith.addi %o, %c128 : index
      %t = tile.load %x[%o] : !tile.view<?xf32> -> tensor<256xf32, #l>
      tile.store %t, %x[%p] : tensor<256xf32, #l>, !tile.view<?xf32>
    }
    %u = tile.load %x[%c0] : !tile.view<?xf32> -> tensor<256xf32, #l>
    tile.store %u, %y[%c0] : tensor<256xf32, #l>, !tile.view<?xf32>
    tile.return
  }

  // The same tile of a view that each turn makes anew is another one.
  // CHECK-LABEL: tile.kernel @moving_part
  // CHECK: scf.for
  // CHECK: tile.barrier global
  // CHECK: tile.load
  // CHECK: tile.store
  tile.kernel @moving_part(%x: !tile.view<?xf32>, %n: index) attributes {tile.warps = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      %v = tile.subview %x at %i extents [%n] strides [] : !tile.view<?xf32> -> !tile.view<?xf32>
      %t = tile.load %v[%c0] : !tile.view<?xf32> -> tensor<256xf32, #l>
      tile.store %t, %v[%c0] : tensor<256xf32, #l>, !tile.view<?xf32>
    }
    tile.return
  }

  // Parts of views that do not overlap do not either.
  // CHECK-LABEL: tile.kernel @parts_of_two
  // CHECK-NOT: tile.barrier
  // CHECK: tile.return
  tile.kernel @parts_of_two(%x: !tile.view<?xf32>, %n: index,
                            %y: !tile.view<?xf32> {tile.facts = #tile.facts<noalias>})
      attributes {tile.warps = 2 : i64} {
    %c0 = arith.constant 0 : index
    %v = tile.subview %x at %n extents [%n] strides [] : !tile.view<?xf32> -> !tile.view<?xf32>
    %w = tile.subview %y at %n extents [%n] strides [] : !tile.view<?xf32> -> !tile.view<?xf32>
    %t = tile.load %v[%c0] : !tile.view<?xf32> -> tensor<256xf32, #l>
    tile.store %t, %w[%c0] : tensor<256xf32, #l>, !tile.view<?xf32>
    tile.return
  }

  // Either branch may have been taken, or none.
  // CHECK-LABEL: tile.kernel @branches
  // CHECK: scf.if
  // CHECK-NOT: tile.barrier
  // CHECK: tile.store
  // CHECK: tile.barrier global
  // CHECK: tile.load
  tile.kernel @branches(%x: !tile.view<?xf32>, %is: i1,
                        %y: !tile.view<?xf32> {tile.facts = #tile.facts<noalias>})
      attributes {tile.warps = 2 : i64} {
    %v = arith.constant dense<1.0> : tensor<256xf32, #l>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.if %is {
      tile.store %v, %x[%c1] : tensor<256xf32, #l>, !tile.view<?xf32>
    }
    %u = tile.load %x[%c0] : !tile.view<?xf32> -> tensor<256xf32, #l>
    tile.store %u, %y[%c0] : tensor<256xf32, #l>, !tile.view<?xf32>
    tile.return
  }

  // What the condition of a loop stores is met where the loop ends, whatever its body waits for.
  // CHECK-LABEL: tile.kernel @conditions
  // CHECK: scf.while
  // CHECK: tile.store
  // CHECK: scf.condition
  // CHECK: tile.barrier global
  // CHECK: tile.load
  // CHECK: scf.yield
  // CHECK: tile.barrier global
  // CHECK: tile.load
  tile.kernel @conditions(%x: !tile.view<?xf32>, %n: index,
                          %y: !tile.view<?xf32> {tile.facts = #tile.facts<noalias>})
      attributes {tile.warps = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %v = arith.constant dense<1.0> : tensor<256xf32, #l>
    %end = scf.while (%i = %c0) : (index) -> index {
      tile.store %v, %x[%c1] : tensor<256xf32, #l>, !tile.view<?xf32>
      %more = arith.cmpi slt, %i, %n : index
      scf.condition(%more) %i : index
    } do {
    ^bb0(%i: index):
      %t = tile.load %x[%c0] : !tile.view<?xf32> -> tensor<256xf32, #l>
      tile.store %t, %y[%i] : tensor<256xf32, #l>, !tile.view<?xf32>
      %j = arith.addi %i, %c1 : index
      scf.yield %j : index
    }
    %u = tile.load %x[%c0] : !tile.view<?xf32> -> tensor<256xf32, #l>
    tile.store %u, %y[%c0] : tensor<256xf32, #l>, !tile.view<?xf32>
    tile.return
  }

  // Rows of packed elements that begin and end with a byte are apart as those of others are; of
  // rows whose width or distance may be odd that is not known.
  // CHECK-LABEL: tile.kernel @whole_bytes
  // CHECK-NOT: tile.barrier
  // CHECK-LABEL: tile.kernel @shared_bytes
  // CHECK: tile.barrier global
  tile.kernel @whole_bytes(%x: !tile.view<?x?xi4> {tile.facts = #tile.facts<strides = [16, 0], extents = [0, 16]>}, %n: index)
      attributes {tile.warps = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %v = arith.constant dense<1> : tensor<1x256xi4, #row>
    scf.for %i = %c0 to %n step %c1 {
      tile.store %v, %x[%i, %c0] : tensor<1x256xi4, #row>, !tile.view<?x?xi4>
    }
    tile.return
  }

  tile.kernel @shared_bytes(%x: !tile.view<?x?xi4> {tile.facts = #tile.facts<strides = [16, 0]>}, %n: index)
      attributes {tile.warps = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %v = arith.constant dense<1> : tensor<1x256xi4, #row>
    scf.for %i = %c0 to %n step %c1 {
      tile.store %v, %x[%i, %c0] : tensor<1x256xi4, #row>, !tile.view<?x?xi4>
    }
    tile.return
  }

  // A barrier that stands there already orders accesses too.
  // CHECK-LABEL: tile.kernel @met_already
  // CHECK: tile.load
  // CHECK-NEXT: tile.barrier global
  // CHECK-NEXT: tile.store
  tile.kernel @met_already(%x: !tile.view<?xf32>, %y: !tile.view<?xf32>)
      attributes {tile.warps = 2 : i64} {
    %c0 = arith.constant 0 : index
    %t = tile.load %x[%c0] : !tile.view<?xf32> -> tensor<256xf32, #l>
    tile.barrier
    tile.store %t, %y[%c0] : tensor<256xf32, #l>, !tile.view<?xf32>
    tile.return
  }

  // Offsets are compared term by term.
  // CHECK-LABEL: tile.kernel @sums_of_values
  // CHECK-NOT: tile.barrier
  // CHECK: tile.return
  tile.kernel @sums_of_values(%x: !tile.view<?xf32>, %o: index, %p: index)
      attributes {tile.warps = 2 : i64} {
    %c256 = arith.constant 256 : index
    %there = arith.addi %o, %p : index
    %far = arith.addi %o, %c256 : index
    %here = arith.addi %p, %far : index
    %t = tile.load %x[%there] : !tile.view<?xf32> -> tensor<256xf32, #l>
    tile.store %t, %x[%here] : tensor<256xf32, #l>, !tile.view<?xf32>
    tile.return
  }

  // Programs that one runs after the other have no order.
  // CHECK-LABEL: tile.kernel @programs
  // CHECK: scf.for
  // CHECK-NEXT: tile.load
  // CHECK-NEXT: tile.barrier global
  // CHECK-NEXT: tile.store
  // CHECK-NEXT: }{{$}}
  tile.kernel @programs(%x: !tile.view<?xf32>, %y: !tile.view<?xf32>, %n: index)
      attributes {tile.warps = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c256 = arith.constant 256 : index
    scf.for %i = %c0 to %n step %c256 {
      %t = tile.load %x[%i] : !tile.view<?xf32> -> tensor<256xf32, #l>
      tile.store %t, %y[%i] : tensor<256xf32, #l>, !tile.view<?xf32>
    } {tile.programs}
    tile.return
  }

  // What is done at unknown places meets everything, and what the system sees of it.
  // CHECK-LABEL: tile.kernel @foreign
  // CHECK: tile.load
  // CHECK-NEXT: tile.barrier global
  // CHECK-NEXT: tile.inline_asm
  // CHECK-NEXT: tile.barrier global
  // CHECK-NEXT: tile.atomic_rmw
  // CHECK-NEXT: tile.barrier global
  // CHECK-NEXT: tile.atomic_rmw
  tile.kernel @foreign(%x: !tile.view<?xi32>) attributes {tile.warps = 2 : i64} {
    %i = tile.iota 0 : tensor<256xi32, #l>
    %c0 = arith.constant 0 : index
    %v = tile.load %x[%c0] : !tile.view<?xi32> -> tensor<256xi32, #l>
    %w = tile.inline_asm "mov.u32 $0, $1;" "=r,r" (%v) : (tensor<256xi32, #l>) -> tensor<256xi32, #l>
    tile.atomic_rmw addi %x[%i], %w order = relaxed : !tile.view<?xi32>, [tensor<256xi32, #l>], tensor<256xi32, #l>
    tile.atomic_rmw maxs %x[%i], %w order = relaxed : !tile.view<?xi32>, [tensor<256xi32, #l>], tensor<256xi32, #l>
    tile.return
  }
}
