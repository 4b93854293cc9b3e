// The second way to run loops of products of a kernel that decides nothing.
#ifndef KILN_LIB_SCHEDULE_OWNRINGDECIDER_H
#define KILN_LIB_SCHEDULE_OWNRINGDECIDER_H

#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Target/TargetInterface.h"
#include "llvm/ADT/SmallVector.h"

namespace kiln {

class OwnRingDecider {
public:
  OwnRingDecider(tile::KernelOp kernel, TargetInterface target) : kernel(kernel), target(target) {}

  /// Whether the kernel has loops in which products read what is loaded.
  bool find();
  /// Writes who loads what and by which instruction: past the registers if `direct`, where such
  /// copies are as wide as loads. Returns whether any are.
  bool write(bool direct);

private:
  mlir::Attribute findAtom(tile::LoadOp load, int64_t warps, bool direct);
  bool loadsAllPast(mlir::Block *block);
  size_t getLoop(tile::LoadOp load);

  tile::KernelOp kernel;
  TargetInterface target;
  llvm::SmallVector<tile::LoadOp> loads;
};

} // namespace kiln

#endif // KILN_LIB_SCHEDULE_OWNRINGDECIDER_H
