// The second way to run loops of products of a kernel that decides nothing, and what it asks as the
// first does.
#ifndef KILN_LIB_SCHEDULE_OWNRINGDECIDER_H
#define KILN_LIB_SCHEDULE_OWNRINGDECIDER_H

#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Layout/Transforms/AsyncAtomInterfaces.h"
#include "kiln/Target/TargetInterface.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"

namespace kiln {

/// Of a thread's registers that accumulators and operands may have.
inline constexpr int64_t kMostRegisters = 264;

/// Takes back what was written of a kernel that decided nothing.
void undoRoles(tile::KernelOp kernel);
/// Whether nobody has decided anything of how a kernel's body runs, which is one block.
bool decidesNothing(tile::KernelOp kernel);
/// Whether programs of a kernel that decides nothing may run tiles in turn, as many each: it
/// computes its grid, how long a program runs does not hang on what it loads, and registers are
/// left.
bool mayBePersistent(tile::KernelOp kernel);
/// Has them do so, one a core, in an order that reads few rows and few columns at one time.
void writePersistence(tile::KernelOp kernel);
/// Takes that back.
void dropPersistence(tile::KernelOp kernel);
/// Whether an op does nothing that copies of a role, which may all run it, must not do twice, and
/// nothing that must be seen by another role.
bool isPlain(mlir::Operation *op);
/// The ops of a loop that tell whether it has another trip; nothing if one of them is not each
/// role's to do for itself.
std::optional<llvm::SetVector<mlir::Operation *>> findTelling(mlir::scf::WhileOp loop);
/// The gathers of a trip that may run a trip ahead, the loads of scales, and what they need of it.
llvm::SetVector<mlir::Operation *> findEarlyGathers(mlir::Block &block);
/// The loop in whose body an op stands, if its trips may overlap: those of an `scf.for` that are no
/// programs of a persistent kernel, or of an `scf.while` that numbers tell of.
mlir::Operation *findTrips(mlir::Operation *op);
/// The load that a product's operand comes from; null if it is computed. Where dimensions of one
/// element are taken away, and whether the product reads rows or columns, is no computation.
tile::LoadOp findLoad(mlir::Value operand);
/// What starts a product beside its warps; null if nothing does. Its sums are those of the source,
/// or can be promoted before they lose much. `hasOther` becomes true if something starts it that
/// does not fit.
AsyncMmaAtomInterface findAsyncAtom(tile::DotOp dot, TargetInterface target,
                                    bool *hasOther = nullptr);
/// What two programs of a cluster start such a product by together, if that is better than each
/// alone by its atom; else null.
AsyncMmaAtomInterface findPairAtom(tile::DotOp dot, AsyncMmaAtomInterface alone,
                                   TargetInterface target);
/// Whether its sums are those of the source, or the product says whether they are promoted.
bool sumsExactly(tile::DotOp dot, AsyncMmaAtomInterface atom);
/// How many groups of warps have rows of each of these products, by their instructions.
int64_t countCopies(const llvm::MapVector<tile::DotOp, AsyncMmaAtomInterface> &dots);

class OwnRingDecider {
public:
  OwnRingDecider(tile::KernelOp kernel, TargetInterface target) : kernel(kernel), target(target) {}

  /// Whether the kernel has loops in which products read what is loaded, or gathered.
  bool find();
  /// Whether all products can run on beside the warps, out of what these load: then they will.
  bool findDots();
  /// Has one group of warps make each product. False if it does, or has no registers for all.
  bool useOneCopy();
  /// Writes who loads what and by which instruction: past the registers if `direct`, where such
  /// copies are as wide as loads. Returns whether any are.
  bool write(bool direct, bool apart);
  /// Takes back what it has written.
  void undo();
  /// Whether a block has loads that do not come together, and they may fill rings of their own.
  bool canPart();

private:
  bool gathersAhead();
  int64_t countRegisters(int64_t threads);
  bool hasRegisters();
  mlir::Attribute findAtom(tile::LoadOp load, int64_t warps, bool direct);
  bool loadsAllPast(mlir::Block *block);
  void setRings(bool apart);
  void bringTogether(llvm::ArrayRef<tile::LoadOp> ring);

  tile::KernelOp kernel;
  TargetInterface target;
  llvm::SmallVector<tile::LoadOp> loads;
  /// Products that run on beside their warps, and the groups of warps that share them out.
  llvm::MapVector<tile::DotOp, AsyncMmaAtomInterface> dots;
  int64_t copies = 1, warps = 0;
  /// The loads that have been moved, each with the op that it stood in front of.
  llvm::SmallVector<std::pair<tile::LoadOp, mlir::Operation *>> moved;
};

} // namespace kiln

#endif // KILN_LIB_SCHEDULE_OWNRINGDECIDER_H
