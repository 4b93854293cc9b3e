// Conversions to and from floats of a byte by the chip's own instructions, two elements at a time.
//
// The instruction narrows to nearest, ties to even, and saturates. What this target promises for
// a magnitude past the largest differs (f8E4M3FN: NaN, f8E5M2: infinity), and for NaN the sign
// stays: both are put right by one comparison and one choice an element, which is a quarter of
// what integer arithmetic takes. Fast mathematics lets them saturate.
#include "NarrowFloats.h"
#include "kiln/Target/Common/Constants.h"
#include "kiln/Target/Common/FastMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace {

bool isByteFloat(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); }

/// A vector of an even number of elements of `type`'s kind.
VectorType getPairs(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  if (!vector || vector.getRank() != 1 || vector.isScalable() || vector.getNumElements() % 2)
    return {};
  return vector;
}

/// f32 -> f8E4M3FN or f8E5M2.
struct Narrow : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncFOp op, PatternRewriter &rewriter) const override {
    VectorType from = getPairs(op.getIn().getType()), to = getPairs(op.getType());
    if (!from || !from.getElementType().isF32() || !isByteFloat(to.getElementType()))
      return rewriter.notifyMatchFailure(op, "expected pairs of f32 to floats of 8 bits");
    Location loc = op.getLoc();
    Type i8 = rewriter.getI8Type();
    auto bytes = to.clone(i8);
    auto pair = VectorType::get({2}, i8);
    SmallVector<Value> parts;
    for (int64_t i = 0, e = from.getNumElements(); i < e; i += 2) {
      Value low = vector::ExtractOp::create(rewriter, loc, op.getIn(), i);
      Value high = vector::ExtractOp::create(rewriter, loc, op.getIn(), i + 1);
      // The first operand is what goes to the upper byte.
      Value both = NVVM::ConvertF32x2ToF8x2Op::create(
          rewriter, loc, pair, high, low, NVVM::FPRoundingMode::RN, NVVM::SaturationMode::SATFINITE,
          /*relu=*/false, to.getElementType());
      parts.push_back(vector::ExtractOp::create(rewriter, loc, both, int64_t(0)));
      parts.push_back(vector::ExtractOp::create(rewriter, loc, both, int64_t(1)));
    }
    Value rounded = vector::FromElementsOp::create(rewriter, loc, bytes, parts);
    if (kiln::isFast(op)) {
      rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, to, rounded);
      return success();
    }

    auto splat = [&](VectorType type, TypedAttr value) {
      return kiln::makeSplat(rewriter, loc, type, value);
    };
    auto byte = [&](int value) { return splat(bytes, rewriter.getI8IntegerAttr(int8_t(value))); };
    auto real = [&](float value) { return splat(from, rewriter.getF32FloatAttr(value)); };
    // The least magnitude that does not round to a finite one: half a unit past the largest, whose
    // last bit decides the tie.
    bool infinities = isa<Float8E5M2Type>(to.getElementType());
    Value size = math::AbsFOp::create(rewriter, loc, op.getIn());
    Value finite = arith::CmpFOp::create(
        rewriter, loc, infinities ? arith::CmpFPredicate::OLT : arith::CmpFPredicate::OLE, size,
        real(infinities ? 61440.0f : 464.0f));
    auto words = from.clone(rewriter.getI32Type());
    Value bits = arith::BitcastOp::create(rewriter, loc, words, op.getIn());
    Value sign =
        arith::ShRUIOp::create(rewriter, loc, bits, splat(words, rewriter.getI32IntegerAttr(24)));
    sign = arith::AndIOp::create(rewriter, loc, arith::TruncIOp::create(rewriter, loc, bytes, sign),
                                 byte(0x80));
    Value beyond = byte(infinities ? 0x7c : 0x7f);
    if (infinities) {
      Value isNaN = arith::CmpFOp::create(rewriter, loc, arith::CmpFPredicate::UNO, size, size);
      beyond = arith::SelectOp::create(rewriter, loc, isNaN, byte(0x7e), beyond);
    }
    beyond = arith::OrIOp::create(rewriter, loc, sign, beyond);
    Value result = arith::SelectOp::create(rewriter, loc, finite, rounded, beyond);
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, to, result);
    return success();
  }
};

/// f8E4M3FN or f8E5M2 -> f16, which holds every value of both, and on to f32.
struct Widen : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ExtFOp op, PatternRewriter &rewriter) const override {
    VectorType from = getPairs(op.getIn().getType()), to = getPairs(op.getType());
    if (!from || !isByteFloat(from.getElementType()) ||
        !(to.getElementType().isF32() || to.getElementType().isF16()))
      return rewriter.notifyMatchFailure(op, "expected pairs of floats of 8 bits to f16 or f32");
    Location loc = op.getLoc();
    Type i8 = rewriter.getI8Type(), f16 = rewriter.getF16Type();
    Value bytes = arith::BitcastOp::create(rewriter, loc, from.clone(i8), op.getIn());
    auto pair = VectorType::get({2}, i8), halves = VectorType::get({2}, f16);
    SmallVector<Value> parts;
    for (int64_t i = 0, e = from.getNumElements(); i < e; i += 2) {
      Value low = vector::ExtractOp::create(rewriter, loc, bytes, i);
      Value high = vector::ExtractOp::create(rewriter, loc, bytes, i + 1);
      Value both = vector::FromElementsOp::create(rewriter, loc, pair, ValueRange{low, high});
      Value wide = NVVM::ConvertF8x2ToF16x2Op::create(rewriter, loc, halves, both, /*relu=*/false,
                                                      from.getElementType());
      parts.push_back(vector::ExtractOp::create(rewriter, loc, wide, int64_t(0)));
      parts.push_back(vector::ExtractOp::create(rewriter, loc, wide, int64_t(1)));
    }
    Value result = vector::FromElementsOp::create(rewriter, loc, to.clone(f16), parts);
    if (to.getElementType().isF32())
      result = arith::ExtFOp::create(rewriter, loc, to, result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

TypedAttr splatOf(Type type, int64_t value) {
  auto shaped = dyn_cast<ShapedType>(type);
  TypedAttr attr = IntegerAttr::get(getElementTypeOrSelf(type), value);
  return shaped ? TypedAttr(DenseElementsAttr::get(shaped, Attribute(attr))) : attr;
}

/// Builds arithmetic on words that hold two or more elements.
struct Words {
  OpBuilder &builder;
  Location loc;

  Value constant(Type type, int64_t value) {
    return arith::ConstantOp::create(builder, loc, splatOf(type, value));
  }
  template <typename Op>
  Value op(Value left, int64_t right) {
    return Op::create(builder, loc, left, constant(left.getType(), right));
  }
  template <typename Op>
  Value op(Value left, Value right) {
    return Op::create(builder, loc, left, right);
  }
  Value cast(Value value, Type type) { return arith::BitcastOp::create(builder, loc, type, value); }
};

/// bf16 -> f32 by a shift or a mask. Of a pair that saves moving the upper half, for which the
/// assembler takes an instruction more. Where subnormals are flushed it is done of single numbers
/// as well: the instruction that flushes is one of the few that a multiprocessor does sixteen of in
/// a cycle.
struct WidenBFloat : OpRewritePattern<arith::ExtFOp> {
  WidenBFloat(MLIRContext *context, bool ofSingles)
      : OpRewritePattern(context, /*benefit=*/2), ofSingles(ofSingles) {}
  LogicalResult matchAndRewrite(arith::ExtFOp op, PatternRewriter &rewriter) const override {
    Type from = op.getIn().getType(), to = op.getType();
    if (!getElementTypeOrSelf(from).isBF16() || !getElementTypeOrSelf(to).isF32())
      return rewriter.notifyMatchFailure(op, "expected bf16 to f32");
    Words words{rewriter, op.getLoc()};
    Type i32 = rewriter.getI32Type();
    if (VectorType pairs = getPairs(from)) {
      auto type = VectorType::get({pairs.getNumElements() / 2}, i32);
      Value both = vector::BitCastOp::create(rewriter, op.getLoc(), type, op.getIn());
      Value low = words.op<arith::ShLIOp>(both, 16);
      Value high = words.op<arith::AndIOp>(both, int32_t(0xffff0000));
      SmallVector<Value> parts;
      for (int64_t i = 0; i < type.getNumElements(); ++i)
        for (Value half : {low, high})
          parts.push_back(vector::ExtractOp::create(rewriter, op.getLoc(), half, i));
      Value all = vector::FromElementsOp::create(rewriter, op.getLoc(),
                                                 cast<VectorType>(to).clone(i32), parts);
      rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, to, all);
      return success();
    }
    if (!ofSingles)
      return rewriter.notifyMatchFailure(op, "expected pairs");
    auto shaped = dyn_cast<ShapedType>(from);
    Type halves = rewriter.getI16Type(), wide = i32;
    if (shaped) {
      halves = shaped.clone(halves);
      wide = shaped.clone(wide);
    }
    Value bits = words.cast(op.getIn(), halves);
    bits = arith::ExtUIOp::create(rewriter, op.getLoc(), wide, bits);
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, to, words.op<arith::ShLIOp>(bits, 16));
    return success();
  }

  bool ofSingles;
};

/// Fast bf16 -> f4E2M1FN, two elements at a time in the halves of a word. Beside M, a number of at
/// least 64 whose binade is that of 64 times the magnitude, the adder rounds at the last bit that
/// f4 keeps; 63 times the magnitude, or 64, is such a number, and taking it away again is exact.
/// All of it is done times 2^-126, where the pattern of bf16 has the exponent of f4, subnormals
/// too. Products and sums are best: they do not take turns with masks, shifts and comparisons.
struct NarrowBFloatToF4 : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncFOp op, PatternRewriter &rewriter) const override {
    VectorType from = getPairs(op.getIn().getType()), to = getPairs(op.getType());
    if (!from || !from.getElementType().isBF16() || !isa<Float4E2M1FNType>(to.getElementType()) ||
        from.getNumElements() % 8 || !kiln::isFast(op))
      return rewriter.notifyMatchFailure(op, "expected fast eights of bf16 to f4E2M1FN");
    Location loc = op.getLoc();
    Words words{rewriter, loc};
    int64_t count = from.getNumElements();
    auto real = [&](double value) -> Value {
      APFloat exact(value);
      bool loses;
      exact.convert(APFloat::BFloat(), APFloat::rmNearestTiesToEven, &loses);
      return arith::ConstantOp::create(
          rewriter, loc,
          DenseElementsAttr::get(from, Attribute(FloatAttr::get(rewriter.getBF16Type(), exact))));
    };
    Value size = math::AbsFOp::create(rewriter, loc, op.getIn());
    size = words.op<arith::MinNumFOp>(size, real(6));
    Value beside = words.op<arith::MaxNumFOp>(words.op<arith::MulFOp>(size, real(63 * 0x1p-126)),
                                              real(0x1p-120));
    Value sum = math::FmaOp::create(rewriter, loc, size, real(0x1p-126), beside);
    Value code = words.op<arith::SubFOp>(sum, beside); // three bits from the sixth of each half on

    auto word = [&](Value all, int64_t i) -> Value {
      auto i32s = VectorType::get({count / 2}, rewriter.getI32Type());
      return vector::ExtractOp::create(rewriter, loc,
                                       vector::BitCastOp::create(rewriter, loc, i32s, all), i);
    };
    auto toBytes = [&](Value word) -> Value {
      Value one =
          vector::BroadcastOp::create(rewriter, loc, VectorType::get({1}, word.getType()), word);
      return vector::BitCastOp::create(rewriter, loc, VectorType::get({4}, rewriter.getI8Type()),
                                       one);
    };
    auto choose = [&](Value low, Value high, ArrayRef<int64_t> bytes) -> Value {
      Value chosen = vector::ShuffleOp::create(rewriter, loc, toBytes(low), toBytes(high), bytes);
      Value one = vector::BitCastOp::create(rewriter, loc,
                                            VectorType::get({1}, rewriter.getI32Type()), chosen);
      return vector::ExtractOp::create(rewriter, loc, one, int64_t(0));
    };
    // Of the words a b and c d: the upper halves of bytes are a c b d with their signs. The product
    // puts a beside b and c beside d, in the upper half.
    auto four = [&](int64_t i) -> Value {
      Value codes = words.op<arith::OrIOp>(words.op<arith::ShRUIOp>(word(code, i), 2),
                                           words.op<arith::ShLIOp>(word(code, i + 1), 6));
      Value signs = choose(word(op.getIn(), i), word(op.getIn(), i + 1), {1, 5, 3, 7});
      signs = words.op<arith::AndIOp>(signs, int32_t(0x80808080));
      return words.op<arith::MulIOp>(words.op<arith::OrIOp>(codes, signs), 4097);
    };
    Type i4 = rewriter.getIntegerType(4);
    SmallVector<Value> elements;
    for (int64_t first = 0; first < count / 2; first += 4) {
      Value eight = choose(four(first), four(first + 2), {2, 3, 6, 7});
      for (int64_t i = 0; i < 8; ++i)
        elements.push_back(
            arith::TruncIOp::create(rewriter, loc, i4, words.op<arith::ShRUIOp>(eight, 4 * i)));
    }
    Value all = vector::FromElementsOp::create(rewriter, loc, to.clone(i4), elements);
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, to, all);
    return success();
  }
};

} // namespace

void kiln::nvptx::populateFlushedFloatPatterns(RewritePatternSet &patterns) {
  patterns.add<WidenBFloat>(patterns.getContext(), /*ofSingles=*/true);
  patterns.add<NarrowBFloatToF4>(patterns.getContext(), /*benefit=*/2);
}

void kiln::nvptx::populatePairPatterns(RewritePatternSet &patterns) {
  patterns.add<WidenBFloat>(patterns.getContext(), /*ofSingles=*/false);
}

void kiln::nvptx::populateNarrowFloatPatterns(RewritePatternSet &patterns) {
  patterns.add<Narrow, Widen>(patterns.getContext(), /*benefit=*/3);
}
