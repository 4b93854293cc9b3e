// The passes that decide layouts and realise what they imply.
#ifndef KILN_LAYOUT_TRANSFORMS_PASSES_TD
#define KILN_LAYOUT_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def DecideExtents : Pass<"tile-decide-extents", "::mlir::ModuleOp"> {
  let summary = "choose which extents of products stay as they are, and which grow";
  let description = [{
    Precondition: the module has a target; no layout is decided; names of atoms need not be
    resolved. Postcondition: each `tile.dot` of rank 2 with an extent that is no power of two has
    `tile.extents`: its rows, its columns and its inner extent, each as it is or as the next power
    of two. An inner extent that is exact only if the product is cut is the list of parts, powers of
    two that add up to it. What is already decided stays, and others are held against it.

    An extent is exact if a product has it whose instruction can make it as it is (m64n192 makes 192
    columns, three copies of a role 192 rows), and all that is computed of it works element by
    element or sums, is carried by loops, or is loaded and stored; see docs/rationale/extents.md. Of
    a product whose instruction is not decided, the target is asked which ones there are; then that
    is decided which runs best, by what copies of the kernel come to, or as much exact as can be
    where nothing says so.

    Before:
    ```mlir
    %d = tile.dot %x, %y, %s transpose_b : tensor<128x96xbf16>, tensor<192x96xbf16> -> tensor<128x192xf32>
    ```
    After, where the columns are exact only of a product in two parts:
    ```mlir
    %d = tile.dot %x, %y, %s transpose_b {tile.extents = array<i64: 128, 192, 64, 32>}
       : tensor<128x96xbf16>, tensor<192x96xbf16> -> tensor<128x192xf32>
    ```
    The tests are `test/Layout/Transforms/decide-extents.mlir` and `decide-extents-tried.mlir`.
  }];
  let dependentDialects = ["::kiln::tile::TileDialect"];
}

def SplitShapes : Pass<"tile-split-shapes", "::mlir::ModuleOp"> {
  let summary = "pad tensors to extents that are powers of two, but for those that products keep";
  let description = [{
    Precondition: no layout is decided; names of atoms need not be resolved. Postcondition: no
    `tile.dot` has `tile.extents`; all extents of tensors, and of buffers that are read and written
    whole, are powers of two but for those that a product has said to keep, and the kernel means
    what it meant before.

    What `tile.extents` keeps is kept in all that has the extent: what is computed element by
    element or summed of it, carried by loops, loaded and stored. Several inner extents cut a
    product along k, with loads of each part. What no instruction of the target makes, what another
    op must have grown and what two products say otherwise is an error at the product.

    Of all others, an element that was added is never observed: loads and stores carry the tile's
    own `extents`; accesses at computed indices, atomics and histograms are masked; reductions,
    scans from the end, sorts and products see values there that change nothing; a division sees 1.
    A reshape that would move elements goes through a buffer. A bitcast whose rows no longer have as
    many bits carries the `extents` of its result.

    Before:
    ```mlir
    %t = tile.load %x[%i] : !tile.view<?xf32> -> tensor<5xf32>
    ```
    After:
    ```mlir
    %t = tile.load %x[%i] extents [5] : !tile.view<?xf32> -> tensor<8xf32>
    ```
    The tests are `test/Layout/Transforms/split-shapes.mlir` and `exact-extents.mlir`.
  }];
  let dependentDialects = ["::kiln::tile::TileDialect", "::mlir::arith::ArithDialect"];
}

def JoinScales : Pass<"tile-join-scales", "::mlir::ModuleOp"> {
  let summary = "make scaled products that can run on beside their warps dots with scales";
  let description = [{
    Precondition: the module has a target; names of atoms need not be resolved. Postcondition: each
    `tile.dot_scaled` that an instruction of the target can start, which reads scales in tensor
    memory, is a `tile.dot` with `scales`, and has what was decided of it; others stay. So whatever
    decides about products in flight sees one kind of them.

    Before:
    ```mlir
    %d = tile.dot_scaled %a scale %sa, %b scale %sb, %c transpose_b
       : tensor<128x128xf8E4M3FN>, tensor<128x4xf8E8M0FNU>,
         tensor<64x128xf8E4M3FN>, tensor<64x4xf8E8M0FNU> -> tensor<128x64xf32>
    ```
    After, for a chip with tcgen05:
    ```mlir
    %d = tile.dot %a, %b, %c scales(%sa, %sb) transpose_b
       : tensor<128x128xf8E4M3FN>, tensor<64x128xf8E4M3FN>
         scales(tensor<128x4xf8E8M0FNU>, tensor<64x4xf8E8M0FNU>) -> tensor<128x64xf32>
    ```
    The test is `test/Layout/Transforms/join-scales.mlir`.
  }];
  let dependentDialects = ["::kiln::tile::TileDialect"];
}

def LegaliseDots : Pass<"tile-legalise-dots", "::mlir::ModuleOp"> {
  let summary = "rewrite dots that a chip has no instruction for as dots that it has";
  let description = [{
    Precondition: the module has a target; extents are split. Postcondition: no
    `tile.dot_scaled` is left but what the target has atoms for, and each `tile.dot` without an
    atom reads tensors for whose types the target has atoms, or that its threads can multiply:

    - operands of other `tile.dot_scaled`, and of a `tile.dot` with scales, are multiplied by their
      scales and become bf16;
    - f8 operands become f16, or bf16 where a chip's f16 products take small numbers for zero and
      a type has them; i4 operands become i8;
    - unsigned i8 become signed where only these have an instruction: (a + 128) b = a b + 128 b;
    - what lies in a buffer is read.

    What has an atom already, and types that have one as they are, stay; but an operand that its atom
    reads from shared memory, and only the other way round, as bytes along columns, is transposed on
    its way there.

    Before:
    ```mlir
    %d = tile.dot %a, %b, %c : tensor<64x32xf8E5M2>, tensor<32x64xf8E5M2> -> tensor<64x64xf32>
    ```
    After, on a chip without matrix instructions for these types:
    ```mlir
    %x = arith.extf %a : tensor<64x32xf8E5M2> to tensor<64x32xf16>
    %y = arith.extf %b : tensor<32x64xf8E5M2> to tensor<32x64xf16>
    %d = tile.dot %x, %y, %c : tensor<64x32xf16>, tensor<32x64xf16> -> tensor<64x64xf32>
    ```
    The test is `test/Layout/Transforms/legalise-dots.mlir`.
  }];
  let dependentDialects = ["::kiln::tile::TileDialect", "::mlir::arith::ArithDialect"];
}

def FoldTileViews : Pass<"tile-fold-tile-views", "::mlir::ModuleOp"> {
  let summary = "take reshapes, slices and transposes off tiles that an instruction copies";
  let description = [{
    Precondition: none. Postcondition: a load with an atom, or the name of one, all of whose users
    were the same reshape that takes dimensions of one element away, has its result, and says by
    `dropped` which dimensions of the view it lacks; a store of what a reshape adds such dimensions
    to, likewise. A load of whose result nothing but slices is used, which have no element in common,
    is a load of each, unless its order is pinned. A product of the transpose of what such a load
    brings is one of that, transposed.
    So a tile is a matrix to the instructions that read it, wherever in its view it lies.

    Before:
    ```mlir
    %x = tile.load %a[%h, %i, %k] {tile.atom = "tma"}
       : !tile.view<?x?x?xf16> -> tensor<1x64x32xf16>
    %y = tile.reshape %x : tensor<1x64x32xf16> -> tensor<64x32xf16>
    ```
    After:
    ```mlir
    %y = tile.load %a[%h, %i, %k] {dropped = array<i64: 0>, tile.atom = "tma"}
       : !tile.view<?x?x?xf16> -> tensor<64x32xf16>
    ```
    The test is `test/Layout/Transforms/fold-tile-views.mlir`.
  }];
}

def CompleteRoles : Pass<"tile-complete-roles", "::mlir::ModuleOp"> {
  let summary = "give ops the role that the ops around them tell";
  let description = [{
    Precondition: none. Postcondition: in a kernel with `tile.roles`, each op that has an effect,
    that uses what a load with an atom brings, or that has a stage, an order or a number in flight
    has a role. One that had none belongs to the role that makes its operands; to the one that uses
    its results, if none makes these; then to the one whose tensors its numbers are computed from,
    or those of the conditions around it; and in a kernel of one role to that. Loads of one ring are
    of one role, and a loop or a condition belongs to that of all that stands in it, or of what makes
    its results. An op without effects of which several roles use the results is copied for each of
    them, with the ops of no role behind it; but for a product or a reduction, and where a loop or a
    condition hands on what it gives. What only reads or writes numbers that no role's tensors
    tell belongs to the one role that uses the same argument otherwise, or to the last role, which
    prints such numbers, too; an assert of such numbers belongs to each role that runs anything
    around it. If several roles, or none, tell otherwise, it is an error at the op; so is a role
    that nothing belongs to. What a load with an atom brings and a loop hands on to its next trip for
    several roles, it hands on once for each.

    Before:
    ```mlir
    %x = tile.load %a[%i] : !tile.view<?xf32> -> tensor<64xf32>
    %y = arith.mulf %x, %x {tile.role = "work"} : tensor<64xf32>
    tile.store %y, %b[%i] : tensor<64xf32>, !tile.view<?xf32>
    ```
    After:
    ```mlir
    %x = tile.load %a[%i] {role = "work"} : !tile.view<?xf32> -> tensor<64xf32>
    %y = arith.mulf %x, %x {tile.role = "work"} : tensor<64xf32>
    tile.store %y, %b[%i] {role = "work"} : tensor<64xf32>, !tile.view<?xf32>
    ```
    The test is `test/Layout/Transforms/complete-roles.mlir`.
  }];
}

def ResolveAtomNames : Pass<"tile-resolve-atom-names", "::mlir::ModuleOp"> {
  let summary = "turn names of instructions that an author gives into those that fit";
  let description = [{
    Precondition: the module has a target. Postcondition: no op has `tile.atom`. One that had has
    an `atom`: of the target's instructions of that name the first that can make the op, and for
    copies by lanes one of no more bytes than the view is known to be aligned to, and than the tile
    has for each lane.

    Before:
    ```mlir
    %d = tile.dot %a, %b, %c {tile.atom = "wgmma"}
       : tensor<64x32xf16>, tensor<32x64xf16> -> tensor<64x64xf32>
    ```
    After:
    ```mlir
    %d = tile.dot %a, %b, %c {atom = #nvptx.wgmma<"m64n64k16", f16, f32>}
       : tensor<64x32xf16>, tensor<32x64xf16> -> tensor<64x64xf32>
    ```
    The test is `test/Layout/Transforms/resolve-atom-names.mlir`.
  }];
}

def DecideAtoms : Pass<"tile-decide-atoms", "::mlir::ModuleOp"> {
  let summary = "choose the number of warps and the matrix instruction of each dot";
  let description = [{
    Precondition: the module has a target. Postcondition: each kernel has `tile.warps`, each
    `tile.dot` an `atom`: the first of those that the target offers for its types that fits its
    extents, or one by which as much is multiplied of as much that is read and fewer warps are idle;
    if there is none, `#tile.fma`. A dot of precision `tf32x3` whose atom reads f32 exactly becomes one
    of `ieee`. What is already decided stays.

    Before:
    ```mlir
    %d = tile.dot %a, %b, %c : tensor<64x32xf16>, tensor<32x64xf16> -> tensor<64x64xf32>
    ```
    After, on a chip without matrix instructions for these types:
    ```mlir
    %d = tile.dot %a, %b, %c {atom = #tile.fma}
       : tensor<64x32xf16>, tensor<32x64xf16> -> tensor<64x64xf32>
    ```
    The test is `test/Layout/Transforms/decide-atoms.mlir`.
  }];
}

def TurnViews : Pass<"tile-turn-views", "::mlir::ModuleOp"> {
  let summary = "let copy atoms see rows whose elements lie together";
  let description = [{
    Precondition: no layout is decided. Postcondition: a load with an atom is of a view whose last
    stride is 1, if its view has such a stride at all: a view with another order of dimensions is
    turned, and so is what the load brings: a `tile.transpose` turns it back. Of a matrix that dots
    read, `tile-fold-tile-views` takes it off again.

    Before:
    ```mlir
    %t = tile.load %b[%k, %n] {atom = #nvptx.tma, role = "load"}
       : !tile.view<?x?xbf16, strides [1, ?]> -> tensor<64x128xbf16>
    %d = tile.dot %a, %t, %c
    ```
    After:
    ```mlir
    %v = tile.subview %b at %c0 extents [%d1, %d0] strides [%ld]
       : !tile.view<?x?xbf16, strides [1, ?]> -> !tile.view<?x?xbf16>
    %t = tile.load %v[%n, %k] {atom = #nvptx.tma, role = "load"}
       : !tile.view<?x?xbf16> -> tensor<128x64xbf16>
    %u = tile.transpose %t [1, 0] : tensor<128x64xbf16> -> tensor<64x128xbf16>
    %d = tile.dot %a, %u, %c
    ```
    The test is `test/Layout/Transforms/turn-views.mlir`.
  }];
  let dependentDialects = ["::kiln::tile::TileDialect", "::mlir::arith::ArithDialect"];
}

def DecideRuns : Pass<"tile-decide-runs", "::mlir::ModuleOp"> {
  let summary = "decide which gathers and scatters move several neighbours at once";
  let description = [{
    Precondition: extents are split. Postcondition: a gather or a scatter whose indices are
    known to run along the view's rows says so as `tile.run`, [dimension, width]: so many
    neighbours along the tile's dimension are one access, of at most sixteen bytes. One that is
    there already stays.

    ```mlir
    %t = tile.gather %x[%rows, %columns] {tile.run = array<i64: 1, 4>} : …
    ```
    The test is `test/Layout/Transforms/decide-runs.mlir`.
  }];
}

def SplitEdges : Pass<"tile-split-edges", "::mlir::ModuleOp"> {
  let summary = "take whole tiles apart from those that cross the end of a row";
  let description = [{
    Precondition: no layout is decided. Where rows are aligned but end anywhere, an access has to
    ask of each element whether it is in bounds. Of code that has such accesses there are two
    copies afterwards: one for tiles that cross no row's end, whose loads and stores say so as
    `tile.whole_rows`, and one for the others. Code with products or with buffers stays as it is.

    ```mlir
    %whole = arith.cmpi sle, %end, %extent : index
    scf.if %whole {
      %t = tile.load %x[%i] {tile.whole_rows} : !tile.view<?xf32> -> tensor<1024xf32>
      …
    } else {
      %t = tile.load %x[%i] : !tile.view<?xf32> -> tensor<1024xf32>
      …
    }
    ```
    The test is `test/Layout/Transforms/split-edges.mlir`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def DecideLayouts : Pass<"tile-decide-layouts", "::mlir::ModuleOp"> {
  let summary = "give each tensor a layout";
  let description = [{
    Precondition: atoms and warps are decided; extents are split. Postcondition: the
    type of each tensor in a kernel's body has a `#tile.layout`, and ops agree in layouts up to
    `tile.convert_layout`.

    Anchors are loads and stores (coalesced, as wide as facts about the arguments allow) and the
    fragments of atoms, and what `tile.layout` says; other ops take their operands' layout. In a kernel without products and
    roles that reduces rows fewer lanes share a row, and more rows are accessed at a time, where that spares more exchanges between
    lanes than it takes lines of memory. A loop's
    value that starts as a constant takes the layout that the body gives it. Nothing but types is
    changed, and a conversion stands in front of each op that wants an operand otherwise than it is made.
    The tests are `test/Layout/Transforms/decide-layouts.mlir` and `decide-layouts-rows.mlir`.
  }];
  let dependentDialects = ["::kiln::tile::TileDialect"];
}

def PlaceConversions : Pass<"tile-place-conversions", "::mlir::ModuleOp"> {
  let summary = "do without conversions that need not be, and move the others to where they cost least";
  let description = [{
    Precondition: layouts are decided. Postcondition: no `tile.convert_layout` undoes or repeats
    another; what costs little is made again in the layout that is wanted (constants, positions,
    splats and short arithmetic on them; loads of a few elements, and of what lies in memory as the
    kernel's own threads have left it); a conversion stands in front of
    broadcasts and widening casts, behind narrowing ones, and outside of loops that do not make its
    operand. What would need more shared memory than the chip has is made in the layout that is
    wanted, of loads in it where these need too much as well. One with `how` is left alone, and so is
    what has `tile.layout`, which is gone then.
    The test is `test/Layout/Transforms/place-conversions.mlir`.
  }];
  let dependentDialects = ["::kiln::tile::TileDialect"];
}

def DecideBuffers : Pass<"tile-decide-buffers", "::mlir::ModuleOp"> {
  let summary = "choose how what copy atoms move lies in shared memory";
  let description = [{
    Precondition: layouts are decided. Postcondition: each `tile.load` and `tile.store` with an
    `atom` has a `buffer`. That of a load has the shape of its tile, in an order that the atom can
    fill and that each product in flight which reads it admits: the best one of the product's, or,
    where a role reads it into registers, the one by which that takes the fewest cycles; `read_atom`
    is then the copy atom that does. That of a store is a box, as wide as the engine's widest row,
    of the rows that the warps of one copy of the role hold at a time; of a tile that has grown the
    engine copies the pieces of each box that are there. What is already decided
    stays; it is held against who fills and who reads it.

    Before:
    ```mlir
    %a = tile.load %x[%i, %k] {atom = #nvptx.tma, role = "load"}
       : !tile.view<?x?xbf16> -> tensor<128x64xbf16>
    ```
    After:
    ```mlir
    %a = tile.load %x[%i, %k] {atom = #nvptx.tma, buffer = !tile.buffer<128x64xbf16, #swizzled>,
                               role = "load"} : !tile.view<?x?xbf16> -> tensor<128x64xbf16>
    ```
    The test is `test/Layout/Transforms/decide-buffers.mlir`.
  }];
  let dependentDialects = ["::kiln::tile::TileDialect"];
}

def DecideConversions : Pass<"tile-decide-conversions", "::mlir::ModuleOp"> {
  let summary = "choose how each conversion is made";
  let description = [{
    Precondition: layouts are decided. Postcondition: each `tile.convert_layout` has `how`: by
    registers alone if that can be; else by lanes or memory, whichever takes fewer cycles on the
    chip. A buffer's layout is derived from both sides: it makes accesses as wide as they can be
    on both, then free of bank conflicts by the chip's own rules, and suits a copy atom of the
    target where that is faster. An operand of many registers that is made before the loop of its
    product by multiply-adds is `deferred` where memory has room. What is already decided stays.
    The test is `test/Layout/Transforms/decide-conversions.mlir`.
  }];
  let dependentDialects = ["::kiln::tile::TileDialect"];
}

def DecideParts : Pass<"tile-decide-parts", "::mlir::ModuleOp"> {
  let summary = "cut products by multiply-adds along k where they read shared memory";
  let description = [{
    Precondition: atoms and layouts are decided, and how conversions are made. Postcondition: each
    `tile.dot` by `#tile.fma` without `parts` of which an operand comes out of shared memory, where
    the dot stands, has as many parts along k as it has k: each thread needs all of k, and so does
    not hold more of it in registers than it multiplies next. What is already decided stays.

    Before:
    ```mlir
    %x = tile.read %p : !tile.buffer<32x4xf32> -> tensor<32x4xf32, #a>
    %d = tile.dot %x, %y, %s {atom = #tile.fma}
    ```
    After:
    ```mlir
    %x = tile.read %p : !tile.buffer<32x4xf32> -> tensor<32x4xf32, #a>
    %d = tile.dot %x, %y, %s {atom = #tile.fma, parts = array<i64: 1, 1, 4>}
    ```
    The test is `test/Layout/Transforms/decide-parts.mlir`.
  }];
}

def RealiseSwap : Pass<"tile-realise-swap", "::mlir::ModuleOp"> {
  let summary = "compute the transposes of products that say so";
  let description = [{
    Precondition: none. Postcondition: no `tile.dot` has `swap`. One that had is the product of its
    operands in the other order, each transposed, and its sum and result are transposes; a sum that
    a loop carries for it alone is carried transposed. Transposes of tensors in registers cost
    nothing. An `atom` is that of the product as it is made; rows and columns in `tile.extents` change
    places.

    Before:
    ```mlir
    %d = tile.dot %a, %b, %c {swap} : tensor<16x64xf16>, tensor<64x128xf16> -> tensor<16x128xf32>
    ```
    After:
    ```mlir
    %s = tile.transpose %c [1, 0] : tensor<16x128xf32> -> tensor<128x16xf32>
    %t = tile.dot %b, %a, %s transpose_a transpose_b
       : tensor<64x128xf16>, tensor<16x64xf16> -> tensor<128x16xf32>
    %d = tile.transpose %t [1, 0] : tensor<128x16xf32> -> tensor<16x128xf32>
    ```
    The test is `test/Layout/Transforms/realise-swap.mlir`.
  }];
  let dependentDialects = ["::kiln::tile::TileDialect"];
}

def PrintIndexFacts : Pass<"tile-print-index-facts", "::mlir::ModuleOp"> {
  let summary = "say as remarks what is known of integers: multiples, runs and ranges";
  let description = [{
    Of each result that is an integer or a tile of integers: of what power of two each value is a
    multiple; for each dimension, how many neighbours, from a multiple of as many on, are the
    same, and how many count on from a multiple of as many; and between which numbers all lie.
    Nothing is changed. The test is `test/Layout/Transforms/print-index-facts.mlir`.
  }];
}

def RealiseConversions : Pass<"tile-realise-conversions", "::mlir::ModuleOp"> {
  let summary = "send the conversions that go through shared memory there";
  let description = [{
    Precondition: each `tile.convert_layout` has `how`. Postcondition: those left move values
    between the registers of one thread, or between the lanes of one warp; every other has become
    a `tile.alloc` of a buffer with the layout decided, a `tile.write` and a `tile.read`. Of
    conversions that follow one another all are written before the first is read; one that is
    `deferred` is read in front of the product that uses it.
    The test is `test/Layout/Transforms/realise-conversions.mlir`.
  }];
  let dependentDialects = ["::kiln::tile::TileDialect", "::mlir::arith::ArithDialect"];
}

include "kiln/Layout/Transforms/ChunkPasses.td"

#endif // KILN_LAYOUT_TRANSFORMS_PASSES_TD
