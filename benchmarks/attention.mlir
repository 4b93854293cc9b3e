// Attention's forward pass in bf16, of heads of 128, for sm_90a, whose schedule is pinned as
// attributes; layouts follow from the atoms. A tile is 128 queries of one head; keys and values come
// 128 at a time. One thread of the role "load" has the tensor copy engine bring the queries once a
// tile, and keys and values into two rings of two slots; two groups of four warps have 64 queries
// each.
//
// Heads lie below one another: row `head * n + i` of each view is row i of a head. Where there are
// several, n must be a multiple of 128. With `causal` not 0, query i sees keys 0 to i alone.
//
// The loop over keys is a plain one. Stages overlap its trips: the products of weights and values are
// a trip behind those of queries and keys, start after them, and run while the next weights are
// computed. The loop is split where the mask begins; both parts use the same rings, which do not
// drain in between.
#copy = #nvptx.tma
#mma = #nvptx.wgmma<"m64n128k16", bf16, f32>

!view = !tile.view<?x?xbf16>
!sums = tensor<128x128xf32>
!weights = tensor<128x128xbf16>
!row = tensor<128xf32>

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// One number a row, beside each element of the row.
func.func private @spread(%x: !row) -> !sums {
  %y = tile.reshape %x : !row -> tensor<128x1xf32>
  %z = tile.broadcast %y : tensor<128x1xf32> -> !sums
  return %z : !sums
}

// Scores of keys that a query does not see count as minus infinity: it sees those below `limit`.
func.func private @mask(%s: !sums, %limit: tensor<128xi32>, %key: index) -> !sums {
  %at = arith.index_cast %key : index to i32
  %from = tile.splat %at : tensor<128xi32>
  %rest = arith.subi %limit, %from : tensor<128xi32>
  %end1 = tile.reshape %rest : tensor<128xi32> -> tensor<128x1xi32>
  %end = tile.broadcast %end1 : tensor<128x1xi32> -> tensor<128x128xi32>
  %column = tile.iota 1 : tensor<128x128xi32>
  %sees = arith.cmpi slt, %column, %end : tensor<128x128xi32>
  %never = arith.constant dense<0xFF800000> : !sums
  %masked = arith.select %sees, %s, %never : tensor<128x128xi1>, !sums
  return %masked : !sums
}

// Weights of scores, from the largest score so far; their sum; and by what earlier sums shrink. A
// score is a product of rows, over the root of 128, in powers of two.
func.func private @weigh(%s: !sums, %m: !row, %l: !row) -> (!weights, !row, !row, !row) {
  %c = arith.constant dense<0.12751743> : !sums
  %cr = arith.constant dense<0.12751743> : !row
  %sm = tile.reduce %s axis = 1 : !sums -> !row {
  ^bb0(%a: f32, %b: f32):
    %x = arith.maximumf %a, %b : f32
    tile.yield %x : f32
  }
  %most = arith.maximumf %m, %sm : !row
  %fall = arith.subf %m, %most : !row
  %fallc = arith.mulf %fall, %cr : !row
  %shrink = math.exp2 %fallc fastmath<afn> : !row
  %mostc = arith.mulf %most, %cr : !row
  %down = arith.negf %mostc : !row
  %downs = func.call @spread(%down) : (!row) -> !sums
  %exponent = math.fma %s, %c, %downs : !sums
  %p = math.exp2 %exponent fastmath<afn> : !sums
  %sum = tile.reduce %p axis = 1 : !sums -> !row {
  ^bb0(%a: f32, %b: f32):
    %x = arith.addf %a, %b : f32
    tile.yield %x : f32
  }
  %ls = arith.mulf %l, %shrink : !row
  %total = arith.addf %ls, %sum : !row
  %w = arith.truncf %p : !sums to !weights
  return %w, %most, %total, %shrink : !weights, !row, !row, !row
}

tile.kernel @attention(%q: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2]>},
                       %k: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2]>},
                       %v: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2]>},
                       %o: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [0, 8]>},
                       %n: index, %causal: index)
    attributes {tile.roles = [#tile.role<"load", warps = 4, registers = 24>,
                              #tile.role<"mma", warps = 4, copies = 2, registers = 240>],
                tile.persistent = #tile.persistent<programs = 132, group = 32>} grid {
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %rows = tile.dim %q, 0 : !view
  %tm = arith.ceildivui %n, %c128 : index
  %some = arith.maxui %n, %c1 : index
  %heads = arith.ceildivui %rows, %some : index
  tile.grid %tm, %heads
} {
  %x = tile.program_id x
  %y = tile.program_id y
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %head = arith.muli %y, %n : index
  %begin = arith.muli %x, %c128 : index
  %after = arith.addi %begin, %c128 : index
  %row = arith.addi %head, %begin : index
  // Some query of the tile sees keys below %last; every one sees those below %seen.
  %isCausal = arith.cmpi ne, %causal, %c0 : index
  %reach = arith.minui %after, %n : index
  %last = arith.select %isCausal, %reach, %n : index
  %seen = arith.select %isCausal, %begin, %n : index
  %blocks = arith.divui %seen, %c128 : index
  %open = arith.muli %blocks, %c128 : index
  // Each tile of queries has keys, which spares the loop a question whether it has trips.
  %c1 = arith.constant 1 : index
  %reached = arith.ceildivui %last, %c128 : index
  %ends = arith.maxsi %reached, %c1 : index
  %end = arith.muli %ends, %c128 : index
  // A query sees keys below its own place and one, or below n.
  %least = arith.select %isCausal, %c0, %n : index
  %least32 = arith.index_cast %least : index to i32
  %n32 = arith.index_cast %n : index to i32
  %c1_i32 = arith.constant 1 : i32
  %begin32 = arith.index_cast %begin : index to i32
  %next32 = arith.addi %begin32, %c1_i32 : i32
  %place = tile.iota 0 : tensor<128xi32>
  %nexts = tile.splat %next32 : tensor<128xi32>
  %leasts = tile.splat %least32 : tensor<128xi32>
  %ns = tile.splat %n32 : tensor<128xi32>
  %own = arith.addi %place, %nexts : tensor<128xi32>
  %atleast = arith.maxsi %own, %leasts : tensor<128xi32>
  %limit = arith.minsi %atleast, %ns : tensor<128xi32>

  %none = arith.constant dense<0.0> : !sums
  %low = arith.constant dense<0xFF800000> : !row
  %nothing = arith.constant dense<0.0> : !row
  %q0 = tile.load %q[%row, %c0] {atom = #copy, role = "load", ring = "queries"}
      : !view -> tensor<128x64xbf16>
  %q1 = tile.load %q[%row, %c64] {atom = #copy, role = "load", ring = "queries"}
      : !view -> tensor<128x64xbf16>
  %all:3 = scf.for %j = %c0 to %end step %c128
      iter_args(%acc = %none, %m = %low, %l = %nothing) -> (!sums, !row, !row) {
    %krow = arith.addi %head, %j : index
    %kt0 = tile.load %k[%krow, %c0] {atom = #copy, stage = 0, order = 0, role = "load", ring = "keys"}
        : !view -> tensor<128x64xbf16>
    %kt1 = tile.load %k[%krow, %c64] {atom = #copy, stage = 0, order = 1, role = "load", ring = "keys"}
        : !view -> tensor<128x64xbf16>
    %st0 = tile.dot %q0, %kt0, %none transpose_b {atom = #mma, stage = 0, order = 0, role = "mma", in_flight = 1}
        : tensor<128x64xbf16>, tensor<128x64xbf16> -> !sums
    %st1 = tile.dot %q1, %kt1, %st0 transpose_b {atom = #mma, stage = 0, order = 1, role = "mma", in_flight = 1}
        : tensor<128x64xbf16>, tensor<128x64xbf16> -> !sums
    %isOpen = arith.cmpi uge, %j, %open : index
    %masked = scf.if %isOpen -> !sums {
      %hidden = func.call @mask(%st1, %limit, %j) : (!sums, tensor<128xi32>, index) -> !sums
      scf.yield %hidden : !sums
    } else {
      scf.yield %st1 : !sums
    } {tile.stage = 0, tile.order = 3, tile.role = "mma", tile.split_loop}
    %next:4 = func.call @weigh(%masked, %m, %l) : (!sums, !row, !row) -> (!weights, !row, !row, !row)
    %shrink = func.call @spread(%next#3) : (!row) -> !sums
    %old = arith.mulf %acc, %shrink : !sums
    %vt = tile.load %v[%krow, %c0] {atom = #copy, stage = 0, order = 2, role = "load"}
        : !view -> tensor<128x128xbf16>
    %sum = tile.dot %next#0, %vt, %old {atom = #mma, stage = 1, order = 2, role = "mma", in_flight = 0}
        : !weights, tensor<128x128xbf16> -> !sums
    scf.yield %sum, %next#1, %next#2 : !sums, !row, !row
  } {tile.depth = 2}
  %one = arith.constant dense<1.0> : !row
  %share = arith.divf %one, %all#2 : !row
  %shares = func.call @spread(%share) : (!row) -> !sums
  %mean = arith.mulf %all#0, %shares : !sums
  %narrow = arith.truncf %mean : !sums to !weights
  tile.store %narrow, %o[%row, %c0] {atom = #copy, role = "mma", in_flight = 1}
    : !weights, !view
  tile.return
}
}
