// Which kernels that decide nothing may have programs that run tiles in turn.
//
// A program that runs many tiles loads the first trips of the next while it stores one, and starts
// once. In turn each program has its share of the tiles from the start, whereas the chip hands a
// grid's programs out as cores come free: so tiles must be of like length, or of lengths that the
// place in the grid tells, which turns mix.
#include "OwnRingDecider.h"
#include "kiln/Dialect/Tile/IR/Decisions.h"
#include "kiln/Dialect/Tile/IR/GridDecisions.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// How many tiles along x are run through along y. Of a product of 128 rows and 256 columns, what
/// 132 programs read at one time is then 2,048 rows and 2,112 columns.
static constexpr int64_t kGroup = 16;
/// As many along x as there are.
static constexpr int64_t kAll = 1 << 16;
/// Tiles of one section where the longest come first: of fewer, what programs have to do differs
/// more, and what all tiles of more read is not in the second-level cache. Of 512, 1024, 2048 and
/// all, attention on an H200 was the fastest, or within 1.5 %, with 1024 at 9 of 10 sizes.
static constexpr int64_t kSection = 1024;

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
  return isCountedBy(op, isMadeOfLoaded) || isa<scf::WhileOp>(op);
}

/// Whether how long an op takes hangs on the program's place in the grid, as far as one can tell.
static bool hangsOnPlace(Operation *op) {
  return isCountedBy(op, [](Value number) {
    return isMadeBy(number,
                    [](Operation *op) { return isa<ProgramIdOp>(op) || op->getNumRegions() > 0; });
  });
}

/// Whether a number is at least as large for a program further along an axis, as far as the ops
/// that make it tell; `hangs` if it hangs on the program's place at all.
static bool growsAlong(Value number, Axis axis, bool &hangs) {
  Operation *maker = number.getDefiningOp();
  if (!maker) { // an argument, or what a loop gives
    auto argument = cast<BlockArgument>(number);
    return isa<KernelOp>(argument.getOwner()->getParentOp());
  }
  if (auto id = dyn_cast<ProgramIdOp>(maker)) {
    hangs = true;
    return id.getAxis() == axis;
  }
  bool isOf = isMadeBy(number, [](Operation *op) { return isa<ProgramIdOp>(op); });
  if (!isOf)
    return maker->getNumRegions() == 0;
  if (isa<arith::AddIOp, arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp>(maker))
    return growsAlong(maker->getOperand(0), axis, hangs) &&
           growsAlong(maker->getOperand(1), axis, hangs);
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::ExtUIOp>(maker))
    return growsAlong(maker->getOperand(0), axis, hangs);
  if (isa<arith::SubIOp>(maker))
    return !isMadeBy(maker->getOperand(1), [](Operation *op) { return isa<ProgramIdOp>(op); }) &&
           growsAlong(maker->getOperand(0), axis, hangs);
  if (isa<arith::MulIOp, arith::DivSIOp, arith::DivUIOp, arith::CeilDivSIOp, arith::CeilDivUIOp>(
          maker)) {
    std::optional<int64_t> by = getConstantIntValue(maker->getOperand(1));
    return by && *by > 0 && growsAlong(maker->getOperand(0), axis, hangs);
  }
  return false;
}

/// Whether tiles take longer the further along an axis they lie: loops of products end later there,
/// and begin where all do.
static bool growsAlong(KernelOp kernel, Axis axis) {
  bool hangs = false;
  WalkResult result = kernel.getBody().walk([&](scf::ForOp loop) -> WalkResult {
    if (loop.getBody()->getOps<DotOp>().empty())
      return WalkResult::advance();
    bool begins = false;
    bool grows = growsAlong(loop.getUpperBound(), axis, hangs) &&
                 growsAlong(loop.getLowerBound(), axis, begins) && !begins;
    return WalkResult(success(grows));
  });
  return !result.wasInterrupted() && hangs;
}

static bool hasAny(KernelOp kernel, function_ref<bool(Operation *)> isSuch) {
  WalkResult result = kernel.getBody().walk(
      [&](Operation *op) { return isSuch(op) ? WalkResult::interrupt() : WalkResult::advance(); });
  return result.wasInterrupted();
}

bool kiln::mayBePersistent(KernelOp kernel) {
  return kernel.hasGrid() && !kernel->hasAttr(kPersistentAttrName) && !hasAny(kernel, standsAlone);
}

/// The order of tiles of which some take longer: the longest ones first.
static std::optional<Raster> findLongestFirst(KernelOp kernel, size_t rank) {
  static constexpr Raster kLongest[] = {Raster::LongestX, Raster::LongestY, Raster::LongestZ};
  for (size_t axis = 0; axis < rank; ++axis)
    if (growsAlong(kernel, Axis(axis)))
      return kLongest[axis];
  return std::nullopt;
}

/// Whether what loops of products load is the same for all tiles along x, as keys and values of
/// attention are.
static bool isSharedAlongX(KernelOp kernel) {
  bool isShared = true;
  kernel.getBody().walk([&](LoadOp load) {
    if (!load->getParentOfType<scf::ForOp>())
      return;
    for (Value offset : load.getOffsets())
      isShared &= !isMadeBy(offset, [](Operation *op) {
        auto id = dyn_cast<ProgramIdOp>(op);
        return id && id.getAxis() == Axis::X;
      });
  });
  return isShared;
}

/// Where all tiles take as long, a launch makes no more programs than run them in as few rounds:
/// fewer draw less power, and none idles in the last round. Where some take longer, such a number
/// could give one program all of these.
void kiln::writePersistence(KernelOp kernel) {
  auto grid = cast<GridOp>(kernel.getGrid().front().getTerminator());
  size_t rank = grid.getExtents().size();
  std::optional<Raster> longest = findLongestFirst(kernel, rank);
  int64_t group = longest ? kSection : rank == 1 ? 1 : isSharedAlongX(kernel) ? kAll : kGroup;
  MLIRContext *context = kernel.getContext();
  kernel->setAttr(kPersistentAttrName, PersistentAttr::get(context, /*programs=*/0, group,
                                                           !hasAny(kernel, hangsOnPlace)));
  if (longest)
    kernel->setAttr(kRasterAttrName, StringAttr::get(context, spellRaster(*longest)));
}

void kiln::dropPersistence(KernelOp kernel) {
  kernel->removeAttr(kPersistentAttrName);
  kernel->removeAttr(kRasterAttrName);
}
