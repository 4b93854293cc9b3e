// Functions of mathematics as calls, element by element: all of f64, and those of f32 that no
// polynomial of a few terms is good for. The code generator links their definitions.
#include "ElementCalls.h"
#include "kiln/Target/Common/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace {
/// In which types an op is a call.
enum class Calls { Double, DoubleAndSingle };

template <typename Op>
struct CallDeviceMath : OpRewritePattern<Op> {
  CallDeviceMath(MLIRContext *context, StringRef name, Calls calls)
      : OpRewritePattern<Op>(context, /*benefit=*/2), name(name), calls(calls) {}

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    Type element = getElementTypeOrSelf(op->getResult(0).getType());
    bool isSingle = element.isF32() && calls == Calls::DoubleAndSingle;
    if ((!element.isF64() && !isSingle) || !kiln::isOfElements(op))
      return rewriter.notifyMatchFailure(op, "expected a type in which the op is a call");
    kiln::replaceByCalls(op, declare(op, element, rewriter), rewriter);
    return success();
  }

private:
  func::FuncOp declare(Op op, Type element, PatternRewriter &rewriter) const {
    auto module = op->template getParentOfType<ModuleOp>();
    std::string symbol = "kiln_math_" + name.str() + (element.isF32() ? "f" : "");
    if (auto known = module.template lookupSymbol<func::FuncOp>(symbol))
      return known;
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(module.getBody());
    SmallVector<Type> operands(op->getNumOperands(), element);
    auto function = func::FuncOp::create(rewriter, op.getLoc(), symbol,
                                         rewriter.getFunctionType(operands, element));
    function.setPrivate();
    return function;
  }

  StringRef name;
  Calls calls;
};
} // namespace

void kiln::populateCallDeviceMathPatterns(RewritePatternSet &patterns,
                                          llvm::function_ref<bool(StringRef)> isNative) {
  auto add = [&](auto op, StringRef name, Calls calls = Calls::DoubleAndSingle) {
    using Op = decltype(op);
    if (isNative(Op::getOperationName()))
      calls = Calls::Double;
    patterns.add<CallDeviceMath<Op>>(patterns.getContext(), name, calls);
  };
  // In f32 these are short enough to stand where they are used.
  add(math::ErfOp(), "erf", Calls::Double);
  add(math::ExpOp(), "exp", Calls::Double);
  add(math::Exp2Op(), "exp2", Calls::Double);
  add(math::TanhOp(), "tanh", Calls::Double);
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
  add(math::ErfcOp(), "erfc");
  add(math::ExpM1Op(), "expm1");
  add(math::LogOp(), "log");
  add(math::Log10Op(), "log10");
  add(math::Log1pOp(), "log1p");
  add(math::Log2Op(), "log2");
  add(math::PowFOp(), "pow");
  add(math::SinOp(), "sin");
  add(math::SinhOp(), "sinh");
  add(math::TanOp(), "tan");
}
