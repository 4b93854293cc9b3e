// Trips that ask for their iterations, one in the other.
//
// Where there is an iteration there are all that come before it. A trip that asks for a later one
// than the trip in front of it stands in that one, so no path takes the later one alone: what is
// proven of code by each of its paths is then asked of those alone that there are.
#include "Expander.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace kiln;

/// What a block yields, without its end.
static SmallVector<Value> takeYield(Block *block) {
  if (!block || block->empty())
    return {};
  SmallVector<Value> yielded(block->getTerminator()->getOperands());
  block->getTerminator()->erase();
  return yielded;
}

/// Whether one may stand in the other: what lies between, and what the later one does where it is
/// not taken, may as well come first.
static bool mayNest(scf::IfOp outer, scf::IfOp inner) {
  if (outer->getBlock() != inner->getBlock() || !outer->isBeforeInBlock(inner))
    return false;
  auto isOfOuter = [&](Value value) { return value.getDefiningOp() == outer; };
  for (Operation *op = outer->getNextNode(); op != inner; op = op->getNextNode())
    if (!isPure(op) || op->getNumRegions() > 0 || llvm::any_of(op->getOperands(), isOfOuter))
      return false;
  return !isOfOuter(inner.getCondition()) &&
         (!inner.elseBlock() || llvm::all_of(inner.elseBlock()->without_terminator(),
                                             [](Operation &op) { return isPure(&op); }));
}

/// Both, the later one at the end of the earlier one's first block.
static std::pair<scf::IfOp, scf::IfOp> nest(scf::IfOp outer, scf::IfOp inner) {
  while (outer->getNextNode() != inner)
    outer->getNextNode()->moveBefore(outer);
  OpBuilder builder(outer);
  Location loc = outer.getLoc();
  // What the later one alone takes need not leave the earlier one.
  auto isOfInner = [&](Operation *user) { return inner->isAncestor(user); };
  SmallVector<unsigned> left;
  for (OpResult result : outer->getResults())
    if (!llvm::all_of(result.getUsers(), isOfInner))
      left.push_back(result.getResultNumber());
  auto pick = [&](ArrayRef<Value> values) {
    return llvm::map_to_vector(left, [&](unsigned number) { return values[number]; });
  };
  SmallVector<Type> types;
  for (unsigned number : left)
    types.push_back(outer.getResult(number).getType());
  llvm::append_range(types, inner.getResultTypes());
  auto whole = scf::IfOp::create(builder, loc, types, outer.getCondition(),
                                 /*withElseRegion=*/!types.empty());
  for (Block *block : {whole.thenBlock(), whole.elseBlock()})
    if (block && !block->empty())
      block->back().erase();
  SmallVector<Value> made = takeYield(outer.thenBlock()), kept = takeYield(outer.elseBlock());
  Block *then = whole.thenBlock();
  then->getOperations().splice(then->end(), outer.thenBlock()->getOperations());
  // Where the earlier one is not taken, the later one is not either.
  if (Block *otherwise = whole.elseBlock()) {
    if (outer.elseBlock())
      otherwise->getOperations().splice(otherwise->end(), outer.elseBlock()->getOperations());
    builder.setInsertionPointToEnd(otherwise);
    IRMapping mapping;
    mapping.map(outer.getResults(), kept);
    kept = pick(kept);
    if (inner.elseBlock()) {
      for (Operation &op : inner.elseBlock()->without_terminator())
        builder.clone(op, mapping);
      for (Value value : inner.elseBlock()->getTerminator()->getOperands())
        kept.push_back(mapping.lookupOrDefault(value));
    }
    scf::YieldOp::create(builder, loc, kept);
  }
  inner->moveBefore(then, then->end());
  for (auto [result, value] : llvm::zip_equal(outer.getResults(), made))
    result.replaceUsesWithIf(value, [&](OpOperand &use) { return isOfInner(use.getOwner()); });
  made = pick(made);
  llvm::append_range(made, inner.getResults());
  inner->replaceAllUsesWith(whole.getResults().take_back(inner.getNumResults()));
  builder.setInsertionPointToEnd(then);
  scf::YieldOp::create(builder, loc, made);
  for (auto [number, result] : llvm::enumerate(left))
    outer.getResult(result).replaceAllUsesWith(whole.getResult(number));
  outer->erase();
  return {whole, inner};
}

void kiln::nestTrips(ArrayRef<AskedTrip> trips) {
  SmallVector<AskedTrip> open;
  for (AskedTrip trip : trips) {
    while (!open.empty() && open.back().iteration > trip.iteration)
      open.pop_back();
    for (AskedTrip &outer : open) {
      if (!mayNest(outer.check, trip.check)) {
        open.clear();
        break;
      }
      std::tie(outer.check, trip.check) = nest(outer.check, trip.check);
    }
    open.push_back(trip);
  }
}
