// Gives ops of a loop whose orders nobody has said the places that those leave which are said.
#include "Decisions.h"
#include "LoopProblem.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// Whether an op has a place of its own: what layouts add, and views, go with what they are of.
static bool hasPlace(Operation &op) {
  return !getRoleName(&op).empty() && !isa<ConvertLayoutOp>(op) && !isView(&op);
}

/// Orders from 0 on of some ops are places among these, and say where they are to one another. One
/// that is said alone, or with gaps, is a place among all that the role does: the others go round
/// it, as in the source.
void kiln::completeOrders(Block &body) {
  llvm::MapVector<StringRef, SmallVector<Operation *>> roles;
  for (Operation &op : body)
    if (hasPlace(op))
      roles[getRoleName(&op)].push_back(&op);
  for (auto &[role, ops] : roles) {
    llvm::BitVector taken(ops.size());
    bool isKnown = true;
    for (Operation *op : ops)
      if (std::optional<int64_t> order = findNumber(op, "order")) {
        isKnown &= *order < int64_t(taken.size());
        if (isKnown)
          taken.set(*order);
      }
    bool areRanks = taken.count() > 1 && taken.find_first_unset() == int(taken.count());
    if (!isKnown || taken.none() || taken.all() || areRanks)
      continue;
    Builder builder(body.getParentOp()->getContext());
    for (Operation *op : ops) {
      if (findNumber(op, "order"))
        continue;
      int place = taken.find_first_unset();
      op->setAttr(spellDecision(op, "order"), builder.getI64IntegerAttr(place));
      taken.set(place);
    }
  }
}
