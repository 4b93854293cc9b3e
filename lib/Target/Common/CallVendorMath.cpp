// Functions of mathematics as calls into the vendor's library, element by element.
#include "kiln/Target/Common/ForeignCalls.h"
#include "kiln/Target/TargetInterface.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace kiln;

namespace {
template <typename Op>
struct CallVendorMath : OpRewritePattern<Op> {
  CallVendorMath(MLIRContext *context, StringRef name, ForeignTargetInterface target)
      : OpRewritePattern<Op>(context, /*benefit=*/3), name(name), target(target) {}

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    Type type = op->getResult(0).getType(), element = getElementTypeOrSelf(type);
    if (!element.isF64() && !element.isF32())
      return rewriter.notifyMatchFailure(op, "expected a type that the library has");
    auto vector = dyn_cast<VectorType>(type);
    if (vector && vector.getRank() != 1)
      return rewriter.notifyMatchFailure(op, "expected a vector of rank 1");
    llvm::Expected<ForeignFunction> found =
        findForeign(op.getContext(), target, "", target.getVendorName(name, element.isF64()));
    SmallVector<Type> operands(op->getNumOperands(), element);
    if (!found) {
      std::string reason = llvm::toString(found.takeError());
      return rewriter.notifyMatchFailure(op, reason);
    }
    if (found->type != FunctionType::get(op.getContext(), operands, element))
      return rewriter.notifyMatchFailure(op, "expected a function of the op's type");
    Location loc = op.getLoc();
    func::FuncOp function = declareForeign(op->template getParentOfType<ModuleOp>(), loc, *found);
    auto call = [&](ValueRange given) {
      return func::CallOp::create(rewriter, loc, function, given).getResult(0);
    };
    if (!vector) {
      rewriter.replaceOp(op, call(op->getOperands()));
      return success();
    }
    SmallVector<Value> results;
    for (int64_t i = 0; i < vector.getNumElements(); ++i) {
      SmallVector<Value> given;
      for (Value operand : op->getOperands())
        given.push_back(vector::ExtractOp::create(rewriter, loc, operand, i));
      results.push_back(call(given));
    }
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, vector, results);
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
