// Functions of mathematics as calls into the vendor's library, element by element.
#include "ElementCalls.h"
#include "kiln/Target/Common/ForeignCalls.h"
#include "kiln/Target/TargetInterface.h"

using namespace mlir;
using namespace kiln;

namespace {
template <typename Op>
struct CallVendorMath : OpRewritePattern<Op> {
  CallVendorMath(MLIRContext *context, StringRef name, ForeignTargetInterface target)
      : OpRewritePattern<Op>(context, /*benefit=*/3), name(name), target(target) {}

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    Type element = getElementTypeOrSelf(op->getResult(0).getType());
    if ((!element.isF64() && !element.isF32()) || !isOfElements(op))
      return rewriter.notifyMatchFailure(op, "expected a type that the library has");
    llvm::Expected<ForeignFunction> found =
        findForeign(op.getContext(), target, "", target.getVendorName(name, element.isF64()));
    SmallVector<Type> operands(op->getNumOperands(), element);
    if (!found) {
      std::string reason = llvm::toString(found.takeError());
      return rewriter.notifyMatchFailure(op, reason);
    }
    if (found->type != FunctionType::get(op.getContext(), operands, element))
      return rewriter.notifyMatchFailure(op, "expected a function of the op's type");
    replaceByCalls(op,
                   declareForeign(op->template getParentOfType<ModuleOp>(), op.getLoc(), *found),
                   rewriter);
    return success();
  }

private:
  StringRef name;
  ForeignTargetInterface target;
};
} // namespace

void kiln::populateCallVendorMathPatterns(RewritePatternSet &patterns,
                                          ForeignTargetInterface target) {
  forEachFunction([&](auto op, StringRef name) {
    patterns.add<CallVendorMath<decltype(op)>>(patterns.getContext(), name, target);
  });
}
