// The passes that have one program run several of the source's in step.
#ifndef KILN_SCHEDULE_BATCH_PASSES_TD
#define KILN_SCHEDULE_BATCH_PASSES_TD

include "mlir/Pass/PassBase.td"

class Batch_Pass<string flag> : Pass<flag, "::mlir::ModuleOp"> {
  let dependentDialects = ["::kiln::tile::TileDialect", "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def DecideBatch : Batch_Pass<"tile-decide-batch"> {
  let summary = "decide how many small programs one program runs in step";
  let description = [{
    Precondition: the module has a target; nothing is decided of who runs what. Postcondition: a
    kernel that decides nothing but perhaps its warps has `tile.batch`, the least power of two of
    programs for which

    - what a core holds of them brings as much as memory moves for it while one of them is there,
      if the chip's record says how much that is, and
    - each lane of a warp has 16 bytes of the largest tile that a program loads or stores,

    but no more than eight warps can hold as they hold other tiles, and none if one program keeps
    memory busy by itself. Its grid has one axis, no loop of it has
    trips that nobody knows when compiling, it has no products and no assertions, its programs
    can run in step (`tile-realise-batch`), and each access is of one element, of a tile that lies side by
    side with the next program's, or of whole rows.

    Before:
    ```mlir
    tile.kernel @rows(…) grid { … tile.grid %n } { … }
    ```
    After:
    ```mlir
    tile.kernel @rows(…) attributes {tile.batch = 16 : i64} grid { … tile.grid %n } { … }
    ```
    The test is `test/Schedule/Batch/decide-batch.mlir`.
  }];
}

def RealiseBatch : Batch_Pass<"tile-realise-batch"> {
  let summary = "have one program run several of the source's in step";
  let description = [{
    Precondition: nothing of a schedule and no layout is decided. Postcondition: no kernel has
    `tile.batch = N`. Its program `i` along x does what programs `i * N` to `i * N + N - 1` of the source do:
    what depends on a program's number has one more dimension, of N elements; all else stays, and is
    repeated where it meets the former. A tile that lies side by side with the next program's is loaded
    and stored as one with theirs; any other becomes a `tile.gather`, or a `tile.scatter`. How many programs there are is an
    argument that the launch makes (`tile.grid_extent`), and the metadata says "programs_per_block": the
    launch makes an N-th of the programs. Those beyond the grid write nothing: views that are stored to
    end with the last program's tile, scatters have a mask.

    Each program's accesses stay in their order, and each is made for all programs before the next one
    for any: one of the orders in which programs that do not wait for one another may run.

    A kernel with roles, `tile.persistent`, `tile.turns`, `tile.cluster` or `tile.overlap` is refused, and so
    is one whose programs cannot run in step: loops or conditions depend on the program's number, all programs write
    to one place, or something is each program's alone: atomics, messages, products, sorts,
    foreign code. A host runs a program as loops, and reads it as it reads warps.

    Before:
    ```mlir
    tile.kernel @rows(%x: !view, %y: !view) attributes {tile.batch = 16 : i64} grid { … } {
      %i = tile.program_id x
      %t = tile.load %x[%i, %c0] : !view -> tensor<1x64xf32>
      %e = math.exp %t : tensor<1x64xf32>
      tile.store %e, %y[%i, %c0] : tensor<1x64xf32>, !view
    ```
    After:
    ```mlir
    tile.kernel @rows(%x: !view, %y: !view, %n: index {tile.grid_extent}) grid { … } {
      %batch = tile.program_id x
      %first = arith.muli %batch, %c16 : index
      %t = tile.load %x[%first, %c0] : !view -> tensor<16x64xf32>
      %u = tile.reshape %t : tensor<16x64xf32> -> tensor<16x1x64xf32>
      %e = math.exp %u : tensor<16x1x64xf32>
      %v = tile.reshape %e : tensor<16x1x64xf32> -> tensor<16x64xf32>
      %end = tile.subview %y at %c0 extents [%rows, %columns] … // %rows is at most %n
      tile.store %v, %end[%first, %c0] : tensor<16x64xf32>, !view
    ```
    The tests are `test/Schedule/Batch/realise-batch.mlir`, `realise-batch-memory.mlir` and
    `realise-batch-invalid.mlir`.
  }];
}

#endif // KILN_SCHEDULE_BATCH_PASSES_TD
