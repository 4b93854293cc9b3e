// RUN: tile-opt %s --tile-order-shared --tile-lower-to-threads --canonicalize --cse | FileCheck %s

#l = #tile.layout<register = [[0,1],[4,0]], lane = [[0,2],[0,4],[0,8],[1,0],[2,0]], warp = [[0,16]]>
#s = #tile.layout<register = [[1],[2]], lane = [[4],[8],[16],[0],[0]], warp = [[0]]>
#w = #tile.layout<register = [], lane = [[1],[2],[4],[8],[16]], warp = [[32]]>
#n = #tile.layout<register = [], lane = [[],[],[],[],[]], warp = [[]]>
#e = #tile.layout<register = [[1],[2],[4]], lane = [[8],[16],[32],[64],[128]], warp = []>
#e0 = #tile.layout<register = [], lane = [[],[],[],[],[]], warp = []>
// The last row bit stands in bit 7 of an offset and turns bit 1 over.
#b = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[1,0],[2,0],[4,2]]>
#facts = #tile.facts<pointer = 16, strides = [8, 4], extents = [0, 2]>

module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  // A view is a pointer, its unknown extents and its unknown strides. Two elements at a time,
  // since the facts prove no more; what is outside reads zeros that the module holds.
  // CHECK: llvm.mlir.global internal constant @kiln_zeros(dense<0> : tensor<16xi8>) {addr_space = 1 : i32, alignment = 16 : i64}
  // CHECK-LABEL: func.func @load(
  // CHECK-SAME: %[[P:[a-z0-9]+]]: !llvm.ptr<1>, %[[M:[a-z0-9]+]]: i64, %[[N:[a-z0-9]+]]: i64, %[[LD:[a-z0-9]+]]: i64,
  // CHECK-SAME: %[[FLAG:[a-z0-9]+]]: i8, %[[O:[a-z0-9]+]]: i64) attributes {tile.shared_bytes = 0 : i64, tile.threads = 64 : i64}
  // CHECK: gpu.thread_id x
  // CHECK: %[[INROW:.*]] = arith.cmpi ult
  // CHECK: %[[INCOL:.*]] = arith.cmpi ult
  // CHECK: %[[IN:.*]] = arith.andi %[[INROW]], %[[INCOL]] : i1
  // CHECK: %[[AT:.*]] = llvm.getelementptr %[[P]][
  // CHECK: %[[SAFE:.*]] = arith.select %[[IN]], %[[AT]], %{{.*}} : !llvm.ptr<1>
  // CHECK: llvm.load %[[SAFE]] {alignment = 8 : i64} : !llvm.ptr<1> -> vector<2xf32>
  // CHECK: llvm.load {{.*}} -> vector<2xf32>
  // CHECK-NOT: llvm.load
  // CHECK: %[[V:.*]] = vector.from_elements {{.*}} : vector<4xf32>
  // CHECK: %[[R:.*]] = arith.addf %[[V]], %[[V]] : vector<4xf32>
  // CHECK: scf.if
  // CHECK: llvm.store {{.*}} {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<1>
  tile.kernel @load(%x: !tile.view<?x?xf32> {tile.facts = #facts}, %flag: i1, %o: index)
      attributes {tile.warps = 2 : i64} {
    %c0 = arith.constant 0 : index
    %t = tile.load %x[%c0, %c0] : !tile.view<?x?xf32> -> tensor<8x32xf32, #l>
    %u = arith.addf %t, %t : tensor<8x32xf32, #l>
    tile.store %u, %x[%c0, %c0] : tensor<8x32xf32, #l>, !tile.view<?x?xf32>
    tile.return
  }

  // Threads that hold the same element leave the store to one of them.
  // CHECK-LABEL: func.func @repeated
  // CHECK: %[[REST:.*]] = arith.andi %{{.*}}, %c24_i32 : i32
  // CHECK: %[[LANE:.*]] = arith.cmpi eq, %[[REST]], %c0_i32 : i32
  // CHECK: %[[WARP:.*]] = arith.cmpi eq, %{{.*}}, %c0_i32 : i32
  // CHECK: arith.andi %[[LANE]], %[[WARP]] : i1
  tile.kernel @repeated(%x: !tile.view<?xi32>) attributes {tile.warps = 2 : i64} {
    %c0 = arith.constant 0 : index
    %t = tile.iota 0 : tensor<32xi32, #s>
    tile.store %t, %x[%c0] : tensor<32xi32, #s>, !tile.view<?xi32>
    tile.return
  }

  // Lanes fold by butterflies; the two warps meet in memory, where nobody was before.
  // CHECK-LABEL: func.func @reduce
  // CHECK-COUNT-5: gpu.shuffle xor
  // CHECK-NOT: gpu.barrier
  // CHECK: llvm.store {{.*}} : i32, !llvm.ptr<3>
  // CHECK: gpu.barrier
  // CHECK: llvm.load {{.*}} : !llvm.ptr<3> -> vector<2xi32>
  // CHECK: arith.addf
  tile.kernel @reduce(%x: !tile.view<?xf32>, %y: !tile.view<?xf32>)
      attributes {tile.warps = 2 : i64, tile.shared_bytes = 16 : i64} {
    %c0 = arith.constant 0 : index
    %t = tile.load %x[%c0] : !tile.view<?xf32> -> tensor<64xf32, #w>
    %s = tile.reduce %t axis = 0 {tile.shared_offset = 0 : i64}
       : tensor<64xf32, #w> -> tensor<f32, #n> {
    ^bb0(%left: f32, %right: f32):
      %a = arith.addf %left, %right : f32
      tile.yield %a : f32
    }
    %v = tile.to_scalar %s : tensor<f32, #n>
    %b = tile.splat %v : tensor<64xf32, #w>
    tile.store %b, %y[%c0] : tensor<64xf32, #w>, !tile.view<?xf32>
    tile.return
  }

  // Halves of a thread's registers meet, so that elements of 16 bits stay two to a word.
  // CHECK-LABEL: func.func @greatest
  // CHECK: %[[BITS:.*]] = arith.andi {{.*}} : vector<8xi16>
  // CHECK: %[[SIZE:.*]] = arith.bitcast %[[BITS]] : vector<8xi16> to vector<8xbf16>
  // CHECK: %[[LOW:.*]] = vector.shuffle %[[SIZE]], {{.*}} [0, 1, 2, 3]
  // CHECK: %[[HIGH:.*]] = vector.shuffle %[[SIZE]], {{.*}} [4, 5, 6, 7]
  // CHECK: %[[FOUR:.*]] = arith.maximumf %[[LOW]], %[[HIGH]] : vector<4xbf16>
  // CHECK: arith.maximumf {{.*}} : vector<2xbf16>
  // CHECK: arith.maximumf {{.*}} : vector<1xbf16>
  // CHECK-COUNT-5: gpu.shuffle xor
  tile.kernel @greatest(%x: !tile.view<?xbf16>, %y: !tile.view<?xbf16>)
      attributes {tile.warps = 1 : i64} {
    %c0 = arith.constant 0 : index
    %t = tile.load %x[%c0] : !tile.view<?xbf16> -> tensor<256xbf16, #e>
    %a = math.absf %t : tensor<256xbf16, #e>
    %s = tile.reduce %a axis = 0 : tensor<256xbf16, #e> -> tensor<bf16, #e0> {
    ^bb0(%left: bf16, %right: bf16):
      %m = arith.maximumf %left, %right : bf16
      tile.yield %m : bf16
    }
    %v = tile.to_scalar %s : tensor<bf16, #e0>
    %b = tile.splat %v : tensor<256xbf16, #e>
    tile.store %b, %y[%c0] : tensor<256xbf16, #e>, !tile.view<?xbf16>
    tile.return
  }

  // Scalars of a byte and less come in a byte.
  // CHECK-LABEL: func.func @narrow_scalars
  // CHECK-SAME: %[[I:[a-z0-9]+]]: i8, %[[F:[a-z0-9]+]]: i8, %[[E:[a-z0-9]+]]: i8)
  // CHECK-DAG: arith.trunci %[[I]] : i8 to i4
  // CHECK-DAG: %[[RAW:.*]] = arith.trunci %[[F]] : i8 to i6
  // CHECK-DAG: arith.bitcast %[[RAW]] : i6 to f6E2M3FN
  // CHECK-DAG: arith.bitcast %[[E]] : i8 to f8E5M2
  tile.kernel @narrow_scalars(%x: !tile.view<?xi8>, %y: !tile.view<?xf32>, %i: i4,
                              %f: f6E2M3FN, %e: f8E5M2) attributes {tile.warps = 2 : i64} {
    %c0 = arith.constant 0 : index
    %j = arith.extsi %i : i4 to i8
    %t = tile.splat %j : tensor<64xi8, #w>
    tile.store %t, %x[%c0] : tensor<64xi8, #w>, !tile.view<?xi8>
    %g = arith.extf %f : f6E2M3FN to f32
    %h = arith.extf %e : f8E5M2 to f32
    %sum = arith.addf %g, %h : f32
    %u = tile.splat %sum : tensor<64xf32, #w>
    tile.store %u, %y[%c0] : tensor<64xf32, #w>, !tile.view<?xf32>
    tile.return
  }

  // What no thread's offset has of a register's is a constant beside the address, and only the rest
  // turns bits of it over.
  // CHECK-LABEL: func.func @swizzled
  // CHECK: %[[FIRST:.*]] = llvm.getelementptr %[[BASE:[a-z0-9]+]][%{{.*}}] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  // CHECK: llvm.store %{{.*}}, %[[FIRST]] {alignment = 8 : i64} : vector<2xi32>, !llvm.ptr<3>
  // CHECK: %[[TURNED:.*]] = arith.xori %{{.*}}, %c2 : index
  // CHECK: %[[AT:.*]] = arith.index_cast %[[TURNED]] : index to i32
  // CHECK: %[[NEAR:.*]] = llvm.getelementptr %[[BASE]][%[[AT]]]
  // CHECK: %[[NEXT:.*]] = llvm.getelementptr %[[NEAR]][128] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i32
  // CHECK: llvm.store %{{.*}}, %[[NEXT]]
  tile.kernel @swizzled(%x: !tile.view<?x?xf32> {tile.facts = #facts})
      attributes {tile.warps = 2 : i64} {
    %c0 = arith.constant 0 : index
    %t = tile.load %x[%c0, %c0] : !tile.view<?x?xf32> -> tensor<8x32xf32, #l>
    %m = tile.alloc {tile.shared_offset = 0 : i64} : !tile.buffer<8x32xf32, #b>
    tile.write %t, %m : tensor<8x32xf32, #l>, !tile.buffer<8x32xf32, #b>
    tile.return
  }

  // Of two lanes that exchange their sums each would merge its own one with the product before it,
  // and round otherwise than its partner. A thread's own elements may be merged with anything.
  // CHECK-LABEL: func.func @fast_sum
  // CHECK-COUNT-7: arith.addf {{.*}} fastmath<fast> : f32
  // CHECK-COUNT-5: arith.addf {{.*}} fastmath<nnan,ninf,nsz,arcp,afn> : f32
  tile.kernel @fast_sum(%x: !tile.view<?xf32>, %y: !tile.view<?xf32>)
      attributes {tile.warps = 1 : i64} {
    %c0 = arith.constant 0 : index
    %t = tile.load %x[%c0] : !tile.view<?xf32> -> tensor<256xf32, #e>
    %q = arith.mulf %t, %t fastmath<fast> : tensor<256xf32, #e>
    %s = tile.reduce %q axis = 0 : tensor<256xf32, #e> -> tensor<f32, #e0> {
    ^bb0(%left: f32, %right: f32):
      %m = arith.addf %left, %right fastmath<fast> : f32
      tile.yield %m : f32
    }
    %v = tile.to_scalar %s : tensor<f32, #e0>
    %b = tile.splat %v : tensor<256xf32, #e>
    tile.store %b, %y[%c0] : tensor<256xf32, #e>, !tile.view<?xf32>
    tile.return
  }
}
