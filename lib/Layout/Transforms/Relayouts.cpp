// Relayouts.h: follows values back to what they are made of.
#include "Relayouts.h"
#include "kiln/Dialect/Tile/IR/AccessDecisions.h"
#include "kiln/Dialect/Tile/IR/Decisions.h"
#include "kiln/Dialect/Tile/IR/Roles.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"
#include <vector>

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

bool kiln::isPinned(Operation *op) { return op->hasAttr(kLayoutAttrName); }

bool kiln::isArithmetic(Operation *op) {
  return op && op->getNumResults() > 0 && op->getNumRegions() == 0 &&
         OpTrait::hasElementwiseMappableTraits(op) && isMemoryEffectFree(op);
}

bool kiln::isSource(Operation *op) {
  return isa<SplatOp, IotaOp>(op) || op->hasTrait<OpTrait::ConstantLike>();
}

std::optional<LinearLayout> kiln::getOperandLayout(Operation *op, Value operand,
                                                   const LinearLayout &layout) {
  ArrayRef<int64_t> shape = typeOf(operand).getShape();
  return TypeSwitch<Operation *, std::optional<LinearLayout>>(op)
      .Case<BroadcastOp>([&](auto) { return projectTo(layout, shape); })
      .Case<ReshapeOp>([&](auto) { return layout.reshapeOuts(shape); })
      .Case<TransposeOp>([&](TransposeOp transpose) {
        SmallVector<unsigned> inverse(shape.size());
        for (auto [to, from] : llvm::enumerate(transpose.getPermutation()))
          inverse[from] = to;
        return layout.transposeOuts(inverse);
      })
      .Case<JoinOp>([&](auto) { return splitPairs(layout); })
      .Case<SplitOp>([&](auto) { return joinPairs(layout); })
      .Default([&](Operation *) -> std::optional<LinearLayout> {
        if (isArithmetic(op))
          return layout;
        return std::nullopt;
      });
}

std::optional<Layouts> kiln::layOut(Value made, const LinearLayout &wanted,
                                    function_ref<bool(ConvertLayoutOp)> mayConvert) {
  Layouts layouts;
  std::vector<std::pair<Value, LinearLayout>> left{{made, wanted}};
  while (!left.empty()) {
    auto [value, layout] = std::move(left.back());
    left.pop_back();
    Operation *def = value.getDefiningOp();
    layout = canonicalise(layout);
    auto load = dyn_cast_or_null<LoadOp>(def);
    auto conversion = dyn_cast_or_null<ConvertLayoutOp>(def);
    bool isLeaf = def && (isSource(def) || (load && !load.getAtomAttr()) ||
                          (conversion && mayConvert && mayConvert(conversion)));
    bool moves = def && !isPinned(def) &&
                 (isLeaf || isArithmetic(def) ||
                  isa<BroadcastOp, ReshapeOp, TransposeOp, JoinOp, SplitOp>(def));
    if (!moves || layout.getInSize(kRegister) > getLayout(value).getInSize(kRegister))
      return std::nullopt;
    auto [known, isNew] = layouts.insert({def, layout});
    if (!isNew && known->second != layout)
      return std::nullopt;
    if (!isNew || isLeaf)
      continue;
    for (Value operand : def->getOperands())
      if (isa<RankedTensorType>(operand.getType())) {
        std::optional<LinearLayout> its = getOperandLayout(def, operand, layout);
        if (!its)
          return std::nullopt;
        left.push_back({operand, *its});
      }
  }
  return layouts;
}
