// Compares points of a role's program by its stages and orders.
#include "RolePoints.h"
#include "Decisions.h"
#include "Trip.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
/// The stages that an op of a loop may have.
struct Stages {
  int64_t least, most;
};

} // namespace

bool kiln::isMoved(Block &body, StringRef role) {
  return llvm::any_of(body, [&](Operation &op) {
    return getRoleName(&op) == role &&
           (findNumber(&op, "stage").value_or(0) > 0 || findNumber(&op, "order"));
  });
}

/// Those that an op has in its block, by what is said of it or of the others of the role.
static Stages getStages(Operation *op, StringRef role) {
  if (std::optional<int64_t> stage = findNumber(op, "stage"))
    return {*stage, *stage};
  Stages stages{0, 0};
  for (Operation &other : *op->getBlock())
    if (getRoleName(&other) == role)
      stages.most = std::max(stages.most, findNumber(&other, "stage").value_or(0));
  return stages;
}

/// Whether a role surely runs an op of a block, so many trips later, behind another one there;
/// nothing if they are one op of one trip.
static std::optional<bool> isLater(Operation *first, Operation *later, int64_t trips,
                                   StringRef role) {
  Block &block = *first->getBlock();
  if (first == later)
    return trips == 0 ? std::nullopt : std::optional(trips > 0);
  if (!isa<scf::ForOp, scf::WhileOp>(block.getParentOp()) || !isMoved(block, role))
    return trips != 0 ? trips > 0 : first->isBeforeInBlock(later);
  Stages before = getStages(first, role), behind = getStages(later, role);
  int64_t least = trips + behind.least - before.most;
  if (least != 0)
    return least > 0;
  std::optional<int64_t> order = findNumber(first, "order"), next = findNumber(later, "order");
  if (order && next)
    return *order < *next;
  bool hasOrders = llvm::any_of(
      block, [&](Operation &op) { return getRoleName(&op) == role && findNumber(&op, "order"); });
  return !hasOrders && first->isBeforeInBlock(later);
}

static SmallVector<Operation *> getOpsAround(Operation *op) {
  SmallVector<Operation *> ops;
  for (; !isa<KernelOp>(op); op = op->getParentOp())
    ops.push_back(op);
  std::reverse(ops.begin(), ops.end());
  return ops;
}

bool kiln::isAtOrBehind(Point first, Point later, StringRef role) {
  for (auto [x, y] : llvm::zip(getOpsAround(first.op), getOpsAround(later.op))) {
    Operation *parent = x->getParentOp();
    // Of a while what asks for a trip comes in front of the trip.
    if (x->getBlock() != y->getBlock())
      return isa<scf::WhileOp>(parent) && x->getParentRegion()->getRegionNumber() == 0;
    int64_t trips = int64_t(later.turned == parent) - int64_t(first.turned == parent);
    if (std::optional<bool> isIt = isLater(x, y, trips, role))
      return *isIt;
  }
  return first.op == later.op;
}
