// Divisions of many elements by one number: a reciprocal a number, three products an element.
//
// Of x / y with r = 1 / y, rounded to nearest, q = x·r is within 1.5 ulp, x - q·y is exact or far
// from mattering, and q + (x - q·y)·r rounds to the quotient: Markstein, "Computation of Elementary
// Functions on the IBM RISC System/6000 Processor" (1990). docs/rationale/arithmetic.md has the
// proof for this q. It holds while nothing overflows or loses bits below 2^-149, so the elements
// are looked at, and those of a thread are divided one by one if any is out of bounds:
//
//   2^-126 <= y <= 2^126, and x = 0 or max(2^-100, y·2^-125) <= |x| <= min(most, y·2^126)
#include "kiln/Target/Common/Constants.h"
#include "kiln/Target/Common/FastMath.h"
#include "kiln/Target/Common/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_SHARERECIPROCALS
#include "kiln/Target/Common/Passes.h.inc"

namespace {
/// How many elements a divisor needs: to find its reciprocal and its bounds takes as long as three
/// divisions.
constexpr size_t kFewElements = 4;
/// Comparisons that wait for one another.
constexpr size_t kChain = 8;
/// How far a dividend is followed for its sign.
constexpr int kMostSteps = 16;

/// The numbers that a vector is made of; none if that cannot be seen.
SmallVector<Value> getElements(Value vector) {
  int64_t count = cast<VectorType>(vector.getType()).getNumElements();
  if (auto broadcast = vector.getDefiningOp<vector::BroadcastOp>())
    if (!isa<VectorType>(broadcast.getSourceType()))
      return SmallVector<Value>(count, broadcast.getSource());
  if (auto elements = vector.getDefiningOp<vector::FromElementsOp>())
    return llvm::to_vector(elements.getElements());
  return {};
}

/// Whether no number of a value has a sign; those that are no numbers may.
bool isUnsigned(Value value, int steps = kMostSteps) {
  if (steps == 0)
    return false;
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<math::ExpOp, math::Exp2Op, math::AbsFOp, arith::UIToFPOp>(op))
    return true;
  auto areOperands = [&](ValueRange operands) {
    return llvm::all_of(operands, [&](Value each) { return isUnsigned(each, steps - 1); });
  };
  if (isa_and_nonnull<arith::ExtFOp, arith::TruncFOp, arith::AddFOp, arith::MulFOp, arith::DivFOp,
                      math::SqrtOp, vector::BroadcastOp, vector::FromElementsOp>(op))
    return areOperands(op->getOperands());
  if (auto extract = dyn_cast_or_null<vector::ExtractOp>(op))
    return isUnsigned(extract.getSource(), steps - 1);
  if (auto select = dyn_cast_or_null<arith::SelectOp>(op))
    return areOperands({select.getTrueValue(), select.getFalseValue()});
  Attribute constant;
  if (!op || !matchPattern(op, m_Constant(&constant)))
    return false;
  if (auto splat = dyn_cast<SplatElementsAttr>(constant))
    constant = splat.getSplatValue<Attribute>();
  auto number = dyn_cast<FloatAttr>(constant);
  return number && !number.getValue().isNegative();
}

/// What the elements that one number divides have in common.
struct Divisor {
  Value reciprocal;
  Value least; ///< of what `getSizes` has, exclusively
  Value most;  ///< of what `getMagnitudes` has
};

class Sharing {
public:
  explicit Sharing(func::FuncOp function) : builder(function) {}

  void change(arith::DivFOp op) {
    Value x = op.getLhs(), y = op.getRhs();
    auto type = dyn_cast<VectorType>(op.getType());
    if (!type || type.getRank() != 1 || !type.getElementType().isF32() || isFast(op))
      return;
    llvm::MapVector<Value, SmallVector<int64_t>> places;
    for (auto [place, element] : llvm::enumerate(getElements(y)))
      places[element].push_back(place);
    if (places.empty() || size_t(type.getNumElements()) < kFewElements * places.size())
      return;

    bool hasSigns = !isUnsigned(x);
    builder.setInsertionPoint(op);
    loc = op.getLoc();
    Value sizes = getSizes(x, hasSigns);
    Value magnitudes = getMagnitudes(x, hasSigns);
    Value isPlain;
    SmallVector<Value> reciprocals(type.getNumElements());
    for (auto &[element, at] : places) {
      Divisor divisor = getDivisor(element, hasSigns);
      for (int64_t place : at)
        reciprocals[place] = divisor.reciprocal;
      Value least = combine<arith::MinUIOp>(sizes, at);
      Value most = hasSigns ? combine<arith::MaxNumFOp>(magnitudes, at)
                            : combine<arith::MaxSIOp>(magnitudes, at);
      Value isLarge =
          arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ugt, least, divisor.least);
      Value isSmall =
          hasSigns
              ? arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLE, most, divisor.most)
                    .getResult()
              : arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle, most, divisor.most);
      Value holds = arith::AndIOp::create(builder, loc, isLarge, isSmall);
      isPlain = isPlain ? arith::AndIOp::create(builder, loc, isPlain, holds).getResult() : holds;
    }

    auto branch = scf::IfOp::create(builder, loc, TypeRange(type), isPlain,
                                    /*addThenBlock=*/true, /*addElseBlock=*/true);
    builder.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(builder, loc, multiply(x, y, reciprocals));
    builder.setInsertionPointToStart(branch.elseBlock());
    Value quotient = builder.clone(*op)->getResult(0);
    scf::YieldOp::create(builder, loc, quotient);
    op.replaceAllUsesWith(branch.getResult(0));
    op.erase();
  }

private:
  Value real(double value) {
    return arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(float(value)));
  }
  Value word(int32_t value) {
    return arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(value));
  }
  Value splat(Type type, int32_t value) {
    return makeSplat(builder, loc, type, builder.getI32IntegerAttr(value));
  }

  Value getBits(Value x) {
    Type words = builder.getI32Type();
    if (auto vector = dyn_cast<VectorType>(x.getType()))
      words = vector.clone(words);
    return arith::BitcastOp::create(builder, loc, words, x);
  }

  /// Bits that are in order as magnitudes are, but for zeros, which come last: less one, and
  /// without a sign.
  Value getSizes(Value x, bool hasSigns) {
    Value bits = getBits(x);
    if (hasSigns)
      bits = arith::AddIOp::create(builder, loc, bits, bits);
    return arith::AddIOp::create(builder, loc, bits, splat(bits.getType(), hasSigns ? -2 : -1));
  }

  /// Where there are no signs integers do, of which chips compare three at once.
  Value getMagnitudes(Value x, bool hasSigns) {
    return hasSigns ? math::AbsFOp::create(builder, loc, x).getResult() : getBits(x);
  }

  Divisor getDivisor(Value y, bool hasSigns) {
    Divisor &divisor = divisors[hasSigns][y];
    if (divisor.reciprocal)
      return divisor;
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfterValue(y);
    auto compare = [&](arith::CmpFPredicate predicate, double bound) -> Value {
      return arith::CmpFOp::create(builder, loc, predicate, y, real(bound));
    };
    auto scale = [&](int exponent) -> Value {
      return arith::MulFOp::create(builder, loc, y, real(std::ldexp(1.0, exponent)));
    };
    divisor.reciprocal = arith::DivFOp::create(builder, loc, real(1.0), y);
    Value isPlain = arith::AndIOp::create(builder, loc,
                                          compare(arith::CmpFPredicate::OGE, std::ldexp(1.0, -126)),
                                          compare(arith::CmpFPredicate::OLE, std::ldexp(1.0, 126)));
    Value least = arith::MaxNumFOp::create(builder, loc, scale(-125), real(std::ldexp(1.0, -100)));
    Value before = arith::AddIOp::create(builder, loc, getSizes(least, hasSigns), word(-1));
    divisor.least = arith::SelectOp::create(builder, loc, isPlain, before, word(-1));
    Value most =
        arith::MinNumFOp::create(builder, loc, scale(126), real(std::numeric_limits<float>::max()));
    divisor.most = hasSigns ? most : getBits(most);
    return divisor;
  }

  /// Several chains, since each op of one waits for the one before.
  template <typename Op>
  Value combine(Value vector, ArrayRef<int64_t> places) {
    Value all;
    for (size_t begin = 0; begin < places.size(); begin += kChain) {
      Value chain;
      for (int64_t place : places.slice(begin, std::min(kChain, places.size() - begin))) {
        Value element = vector::ExtractOp::create(builder, loc, vector, place);
        chain = chain ? Op::create(builder, loc, element, chain).getResult() : element;
      }
      all = all ? Op::create(builder, loc, all, chain).getResult() : chain;
    }
    return all;
  }

  /// The rest is taken as q·y - x, so that nothing is added to a zero that has a sign.
  Value multiply(Value x, Value y, ArrayRef<Value> reciprocals) {
    Value r = llvm::all_equal(reciprocals)
                  ? vector::BroadcastOp::create(builder, loc, x.getType(), reciprocals.front())
                        .getResult()
                  : vector::FromElementsOp::create(builder, loc, x.getType(), reciprocals);
    Value q = arith::MulFOp::create(builder, loc, x, r);
    Value over = math::FmaOp::create(builder, loc, q, y, arith::NegFOp::create(builder, loc, x));
    return math::FmaOp::create(builder, loc, arith::NegFOp::create(builder, loc, over), r, q);
  }

  OpBuilder builder;
  Location loc = builder.getUnknownLoc();
  DenseMap<Value, Divisor> divisors[2];
};

struct ShareReciprocals : impl::ShareReciprocalsBase<ShareReciprocals> {
  void runOnOperation() override {
    SmallVector<arith::DivFOp> ops;
    getOperation().walk([&](arith::DivFOp op) { ops.push_back(op); });
    Sharing sharing(getOperation());
    for (arith::DivFOp op : ops)
      sharing.change(op);
  }
};
} // namespace
} // namespace kiln
