// The passes that compute tiles piece by piece that are too long for a program's registers.
#ifndef KILN_LAYOUT_TRANSFORMS_CHUNKPASSES_TD
#define KILN_LAYOUT_TRANSFORMS_CHUNKPASSES_TD

def DecideChunks : Pass<"tile-decide-chunks", "::mlir::ModuleOp"> {
  let summary = "decide which tiles are computed piece by piece, and what of them is kept";
  let description = [{
    Precondition: the module has a target; nothing is decided of a kernel but perhaps its warps.
    Postcondition: a kernel of whose tiles a core's registers hold fewer than a few programs has
    `tile.chunk`: how many elements of the longest dimension are computed at once, and how many tiles
    of so many a trip of a loop loads, which tells how many chunks it takes; and `tile.warps`. Of loads that several loops over the chunks use,
    those have `tile.kept` that a program has room for in shared memory: else each loop loads them
    again.

    How many warps there are follows from how many programs shall share a core: as many as it has
    shared memory for, or of those that load again, as the second-level cache has room for on all
    cores. They are all that the core's registers hold, of some 48 a thread.

    All ops along the dimension must work element by element, sum, load or store, in one block; and
    no access may come to see other memory than before, as the facts of arguments say. All other
    kernels stay as they are, and so does one that cannot be realised so.

    Before:
    ```mlir
    tile.kernel @softmax(…) {
      %x = tile.load %a[%i, %c0] pad(%least : f32) : !view -> tensor<1x32768xf32>
    ```
    After:
    ```mlir
    tile.kernel @softmax(…) attributes {tile.chunk = array<i64: 2048, 4>, tile.warps = 8 : i64} {
      %x = tile.load %a[%i, %c0] pad(%least : f32) {tile.kept = "shared"}
         : !view -> tensor<1x32768xf32>
    ```
    The test is `test/Layout/Transforms/decide-chunks.mlir`.
  }];
  let dependentDialects = ["::kiln::tile::TileDialect"];
}

def RealiseChunks : Pass<"tile-realise-chunks", "::mlir::ModuleOp"> {
  let summary = "loop over the chunks of tiles";
  let description = [{
    Precondition: the module has a target; no layout is decided. Postcondition: no kernel has
    `tile.chunk` and no load `tile.kept`. What such a kernel computed along the longest dimension of
    its tiles stands in loops over chunks: one for each reduction along the dimension that waits for
    another one, and one for what is stored, which comes last. Each loop computes again what it
    needs; loads with `tile.kept` are made by the first loop that needs them, which writes them to a
    buffer for the others.

    A sum along the dimension is one of tiles, element by element, in the loop, and of the elements
    of one tile behind it; of other combinations each chunk's is combined with that of all before
    it, in order. A loop loads without hints about caches what another one behind it loads again.

    The metadata says what there is, as "chunks": their length, how many loops, and of how many tiles
    something is kept.

    Where a host runs the kernel it has loops of its own: there the attributes are taken off.

    What cannot be cut, what is not one block's and what would access memory in another order than
    before is an error at the op.

    Before:
    ```mlir
    tile.kernel @sum(…) attributes {tile.chunk = array<i64: 1024, 1>} {
      %x = tile.load %a[%i, %c0] : !view -> tensor<1x32768xf32>
      %sum = tile.reduce %x axis = 1 …
    ```
    After:
    ```mlir
    %sums = scf.for %at = %c0 to %c32768 step %c1024 iter_args(%acc = %none) -> tensor<1x1024xf32> {
      %x = tile.load %a[%i, %at] : !view -> tensor<1x1024xf32>
      %next = arith.addf %acc, %x : tensor<1x1024xf32>
      scf.yield %next : tensor<1x1024xf32>
    }
    %sum = tile.reduce %sums axis = 1 …
    ```
    Where all tiles are padding, and what is computed of that hangs on no position and counts once,
    loops end, and a sum takes one element of it behind the loop.

    The tests are `test/Layout/Transforms/realise-chunks.mlir`, `realise-chunks-sums.mlir`,
    `realise-chunks-ends.mlir` and `realise-chunks-invalid.mlir`.
  }];
  let dependentDialects = ["::kiln::tile::TileDialect", "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def DecideRowStarts : Pass<"tile-decide-row-starts", "::mlir::ModuleOp"> {
  let summary = "decide which tiles of rows begin where memory's vectors do";
  let description = [{
    Precondition: the module has a target; nothing is decided of a kernel but perhaps its warps.
    Postcondition: a kernel of one row, whose accesses facts do not let be vectors of 16 bytes, has
    `tile.row_starts`. That are rows of odd extents or strides. All ops along the row must work
    element by element, combine elements in any order, load or store, in one block. Rows of fewer
    than 1024 elements stay.

    The test is `test/Layout/Transforms/decide-row-starts.mlir`.
  }];
  let dependentDialects = ["::kiln::tile::TileDialect"];
}

def RealiseRowStarts : Pass<"tile-realise-row-starts", "::mlir::ModuleOp"> {
  let summary = "have tiles of rows begin where memory's vectors do";
  let description = [{
    Precondition: the module has a target; no layout is decided. Postcondition: no kernel has
    `tile.row_starts`. Where it was true, tiles along the longest dimension begin at the multiple of
    16 bytes in front of the row that the first store writes, and their accesses have
    `tile.ragged`. Tiles are turned: what lies in front of the row is what would come last, and
    positions along the dimension are turned with it.

    What cannot be turned is an error at the op. Where a host runs the kernel the attribute is taken
    off.

    Before:
    ```mlir
    tile.kernel @copy(…) attributes {tile.row_starts = true} {
      %x = tile.load %a[%i, %c0] : !view -> tensor<1x1024xf32>
      tile.store %x, %b[%i, %c0] : tensor<1x1024xf32>, !view
    ```
    After:
    ```mlir
      %address = tile.address %b : !view
      … %shift: how many elements of the 16 bytes lie in front of row %i of %b
      %start = arith.subi %c0, %shift : index
      %x = tile.load %a[%i, %start] {tile.ragged = 1024 : i64}
         : !view -> tensor<1x1024xf32>
      tile.store %x, %b[%i, %start] {tile.ragged = 1024 : i64}
         : tensor<1x1024xf32>, !view
    ```
    The tests are `test/Layout/Transforms/realise-row-starts.mlir` and
    `realise-row-starts-invalid.mlir`.
  }];
  let dependentDialects = ["::kiln::tile::TileDialect", "::mlir::arith::ArithDialect"];
}

#endif // KILN_LAYOUT_TRANSFORMS_CHUNKPASSES_TD
