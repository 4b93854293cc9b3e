// Conversions to and from narrow floats, as integer arithmetic that vectorises.
//
// A narrow float of E exponent bits, M mantissa bits and bias B is described once (Format) and
// one pair of expansions serves them all. Widening shifts the magnitude into place and adjusts
// the bias; a subnormal goes through an integer conversion, so that no subnormal f32 is ever
// computed with (threads may flush them). Narrowing to nearest-even adds half a unit, less one
// if the kept part is even, and drops the low bits; the carry runs into the exponent, as it
// should. Where the result is subnormal, adding 2^(23 + exponent of its last bit) makes the FPU
// round at that bit.
#include "kiln/Dialect/Tile/Transforms/RoundToOdd.h"
#include "kiln/Target/Common/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/APFloat.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_EXPANDNARROWFLOATS
#include "kiln/Target/Common/Passes.h.inc"

namespace {

/// What happens to values that a format has no number for.
enum class NonFinite {
  IEEE,        ///< infinities and NaNs, in the highest exponent
  NaNAllOnes,  ///< one NaN a sign, all bits set; no infinity
  NaNNegative, ///< one NaN, the pattern of negative zero; no infinity, no negative zero
  None,        ///< every pattern is a number
};

struct Format {
  unsigned width, exponent, mantissa;
  int bias;
  NonFinite nonFinite;

  unsigned signBit() const { return 1u << (width - 1); }
  unsigned magnitudeMask() const { return signBit() - 1; }
  /// The pattern of the largest finite magnitude.
  unsigned largest() const {
    switch (nonFinite) {
    case NonFinite::IEEE:
      return infinity() - 1;
    case NonFinite::NaNAllOnes:
      return magnitudeMask() - 1;
    default:
      return magnitudeMask();
    }
  }
  unsigned infinity() const { return ((1u << exponent) - 1) << mantissa; }
  unsigned nan() const {
    switch (nonFinite) {
    case NonFinite::IEEE:
      return infinity() | (1u << (mantissa - 1));
    case NonFinite::NaNAllOnes:
      return magnitudeMask();
    default:
      return signBit();
    }
  }
};

std::optional<Format> getFormat(Type type) {
  if (isa<BFloat16Type>(type))
    return Format{16, 8, 7, 127, NonFinite::IEEE};
  if (isa<FloatTF32Type>(type))
    return Format{19, 8, 10, 127, NonFinite::IEEE};
  if (isa<Float8E5M2Type>(type))
    return Format{8, 5, 2, 15, NonFinite::IEEE};
  if (isa<Float8E4M3Type>(type))
    return Format{8, 4, 3, 7, NonFinite::IEEE};
  if (isa<Float8E3M4Type>(type))
    return Format{8, 3, 4, 3, NonFinite::IEEE};
  if (isa<Float8E4M3FNType>(type))
    return Format{8, 4, 3, 7, NonFinite::NaNAllOnes};
  if (isa<Float8E4M3FNUZType>(type))
    return Format{8, 4, 3, 8, NonFinite::NaNNegative};
  if (isa<Float8E4M3B11FNUZType>(type))
    return Format{8, 4, 3, 11, NonFinite::NaNNegative};
  if (isa<Float8E5M2FNUZType>(type))
    return Format{8, 5, 2, 16, NonFinite::NaNNegative};
  if (isa<Float6E2M3FNType>(type))
    return Format{6, 2, 3, 1, NonFinite::None};
  if (isa<Float6E3M2FNType>(type))
    return Format{6, 3, 2, 3, NonFinite::None};
  if (isa<Float4E2M1FNType>(type))
    return Format{4, 2, 1, 1, NonFinite::None};
  return std::nullopt;
}

bool isNarrow(Type type) { return getFormat(type) || isa<Float8E8M0FNUType>(type); }

/// `type` with another element type: a scalar stays one.
Type withElement(Type type, Type element) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped ? shaped.clone(element) : element;
}

/// Builds arithmetic on values of one shape, so that the expansions read like the formulas.
class Expander {
public:
  Expander(OpBuilder &builder, Location loc, Type shape)
      : builder(builder), loc(loc), shape(shape), i32(typeOf(builder.getI32Type())),
        f32(typeOf(builder.getF32Type())) {}

  Type typeOf(Type element) const { return withElement(shape, element); }

  Value constant(Type type, uint64_t value) {
    Type element = getElementTypeOrSelf(type);
    TypedAttr attr = builder.getIntegerAttr(
        element, APInt(element.getIntOrFloatBitWidth(), value, false, /*implicitTrunc=*/true));
    if (auto shaped = dyn_cast<ShapedType>(type))
      attr = SplatElementsAttr::get(shaped, attr);
    return arith::ConstantOp::create(builder, loc, attr);
  }
  Value word(uint32_t value) { return constant(i32, value); }
  Value bitcast(Value value, Type type) {
    return arith::BitcastOp::create(builder, loc, type, value);
  }
  template <typename Op>
  Value op(Value left, Value right) {
    return Op::create(builder, loc, left, right);
  }
  template <typename Op>
  Value op(Value left, uint64_t right) {
    return op<Op>(left, constant(left.getType(), right));
  }
  Value compare(arith::CmpIPredicate predicate, Value left, uint64_t right) {
    return arith::CmpIOp::create(builder, loc, predicate, left, constant(left.getType(), right));
  }
  Value select(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(builder, loc, condition, yes, no);
  }
  template <typename Op>
  Value cast(Value value, Type type) {
    return Op::create(builder, loc, type, value);
  }

  Value widen(Value narrow, const Format &format);
  Value widenScale(Value narrow);
  Value narrow(Value wide, const Format &format, Type type);
  Value narrowScale(Value wide, Type type);

private:
  /// The bits of a narrow value, as i32.
  Value bitsOf(Value narrow) {
    unsigned width = getElementTypeOrSelf(narrow.getType()).getIntOrFloatBitWidth();
    Value bits = bitcast(narrow, typeOf(builder.getIntegerType(width)));
    return cast<arith::ExtUIOp>(bits, i32);
  }
  /// The narrow value whose bits these are.
  Value fromBits(Value bits, Type type) {
    unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
    return bitcast(cast<arith::TruncIOp>(bits, typeOf(builder.getIntegerType(width))), type);
  }

  OpBuilder &builder;
  Location loc;
  Type shape, i32, f32;
};

/// Narrow to f32; exact.
Value Expander::widen(Value value, const Format &format) {
  using arith::CmpIPredicate;
  Value bits = bitsOf(value);
  if (format.exponent == 8) // bf16 and tf32: the upper bits of an f32
    return bitcast(op<arith::ShLIOp>(bits, 23 - format.mantissa), f32);

  Value magnitude = op<arith::AndIOp>(bits, format.magnitudeMask());
  Value sign = op<arith::ShLIOp>(op<arith::AndIOp>(bits, format.signBit()), 32 - format.width);
  Value normal = op<arith::AddIOp>(op<arith::ShLIOp>(magnitude, 23 - format.mantissa),
                                   uint32_t(127 - format.bias) << 23);
  // A subnormal is its mantissa, as an integer, times the last bit's weight.
  uint32_t lastBit = uint32_t(127 + 1 - format.bias - int(format.mantissa)) << 23;
  Value integer = cast<arith::SIToFPOp>(magnitude, f32);
  Value subnormal = bitcast(op<arith::MulFOp>(integer, bitcast(word(lastBit), f32)), i32);
  Value isNormal = compare(CmpIPredicate::uge, magnitude, 1u << format.mantissa);
  Value result = select(isNormal, normal, subnormal);

  constexpr uint32_t infinity = 0x7f800000, nan = 0x7fc00000;
  switch (format.nonFinite) {
  case NonFinite::IEEE:
    result =
        select(compare(CmpIPredicate::eq, magnitude, format.infinity()), word(infinity), result);
    result = select(compare(CmpIPredicate::ugt, magnitude, format.infinity()), word(nan), result);
    break;
  case NonFinite::NaNAllOnes:
    result = select(compare(CmpIPredicate::eq, magnitude, format.nan()), word(nan), result);
    break;
  case NonFinite::NaNNegative:
    result = select(compare(CmpIPredicate::eq, bits, format.nan()), word(nan), result);
    break;
  case NonFinite::None:
    break;
  }
  return bitcast(op<arith::OrIOp>(result, sign), f32);
}

/// f8E8M0FNU to f32: the byte is the exponent; 0 is 2^-127, 255 is NaN.
Value Expander::widenScale(Value value) {
  using arith::CmpIPredicate;
  Value bits = bitsOf(value);
  Value result = op<arith::ShLIOp>(bits, 23);
  result = select(compare(CmpIPredicate::eq, bits, 0), word(0x00400000), result);
  result = select(compare(CmpIPredicate::eq, bits, 0xff), word(0x7fc00000), result);
  return bitcast(result, f32);
}

/// f32 to narrow, to nearest, ties to even.
Value Expander::narrow(Value value, const Format &format, Type type) {
  using arith::CmpIPredicate;
  Value bits = bitcast(value, i32);
  Value magnitude = op<arith::AndIOp>(bits, 0x7fffffff);
  Value sign = op<arith::AndIOp>(op<arith::ShRUIOp>(bits, 32 - format.width), format.signBit());

  unsigned dropped = 23 - format.mantissa;
  uint32_t rebias = uint32_t(127 - format.bias) << 23;
  Value even = op<arith::AndIOp>(op<arith::ShRUIOp>(magnitude, dropped), 1);
  // Adding half a unit less one wraps only for magnitudes below the format's normals.
  Value half = op<arith::AddIOp>(magnitude, (1u << (dropped - 1)) - 1 - rebias);
  Value rounded = op<arith::ShRUIOp>(op<arith::AddIOp>(half, even), dropped);

  if (format.exponent < 8) {
    uint32_t magic = uint32_t(127 + 23 + 1 - format.bias - int(format.mantissa)) << 23;
    Value sum = op<arith::AddFOp>(bitcast(magnitude, f32), bitcast(word(magic), f32));
    Value subnormal = op<arith::SubIOp>(bitcast(sum, i32), magic);
    Value isSubnormal = compare(CmpIPredicate::ult, magnitude, rebias + (1u << 23));
    rounded = select(isSubnormal, subnormal, rounded);
  }

  // Too large to hold: the rounded pattern runs past the largest one (a wide magnitude, even
  // infinity, keeps its exponent there, so the comparison sees it).
  Value isNaN = compare(CmpIPredicate::ugt, magnitude, 0x7f800000);
  Value tooLarge = compare(CmpIPredicate::ugt, rounded, format.largest());
  switch (format.nonFinite) {
  case NonFinite::IEEE:
    rounded = select(tooLarge, word(format.infinity()), rounded);
    rounded = select(isNaN, word(format.nan()), rounded);
    rounded = op<arith::OrIOp>(rounded, sign);
    break;
  case NonFinite::NaNAllOnes:
    rounded = select(tooLarge, word(format.nan()), rounded);
    rounded = op<arith::OrIOp>(rounded, sign);
    break;
  case NonFinite::NaNNegative: {
    Value isZero = compare(CmpIPredicate::eq, rounded, 0);
    rounded = op<arith::OrIOp>(rounded, select(isZero, word(0), sign));
    rounded = select(tooLarge, word(format.nan()), rounded);
    break;
  }
  case NonFinite::None:
    rounded = op<arith::OrIOp>(select(tooLarge, word(format.largest()), rounded), sign);
    rounded = select(isNaN, op<arith::XOrIOp>(sign, format.signBit()), rounded);
    break;
  }
  return fromBits(rounded, type);
}

/// f32 to f8E8M0FNU: the nearer power of two, of two the larger; what is not positive is NaN.
Value Expander::narrowScale(Value value, Type type) {
  using arith::CmpIPredicate;
  Value bits = bitcast(value, i32);
  Value rounded = op<arith::ShRUIOp>(op<arith::AddIOp>(bits, 0x00400000), 23);
  // Below 2^-126 ml_dtypes takes whatever is above 2^-127 up.
  Value low = cast<arith::ExtUIOp>(compare(CmpIPredicate::ugt, bits, 0x00400000), i32);
  rounded = select(compare(CmpIPredicate::ult, bits, 0x00800000), low, rounded);
  // Zero, the negatives (patterns from 2^31 on), infinity and NaN, and what rounds up to 2^128.
  Value isNumber = compare(CmpIPredicate::ult, op<arith::SubIOp>(bits, 1), 0x7f3fffff);
  return fromBits(select(isNumber, rounded, word(0xff)), type);
}

//===- Patterns -----------------------------------------------------------------------------===//

LogicalResult expandExtF(arith::ExtFOp op, PatternRewriter &rewriter) {
  Type from = getElementTypeOrSelf(op.getIn().getType());
  Type to = getElementTypeOrSelf(op.getType());
  if (!isNarrow(from))
    return rewriter.notifyMatchFailure(op, "does not widen a narrow float");
  Expander expand(rewriter, op.getLoc(), op.getType());
  std::optional<Format> format = getFormat(from);
  Value result = format ? expand.widen(op.getIn(), *format) : expand.widenScale(op.getIn());
  if (to.isF64())
    result = expand.cast<arith::ExtFOp>(result, op.getType());
  else if (!to.isF32())
    result = expand.cast<arith::TruncFOp>(result, op.getType());
  rewriter.replaceOp(op, result);
  return success();
}

LogicalResult expandTruncF(arith::TruncFOp op, PatternRewriter &rewriter) {
  Type from = getElementTypeOrSelf(op.getIn().getType());
  Type to = getElementTypeOrSelf(op.getType());
  if (!isNarrow(to))
    return rewriter.notifyMatchFailure(op, "does not narrow to a narrow float");
  if (op.getRoundingmode().value_or(arith::RoundingMode::to_nearest_even) !=
      arith::RoundingMode::to_nearest_even)
    return rewriter.notifyMatchFailure(op, "does not round to nearest even");
  Expander expand(rewriter, op.getLoc(), op.getType());
  Value value = op.getIn();
  if (from.isF64())
    value = roundToOdd(rewriter, op.getLoc(), value);
  else if (!from.isF32())
    value = expand.cast<arith::ExtFOp>(value, expand.typeOf(rewriter.getF32Type()));
  std::optional<Format> format = getFormat(to);
  rewriter.replaceOp(op, format ? expand.narrow(value, *format, op.getType())
                                : expand.narrowScale(value, op.getType()));
  return success();
}

/// f64 to f16 or bf16, of which code generators know no instruction on most chips: each has its own
/// way, and none of them is seen here.
LogicalResult roundOnce(arith::TruncFOp op, PatternRewriter &rewriter) {
  Type to = getElementTypeOrSelf(op.getType());
  bool isNearest = op.getRoundingmode().value_or(arith::RoundingMode::to_nearest_even) ==
                   arith::RoundingMode::to_nearest_even;
  bool isWide = getElementTypeOrSelf(op.getIn().getType()).isF64();
  if (!isNearest || !isWide || !(to.isF16() || to.isBF16()))
    return rewriter.notifyMatchFailure(op, "does not narrow f64 to the nearest f16 or bf16");
  Value odd = roundToOdd(rewriter, op.getLoc(), op.getIn());
  rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), odd);
  return success();
}

/// A constant of a narrow float is its bits: LLVM has no such type to write it in.
LogicalResult expandConstant(arith::ConstantOp op, PatternRewriter &rewriter) {
  Type element = getElementTypeOrSelf(op.getType());
  if (!isNarrow(element) || element.isBF16())
    return rewriter.notifyMatchFailure(op, "is no constant of a narrow float");
  Type bitsElement = rewriter.getIntegerType(element.getIntOrFloatBitWidth());
  TypedAttr bits;
  if (auto scalar = dyn_cast<FloatAttr>(op.getValue()))
    bits = rewriter.getIntegerAttr(bitsElement, scalar.getValue().bitcastToAPInt());
  else if (auto elements = dyn_cast<DenseFPElementsAttr>(op.getValue()))
    bits = cast<TypedAttr>(elements.mapValues(
        bitsElement, [](const APFloat &value) { return value.bitcastToAPInt(); }));
  else
    return rewriter.notifyMatchFailure(op, "holds no dense elements");
  Value constant = arith::ConstantOp::create(rewriter, op.getLoc(), bits);
  rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), constant);
  return success();
}

struct ExpandNarrowFloats : public impl::ExpandNarrowFloatsBase<ExpandNarrowFloats> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateRoundOncePatterns(patterns);
    populateExpandNarrowFloatsPatterns(patterns);
    // Folding would turn a bit pattern back into a constant of the narrow type.
    GreedyRewriteConfig config;
    config.enableFolding(false).enableConstantCSE(false);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      signalPassFailure();
  }
};

} // namespace

void populateRoundOncePatterns(RewritePatternSet &patterns) { patterns.add(roundOnce); }

void populateExpandNarrowFloatsPatterns(RewritePatternSet &patterns) {
  patterns.add(expandExtF);
  patterns.add(expandTruncF);
  patterns.add(expandConstant);
}

} // namespace kiln
