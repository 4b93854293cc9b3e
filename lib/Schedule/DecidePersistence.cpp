// Which kernels that decide nothing may have programs that run tiles in turn.
//
// A program that runs many tiles loads the first trips of the next while it stores one, and starts
// once. In turn each program has its share of the tiles from the start, whereas the chip hands a
// grid's programs out as cores come free: so tiles must be of like length, or of lengths that the
// place in the grid tells, which turns mix. And what turns need takes registers, which products
// that go from one to the next in registers do not leave.
#include "OwnRingDecider.h"
#include "kiln/Dialect/Tile/IR/Decisions.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// How many tiles along x are run through along y. Of a product of 128 rows and 256 columns, what
/// 132 programs read at one time is then 2,048 rows and 2,112 columns.
static constexpr int64_t kGroup = 16;

/// Whether a value is made of what such an op gives, in the trip that uses it.
static bool isMadeBy(Value made, function_ref<bool(Operation *)> isSuch) {
  SmallVector<Value> values = {made};
  DenseSet<Value> seen;
  while (!values.empty()) {
    Value value = values.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    Operation *maker = value.getDefiningOp();
    if (maker && isSuch(maker))
      return true;
    if (maker) {
      llvm::append_range(values, maker->getOperands());
      continue;
    }
    auto loop = dyn_cast<scf::ForOp>(value.getParentBlock()->getParentOp());
    if (loop && value == loop.getInductionVar())
      values.append({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
  }
  return false;
}

/// Whether a number is made of what the kernel loads, as far as one can tell: what a loop or a
/// condition gives might be.
static bool isMadeOfLoaded(Value number) {
  return isMadeBy(number, [](Operation *op) {
    return isa<LoadOp, GatherOp, AtomicRMWOp>(op) || op->getNumRegions() > 0;
  });
}

/// Whether a product multiplies what its trip makes of another, in registers.
static bool isChained(DotOp dot) {
  auto isProduct = [](Operation *op) { return isa<DotOp>(op); };
  return isMadeBy(dot.getA(), isProduct) || isMadeBy(dot.getB(), isProduct);
}

/// Whether such a number says how many trips a loop has, or whether a condition holds.
static bool isCountedBy(Operation *op, function_ref<bool(Value)> isSuch) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return llvm::any_of(ValueRange{loop.getLowerBound(), loop.getUpperBound(), loop.getStep()},
                        isSuch);
  auto condition = dyn_cast<scf::IfOp>(op);
  return condition && isSuch(condition.getCondition());
}

/// Whether an op keeps programs from running tiles in turn.
static bool standsAlone(Operation *op) {
  auto dot = dyn_cast<DotOp>(op);
  return isCountedBy(op, isMadeOfLoaded) || isa<scf::WhileOp>(op) || (dot && isChained(dot));
}

/// Whether how long an op takes hangs on the program's place in the grid, as far as one can tell.
static bool hangsOnPlace(Operation *op) {
  return isCountedBy(op, [](Value number) {
    return isMadeBy(number,
                    [](Operation *op) { return isa<ProgramIdOp>(op) || op->getNumRegions() > 0; });
  });
}

static bool hasAny(KernelOp kernel, function_ref<bool(Operation *)> isSuch) {
  WalkResult result = kernel.getBody().walk(
      [&](Operation *op) { return isSuch(op) ? WalkResult::interrupt() : WalkResult::advance(); });
  return result.wasInterrupted();
}

bool kiln::mayBePersistent(KernelOp kernel) {
  return kernel.hasGrid() && !kernel->hasAttr(kPersistentAttrName) && !hasAny(kernel, standsAlone);
}

/// Where all tiles take as long, a launch makes no more programs than run them in as few rounds:
/// fewer draw less power, and none idles in the last round. Where some take longer, such a number
/// could give one program all of these.
void kiln::writePersistence(KernelOp kernel) {
  auto grid = cast<GridOp>(kernel.getGrid().front().getTerminator());
  int64_t group = grid.getExtents().size() > 1 ? kGroup : 1;
  kernel->setAttr(kPersistentAttrName, PersistentAttr::get(kernel.getContext(), /*programs=*/0,
                                                           group, !hasAny(kernel, hangsOnPlace)));
}
