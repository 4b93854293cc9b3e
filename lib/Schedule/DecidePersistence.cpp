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

/// Whether an op keeps programs from running tiles in turn.
static bool standsAlone(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return llvm::any_of(ValueRange{loop.getLowerBound(), loop.getUpperBound(), loop.getStep()},
                        isMadeOfLoaded);
  if (auto condition = dyn_cast<scf::IfOp>(op))
    return isMadeOfLoaded(condition.getCondition());
  auto dot = dyn_cast<DotOp>(op);
  return isa<scf::WhileOp>(op) || (dot && isChained(dot));
}

bool kiln::mayBePersistent(KernelOp kernel) {
  if (!kernel.hasGrid() || kernel->hasAttr(kPersistentAttrName) ||
      kernel->hasAttr(kClusterAttrName))
    return false;
  return !kernel.getBody()
              .walk([](Operation *op) {
                return standsAlone(op) ? WalkResult::interrupt() : WalkResult::advance();
              })
              .wasInterrupted();
}

/// Whether what a program does hangs on its place in the grid: what it loops over, or whether it
/// does something.
static bool isOfPlace(Operation *op) {
  auto isMadeOfPlace = [](Value number) {
    return isMadeBy(number,
                    [](Operation *op) { return isa<ProgramIdOp>(op) || op->getNumRegions() > 0; });
  };
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return llvm::any_of(ValueRange{loop.getLowerBound(), loop.getUpperBound(), loop.getStep()},
                        isMadeOfPlace);
  auto condition = dyn_cast<scf::IfOp>(op);
  return condition && isMadeOfPlace(condition.getCondition());
}

/// As few programs as run the tiles in as few rounds: each has as many tiles, fewer draw less power
/// and read less at a time, and none of the last round runs alone. Where tiles are of unlike
/// length, such a number might give one program all of the long ones.
static bool mayBeEven(KernelOp kernel) {
  return !kernel.getBody()
              .walk([](Operation *op) {
                return isOfPlace(op) ? WalkResult::interrupt() : WalkResult::advance();
              })
              .wasInterrupted();
}

void kiln::writePersistence(KernelOp kernel) {
  auto grid = cast<GridOp>(kernel.getGrid().front().getTerminator());
  int64_t group = grid.getExtents().size() > 1 ? kGroup : 1;
  kernel->setAttr(kPersistentAttrName, PersistentAttr::get(kernel.getContext(), /*programs=*/0,
                                                           group, mayBeEven(kernel)));
}
