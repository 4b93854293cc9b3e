// The passes that realise which programs there are, and which tiles and trips each of them runs.
#ifndef KILN_SCHEDULE_GRIDPASSES_TD
#define KILN_SCHEDULE_GRIDPASSES_TD

def RealisePersistence : Schedule_Pass<"tile-realise-persistence"> {
  let summary = "let a fixed number of programs run all tiles of a grid";
  let description = [{
    Precondition: kernels with `tile.persistent` have a grid region.
    Postcondition: none has the attribute; such a kernel's grid is one of all tiles along x, and its
    body a loop over tiles, from `program_id x` on in steps of `num_programs x`, in the order that the
    attribute's `group` and `tile.raster` say. The metadata says to how many programs a launch cuts
    the grid, as "programs" or "persistent_per_core". Messages name the tile's program. The loop has
    `tile.programs`: nothing orders its turns.

    With `tile.cluster` clusters of programs take clusters of tiles in turn, in the same order, and each
    program has the tile at its own place: so programs of a cluster stay in step, and differ along
    the grid's axes as they would without the loop. The grid is then that of the tiles, and clusters
    are launched behind one another along x, as "own_cluster" in the metadata says.

    Before: a body that runs tile (`program_id x`, `program_id y`).
    After:
    ```mlir
    scf.for %t = %first to %tiles step %programs {
      // x and y of tile %t, and the body
    } {tile.programs}
    ```
    The tests are `test/Schedule/realise-persistence.mlir`, `realise-rasters.mlir` and
    `realise-persistence-invalid.mlir`.
  }];
}

def RealisePairs : Schedule_Pass<"tile-realise-pairs"> {
  let summary = "let each of two programs load half of what both multiply by, as the atom says";
  let description = [{
    Precondition: atoms are named by attributes; roles are decided, and no layout is. A dot's
    atom may be one that two programs of a cluster multiply by together. Postcondition: operand b
    of such a dot is half of its columns, of which the first program of the pair loads the first
    half; all else is each program's own still.

    Programs 2 i and 2 i + 1 of a cluster are a pair, so the cluster has an even number of programs
    along its first axis of several. Both must load the same b, and come to the dot equally often; the
    loads must be read by such dots alone, and all of the kernel's dots in tensor memory must be of
    pairs. If not, that is an error at the dot or the load.

    Before:
    ```mlir
    %b = tile.load %y[%j, %k] : !tile.view<?x?xbf16> -> tensor<256x64xbf16>
    %d = tile.dot %a, %b, %s transpose_b {atom = #nvptx.tcgen05<"m256n256k16", bf16, f32>}
       : tensor<128x64xbf16>, tensor<256x64xbf16> -> tensor<128x256xf32>
    ```
    After:
    ```mlir
    %place = arith.remui %program, %c2 : index
    %half = arith.muli %place, %c128 : index
    %first = arith.addi %j, %half : index
    %b = tile.load %y[%first, %k] : !tile.view<?x?xbf16> -> tensor<128x64xbf16>
    %d = tile.dot %a, %b, %s transpose_b {atom = #nvptx.tcgen05<"m256n256k16", bf16, f32>}
       : tensor<128x64xbf16>, tensor<128x64xbf16> -> tensor<128x256xf32>
    ```
    The tests are `test/Schedule/realise-pairs.mlir` and `realise-pairs-invalid.mlir`.
  }];
}

def DecideBlockPrograms : Schedule_Pass<"tile-decide-block-programs"> {
  let summary = "decide how many small programs one block runs side by side";
  let description = [{
    Precondition: the module has a target; nothing is decided of who runs what. Postcondition: a
    kernel that decides nothing but perhaps its warps has `tile.block_programs`, as many as eight warps
    are, if

    - the chip's record says that a core holds too few blocks for as many warps as it could hold, of
      programs of so few warps,
    - what a core holds of such programs brings too little to keep memory busy,
    - its grid has one axis, no loop of it has trips that nobody knows when compiling, and it has no
      products, which have schedules of their own, and no assertions, which end a block.

    What cannot be realised is not decided.

    Before:
    ```mlir
    tile.kernel @rows(…) grid { … tile.grid %n } { … }
    ```
    After:
    ```mlir
    tile.kernel @rows(…) attributes {tile.block_programs = 8 : i64} grid { … tile.grid %n } { … }
    ```
    The test is `test/Schedule/decide-block-programs.mlir`.
  }];
}

def GatherPrograms : Schedule_Pass<"tile-gather-programs"> {
  let summary = "make the programs that a block runs side by side copies of a role";
  let description = [{
    Precondition: the module has a target; nothing of who runs what is decided. Postcondition: a
    kernel with `tile.block_programs` has one role, "program", of as many warps as one program has:
    `tile.warps`, which is taken off, or as many as its tiles are worth. Each of the block's programs
    will be a copy of it.

    A kernel with roles, `tile.persistent`, `tile.cluster` or `tile.overlap`,
    or with a loop that programs share out (`tile.share`) is refused, and so are more programs than
    the chip has barriers for groups of warps.

    Before:
    ```mlir
    tile.kernel @rows(…) attributes {tile.block_programs = 8 : i64, tile.warps = 1 : i64}
    ```
    After:
    ```mlir
    tile.kernel @rows(…) attributes {tile.block_programs = 8 : i64,
                                     tile.roles = [#tile.role<"program", warps = 1>]}
    ```
    The tests are `test/Schedule/block-programs.mlir` and `block-programs-invalid.mlir`.
  }];
}

def RealiseBlockPrograms : Schedule_Pass<"tile-realise-block-programs"> {
  let summary = "have one block run several programs of the grid";
  let description = [{
    Precondition: `tile-gather-programs` has run. Postcondition: what a kernel with
    `tile.block_programs = N` does stands behind the condition that the copy's program is there: that
    of number `block * N + copy` along x. How many there are is an argument that the launch makes
    (`tile.grid_extent`), and the metadata says "programs_per_block": the launch makes an N-th of the
    blocks, whoever says how many programs. The attribute stays: by it copies of the role are known
    to be programs apart.

    Before:
    ```mlir
    tile.kernel @rows(%a: …) {
      %i = tile.program_id x
      …
    }
    ```
    After:
    ```mlir
    tile.kernel @rows(%a: …, %n: index {tile.grid_extent}) {
      %block = tile.program_id x
      %copy = tile.copy_id
      %i = …                         // %block * 8 + %copy
      scf.if %exists { … }           // %i < %n
    }
    ```
    The test is `test/Schedule/block-programs.mlir`.
  }];
}

def DecideClusters : Schedule_Pass<"tile-decide-clusters"> {
  let summary = "decide whether two programs load together what is the same tile for both";
  let description = [{
    Precondition: the module has a target; nothing of a schedule is decided. Postcondition: a kernel
    that decides nothing, whose products run on beside their warps out of what an engine loads, has
    `tile.cluster` of two programs along an axis if

    - the last dimension of an argument is not known to be a multiple of as many elements as a sector of the
      second-level cache holds, so that rows begin amid one,
    - by the chip's record that cache is busy longer with what the trips load than the cores are with their
      products, and an eighth less is left where the two load together what is the same tile for both.

    A pair loads along the axis that spares the most. A kernel with a grid of clusters, or of programs that run tiles in
    turn, is left alone, and so is one that pins `persistent` to false. What cannot be realised is not decided.

    Before:
    ```mlir
    tile.kernel @product(%a: !view {tile.facts = #tile.facts<…, extents = [16, 8]>}, …) grid { … }
    ```
    After:
    ```mlir
    tile.kernel @product(…) attributes {tile.cluster = array<i64: 2, 1, 1>} grid { … }
    ```
    The test is `test/Schedule/decide-clusters.mlir`.
  }];
}

def RoundClusters : Schedule_Pass<"tile-round-clusters"> {
  let summary = "launch a grid as whole clusters, of which programs beyond the grid write nothing";
  let description = [{
    Precondition: nothing of a schedule is realised. Postcondition: the grid of a kernel with
    `tile.cluster` has a multiple of the cluster's programs along each axis. Programs beyond the grid
    of the source load and multiply as the others do, which may wait for what they load, and write
    nothing: their stores begin outside of the view, their scatters and atomics have masks, and their
    messages and assumptions stand behind a condition. The source's `tile.num_programs` is that of its own grid. All
    programs of a grid that a launch says are taken for the source's, and none is added.

    A kernel with foreign code that may write, with a loop that zeros in place of what it loads could
    keep from its end (`scf.while`, a step that is no constant), or with views of addresses stays as
    it is: a launch then refuses a grid that is not one of whole clusters.

    Before:
    ```mlir
    tile.grid %m
    …
    tile.store %t, %c[%i, %j]
    ```
    After:
    ```mlir
    tile.grid %whole
    …
    %own = arith.cmpi eq, %programs, %whole : index
    %end = arith.select %own, %m, %programs : index
    %within = arith.cmpi ult, %program, %end : index
    %first = arith.select %within, %i, %outside : index
    tile.store %t, %c[%first, %j]
    ```
    The test is `test/Schedule/round-clusters.mlir`.
  }];
}

def RealiseShares : Schedule_Pass<"tile-realise-shares"> {
  let summary = "let several programs run a loop's trips, and the last of them add up";
  let description = [{
    Precondition: roles are complete; nothing else of a schedule is realised, and no layout is
    decided. Postcondition: no loop has a number as `tile.share`. Such a kernel's grid has so many
    times as many programs along its last axis. A program runs consecutive trips of the loop, stores what it has
    summed to a workspace, and adds one to its tile's counter by an atomic that acquires and
    releases. Who is the last resets the counter, adds up the sums of all shares in their order, and
    does what followed the loop. Workspace and counter are arguments with `tile.workspace` and
    `tile.counter`. With `tile.share_atomic` sums are added to one tensor of zeros in memory, which
    the last reads and resets. The metadata says that the grid is the kernel's own, as "own_grid".

    Before:
    ```mlir
    tile.grid %m, %n
    …
    %sum = scf.for %k = %c0 to %end step %c64 iter_args(%s = %zeros) {
      …
    } {tile.share = 4 : i64}
    tile.store %sum, %c[%i, %j]
    ```
    After:
    ```mlir
    tile.grid %m, %four_n
    …
    %sum = scf.for %k = %begin to %mine step %c64 iter_args(%s = %zeros) { … }
    tile.store %sum, %workspace[%piece, %c0]
    %before = tile.atomic_rmw addi %counters[%tile], %one
    %last = arith.cmpi eq, %before, %three
    scf.if %last {
      tile.atomic_rmw exch %counters[%tile], %zero order = relaxed
      %total = scf.for … // loads and adds
      tile.store %total, %c[%i, %j]
    }
    ```
    The tests are `test/Schedule/realise-shares.mlir` and `realise-shares-invalid.mlir`.
  }];
}

def RealiseStreams : Schedule_Pass<"tile-realise-streams"> {
  let summary = "share the trips of all last tiles out evenly among the programs of a persistent grid";
  let description = [{
    Precondition: as that of `tile-realise-shares`; kernels with a loop whose `tile.share` is
    "stream" have `tile.persistent`. Postcondition: no loop has `tile.share`, and such a kernel
    neither `tile.persistent` nor what goes with it: its body is a loop with `tile.programs` over what
    a program runs, whole tiles first, `num_programs x` tiles further each, then parts. If so
    many programs leave a rest of tiles, these and as many as there are programs, or all that there
    are, are cut: their trips follow one another, tile by tile, and program `p` runs the trips from
    `p * trips / programs` on, up to those of program `p + 1`. It leaves the sums of a part in one of
    its two pieces of the workspace: the second, if it begins the tile, else the first. The
    counter is that of the program that begins the tile, and the last to count in adds up its second
    piece and the first ones of those behind it. With `tile.share_atomic` all add to one piece.
    The metadata says "streams": that a launch makes "programs" or "persistent_per_core" programs,
    however few the tiles, and memory for so many.

    Before:
    ```mlir
    tile.kernel … attributes {tile.persistent = #tile.persistent<programs = 7>}
    …
    %sum = scf.for %k = %c0 to %end step %c64 iter_args(%s = %zeros) {
      …
    } {tile.share = "stream"}
    tile.store %sum, %c[%i, %j]
    ```
    After:
    ```mlir
    scf.for %turn = %c0 to %turns step %c1 {
      %sum = scf.for %k = %begin to %mine step %c64 iter_args(%s = %zeros) { … }
      %ends, … = scf.if %is_part {
        tile.store %sum, %workspace[%piece, %c0]
        %before = tile.atomic_rmw addi %counters[%first], %one
        …
      } else { scf.yield %true, … }
      scf.if %ends {
        %start = scf.if %is_part { … scf.yield %zeros } else { scf.yield %sum }
        %total = scf.for … // loads and adds what there are of parts
        tile.store %total, %c[%i, %j]
      }
    } {tile.programs}
    ```
    The tests are `test/Schedule/realise-streams.mlir` and `realise-streams-invalid.mlir`.
  }];
}

#endif // KILN_SCHEDULE_GRIDPASSES_TD
