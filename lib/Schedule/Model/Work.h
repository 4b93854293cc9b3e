// What the trips of a kernel's loops take of a core, in closed form: what its units multiply, what
// its lanes compute, and what the second-level cache answers.
#ifndef KILN_LIB_SCHEDULE_MODEL_WORK_H
#define KILN_LIB_SCHEDULE_MODEL_WORK_H

#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Target/TargetInterface.h"

namespace kiln {

/// Of one trip of a loop, without the loops in it: microseconds of what runs beside one another.
struct TripWork {
  mlir::Operation *loop;
  double products = 0, lanes = 0;
  /// Of the second-level cache, which serves all cores: of programs alone, and of two of a cluster
  /// along an axis that bring together what is the same tile for both.
  double alone = 0, shared[3] = {0, 0, 0};
  /// What a core takes in, whoever else reads.
  double arriving = 0;
};

/// Of a kernel that decides nothing.
struct KernelWork {
  llvm::SmallVector<TripWork> trips;
  /// Whether products run on beside their warps out of what an engine loads; else a trip does one
  /// thing after another.
  bool isBeside = false;
  /// How many groups of warps share out each product then.
  int64_t copies = 1;
  /// Whether rows of what is loaded begin amid a sector, so that the cache answers less.
  bool isSplit = false;
  /// Whether a product has an extent that is no power of two, which most of what warps share out
  /// pads.
  bool isPadded = false;
  /// Of a thread's registers, those that sums take, and operands that lie there; and how many it
  /// may have, 0 if nobody knows.
  int64_t registers = 0, most = 0;
};

/// Nothing where the chip's record lacks a number: `lacks` names it.
std::optional<KernelWork> measureWork(tile::KernelOp kernel, TargetInterface target,
                                      llvm::StringRef &lacks);

/// The axis along which two programs had better bring tiles together; none if they gain too little
/// of what they wait for one another.
std::optional<unsigned> chooseClusterAxis(tile::KernelOp kernel, const KernelWork &work);

} // namespace kiln

#endif // KILN_LIB_SCHEDULE_MODEL_WORK_H
