// RowStarts.h: what can be turned.
#include "RowStarts.h"
#include "Padding.h"
#include "kiln/Layout/Transforms/AccessFacts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

using Reason = std::optional<std::string>;

StoreOp kiln::findLeadingStore(const ChunkPhases &phases) {
  for (Operation *op : phases.getCut())
    if (auto store = dyn_cast<StoreOp>(op))
      return store;
  return {};
}

/// Whether the elements may be combined in any order.
static bool isOrderless(ReduceOp reduce) {
  Block &combiner = reduce.getCombiner().front();
  auto results = combiner.getTerminator()->getOperands();
  return llvm::all_of(llvm::enumerate(results),
                      [&](auto each) { return getIdentity(combiner, each.index()) != nullptr; });
}

Operation *kiln::findFirstPlace(const ChunkPhases &phases) {
  const auto *found = llvm::find_if(phases.getCut(), llvm::IsaPred<LoadOp, StoreOp, IotaOp>);
  return found == phases.getCut().end() ? nullptr : *found;
}

/// Whether a value is there when the first op along the dimension needs a place.
static bool isInFront(Value value, Operation *first) {
  Operation *maker = value.getDefiningOp();
  return !maker || maker->getBlock() != first->getBlock() || maker->isBeforeInBlock(first);
}

template <typename AccessOp>
static Reason whyNot(const ChunkPhases &phases, AccessOp access, Value tile) {
  unsigned dim = *phases.findDim(tile);
  auto type = cast<RankedTensorType>(tile.getType());
  Type element = access.getView().getType().getElementType();
  if (type.getNumElements() != phases.getExtent())
    return "expected tiles of one row";
  if (sharesByte(element) || getElementBytes(element) > kVectorBytes / 2)
    return "expected elements of 1 to 8 bytes";
  if (getRowFacts(access.getView()).dim != int(dim) ||
      !matchPattern(access.getOffsets()[dim], m_Zero()))
    return "expected rows from their beginning, along the dimension of stride 1";
  return std::nullopt;
}

std::optional<ChunkPhases::Obstacle> kiln::findTurnObstacle(const ChunkPhases &phases) {
  if (phases.getObstacle())
    return phases.getObstacle();
  Operation *first = findFirstPlace(phases);
  StoreOp leading = findLeadingStore(phases);
  if (!leading || !llvm::isPowerOf2_64(phases.getExtent()))
    return ChunkPhases::Obstacle{phases.getCut().front(),
                                 "expected a store of a tile of a power of two elements"};
  if (!isInFront(leading.getView(), first) ||
      !llvm::all_of(leading.getOffsets(), [&](Value at) { return isInFront(at, first); }))
    return ChunkPhases::Obstacle{leading, "expected its place to be known in front of all tiles"};
  for (Operation *op : phases.getCut()) {
    Reason reason =
        TypeSwitch<Operation *, Reason>(op)
            .Case<LoadOp>([&](LoadOp load) { return whyNot(phases, load, load.getResult()); })
            .Case<StoreOp>(
                [&](StoreOp store) { return whyNot<StoreOp>(phases, store, store.getValue()); })
            .Case<ReduceOp>([&](ReduceOp reduce) {
              bool matters = phases.isAlong(reduce) && !isOrderless(reduce);
              return matters ? Reason("expected what combines elements in any order")
                             : std::nullopt;
            })
            .Case<ArgReduceOp, PhiloxOp>(
                [](auto) { return Reason("expected nothing that counts elements but positions"); })
            .Default([](Operation *) { return std::nullopt; });
    if (reason)
      return ChunkPhases::Obstacle{op, *reason};
  }
  return std::nullopt;
}
