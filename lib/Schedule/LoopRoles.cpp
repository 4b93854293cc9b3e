// Who runs an op of a loop of which nobody says it.
#include "Decisions.h"
#include "LoopProblem.h"
#include "kiln/Dialect/Tile/IR/Roles.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// Whether an op is of numbers: what it takes and gives is of one element.
static bool isOfNumbers(Operation *op) {
  auto isNumber = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return !tensor || tensor.getNumElements() == 1;
  };
  return op->getNumRegions() == 0 && llvm::all_of(op->getOperandTypes(), isNumber) &&
         llvm::all_of(op->getResultTypes(), isNumber);
}

StringRef kiln::findLoopRole(Operation *op, StringRef rest) {
  llvm::SetVector<StringRef> names;
  op->walk([&](Operation *inner) {
    if (StringRef name = getRoleName(inner); !name.empty())
      names.insert(name);
  });
  auto addMakers = [&](ValueRange values) {
    for (Value value : values)
      if (names.empty() && isa<RankedTensorType>(value.getType()))
        names.insert_range(findMakers(value));
  };
  addMakers(op->getResults());
  addMakers(op->getOperands());
  if (names.empty() && isOfNumbers(op))
    return {};
  // What several make is computed by who keeps it.
  if (names.size() > 1 && op->getNumRegions() == 0 && op->getNumResults() == 1)
    return findKeeper(op->getResult(0));
  return names.empty() ? rest : names.size() == 1 ? names[0] : StringRef();
}
