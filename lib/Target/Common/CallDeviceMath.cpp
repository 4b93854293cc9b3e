// Functions of mathematics as calls, element by element: all of f64, and those of f32 that no
// polynomial of a few terms is good for. The code generator links their definitions.
#include "ElementCalls.h"
#include "kiln/Target/Common/Passes.h"

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
  kiln::forEachFunction([&](auto op, StringRef name) {
    using Op = decltype(op);
    if constexpr (std::is_same_v<Op, math::RsqrtOp>)
      return; // a root's inverse needs no call
    // In f32 these are short enough to stand where they are used.
    constexpr bool isShort =
        llvm::is_one_of<Op, math::ErfOp, math::ExpOp, math::Exp2Op, math::TanhOp>::value;
    bool isCalledInDouble = isShort || isNative(Op::getOperationName());
    Calls calls = isCalledInDouble ? Calls::Double : Calls::DoubleAndSingle;
    patterns.add<CallDeviceMath<Op>>(patterns.getContext(), name, calls);
  });
}
