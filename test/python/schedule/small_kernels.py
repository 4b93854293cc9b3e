"""Small kernels that pin what no kernel of benchmarks does."""

# A product whose operand is masked behind the end of K, and loads of rows that end in the view.
MASKED = """
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  tile.kernel @masked(%a: !tile.view<?x?xf16>, %c: !tile.view<?x?xf32>, %n: index)
      attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %none = arith.constant dense<0.0> : tensor<64x64xf16>
    %sum = scf.for %k = %c0 to %n step %c64 iter_args(%s = %zero) -> tensor<64x64xf32> {
      %x = tile.load %a[%c0, %k] : !tile.view<?x?xf16> -> tensor<64x64xf16>
      %from = tile.splat %k : tensor<64x64xindex>
      %column = tile.iota 1 : tensor<64x64xindex>
      %at = arith.addi %from, %column : tensor<64x64xindex>
      %ns = tile.splat %n : tensor<64x64xindex>
      %sees = arith.cmpi slt, %at, %ns : tensor<64x64xindex>
      %seen = arith.select %sees, %x, %none {tile.guarded = true}
          : tensor<64x64xi1>, tensor<64x64xf16>
      %d = tile.dot %seen, %seen, %s transpose_b
         : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }
    tile.store %sum, %c[%c0, %c0] : tensor<64x64xf32>, !tile.view<?x?xf32>
    tile.return
  }
}
"""

# Rows that end in the view, and neighbours that a gather reaches together.
ROWS = """
!row = !tile.view<?xf32, strides [1]>
!table = !tile.view<?x?xf32, strides [?, 1]>
#facts = #tile.facts<pointer = 16, strides = [16, 4], extents = [0, 8]>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @rows(%x: !table {tile.facts = #facts}, %ids: !tile.view<?xi32>,
                    %y: !row {tile.facts = #tile.facts<pointer = 16>})
      attributes {tile.warps = 2 : i64, tile.block_programs = 2 : i64} grid {
    %n = tile.dim %ids, 0 : !tile.view<?xi32>
    tile.grid %n
  } {
    %c1024 = arith.constant 1024 : index
    %pid = tile.program_id x
    %from = arith.muli %pid, %c1024 : index
    %id = tile.load %ids[%pid] : !tile.view<?xi32> -> tensor<16xi32>
    %column = tile.reshape %id : tensor<16xi32> -> tensor<16x1xi32>
    %lines = tile.broadcast %column : tensor<16x1xi32> -> tensor<16x64xi32>
    %columns = tile.iota 1 : tensor<16x64xi32>
    %t = tile.gather %x[%lines, %columns] {tile.run = array<i64: 1, 4>}
        : !table, [tensor<16x64xi32>, tensor<16x64xi32>] -> tensor<16x64xf32>
    tile.scatter %t, %x[%lines, %columns] {tile.run = array<i64: 1, 4>}
        : tensor<16x64xf32>, !table, [tensor<16x64xi32>, tensor<16x64xi32>]
    %old = tile.load %y[%from] {tile.whole_rows} : !row -> tensor<1024xf32>
    %new = arith.addf %old, %old : tensor<1024xf32>
    tile.store %new, %y[%from] {tile.whole_rows} : tensor<1024xf32>, !row
    tile.return
  }
}
"""

# Rows of which one program runs several in step.
BATCHED = """
!rows = !tile.view<?x?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @batched(%x: !rows, %y: !rows)
      attributes {tile.warps = 1 : i64, tile.batch = 4 : i64} grid {
    %n = tile.dim %x, 0 : !rows
    tile.grid %n
  } {
    %c0 = arith.constant 0 : index
    %i = tile.program_id x
    %t = tile.load %x[%i, %c0] : !rows -> tensor<1x64xf32>
    %d = arith.addf %t, %t : tensor<1x64xf32>
    tile.store %d, %y[%i, %c0] : tensor<1x64xf32>, !rows
    tile.return
  }
}
"""

# What is computed of one product's sum is written over it, and multiplied.
COLUMNS = """
#mma = #nvptx.tcgen05<"m128n64k16", bf16, f32>
!view = !tile.view<?x?xbf16>
#facts = #tile.facts<pointer = 16, strides = [16, 2]>
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
  tile.kernel @chain(%x: !view {tile.facts = #facts}, %w: !view {tile.facts = #facts},
                     %v: !view {tile.facts = #facts}, %o: !tile.view<?x?xf32>, %n: index)
      attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>]} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %none = arith.constant dense<0.0> : tensor<128x64xf32>
    %t = tile.load %x[%c0, %c0] {atom = #nvptx.tma, role = "load"} : !view -> tensor<128x64xbf16>
    %sum = scf.for %j = %c0 to %n step %c64 iter_args(%acc = %none) -> tensor<128x64xf32> {
      %wt = tile.load %w[%j, %c0] {atom = #nvptx.tma, role = "load"} : !view -> tensor<64x64xbf16>
      %s = tile.dot %t, %wt, %none transpose_b
           {atom = #mma, role = "mma", in_flight = 0,
            tile.columns = 0 : i64}
         : tensor<128x64xbf16>, tensor<64x64xbf16> -> tensor<128x64xf32>
      %p = arith.maximumf %s, %none {tile.role = "mma"} : tensor<128x64xf32>
      %q = arith.truncf %p {tile.role = "mma"} : tensor<128x64xf32> to tensor<128x64xbf16>
      %vt = tile.load %v[%j, %c0] {atom = #nvptx.tma, role = "load"} : !view -> tensor<64x64xbf16>
      %d = tile.dot %q, %vt, %acc
           {atom = #mma, role = "mma", in_flight = 0,
            tile.operand_columns = 0 : i64, tile.columns = 1 : i64}
         : tensor<128x64xbf16>, tensor<64x64xbf16> -> tensor<128x64xf32>
      scf.yield %d : tensor<128x64xf32>
    } {tile.depth = 2}
    tile.store %sum, %o[%c0, %c0] {role = "mma"} : tensor<128x64xf32>, !tile.view<?x?xf32>
    tile.return
  }
}
"""

# A product of which the inner extent is cut, so that its columns are exact.
EXTENTS = """
#facts = #tile.facts<pointer = 16, strides = [16, 2]>
!view = !tile.view<?x?xbf16, strides [?, 1]>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @extents(%a: !view {tile.facts = #facts}, %b: !view {tile.facts = #facts},
                       %c: !tile.view<?x?xf32>, %n: index) {
    %c0 = arith.constant 0 : index
    %c96 = arith.constant 96 : index
    %zero = arith.constant dense<0.0> : tensor<128x192xf32>
    %sum = scf.for %k = %c0 to %n step %c96 iter_args(%s = %zero) -> tensor<128x192xf32> {
      %x = tile.load %a[%c0, %k] : !view -> tensor<128x96xbf16>
      %y = tile.load %b[%c0, %k] : !view -> tensor<192x96xbf16>
      %d = tile.dot %x, %y, %s transpose_b {tile.extents = array<i64: 128, 192, 64, 32>}
         : tensor<128x96xbf16>, tensor<192x96xbf16> -> tensor<128x192xf32>
      scf.yield %d : tensor<128x192xf32>
    }
    tile.store %sum, %c[%c0, %c0] : tensor<128x192xf32>, !tile.view<?x?xf32>
    tile.return
  }
}
"""

# A row in chunks, which the first of two loops keeps, and another, which each loop loads.
CHUNKS = """
!view = !tile.view<?x?xbf16, strides [?, 1]>
#facts = #tile.facts<pointer = 16, strides = [16, 2], noalias>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @chunks(%x: !view {tile.facts = #facts}, %y: !view {tile.facts = #facts},
                      %o: !tile.view<?x?xf32>)
      attributes {tile.chunk = array<i64: 1024, 4>, tile.warps = 4 : i64} grid {
    %n = tile.dim %x, 0 : !view
    tile.grid %n
  } {
    %c0 = arith.constant 0 : index
    %i = tile.program_id x
    %t = tile.load %x[%i, %c0] {tile.kept = "shared"} : !view -> tensor<1x16384xbf16>
    %u = tile.load %y[%i, %c0] cache = streaming : !view -> tensor<1x16384xbf16>
    %a = arith.extf %t : tensor<1x16384xbf16> to tensor<1x16384xf32>
    %b = arith.extf %u : tensor<1x16384xbf16> to tensor<1x16384xf32>
    %d = arith.mulf %a, %b : tensor<1x16384xf32>
    %s = tile.reduce %d axis = 1 : tensor<1x16384xf32> -> tensor<1xf32> {
    ^bb0(%left: f32, %right: f32):
      %sum = arith.addf %left, %right : f32
      tile.yield %sum : f32
    }
    %column = tile.reshape %s : tensor<1xf32> -> tensor<1x1xf32>
    %row = tile.broadcast %column : tensor<1x1xf32> -> tensor<1x16384xf32>
    %scaled = arith.mulf %d, %row : tensor<1x16384xf32>
    tile.store %scaled, %o[%i, %c0] : tensor<1x16384xf32>, !tile.view<?x?xf32>
    tile.return
  }
}
"""

# Rows of any length, whose tile begins where memory's vectors do; and as they begin themselves.
TURNED = """
!view = !tile.view<?x?xbf16>
#facts = #tile.facts<pointer = 2, strides = [2, 2], noalias>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @turned(%x: !view {tile.facts = #facts}, %y: !view {tile.facts = #facts})
      attributes {tile.row_starts = true, tile.warps = 4 : i64} grid {
    %n = tile.dim %x, 0 : !view
    tile.grid %n
  } {
    %c0 = arith.constant 0 : index
    %i = tile.program_id x
    %t = tile.load %x[%i, %c0] : !view -> tensor<1x1024xbf16>
    tile.store %t, %y[%i, %c0] : tensor<1x1024xbf16>, !view
    tile.return
  }
}
"""
RAGGED = (
    TURNED.replace("tile.row_starts = true", "tile.chunk = array<i64: 512, 1>")
    .replace("] : !view ->", "] {tile.ragged = 1024 : i64} : !view ->")
    .replace(
        "] : tensor<1x1024xbf16>, !view",
        "] {tile.ragged = 1024 : i64} : tensor<1x1024xbf16>, !view",
    )
)
