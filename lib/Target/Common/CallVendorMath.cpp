// Functions of mathematics as calls into the vendor's library, element by element.
#include "ElementCalls.h"
#include "kiln/Target/Common/ForeignCalls.h"
#include "kiln/Target/TargetInterface.h"
#include "mlir/Dialect/Math/IR/Math.h"

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
  auto add = [&](auto op, StringRef name) {
    patterns.add<CallVendorMath<decltype(op)>>(patterns.getContext(), name, target);
  };
  add(math::AcosOp(), "acos");
  add(math::AcoshOp(), "acosh");
  add(math::AsinOp(), "asin");
  add(math::AsinhOp(), "asinh");
  add(math::AtanOp(), "atan");
  add(math::Atan2Op(), "atan2");
  add(math::AtanhOp(), "atanh");
  add(math::CbrtOp(), "cbrt");
  add(math::CosOp(), "cos");
  add(math::CoshOp(), "cosh");
  add(math::ErfOp(), "erf");
  add(math::ErfcOp(), "erfc");
  add(math::ExpOp(), "exp");
  add(math::Exp2Op(), "exp2");
  add(math::ExpM1Op(), "expm1");
  add(math::LogOp(), "log");
  add(math::Log10Op(), "log10");
  add(math::Log1pOp(), "log1p");
  add(math::Log2Op(), "log2");
  add(math::PowFOp(), "pow");
  add(math::RsqrtOp(), "rsqrt");
  add(math::SinOp(), "sin");
  add(math::SinhOp(), "sinh");
  add(math::TanOp(), "tan");
  add(math::TanhOp(), "tanh");
}
