// Decisions about when and by whom: roles and persistent grids.
#ifndef KILN_DIALECT_TILE_IR_TILESCHEDULEATTRS_TD
#define KILN_DIALECT_TILE_IR_TILESCHEDULEATTRS_TD

include "kiln/Dialect/Tile/IR/TileAttributes.td"
include "kiln/Dialect/Tile/IR/TileEnums.td"

def Tile_RoleAttr : Tile_Attr<"Role", "role"> {
  let summary = "a group of warps that run one part of a program";
  let description = [{
    - `warps`: the warps of one copy;
    - `copies`: how many groups of so many warps run the same body. Each copy holds its share of
      every tensor whose layout has bits of `warp` above those of one copy;
    - `skew`: by how many barriers copy `i + 1` lags behind copy `i`, of several copies;
    - `registers`: what each thread of the role may use, where roles of the chip can hand registers
      to one another and as it can; 0 leaves what the kernel was started with.

    `tile.roles` on a kernel lists them in the order of their warps; a kernel's ops name theirs.
    Once realised, each heads a region of `tile.warp_groups`.

    ```mlir
    tile.roles = [#tile.role<"load", warps = 4, registers = 40>,
                  #tile.role<"mma", warps = 4, copies = 2, registers = 232>]
    ```
  }];
  let parameters = (ins StringRefParameter<>:$name, "int64_t":$warps,
                        DefaultValuedParameter<"int64_t", "1">:$copies,
                        DefaultValuedParameter<"int64_t", "0">:$skew,
                        DefaultValuedParameter<"int64_t", "0">:$registers);
  let assemblyFormat = "`<` $name `,` struct($warps, $copies, $skew, $registers) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The warps of all copies.
    int64_t getTotalWarps() const { return getWarps() * getCopies(); }
  }];
}

def Tile_PersistentAttr : Tile_Attr<"Persistent", "persistent"> {
  let summary = "a grid of at most so many programs, each of which runs tiles in turn";
  let description = [{
    Stands as `tile.persistent` on a kernel that computes its grid. Program `i` runs tiles
    `i`, `i + programs`, … in an order by groups of `group` tiles along x: all of a group's tiles
    at one place along y, then those at the next; all of these at one place along z, then at the
    next. Of 0 programs there is one for each core of the device that the kernel is launched on.
    With `even` a launch makes no more of them than run the tiles in as few rounds: of 2048 tiles
    128 programs in place of 132, each of which runs 16. `tile.persistent = false` keeps passes
    from deciding it.

    ```mlir
    tile.persistent = #tile.persistent<programs = 132, group = 16, even = true>
    ```
  }];
  let parameters = (ins "int64_t":$programs, DefaultValuedParameter<"int64_t", "1">:$group,
                        DefaultValuedParameter<"bool", "false">:$even);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Tile_InterleaveAttr : Tile_Attr<"Interleave", "interleave"> {
  let summary = "how the instructions of a dot alternate with those around it";
  let description = [{
    Rounds, each so many times over: so many machine instructions of one kind, then so many of
    another. They are those of the stretch of code that the dot stands in, between two barriers or
    ends of a block, and each group takes the next of its kind. What no group takes stands where the
    code generator puts it.

    | kind | instructions |
    |---|---|
    | `matrix` | products by matrix units |
    | `vector`, `scalar` | arithmetic of all lanes, of one for all |
    | `transcendental` | exponentials, logarithms, roots and their like |
    | `load`, `store` | accesses to global memory; loads that go to shared memory directly, too |
    | `read`, `write` | accesses to shared memory |

    Counts are of instructions as the chip has them, not of tiles: with one too few in each round
    what is left over comes in one run.

    ```mlir
    interleave = #tile.interleave<16 x (1 read), 32 x (2 matrix, 1 load)>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$times, ArrayRefParameter<"int64_t">:$sizes,
                        ArrayRefParameter<"InstructionGroup">:$groups);
  let assemblyFormat = "`<` custom<Rounds>($times, $sizes, $groups) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The most groups there may be, each round counted as often as it comes.
    static constexpr int64_t kMostGroups = 1024;
    /// All groups, one after another.
    ::llvm::SmallVector<InstructionGroup> getSequence() const;
  }];
}

#endif // KILN_DIALECT_TILE_IR_TILESCHEDULEATTRS_TD
