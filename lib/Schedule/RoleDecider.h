// The division of a kernel that decides nothing into a role that loads by an engine and one that
// computes.
#ifndef KILN_LIB_SCHEDULE_ROLEDECIDER_H
#define KILN_LIB_SCHEDULE_ROLEDECIDER_H

#include "OwnRingDecider.h"
#include "kiln/Dialect/Tile/IR/Proposals.h"
#include "kiln/Layout/Transforms/AsyncAtomInterfaces.h"
#include "kiln/Schedule/TryOut.h"
#include "kiln/Target/TargetInterface.h"
#include "llvm/ADT/MapVector.h"

namespace kiln {

/// An operand of a product that reads what a load brings: as it is, or transposed.
struct OperandUse {
  mlir::OpOperand *operand;
  bool isTransposed;
};

/// The loop of trips in which an op stands, by itself or behind conditions; null if there is none.
mlir::Operation *getLoopAround(mlir::Operation *op);

/// What is decided of one kernel: nothing is written before all of it is known to hold.
class RoleDecider {
public:
  /// With `ofPairs` two programs of the cluster make each product together.
  RoleDecider(tile::KernelOp kernel, TargetInterface target, bool ofPairs)
      : kernel(kernel), target(target), ofPairs(ofPairs) {}

  /// Whether there is a division into roles for such a kernel.
  bool find();
  /// Why there is none for a kernel whose products could run on beside their warps, and the op that
  /// stands in the way.
  std::optional<Refusal> reason;
  /// Writes it; with stores by the engine, where it can make them, or without. Products of loops
  /// run in the trip that loads for them unless it may overlap trips. The programs of a cluster
  /// bring what all of them load once, if it shares tiles.
  void write(bool storesByEngine, bool overlaps, bool sharesTiles);
  /// Takes back what it has written.
  void undo();
  /// Has one group of warps make each product. False if it does, or has no registers for all.
  bool useOneCopy() { return std::exchange(copies, 1) > 1 && countAtOnce() <= kMostRegisters; }

  /// Of a kernel with a division: the products, all of which run on beside their warps.
  const llvm::MapVector<tile::DotOp, AsyncMmaAtomInterface> &getProducts() const { return dots; }
  int64_t getCopies() const { return copies; }
  bool isByEngine(tile::LoadOp load) const { return loads.contains(load); }
  /// Of a thread's registers, those of sums and operands that are there at once.
  int64_t countAtOnce();
  /// How many a thread of those that multiply may have.
  int64_t countHad();

private:
  bool leave(mlir::Operation *op, const llvm::Twine &text) {
    reason = {op->getLoc(), text.str()};
    return false;
  }
  bool arePlain();
  bool findDot(tile::DotOp dot);
  std::optional<mlir::Attribute> findEngine(tile::LoadOp load, llvm::ArrayRef<OperandUse> products);
  bool isMadeOfLoaded(mlir::Value value);
  bool paysToWrite(tile::DotOp dot, AsyncMmaAtomInterface atom, unsigned number);
  int64_t findRing(tile::LoadOp load);
  bool canStore(tile::StoreOp store);
  llvm::SmallVector<llvm::StringRef> findSharedAxes(tile::LoadOp load);
  bool isOrdered();
  int64_t countRegisters(unsigned atOnce);
  int64_t countFetched();
  int64_t countLoading();
  int64_t countHad(int64_t loading);
  int64_t countWarpsOfProduct();
  llvm::SmallVector<mlir::Attribute> makeRoles();

  tile::KernelOp kernel;
  TargetInterface target;
  bool ofPairs;
  llvm::MapVector<tile::DotOp, AsyncMmaAtomInterface> dots;
  /// Those whose sums are promoted, by nobody else's decision; and cut for that.
  llvm::SmallVector<tile::DotOp> promoted, cut;
  /// Each with the number of its ring.
  struct Load {
    mlir::Attribute atom;
    int64_t ring;
  };
  llvm::MapVector<tile::LoadOp, Load> loads;
  llvm::MapVector<tile::StoreOp, mlir::Attribute> stores;
  int64_t copies = 1;
};

} // namespace kiln

#endif
