// How many programs of a kernel that decides nothing one program runs in step.
//
// A row of few elements leaves lanes of a warp idle, or gives each of them accesses of few bytes.
// As many rows as fill memory's pipe are one tile, of which each lane has wide pieces
// (docs/rationale/programs.md).
#include "../SmallPrograms.h"
#include "Variation.h"
#include "kiln/Dialect/Tile/IR/GridDecisions.h"
#include "kiln/Layout/Transforms/UsualWarps.h"
#include "kiln/Schedule/Batch/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

namespace kiln {
#define GEN_PASS_DEF_DECIDEBATCH
#include "kiln/Schedule/Batch/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// What a lane accesses at once, at most.
static constexpr int64_t kLaneBytes = 16;

namespace {
/// What one program does of what is its own.
struct Work {
  /// Bytes between memory and registers, and the most of one access.
  int64_t moved, largestBytes;
  /// The elements of its largest tile.
  int64_t largest;
};
} // namespace

static RankedTensorType getAccessed(Operation *op) {
  return TypeSwitch<Operation *, RankedTensorType>(op)
      .Case<LoadOp, GatherOp>([](auto read) { return read.getType(); })
      .Case<StoreOp, ScatterOp>([](auto write) { return write.getValue().getType(); })
      .Default(RankedTensorType());
}

static ValueRange getPlaces(Operation *op) {
  return TypeSwitch<Operation *, ValueRange>(op)
      .Case<LoadOp, StoreOp>([](auto access) { return access.getOffsets(); })
      .Case<GatherOp, ScatterOp>([](auto access) { return access.getIndices(); })
      .Default(ValueRange());
}

/// Whether what becomes of an access takes no more instructions an element than the access did: as
/// one of a larger tile, of single elements, or of rows whose first element alone differs.
static bool staysRegular(Operation *op, const Variation &variation) {
  RankedTensorType tile = getAccessed(op);
  if (!tile || tile.getNumElements() == 1 || isa<GatherOp, ScatterOp>(op))
    return true;
  ValueRange offsets = getPlaces(op);
  if (!variation.anyVaries(offsets) || findBatchedDim(variation, offsets, tile.getShape()))
    return true;
  return isa<LoadOp>(op) && llvm::all_of(llvm::enumerate(offsets), [&](auto each) {
           return !variation.varies(each.value()) || tile.getDimSize(each.index()) == 1;
         });
}

/// Nothing if the programs should not run in step, or nobody knows what they do.
static std::optional<Work> findWork(KernelOp kernel, const Variation &variation) {
  auto isOwn = [&](Operation *op) {
    return variation.anyVaries(op->getOperands()) || variation.anyVaries(op->getResults());
  };
  Block &body = kernel.getBody().front();
  std::optional<int64_t> moved = countMoved(body, isOwn);
  if (!moved || *moved == 0)
    return std::nullopt;
  Work work = {*moved, 0, 1};
  WalkResult result = body.walk([&](Operation *op) {
    if (!staysRegular(op, variation))
      return WalkResult::interrupt();
    if (RankedTensorType tile = getAccessed(op); tile && isOwn(op))
      work.largestBytes = std::max(
          work.largestBytes, tile.getNumElements() * int64_t(tile.getElementTypeBitWidth()) / 8);
    for (Value value : op->getResults())
      if (auto tile = dyn_cast<RankedTensorType>(value.getType()); tile && variation.varies(value))
        work.largest = std::max(work.largest, tile.getNumElements());
    return WalkResult::advance();
  });
  return result.wasInterrupted() ? std::nullopt : std::optional(work);
}

/// The programs that a grid has at most, if that is known when compiling.
static std::optional<int64_t> getExtent(KernelOp kernel) {
  return getConstantIntValue(kernel.getGrid().front().getTerminator()->getOperand(0));
}

static int64_t chooseBatch(KernelOp kernel, const Chip &chip) {
  if (!mayShareBlocks(kernel) || findGridExtent(kernel))
    return 1;
  Variation variation(kernel);
  std::optional<Work> work = findWork(kernel, variation);
  if (!work)
    return 1;
  std::optional<double> busy = countBusyBytes(chip.figures);
  auto pinned = kernel->getAttrOfType<IntegerAttr>(kWarpsAttrName);
  auto countWarps = [&](int64_t count) {
    return pinned ? pinned.getInt() : countUsualWarps(count * work->largest, chip);
  };
  auto isBusy = [&](int64_t count) {
    int64_t held = std::min(chip.figures.blocksPerCore->value,
                            chip.figures.warpsPerCore->value / countWarps(count));
    return double(held * count * work->moved) >= *busy;
  };
  // There may be no more programs than cores.
  if (busy && isBusy(1))
    return 1;
  auto suffices = [&](int64_t count) {
    return count * work->largestBytes >= chip.warpSize * kLaneBytes && (!busy || isBusy(count));
  };
  // A core has a program, or it has nothing to do.
  std::optional<int64_t> extent = getExtent(kernel);
  int64_t cores = chip.figures.cores ? chip.figures.cores->value : 1;
  int64_t most = kUsualWarps * chip.warpSize * kFewestElementsPerThread;
  auto fits = [&](int64_t count) {
    return count * work->largest <= most && (!extent || *extent >= count * cores);
  };
  int64_t count = 1;
  while (!suffices(count) && fits(2 * count))
    count *= 2;
  return count > 1 && !findBatchObstacle(kernel, variation, count) ? count : 1;
}

namespace {
struct DecideBatch : kiln::impl::DecideBatchBase<DecideBatch> {
  void runOnOperation() override {
    FailureOr<TargetInterface> target = requireTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (int64_t count = chooseBatch(kernel, target->getChipRecord()); count > 1)
        kernel->setAttr(kBatchAttrName, Builder(kernel).getI64IntegerAttr(count));
  }
};
} // namespace
