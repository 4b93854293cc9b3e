// Functions of mathematics as calls, element by element: all of f64, and those of f32 that no
// polynomial of a few terms is good for. The code generator links their definitions.
#include "ElementCalls.h"
#include "kiln/Target/Common/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace {
/// The function of a name in C, of elements of f32 or f64.
func::FuncOp declare(Operation *op, StringRef name, Type element, PatternRewriter &rewriter) {
  auto module = op->getParentOfType<ModuleOp>();
  std::string symbol = "kiln_math_" + name.str() + (element.isF32() ? "f" : "");
  if (auto known = module.lookupSymbol<func::FuncOp>(symbol))
    return known;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(module.getBody());
  SmallVector<Type> operands(op->getNumOperands(), element);
  auto function = func::FuncOp::create(rewriter, op->getLoc(), symbol,
                                       rewriter.getFunctionType(operands, element));
  function.setPrivate();
  return function;
}

/// Remainders too, which code generators know no instruction for: that of f16 and bf16 is one of
/// f32, and is exact there.
struct CallRemainder : OpRewritePattern<arith::RemFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::RemFOp op, PatternRewriter &rewriter) const override {
    Type type = op.getType(), element = getElementTypeOrSelf(type);
    if (!kiln::isOfElements(op))
      return rewriter.notifyMatchFailure(op, "expected scalars or a vector of rank 1");
    if (element.isF32() || element.isF64()) {
      kiln::replaceByCalls(op, declare(op, "fmod", element, rewriter), rewriter);
      return success();
    }
    Type wide = rewriter.getF32Type();
    if (auto shaped = dyn_cast<ShapedType>(type))
      wide = shaped.clone(wide);
    Value left = arith::ExtFOp::create(rewriter, op.getLoc(), wide, op.getLhs());
    Value right = arith::ExtFOp::create(rewriter, op.getLoc(), wide, op.getRhs());
    Value rest = arith::RemFOp::create(rewriter, op.getLoc(), left, right);
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, type, rest);
    return success();
  }
};

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
    kiln::replaceByCalls(op, declare(op, name, element, rewriter), rewriter);
    return success();
  }

private:
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
  patterns.add<CallRemainder>(patterns.getContext());
}
