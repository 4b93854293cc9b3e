// Gives ops of a loop whose orders nobody has said the places that those leave which are said.
#include "Decisions.h"
#include "LoopProblem.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// An order is a place among all ops of the role in the loop, so one that is said alone says where
/// the others are, too: they go round it, as in the source.
void kiln::completeOrders(Block &body) {
  llvm::MapVector<StringRef, SmallVector<Operation *>> roles;
  for (Operation &op : body)
    if (StringRef role = getRoleName(&op); !role.empty())
      roles[role].push_back(&op);
  for (auto &[role, ops] : roles) {
    llvm::BitVector taken(ops.size());
    for (Operation *op : ops)
      if (std::optional<int64_t> order = findNumber(op, "order"))
        taken.set(*order);
    if (taken.none() || taken.all())
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
