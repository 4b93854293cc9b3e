// RUN: tile-opt %s --tile-place-conversions | FileCheck %s

#a = #tile.layout<register = [[0,1],[0,2]], lane = [[0,4],[1,0],[2,0],[4,0],[8,0]], warp = [[16,0]]>
#b = #tile.layout<register = [[0,1],[0,2]], lane = [[0,4],[1,0],[2,0],[4,0],[16,0]], warp = [[8,0]]>
#ca = #tile.layout<register = [], lane = [[0,0],[1,0],[2,0],[4,0],[8,0]], warp = [[16,0]]>
#r = #tile.layout<register = [], lane = [[1],[2],[4],[0],[0]], warp = [[0]]>
#s = #tile.layout<register = [], lane = [[4],[2],[1],[0],[0]], warp = [[0]]>
#h = #tile.layout<register = [], lane = [[1],[2],[4],[8],[16]], warp = [[0]]>
#p = #tile.layout<register = [[0,1]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[0,0]]>
#q = #tile.layout<register = [[0,1]], lane = [[16,0],[8,0],[4,0],[2,0],[1,0]], warp = [[0,0]]>

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  // CHECK-DAG: #[[A:.*]] = #tile.layout<register = {{\[}}[0,1],[0,2]], lane = {{\[}}[0,4],[1,0],[2,0],[4,0],[8,0]], warp = {{\[}}[16,0]]>
  // CHECK-DAG: #[[B:.*]] = #tile.layout<register = {{\[}}[0,1],[0,2]], lane = {{\[}}[0,4],[1,0],[2,0],[4,0],[16,0]], warp = {{\[}}[8,0]]>

  // What a launch gives lies as threads have left it, and any of them may read it.
  // CHECK-LABEL: tile.kernel @workspace
  tile.kernel @workspace(%x: !tile.view<?x?xf32>, %n: index,
                         %w: !tile.pointer<f32> {tile.workspace = 1024 : i64}) grid {
    tile.grid %n
  } {
    %c0 = arith.constant 0 : index
    %p = tile.program_id x
    // CHECK: %[[V:.*]] = tile.view_from_pointer
    %v = tile.view_from_pointer %w extents [%n] strides [] : !tile.pointer<f32> -> !tile.view<?x8xf32, strides [8, 1]>
    // CHECK-NEXT: %[[T:.*]] = tile.load %[[V]]{{.*}} -> tensor<32x8xf32, #[[B]]>
    // CHECK-NEXT: tile.store %[[T]]
    %t = tile.load %v[%p, %c0] : !tile.view<?x8xf32, strides [8, 1]> -> tensor<32x8xf32, #a>
    %0 = tile.convert_layout %t : tensor<32x8xf32, #a> -> tensor<32x8xf32, #b>
    tile.store %0, %x[%p, %c0] : tensor<32x8xf32, #b>, !tile.view<?x?xf32>
    tile.return
  }

  // There and back is nowhere; a chain is one; the same twice is one.
  // CHECK-LABEL: tile.kernel @chains
  tile.kernel @chains(%x: !tile.view<?x?xf32>, %i: index) {
    // CHECK: %[[T:.*]] = tile.load
    %t = tile.load %x[%i, %i] {tile.layout = #a} : !tile.view<?x?xf32> -> tensor<32x8xf32, #a>
    %0 = tile.convert_layout %t : tensor<32x8xf32, #a> -> tensor<32x8xf32, #b>
    %1 = tile.convert_layout %0 : tensor<32x8xf32, #b> -> tensor<32x8xf32, #a>
    // CHECK-NEXT: %[[C:.*]] = tile.convert_layout %[[T]] : {{.*}} -> tensor<32x8xf32, #[[B]]>
    // CHECK-NEXT: tile.store %[[T]]
    tile.store %1, %x[%i, %i] : tensor<32x8xf32, #a>, !tile.view<?x?xf32>
    // CHECK-NEXT: arith.addf %[[C]], %[[C]]
    %2 = tile.convert_layout %1 : tensor<32x8xf32, #a> -> tensor<32x8xf32, #b>
    %3 = arith.addf %0, %2 : tensor<32x8xf32, #b>
    tile.store %3, %x[%i, %i] : tensor<32x8xf32, #b>, !tile.view<?x?xf32>
    tile.return
  }

  // Made again: constants, positions, splats, and arithmetic on nothing else.
  // CHECK-LABEL: tile.kernel @remade
  tile.kernel @remade(%x: !tile.view<?x?xi32>, %i: index, %v: i32) {
    // CHECK-NOT: tile.convert_layout
    // CHECK: arith.cmpi slt, {{.*}} : tensor<32x8xi32, #[[B]]>
    // CHECK: arith.select {{.*}} : tensor<32x8xi1, #[[B]]>, tensor<32x8xi32, #[[B]]>
    %at = tile.iota 1 : tensor<32x8xi32, #a>
    %bound = tile.splat %v : tensor<32x8xi32, #a>
    %below = arith.cmpi slt, %at, %bound : tensor<32x8xi32, #a>
    %zero = arith.constant dense<0> : tensor<32x8xi32, #b>
    %one = arith.constant dense<1> : tensor<32x8xi32, #a>
    %mask = tile.convert_layout %below : tensor<32x8xi1, #a> -> tensor<32x8xi1, #b>
    %ones = tile.convert_layout %one : tensor<32x8xi32, #a> -> tensor<32x8xi32, #b>
    %r = arith.select %mask, %ones, %zero : tensor<32x8xi1, #b>, tensor<32x8xi32, #b>
    tile.store %r, %x[%i, %i] : tensor<32x8xi32, #b>, !tile.view<?x?xi32>
    tile.return
  }

  // In front of what widens or repeats, behind what narrows.
  // What a mask takes is counted by its elements: the numbers of rows and columns are few.
  // CHECK-LABEL: tile.kernel @mask
  // CHECK-NOT: tile.convert_layout
  // CHECK: arith.andi {{.*}} : tensor<32x8xi1, #[[B]]>
  // CHECK-NEXT: tile.print
  tile.kernel @mask(%i: i32, %v: i32) {
    %n = tile.iota 0 : tensor<32x1xi32, #ca>
    %s = tile.splat %i : tensor<32x1xi32, #ca>
    %0 = arith.addi %n, %s : tensor<32x1xi32, #ca>
    %1 = arith.muli %0, %s : tensor<32x1xi32, #ca>
    %2 = arith.subi %1, %s : tensor<32x1xi32, #ca>
    %3 = arith.addi %2, %s : tensor<32x1xi32, #ca>
    %4 = arith.muli %3, %s : tensor<32x1xi32, #ca>
    %5 = arith.subi %4, %s : tensor<32x1xi32, #ca>
    %6 = arith.muli %5, %s : tensor<32x1xi32, #ca>
    %7 = arith.cmpi slt, %6, %s : tensor<32x1xi32, #ca>
    %8 = tile.broadcast %7 : tensor<32x1xi1, #ca> -> tensor<32x8xi1, #a>
    %c = tile.iota 1 : tensor<32x8xi32, #a>
    %w = tile.splat %v : tensor<32x8xi32, #a>
    %9 = arith.cmpi slt, %c, %w : tensor<32x8xi32, #a>
    %10 = arith.andi %8, %9 : tensor<32x8xi1, #a>
    %11 = tile.convert_layout %10 : tensor<32x8xi1, #a> -> tensor<32x8xi1, #b>
    tile.print "mask" (%11) : tensor<32x8xi1, #b>
    tile.print "rows" (%7) : tensor<32x1xi1, #ca>
    tile.print "columns" (%9) : tensor<32x8xi1, #a>
    tile.return
  }

  // CHECK-LABEL: tile.kernel @narrow
  tile.kernel @narrow(%x: !tile.view<?x?xf16>, %i: index) {
    // CHECK: %[[T:.*]] = tile.load
    // CHECK: %[[C:.*]] = tile.convert_layout %[[T]] : tensor<32x8xf16
    // CHECK: arith.extf %[[C]]
    %t = tile.load %x[%i, %i] {tile.layout = #a} : !tile.view<?x?xf16> -> tensor<32x8xf16, #a>
    %w = arith.extf %t : tensor<32x8xf16, #a> to tensor<32x8xf32, #a>
    %0 = tile.convert_layout %w : tensor<32x8xf32, #a> -> tensor<32x8xf32, #b>
    %e = math.sqrt %0 : tensor<32x8xf32, #b>
    // CHECK: %[[N:.*]] = arith.truncf
    // CHECK: tile.convert_layout %[[N]] : tensor<32x8xf16
    %1 = tile.convert_layout %e : tensor<32x8xf32, #b> -> tensor<32x8xf32, #a>
    %n = arith.truncf %1 : tensor<32x8xf32, #a> to tensor<32x8xf16, #a>
    tile.store %n, %x[%i, %i] : tensor<32x8xf16, #a>, !tile.view<?x?xf16>
    // CHECK: %[[R:.*]] = tile.load {{.*}} -> tensor<32x1xf16
    // CHECK: tile.broadcast %[[R]] : {{.*}} -> tensor<32x8xf16, #[[B]]>
    %c = tile.load %x[%i, %i] : !tile.view<?x?xf16> -> tensor<32x1xf16, #ca>
    %d = tile.broadcast %c : tensor<32x1xf16, #ca> -> tensor<32x8xf16, #a>
    %2 = tile.convert_layout %d : tensor<32x8xf16, #a> -> tensor<32x8xf16, #b>
    tile.store %2, %x[%i, %i] : tensor<32x8xf16, #b>, !tile.view<?x?xf16>
    tile.return
  }

  // What a loop does not make is converted before it. What is pinned stays where it is.
  // CHECK-LABEL: tile.kernel @hoisted
  tile.kernel @hoisted(%x: !tile.view<?x?xf32>, %i: index) {
    %c1 = arith.constant 1 : index
    // CHECK: %[[T:.*]] = tile.load
    // CHECK-NEXT: %[[C:.*]] = tile.convert_layout %[[T]]
    // CHECK-NEXT: scf.for
    // CHECK-NEXT: %[[P:.*]] = tile.convert_layout %[[T]] {how = #tile.conversion<registers>}
    // CHECK-NEXT: tile.store %[[P]]
    // CHECK-NEXT: tile.store %[[C]]
    %t = tile.load %x[%i, %i] {tile.layout = #a} : !tile.view<?x?xf32> -> tensor<32x8xf32, #a>
    scf.for %k = %c1 to %i step %c1 {
      %0 = tile.convert_layout %t {how = #tile.conversion<registers>} : tensor<32x8xf32, #a> -> tensor<32x8xf32, #a>
      tile.store %0, %x[%k, %i] : tensor<32x8xf32, #a>, !tile.view<?x?xf32>
      %1 = tile.convert_layout %t : tensor<32x8xf32, #a> -> tensor<32x8xf32, #b>
      tile.store %1, %x[%k, %i] : tensor<32x8xf32, #b>, !tile.view<?x?xf32>
    }
    tile.return
  }

  // Few elements are loaded by whoever wants them.
  // CHECK-LABEL: tile.kernel @small
  tile.kernel @small(%x: !tile.view<?xf32>, %i: index) {
    // CHECK: tile.load {{.*}} -> tensor<8xf32, #[[S:.*]]>
    // CHECK-NEXT: tile.store
    %t = tile.load %x[%i] : !tile.view<?xf32> -> tensor<8xf32, #r>
    %0 = tile.convert_layout %t : tensor<8xf32, #r> -> tensor<8xf32, #s>
    tile.store %0, %x[%i] : tensor<8xf32, #s>, !tile.view<?xf32>
    tile.return
  }

  // A join is not made again, but it moves with all that it is made of, as long as nobody else
  // wants any of that where it was.
  // CHECK-LABEL: tile.kernel @moved
  tile.kernel @moved(%x: !tile.view<?x?xi32>, %y: !tile.view<?xi32>, %i: index) {
    // CHECK: %[[I:.*]] = tile.iota 0 : tensor<32xi32, #[[H:.*]]>
    // CHECK: %[[D:.*]] = arith.addi %[[I]], %[[I]] : tensor<32xi32, #[[H]]>
    // CHECK-NEXT: %[[J:.*]] = tile.join %[[I]], %[[D]] : tensor<32xi32, #[[H]]>
    // CHECK-NEXT: tile.store %[[J]]
    %0 = tile.iota 0 : tensor<32xi32, #h>
    %1 = arith.addi %0, %0 : tensor<32xi32, #h>
    %2 = tile.join %0, %1 : tensor<32xi32, #h> -> tensor<32x2xi32, #p>
    %3 = tile.convert_layout %2 : tensor<32x2xi32, #p> -> tensor<32x2xi32, #q>
    tile.store %3, %x[%i, %i] : tensor<32x2xi32, #q>, !tile.view<?x?xi32>
    // CHECK: %[[K:.*]] = tile.join
    // CHECK-NEXT: tile.convert_layout %[[K]]
    %4 = arith.muli %0, %0 : tensor<32xi32, #h>
    %5 = tile.join %0, %4 : tensor<32xi32, #h> -> tensor<32x2xi32, #p>
    %6 = tile.convert_layout %5 : tensor<32x2xi32, #p> -> tensor<32x2xi32, #q>
    tile.store %6, %x[%i, %i] : tensor<32x2xi32, #q>, !tile.view<?x?xi32>
    tile.store %4, %y[%i] : tensor<32xi32, #h>, !tile.view<?xi32>
    tile.return
  }

  // What the author has laid out stays so, however little it takes to make it otherwise.
  // CHECK-LABEL: tile.kernel @pinned
  tile.kernel @pinned(%x: !tile.view<?xi32>, %i: index) {
    // CHECK: %[[I:.*]] = tile.iota 0 : tensor<8xi32, #[[R:.*]]>
    // CHECK-NEXT: %[[C:.*]] = tile.convert_layout %[[I]]
    // CHECK-NEXT: tile.store %[[C]]
    %0 = tile.iota 0 {tile.layout = #r} : tensor<8xi32, #r>
    %1 = tile.convert_layout %0 : tensor<8xi32, #r> -> tensor<8xi32, #s>
    tile.store %1, %x[%i] : tensor<8xi32, #s>, !tile.view<?xi32>
    // CHECK: %[[T:.*]] = tile.load %{{.*}} -> tensor<8xi32, #[[R]]>
    // CHECK-NEXT: tile.convert_layout %[[T]]
    %t = tile.load %x[%i] {tile.layout = #r} : !tile.view<?xi32> -> tensor<8xi32, #r>
    %2 = tile.convert_layout %t : tensor<8xi32, #r> -> tensor<8xi32, #s>
    tile.store %2, %x[%i] : tensor<8xi32, #s>, !tile.view<?xi32>
    // CHECK: %[[S:.*]] = arith.addi %{{.*}}, %{{.*}} : tensor<8xi32, #[[R]]>
    // CHECK-NEXT: tile.convert_layout %[[S]]
    %3 = arith.addi %0, %0 {tile.layout = #r} : tensor<8xi32, #r>
    %4 = tile.convert_layout %3 : tensor<8xi32, #r> -> tensor<8xi32, #s>
    tile.store %4, %x[%i] : tensor<8xi32, #s>, !tile.view<?xi32>
    tile.return
  }
}
