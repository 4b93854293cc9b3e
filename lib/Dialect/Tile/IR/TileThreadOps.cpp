// Verifiers of the ops that say which threads run what, and what stays in front of what.
#include "Checks.h"
#include "kiln/Dialect/Tile/IR/Decisions.h"
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

//===- Regions of one thread ----------------------------------------------------------------===//

bool OneThreadOp::encloses(Operation *op) {
  for (auto one = op->getParentOfType<OneThreadOp>(); one;
       one = one->getParentOfType<OneThreadOp>())
    if (!one.getEachWarp())
      return true;
  return false;
}

/// Whether an op is done by a thread for itself, or for all. Others take the threads of a warp, or
/// more.
static bool runsAlone(Operation *op) {
  if (auto put = dyn_cast<PutOp>(op))
    return put.getBytes() > 0;
  if (auto dot = dyn_cast<StartDotOp>(op))
    return dot.getType().getInTensorMemory();
  return isMemoryEffectFree(op) ||
         isa<scf::ForOp, scf::WhileOp, scf::IfOp, GetOp, AcquireOp, ReleaseOp, CommitOp, CopyInOp,
             CopyOutOp, WaitStoresOp, FenceOp, PrefetchOp, InitOp, EndDotsOp, LaunchDependentsOp,
             WaitDependenciesOp>(op);
}

LogicalResult OneThreadOp::verifyRegions() {
  WalkResult result = getBody().walk([&](Operation *op) -> WalkResult {
    if (runsAlone(op))
      return WalkResult::advance();
    return op->emitOpError("expected an op that one thread can run, since it stands in '")
           << getOperationName() << "'";
  });
  return failure(result.wasInterrupted());
}

//===- What roles find ----------------------------------------------------------------------===//

/// What is made for all roles stands in front of them.
static LogicalResult verifyBesideRoles(Operation *op) {
  return WarpGroupsOp::getRoleOf(op) ? op->emitOpError("expected to stand outside of roles")
                                     : success();
}

LogicalResult InitOp::verify() {
  if (getChannel().getType().getOwn())
    return emitOpError("expected a channel at whose slots others wait, got ")
           << getChannel().getType();
  return verifyBesideRoles(*this);
}

/// The op is one of its kind, and of all channels at once: what is set aside is one piece.
template <typename OpTy>
static LogicalResult verifyTensorMemory(OpTy op) {
  ValueRange channels = op.getChannels();
  if (channels.empty())
    return op->emitOpError("expected at least one channel");
  for (Value channel : channels) {
    auto isOfKind = [](OpOperand &use) { return isa<OpTy>(use.getOwner()); };
    if (llvm::count_if(channel.getUses(), isOfKind) > 1)
      return op->emitOpError("expected no other '")
             << OpTy::getOperationName() << "' of its channels, and each of them once";
  }
  for (Value channel : channels)
    if (!cast<ChannelType>(channel.getType()).getAccumulator())
      return op->emitOpError("expected channels of accumulators in tensor memory, got ")
             << channel.getType();
  auto isOfPair = [](Value channel) { return cast<ChannelType>(channel.getType()).getPair(); };
  if (llvm::any_of(channels, isOfPair) && !llvm::all_of(channels, isOfPair))
    return op->emitOpError("expected accumulators of one program or of two, not of both");
  return verifyBesideRoles(op);
}

LogicalResult AllocTensorOp::verify() { return verifyTensorMemory(*this); }
LogicalResult FreeTensorOp::verify() { return verifyTensorMemory(*this); }

LogicalResult EndDotsOp::verify() {
  if (!getChannel().getType().getAccumulator())
    return emitOpError("expected a channel of accumulators in tensor memory, got ")
           << getChannel().getType();
  return verifyInRole(*this);
}

//===- Clusters -----------------------------------------------------------------------------===//

LogicalResult ClusterBarrierOp::verify() {
  auto kernel = dyn_cast<KernelOp>((*this)->getParentOp());
  if (kernel && kernel->hasAttr(kClusterAttrName))
    return success();
  return emitOpError("expected to stand in the body of a kernel with '") << kClusterAttrName << "'";
}

//===- Order --------------------------------------------------------------------------------===//

LogicalResult PriorityOp::verify() {
  int64_t level = getLevel();
  if (level < 0 || level > 3)
    return emitOpError("expected a priority from 0 to 3, got ") << level;
  return verifyInRole(*this);
}
