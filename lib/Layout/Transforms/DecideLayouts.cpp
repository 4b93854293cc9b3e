// Writes the inferred layouts into types; where ops disagree a conversion says so.
#include "LayoutInference.h"
#include "kiln/Layout/Transforms/Passes.h"
#include "kiln/Target/TargetInterface.h"
#include <vector>

namespace kiln {
#define GEN_PASS_DEF_DECIDELAYOUTS
#include "kiln/Layout/Transforms/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
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
      if (auto dot = dyn_cast<DotScaledOp>(op);
          dot && !isa_and_nonnull<ScaledMmaAtomInterface>(dot.getAtomAttr())) {
        dot.emitOpError("expected an atom that takes scales");
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
    for (auto &[operand, layout] : wanted) {
      Value value = operand->get();
      if (auto dot = dyn_cast<DotOp>(operand->getOwner());
          dot && operand == &dot.getAccumulatorMutable() && layout != getLayout(dot.getResult()))
        return dot.emitOpError("expected a result laid out as its atom has it, or not yet, got ")
               << dot.getType();
      if (getLayout(value) == layout)
        continue;
      builder.setInsertionPoint(operand->getOwner());
      auto type = withLayout(cast<RankedTensorType>(value.getType()), layout);
      operand->set(ConvertLayoutOp::create(builder, value.getLoc(), type, value));
    }
    return success();
  }

  static bool insideCombiner(Operation *op) {
    return isa<ReduceOp, ScanOp, ArgReduceOp>(op->getParentOp());
  }
};
} // namespace
