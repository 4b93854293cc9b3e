// What keeps programs from running in step: all that is not known to mean the same for each of them
// as one more dimension of what it works on.
#include "Variation.h"
#include "kiln/Dialect/Tile/Transforms/Undecided.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

using Reason = std::optional<std::string>;

/// Whether an op, or one in it, changes anything that others may see. What is assumed they do not.
static bool mayWrite(Operation *op) {
  WalkResult result = op->walk([](Operation *inner) {
    if (isa<AssumeOp>(inner) || inner->hasTrait<OpTrait::HasRecursiveMemoryEffects>())
      return WalkResult::advance();
    auto effects = dyn_cast<MemoryEffectOpInterface>(inner);
    bool isHarmless = effects ? !hasEffect<MemoryEffects::Write>(inner) &&
                                    !hasEffect<MemoryEffects::Allocate>(inner)
                              : isMemoryEffectFree(inner);
    return isHarmless ? WalkResult::advance() : WalkResult::interrupt();
  });
  return result.wasInterrupted();
}

namespace {
class Finder {
public:
  Finder(const Variation &variation, int64_t programs) : variation(variation), programs(programs) {}

  std::optional<BatchObstacle> find(Block &block) {
    for (Operation &op : block) {
      if (Reason reason = findReason(&op))
        return BatchObstacle{&op, *reason};
      bool isOwn = isTouched(&op) || isa<scf::ForOp, scf::IfOp>(op);
      if (std::string decision = isOwn ? findAnyDecision(&op) : ""; !decision.empty())
        return BatchObstacle{&op, "it is decided of one program's tile", decision};
      // What combines elements has scalars alone in it.
      if (isa<scf::ForOp, scf::IfOp>(op))
        for (Region &region : op.getRegions())
          for (Block &inner : region)
            if (std::optional<BatchObstacle> obstacle = find(inner))
              return obstacle;
    }
    return std::nullopt;
  }

private:
  bool varies(Value value) const { return value && variation.varies(value); }

  bool isTouched(Operation *op) const {
    return variation.anyVaries(op->getOperands()) || variation.anyVaries(op->getResults());
  }

  Reason findReason(Operation *op) const {
    if (isa<scf::ForOp, scf::IfOp>(op))
      return findControl(op);
    if (!isTouched(op))
      return mayWrite(op) ? Reason("all programs would do this as one") : std::nullopt;
    for (Value result : op->getResults())
      if (auto tensor = dyn_cast<RankedTensorType>(result.getType());
          tensor &&
          (tensor.getRank() == kMaxRank || tensor.getNumElements() > kMaxTileElements / programs))
        return "a tile for all of them would have too many dimensions or elements";
    return TypeSwitch<Operation *, Reason>(op)
        .Case<LoadOp, GatherOp>([&](auto read) { return findRead(read); })
        .Case<StoreOp, ScatterOp>([&](auto write) { return findWrite(write); })
        .Case<ReduceOp, ScanOp, ArgReduceOp>([&](Operation *combine) { return findIn(combine); })
        .Case<ProgramIdOp, MultipleOfOp, AssumeOp, SplatOp, ToScalarOp, BroadcastOp, ReshapeOp,
              TransposeOp, SliceOp, ConcatOp, JoinOp, SplitOp, BitcastOp, PhiloxOp, scf::YieldOp>(
            [](auto) { return std::nullopt; })
        .Default([](Operation *other) -> Reason {
          if (other->hasTrait<OpTrait::Elementwise>() && other->getNumRegions() == 0)
            return std::nullopt;
          return "this is one program's alone";
        });
  }

  Reason findControl(Operation *op) const {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return variation.varies(loop.getInductionVar())
                 ? Reason("its trips depend on the program's number")
                 : std::nullopt;
    return varies(cast<scf::IfOp>(op).getCondition())
               ? Reason("its condition depends on the program's number")
               : std::nullopt;
  }

  template <typename Read>
  Reason findRead(Read op) const {
    if (varies(op.getView()))
      return "its view depends on the program's number";
    if (varies(op.getPadding()))
      return "its padding depends on the program's number";
    if (auto load = dyn_cast<LoadOp>(op.getOperation()); load && load.getExtents())
      return "its tile is smaller than the tensor";
    return std::nullopt;
  }

  template <typename Write>
  Reason findWrite(Write op) const {
    if (varies(op.getView()))
      return "its view depends on the program's number";
    auto store = dyn_cast<StoreOp>(op.getOperation());
    if (store && store.getExtents())
      return "its tile is smaller than the tensor";
    ValueRange places =
        store ? store.getOffsets() : cast<ScatterOp>(op.getOperation()).getIndices();
    if (!variation.anyVaries(places))
      return "all programs write to the same place";
    ArrayRef<int64_t> shape = op.getValue().getType().getShape();
    bool isTile = store && findBatchedDim(variation, places, shape);
    if (!isTile && op.getView().getType().getElementType().getIntOrFloatBitWidth() < 8)
      return "elements that share bytes would be written one by one";
    return std::nullopt;
  }

  Reason findIn(Operation *combine) const {
    WalkResult result = combine->walk([&](Operation *inner) {
      bool isOutside = inner != combine && variation.anyVaries(inner->getOperands());
      return isOutside ? WalkResult::interrupt() : WalkResult::advance();
    });
    return result.wasInterrupted() ? Reason("its region uses what depends on the program's number")
                                   : std::nullopt;
  }

  const Variation &variation;
  int64_t programs;
};
} // namespace

std::optional<BatchObstacle> kiln::findBatchObstacle(KernelOp kernel, const Variation &variation,
                                                     int64_t programs) {
  if (!llvm::hasSingleElement(kernel.getBody()))
    return BatchObstacle{kernel, "its body has several blocks"};
  return Finder(variation, programs).find(kernel.getBody().front());
}
