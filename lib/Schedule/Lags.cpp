// How far copies of a role lag, in how many turns of a trip they start dots, and what has slots by
// that whose depth nobody says.
#include "Lags.h"
#include "HandOvers.h"
#include "kiln/Dialect/Tile/IR/Roles.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

int64_t kiln::getLag(RoleAttr role) { return role.getSkew() * (role.getCopies() - 1); }

/// In the ops of a region, each of whose dots may be a turn.
static int64_t countTurns(Region &region, RoleAttr role) {
  int64_t turns = 0;
  if (!region.empty())
    for (Operation &op : region.front())
      turns += kiln::countTurns(&op, role);
  return turns;
}

int64_t kiln::countTurns(Operation *op, RoleAttr role) {
  if (auto dot = dyn_cast<DotOp>(op))
    return dot.getInFlight() && lookUpRole(dot) == role;
  int64_t most = 0, least = std::numeric_limits<int64_t>::max();
  for (Region &region : op->getRegions()) {
    int64_t turns = ::countTurns(region, role);
    most = std::max(most, turns);
    least = std::min(least, std::max<int64_t>(turns, 1));
  }
  if (most == 0)
    return 0;
  if (isa<scf::IfOp>(op))
    return least;
  auto loop = dyn_cast<scf::ForOp>(op);
  std::optional<APInt> trips = loop ? loop.getStaticTripCount() : std::nullopt;
  return trips && !trips->isZero() ? trips->getSExtValue() * most : 1;
}

SmallVector<Block *> kiln::findLagging(KernelOp kernel) {
  SmallVector<Block *> blocks = {&kernel.getBody().front()};
  kernel.getBody().walk([&](Operation *loop) {
    if (!isa<scf::ForOp, scf::WhileOp>(loop))
      return;
    Block &body = loop->getRegions().back().front();
    if (llvm::any_of(body,
                     [](Operation &op) { return isa<scf::ForOp, scf::WhileOp, scf::IfOp>(op); }))
      blocks.push_back(&body);
  });
  return blocks;
}

/// More slots than these nobody asks for unsaid, nor for those of more rings one after another.
static constexpr int64_t kMostSlots = 16, kMostRounds = 8;

namespace {
/// What of a kernel has a depth that nobody has said: loads into rings, and what is handed over.
struct OpenDepths {
  const DenseSet<LoadOp> &loads;
  DenseSet<Operation *> given = {};

  bool deepen(const PinsChecked &checked, RingPlan &plan);
};
} // namespace

/// Gives what has too few slots the least that it needs. Whether there is such a thing.
bool OpenDepths::deepen(const PinsChecked &checked, RingPlan &plan) {
  if (!checked.wrong || !checked.wrong->leastDepth)
    return false;
  Operation *op = checked.made.ops[*checked.wrong->op];
  auto fills = [&](Ring &ring) {
    return llvm::any_of(ring.uses, [&](RingUse &use) {
      return use.store == op || llvm::is_contained(use.loads, op);
    });
  };
  int64_t least = *checked.wrong->leastDepth;
  if (least > kMostSlots)
    return false;
  if (Ring *ring = llvm::find_if(plan, fills); ring != plan.end()) {
    if (ring->depth >= least * int64_t(ring->uses.size()))
      return false;
    for (RingUse &use : ring->uses)
      for (LoadOp load : use.loads)
        if (!loads.contains(load))
          return false;
    for (RingUse &use : ring->uses)
      for (LoadOp load : use.loads)
        load.setDepth(least * int64_t(ring->uses.size()));
    return !ring->uses.front().store;
  }
  bool isTensor = op->getNumResults() == 1 && isa<RankedTensorType>(op->getResult(0).getType());
  bool isOpen = given.contains(op) || (isTensor && findHandedDepths(op->getResult(0)).empty() &&
                                       !getLoopDepth(op->getBlock()));
  if (!isOpen || countSlots(op->getResult(0)) >= least)
    return false;
  given.insert(op);
  op->setAttr(spellDepth(op), Builder(op->getContext()).getI64IntegerAttr(least));
  return true;
}

LogicalResult kiln::giveSlotsForLags(KernelOp kernel, const DenseSet<LoadOp> &open,
                                     const Chip &chip) {
  auto roles = kernel->getAttrOfType<ArrayAttr>(kRolesAttrName).getAsRange<RoleAttr>();
  if (llvm::none_of(roles, [](RoleAttr role) { return getLag(role) > 0; }))
    return success();
  OpenDepths depths{open};
  bool isDeeper = true;
  for (int round = 0; round < kMostRounds && isDeeper; ++round) {
    isDeeper = false;
    FailureOr<RingPlan> plan = planRings(kernel);
    if (failed(plan))
      return failure();
    for (Block *block : findLagging(kernel))
      isDeeper = isDeeper || depths.deepen(checkLags(*block, *plan), *plan);
    kernel.getBody().walk([&](Operation *loop) {
      if (isa<scf::ForOp, scf::WhileOp>(loop) &&
          getLoopOfTrips(&loop->getRegions().back().front().front()) == loop)
        isDeeper = isDeeper || depths.deepen(checkPins(loop, *plan, chip), *plan);
    });
  }
  return success();
}
