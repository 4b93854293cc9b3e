// Decisions about which programs there are and what each of them does, and the memory that a launch
// gives them for it.
#ifndef KILN_DIALECT_TILE_IR_GRIDDECISIONS_H
#define KILN_DIALECT_TILE_IR_GRIDDECISIONS_H

#include "kiln/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace kiln::tile {

/// Of a kernel with `tile.persistent`: the order of its tiles, a string, and how many programs a
/// launch makes for each core of the device, an i64.
inline constexpr llvm::StringLiteral kRasterAttrName = "tile.raster";
inline constexpr llvm::StringLiteral kPerCoreAttrName = "tile.per_core";

/// Of a kernel: how many programs that follow one another along x one block runs side by side, each
/// on warps of its own, an i64. Nothing keeps them together: whatever a program keeps in shared
/// memory it has for itself, and its barriers are its own.
inline constexpr llvm::StringLiteral kBlockProgramsAttrName = "tile.block_programs";
/// How many programs a block runs side by side: 1 without the attribute.
int64_t countBlockPrograms(KernelOp kernel);

/// Of a kernel: how many programs of the source that follow one another along x one program runs in
/// step, as one more dimension of its tiles, an i64.
inline constexpr llvm::StringLiteral kBatchAttrName = "tile.batch";

/// In front of the order by groups along x:
enum class Raster {
  Grouped,  ///< nothing
  Chiplets, ///< tiles are numbered so that the programs of one die take neighbours
  LongestX, ///< the last place along the axis comes first, for work that grows along it
  LongestY,
  LongestZ
};
/// What the attribute calls it.
llvm::StringRef spellRaster(Raster raster);
/// The raster of a kernel that is verified.
Raster getRaster(KernelOp kernel);

/// How many programs of a cluster there are along x, y and z: one each without `tile.cluster`.
std::array<int64_t, 3> getClusterExtents(KernelOp kernel);
int64_t getClusterPrograms(KernelOp kernel);
/// The axes that `multicast` names, 0 to 2 in their order.
llvm::SmallVector<unsigned> getAxes(mlir::ArrayAttr multicast);

/// Of a loop in a kernel's body that carries nothing but sums: how many programs run a share of its
/// trips each, for each tile of the grid, an i64; or "stream", if the programs of a persistent grid
/// share the trips of all tiles out that are left when each has run as many whole ones. And whether
/// they add to one sum as they come, a unit, or the last of them adds up what all have summed.
inline constexpr llvm::StringLiteral kShareAttrName = "tile.share";
inline constexpr llvm::StringLiteral kShareAtomicAttrName = "tile.share_atomic";
inline constexpr llvm::StringLiteral kStreamShare = "stream";
/// Whether a loop with `tile.share` has "stream".
bool isStreamed(mlir::scf::ForOp loop);

/// Of an argument behind those of the source, which a launch makes itself. A pointer to so many
/// bytes for each program of the grid, an i64; of one whose tiles are streamed, for each that is
/// launched: a workspace holds anything when a kernel begins; a counter holds zeros, and the kernel
/// leaves zeros. A kernel that has either runs on its own grid alone. Or an `index`, how many
/// programs the grid of the launch has along x, a unit.
inline constexpr llvm::StringLiteral kWorkspaceAttrName = "tile.workspace";
inline constexpr llvm::StringLiteral kCounterAttrName = "tile.counter";
inline constexpr llvm::StringLiteral kGridExtentAttrName = "tile.grid_extent";

struct HiddenArgument {
  enum Kind { Workspace, Counter, GridExtent };
  Kind kind;
  int64_t bytes = 0; ///< of memory
};
/// What a launch makes an argument of; nothing if it is the caller's.
std::optional<HiddenArgument> getHidden(KernelOp kernel, unsigned index);
/// Whether the kernel has a counter, which others find as it leaves it.
bool hasCounter(KernelOp kernel);
/// Adds such an argument behind all others: what the body sees of it. Memory has elements of that
/// type.
mlir::BlockArgument addHidden(KernelOp kernel, HiddenArgument hidden, mlir::Type element = {});

} // namespace kiln::tile

#endif // KILN_DIALECT_TILE_IR_GRIDDECISIONS_H
