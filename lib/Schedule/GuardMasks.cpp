// Puts masks that only some trips of a loop need into conditions, as `tile.guarded` says.
#include "Decisions.h"
#include "MaskGuards.h"
#include "kiln/Dialect/Tile/IR/AccessDecisions.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"

namespace kiln {
#define GEN_PASS_DEF_GUARDMASKS
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;
using Predicate = arith::CmpIPredicate;

/// Masks where the loop's variable compares so with `bound`; what makes the mask goes there too.
/// The condition has the select's place in a trip.
static scf::IfOp guard(scf::ForOp loop, OpBuilder &at, arith::SelectOp select, Predicate predicate,
                       Value bound) {
  Location loc = select.getLoc();
  Value isOutside = arith::CmpIOp::create(at, loc, predicate, loop.getInductionVar(), bound);
  auto condition = scf::IfOp::create(at, loc, select.getType(), isOutside, /*withElseRegion=*/true);
  condition->setAttr(kSplitLoopAttrName, at.getUnitAttr());
  OpBuilder inside = condition.getThenBodyBuilder();
  IRMapping mapping;
  std::function<void(Value)> copy = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != loop.getBody() || !isa<RankedTensorType>(value.getType()) ||
        !getElementTypeOrSelf(value.getType()).isIntOrIndex() || !isPure(op) ||
        op->getNumRegions() > 0 || mapping.contains(value))
      return;
    for (Value operand : op->getOperands())
      copy(operand);
    dropPlace(inside.clone(*op, mapping));
  };
  copy(select.getCondition());
  Operation *masked = inside.clone(*select, mapping);
  dropPlace(masked);
  scf::YieldOp::create(inside, loc, masked->getResults());
  return condition;
}

static void guard(scf::ForOp loop, arith::SelectOp select, const WholeTrips &whole) {
  Value unmasked = whole.isNegated ? select.getFalseValue() : select.getTrueValue();
  OpBuilder at(select);
  scf::IfOp outer, inner;
  if (whole.first) {
    outer = guard(loop, at, select, Predicate::slt, whole.first);
    at = outer.getElseBodyBuilder();
  }
  inner = guard(loop, at, select, Predicate::sgt, whole.last);
  OpBuilder inElse = inner.getElseBodyBuilder();
  scf::YieldOp::create(inElse, select.getLoc(), unmasked);
  if (outer)
    scf::YieldOp::create(at, select.getLoc(), inner.getResults());
  scf::IfOp guarded = outer ? outer : inner;
  copyPlace(select, guarded);
  select.getResult().replaceAllUsesWith(guarded.getResult(0));
}

/// Whatever made a mask alone, the last first.
static void eraseMakers(scf::ForOp loop, Value mask) {
  llvm::SetVector<Operation *> makers;
  if (Operation *maker = mask.getDefiningOp())
    makers.insert(maker);
  for (size_t i = 0; i < makers.size(); ++i)
    for (Value operand : makers[i]->getOperands())
      if (Operation *maker = operand.getDefiningOp())
        if (maker->getBlock() == loop.getBody() && maker->getNumRegions() == 0)
          makers.insert(maker);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*loop.getBody())))
    if (makers.contains(&op) && isOpTriviallyDead(&op))
      op.erase();
}

/// Selects by one mask, in the order of the text.
static LogicalResult guardAll(Value mask, ArrayRef<arith::SelectOp> selects) {
  arith::SelectOp first = selects.front();
  auto loop = dyn_cast<scf::ForOp>(first->getParentOp());
  std::optional<WholeTrips> whole;
  if (loop)
    whole = MaskFinder(loop, OpBuilder(loop)).find(first);
  if (!whole)
    return first->emitOpError("expected a mask, in a loop itself, that compares integers which the "
                              "loop's variable changes by one each, or not at all, since '")
           << kGuardedAttrName << "' is decided";
  for (arith::SelectOp select : selects) {
    guard(loop, select, *whole);
    select.erase();
  }
  eraseMakers(loop, mask);
  return success();
}

namespace {
struct GuardMasks : kiln::impl::GuardMasksBase<GuardMasks> {
  void runOnOperation() override {
    llvm::MapVector<std::pair<Block *, Value>, SmallVector<arith::SelectOp>> masks;
    getOperation().walk([&](arith::SelectOp select) {
      auto said = dyn_cast_or_null<BoolAttr>(select->removeAttr(kGuardedAttrName));
      if (said && said.getValue())
        masks[{select->getBlock(), select.getCondition()}].push_back(select);
    });
    for (auto &[place, selects] : masks)
      if (failed(guardAll(place.second, selects)))
        return signalPassFailure();
  }
};
} // namespace
