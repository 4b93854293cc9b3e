// Writes the inferred layouts into types, and makes ops agree.
#include "LayoutInference.h"
#include "kiln/Layout/Transforms/Passes.h"
#include "kiln/Target/TargetInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Iterators.h"
#include <vector>

namespace kiln {
#define GEN_PASS_DEF_DECIDELAYOUTS
#include "kiln/Layout/Transforms/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// Changes a tensor's type to carry a layout; a constant's attribute follows.
static void setLayout(Value value, const LinearLayout &layout) {
  auto type = withLayout(cast<RankedTensorType>(value.getType()), layout);
  value.setType(type);
  if (auto constant = value.getDefiningOp<arith::ConstantOp>()) {
    auto elements = cast<DenseElementsAttr>(constant.getValue());
    constant.setValueAttr(cast<TypedAttr>(
        cast<Attribute>(DenseElementsAttr::getFromRawBuffer(type, elements.getRawData()))));
  }
}

static bool isFree(Operation *op) {
  return op && (isa<SplatOp, IotaOp>(op) || op->hasTrait<OpTrait::ConstantLike>());
}

namespace {
/// Hands out values in the layouts that ops ask for.
class Converter {
public:
  explicit Converter(OpBuilder &builder) : builder(builder) {}

  /// `value`, whose type has its layout already, in another one, at the builder's place.
  Value convert(Value value, const LinearLayout &wanted) {
    if (getLayout(value) == wanted)
      return value;
    Operation *op = value.getDefiningOp();
    if (auto before = dyn_cast_or_null<ConvertLayoutOp>(op))
      return convert(before.getInput(), wanted);
    if (isFree(op))
      return remake(op, {}, wanted);
    if (auto broadcast = dyn_cast_or_null<BroadcastOp>(op)) {
      auto shape = cast<RankedTensorType>(broadcast.getInput().getType()).getShape();
      return remake(op, convert(broadcast.getInput(), projectTo(wanted, shape)), wanted);
    }
    if (auto reshape = dyn_cast_or_null<ReshapeOp>(op)) {
      auto shape = cast<RankedTensorType>(reshape.getInput().getType()).getShape();
      return remake(op, convert(reshape.getInput(), wanted.reshapeOuts(shape)), wanted);
    }
    auto type = withLayout(cast<RankedTensorType>(value.getType()), wanted);
    return ConvertLayoutOp::create(builder, value.getLoc(), type, value);
  }

private:
  Value remake(Operation *op, Value operand, const LinearLayout &wanted) {
    Operation *copy = builder.clone(*op);
    if (operand)
      copy->setOperand(0, operand);
    setLayout(copy->getResult(0), wanted);
    return copy->getResult(0);
  }

  OpBuilder &builder;
};

struct DecideLayouts : kiln::impl::DecideLayoutsBase<DecideLayouts> {
  void runOnOperation() override {
    FailureOr<TargetInterface> target = requireTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    WalkResult result = getOperation().walk([&](KernelOp kernel) {
      return succeeded(decide(kernel, *target)) ? WalkResult::advance() : WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

  LogicalResult check(KernelOp kernel) {
    if (!llvm::hasSingleElement(kernel.getBody()))
      return kernel.emitOpError("expected one block in the body");
    if (!kernel->getAttrOfType<IntegerAttr>(kWarpsAttrName))
      return kernel.emitOpError("expected '") << kWarpsAttrName << "', which is decided with atoms";
    WalkResult result = kernel.getBody().walk([&](Operation *op) {
      if (auto dot = dyn_cast<DotOp>(op); dot && !dot.getAtomAttr()) {
        dot.emitOpError("expected an atom");
        return WalkResult::interrupt();
      }
      for (Value value : op->getResults())
        if (auto tensor = dyn_cast<RankedTensorType>(value.getType()))
          for (int64_t extent : tensor.getShape())
            if (!llvm::isPowerOf2_64(extent)) {
              op->emitOpError("expected extents that are powers of two, got ") << tensor;
              return WalkResult::interrupt();
            }
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  /// Roles share tensors out by their layouts, so a kernel that has them came with all of these.
  static bool isPinned(KernelOp kernel) {
    return kernel->hasAttr(kRolesAttrName) ||
           kernel.walk([](WarpGroupsOp) { return WalkResult::interrupt(); }).wasInterrupted();
  }

  LogicalResult decide(KernelOp kernel, TargetInterface target) {
    if (isPinned(kernel))
      return success();
    if (failed(check(kernel)))
      return failure();
    int64_t warps = kernel->getAttrOfType<IntegerAttr>(kWarpsAttrName).getInt();
    if (warps < 1 || !llvm::isPowerOf2_64(warps))
      return kernel.emitOpError("expected a power of two of warps, got ") << warps;
    const Chip &chip = target.getChipRecord();
    LayoutInference inference(kernel, {chip.warpSize, unsigned(warps)});

    // What each operand should be, while the types are still bare; then the types; then the
    // conversions.
    std::vector<std::pair<OpOperand *, LinearLayout>> wanted;
    std::vector<std::pair<Value, LinearLayout>> types;
    kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (insideCombiner(op))
        return;
      for (OpOperand &operand : op->getOpOperands())
        if (isa<RankedTensorType>(operand.get().getType()))
          wanted.push_back({&operand, inference.getWanted(operand)});
      for (Value result : op->getResults())
        if (isa<RankedTensorType>(result.getType()))
          types.push_back({result, inference.get(result)});
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (Value argument : block.getArguments())
            if (inference.has(argument))
              types.push_back({argument, inference.get(argument)});
    });
    for (auto &[value, layout] : types)
      setLayout(value, layout);
    OpBuilder builder(kernel);
    Converter converter(builder);
    for (auto &[operand, layout] : wanted) {
      builder.setInsertionPoint(operand->getOwner());
      operand->set(converter.convert(operand->get(), layout));
    }
    // What was made again may leave its first version without a use.
    kernel->walk<WalkOrder::PostOrder, ReverseIterator>([&](Operation *op) {
      if (op->use_empty() && (isFree(op) || isa<BroadcastOp, ReshapeOp, ConvertLayoutOp>(op)))
        op->erase();
    });
    return success();
  }

  static bool insideCombiner(Operation *op) {
    return isa<ReduceOp, ScanOp, ArgReduceOp>(op->getParentOp());
  }
};
} // namespace
