// Narrow floats to wider ones, two at a time in the halves of a word.
//
// The magnitude is shifted to where f16 has its exponent and mantissa, which makes a number that is
// too small by what the biases differ in, subnormals as well: one product of f16 puts both right.
// That is half of what integer arithmetic on each element takes.
#include "kiln/Target/Common/WidenPairs.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/APFloat.h"

using namespace mlir;

namespace {
struct Format {
  unsigned width, mantissa;
  int bias;
  bool hasNaN; ///< all bits of the magnitude set
};

std::optional<Format> getFormat(Type type) {
  if (isa<Float8E4M3FNType>(type))
    return Format{8, 3, 7, true};
  if (isa<Float8E5M2Type>(type))
    return Format{8, 2, 15, false}; // its infinities and NaNs are those of f16
  if (isa<Float6E2M3FNType>(type))
    return Format{6, 3, 1, false};
  if (isa<Float6E3M2FNType>(type))
    return Format{6, 2, 3, false};
  if (isa<Float4E2M1FNType>(type))
    return Format{4, 1, 1, false};
  return std::nullopt;
}

/// Words that hold two elements each.
class Words {
public:
  Words(PatternRewriter &rewriter, Location loc, int64_t count)
      : rewriter(rewriter), loc(loc), type(VectorType::get({count}, rewriter.getI32Type())) {}

  /// The same 16 bits in both halves.
  Value both(uint32_t bits) { return constant(bits << 16 | bits); }
  Value constant(uint32_t bits) {
    return arith::ConstantOp::create(
        rewriter, loc,
        DenseElementsAttr::get(type, Attribute(rewriter.getI32IntegerAttr(int32_t(bits)))));
  }
  template <typename Op>
  Value op(Value left, Value right) {
    return Op::create(rewriter, loc, left, right);
  }
  /// The elements of a vector, without signs of their own, two a word.
  Value pack(Value elements) {
    Type i32 = rewriter.getI32Type();
    Value shift = arith::ConstantIntOp::create(rewriter, loc, 16, 32);
    SmallVector<Value> words;
    for (int64_t i = 0; i < 2 * type.getNumElements(); i += 2) {
      auto at = [&](int64_t place) -> Value {
        Value element = vector::ExtractOp::create(rewriter, loc, elements, place);
        return arith::ExtUIOp::create(rewriter, loc, i32, element);
      };
      Value low = at(i), high = arith::ShLIOp::create(rewriter, loc, at(i + 1), shift);
      words.push_back(arith::OrIOp::create(rewriter, loc, low, high));
    }
    return vector::FromElementsOp::create(rewriter, loc, type, words);
  }

  PatternRewriter &rewriter;
  Location loc;
  VectorType type;
};

struct WidenPairs : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ExtFOp op, PatternRewriter &rewriter) const override {
    auto from = dyn_cast<VectorType>(op.getIn().getType()), to = dyn_cast<VectorType>(op.getType());
    std::optional<Format> format = from ? getFormat(from.getElementType()) : std::nullopt;
    if (!format || from.getRank() != 1 || from.isScalable() || from.getNumElements() % 2 ||
        !(to.getElementType().isF16() || to.getElementType().isF32()))
      return rewriter.notifyMatchFailure(op, "expected pairs of narrow floats to f16 or f32");
    Location loc = op.getLoc();
    Words words(rewriter, loc, from.getNumElements() / 2);
    Value raw = arith::BitcastOp::create(
        rewriter, loc, from.clone(rewriter.getIntegerType(format->width)), op.getIn());
    Value pair = words.pack(raw);

    unsigned toPlace = 10 - format->mantissa;
    uint32_t magnitude = (1u << (format->width - 1)) - 1;
    Value sign = words.op<arith::ShLIOp>(pair, words.constant(16 - format->width));
    sign = words.op<arith::AndIOp>(sign, words.both(0x8000));
    Value result = words.op<arith::ShLIOp>(pair, words.constant(toPlace));
    result = words.op<arith::AndIOp>(result, words.both(magnitude << toPlace));
    auto halves = VectorType::get({from.getNumElements()}, rewriter.getF16Type());
    if (format->bias != 15) {
      APFloat factor(APFloat::IEEEhalf(), APInt(16, uint64_t(30 - format->bias) << 10));
      Value scale = arith::ConstantOp::create(
          rewriter, loc,
          DenseElementsAttr::get(halves, Attribute(FloatAttr::get(rewriter.getF16Type(), factor))));
      Value small = vector::BitCastOp::create(rewriter, loc, halves, result);
      Value product = arith::MulFOp::create(rewriter, loc, small, scale);
      result = vector::BitCastOp::create(rewriter, loc, words.type, product);
    }
    if (format->hasNaN) {
      // One more than the magnitude reaches the sign's place only from a NaN; 0x8000 - 1 are the
      // bits of one.
      Value next = words.op<arith::AndIOp>(pair, words.both(magnitude));
      next = words.op<arith::AddIOp>(next, words.both(1));
      next = words.op<arith::AndIOp>(next, words.both(magnitude + 1));
      Value nan = words.op<arith::ShLIOp>(next, words.constant(16 - format->width));
      nan = words.op<arith::SubIOp>(
          nan, words.op<arith::ShRUIOp>(next, words.constant(format->width - 1)));
      result = words.op<arith::OrIOp>(result, nan);
    }
    result = words.op<arith::OrIOp>(result, sign);
    Value wide = vector::BitCastOp::create(rewriter, loc, halves, result);
    if (to.getElementType().isF32())
      wide = arith::ExtFOp::create(rewriter, loc, to, wide);
    rewriter.replaceOp(op, wide);
    return success();
  }
};
} // namespace

void kiln::populateWidenPairsPatterns(RewritePatternSet &patterns) {
  // Before the general way for one element, after what a chip has for pairs.
  patterns.add<WidenPairs>(patterns.getContext(), /*benefit=*/2);
}
