// When tiles that come through registers are written to the rings of another role.
#include "WriteStages.h"
#include "LoopProblem.h"
#include "Rings.h"
#include "Slice.h"
#include "kiln/Dialect/Tile/IR/AccessDecisions.h"
#include "kiln/Dialect/Tile/IR/Roles.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// The op of the trip, behind a site, in which another role makes a value; or null. What another
/// role has a ring filled with is read from there, and waits for nobody else.
static Operation *findOtherMaker(Value value, Operation *site, StringRef role) {
  Operation *maker = value.getDefiningOp();
  Operation *here = maker ? site->getBlock()->findAncestorOpInBlock(*maker) : nullptr;
  bool isOther =
      here && site->isBeforeInBlock(here) && !fillsBuffer(maker) && isOfOther(maker, role);
  return isOther ? here : nullptr;
}

/// Whether a role runs an op: as it says, or since the role has the tensor that it makes.
static bool isOfRole(Operation *op, StringRef role) {
  StringRef own = getRoleName(op);
  return own == role ||
         (own.empty() && llvm::any_of(op->getResults(), [&](Value value) {
            return isa<RankedTensorType>(value.getType()) && findKeeper(value) == role;
          }));
}

Operation *kiln::findWritePlace(Operation *site, Operation *waiting, RoleAttr role) {
  Operation *place = waiting;
  waiting->walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (Operation *maker = findOtherMaker(operand, site, role.getName());
          maker && maker->isBeforeInBlock(place) && isOfRole(op, role.getName()))
        place = maker;
  });
  return place;
}

Operation *kiln::findWaiting(Operation *site, RoleAttr role) {
  StringRef name = role.getName();
  auto comesFromOther = [&](Value value) { return bool(findOtherMaker(value, site, name)); };
  auto isTold = [&](Operation *op) {
    StringRef maker = findResultMaker(op);
    return !maker.empty() && maker != name && llvm::any_of(op->getResults(), [&](Value value) {
      return value.getType().isIntOrIndexOrFloat() && tellsRole(value, role);
    });
  };
  // What a condition or a loop ends with another role may make, too.
  auto keepsOfOther = [&](Operation *op) {
    Operation *parent = op->getParentOp();
    return isa<scf::YieldOp>(op) && isa<scf::ForOp, scf::IfOp>(parent) &&
           llvm::any_of(llvm::zip(op->getOperands(), parent->getResults()), [&](auto pair) {
             auto [value, kept] = pair;
             return isa<RankedTensorType>(value.getType()) && comesFromOther(value) &&
                    findKeeper(kept) == name;
           });
  };
  auto put = dyn_cast<PutOp>(site);
  auto waits = [&](Operation *op) {
    if (isTold(op) || keepsOfOther(op))
      return WalkResult::interrupt();
    if (!isOfRole(op, name))
      return WalkResult::advance();
    auto next = dyn_cast<NextOp>(op);
    bool isInLoop = next && op->getParentOfType<LoopLikeOpInterface>() !=
                                site->getParentOfType<LoopLikeOpInterface>();
    // Who reads the ring reads it in the order of the source.
    bool isOfRing =
        next && put && next.getChannel() == put.getChannel() && op->getBlock() != site->getBlock();
    return isInLoop || isOfRing || llvm::any_of(op->getOperands(), comesFromOther)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  };
  for (Operation *op = site->getNextNode(); !op->hasTrait<OpTrait::IsTerminator>();
       op = op->getNextNode())
    if (op->walk(waits).wasInterrupted())
      return op;
  return nullptr;
}

/// The loads of a loop whose tiles go through registers to another role, and of which nobody has
/// said when they are written.
static SmallVector<LoadOp> findWritten(scf::ForOp loop, RingPlan &plan) {
  SmallVector<LoadOp> written;
  for (Ring &ring : plan)
    for (RingUse &use : ring.uses)
      if (ring.isWritten() && !ring.isReadByProducer() && use.getBlock() == loop.getBody() &&
          !getWriteStage(use.loads.front()) && !findNest(plan, ring, use))
        llvm::append_range(written, use.loads);
  return written;
}

LogicalResult kiln::decideWriteStages(KernelOp kernel, const Chip &chip) {
  Builder builder(kernel.getContext());
  FailureOr<RingPlan> plan = planRings(kernel);
  if (failed(plan))
    return failure();
  kernel.getBody().walk([&](scf::ForOp loop) {
    SmallVector<LoadOp> written = findWritten(loop, *plan);
    auto isUneven = [&](Ring &ring) {
      return ring.depth % ring.uses.size() && ring.uses.front().getBlock() == loop.getBody();
    };
    if (written.empty() || loop->hasAttr(kProgramsAttrName) || llvm::any_of(*plan, isUneven))
      return;
    for (LoadOp load : written) {
      int64_t stage = load.getStage().value_or(0);
      load->setAttr(kWriteStageAttrName, builder.getI64IntegerAttr(stage + 1));
    }
    PinsChecked checked = checkPins(loop, *plan, chip);
    for (LoadOp load : written)
      if (checked.isKnown && !checked.wrong)
        load.setStage(load.getStage().value_or(0));
      else
        load->removeAttr(kWriteStageAttrName);
  });
  return success();
}
