// Decisions about when and by whom: roles and persistent grids.
#ifndef KILN_DIALECT_TILE_IR_TILESCHEDULEATTRS_TD
#define KILN_DIALECT_TILE_IR_TILESCHEDULEATTRS_TD

include "kiln/Dialect/Tile/IR/TileAttributes.td"

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

    ```mlir
    tile.persistent = #tile.persistent<programs = 132, group = 16>
    ```
  }];
  let parameters = (ins "int64_t":$programs, DefaultValuedParameter<"int64_t", "1">:$group);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

#endif // KILN_DIALECT_TILE_IR_TILESCHEDULEATTRS_TD
