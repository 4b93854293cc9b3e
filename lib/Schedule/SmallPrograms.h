// What passes ask of kernels whose programs bring little.
#ifndef KILN_LIB_SCHEDULE_SMALLPROGRAMS_H
#define KILN_LIB_SCHEDULE_SMALLPROGRAMS_H

#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Target/Chip.h"
#include "kiln/Target/TargetInterface.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace kiln {

/// Whether passes may have several programs of a kernel share a block: nobody has decided anything
/// but how many warps run one, and it has a grid of its own, along x alone.
bool mayShareBlocks(tile::KernelOp kernel);

/// The argument by which a launch tells how many programs of the source there are along x; null if
/// a kernel has none.
mlir::Value findGridExtent(tile::KernelOp kernel);

/// What a block moves between memory and registers by the accesses that are meant, in bytes.
/// Nothing if that is not known, or it does what a program should not do beside others.
std::optional<int64_t> countMoved(
    mlir::Block &block,
    llvm::function_ref<bool(mlir::Operation *)> isMeant = [](mlir::Operation *) { return true; });

/// What memory moves for a core while one program is there. Programs that are there at one time
/// must bring as much, or memory waits. Nothing if the chip's record lacks a figure for it.
std::optional<double> countBusyBytes(const Figures &figures);

} // namespace kiln

#endif // KILN_LIB_SCHEDULE_SMALLPROGRAMS_H
