// Divisions without divisions: by a reciprocal for all elements, and through floats for one.
//
// A tile of 32-bit integers that is divided by a scalar is multiplied by the scalar's reciprocal,
// which is found where the scalar is: in front of loops. A scalar of 64 bits whose quotient a float
// holds is divided as one. Both are exact.
#include "kiln/Dialect/Tile/Transforms/IndexRanges.h"
#include "kiln/Dialect/Tile/Transforms/Passes.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace kiln::tile {
#define GEN_PASS_DEF_MULTIPLYDIVISIONS
#include "kiln/Dialect/Tile/Transforms/Passes.h.inc"

static constexpr int64_t kMost32 = std::numeric_limits<int32_t>::max();
/// Fewer elements are divided as soon as the reciprocal is found.
static constexpr int64_t kFewElements = 64;

static bool isDivision(Operation *op) {
  return isa<arith::DivUIOp, arith::DivSIOp, arith::FloorDivSIOp>(op);
}

static bool isRemainder(Operation *op) { return isa<arith::RemUIOp, arith::RemSIOp>(op); }

/// The scalar by which a tile is divided; null if there is none, or if it is a constant, for which
/// code generators know better.
static Value getDivisor(Operation *op) {
  Value divisor = op->getOperand(1);
  if (auto splat = divisor.getDefiningOp<SplatOp>())
    divisor = splat.getValue();
  APInt constant;
  if (isa<RankedTensorType>(divisor.getType()) || matchPattern(divisor, m_ConstantInt(&constant)))
    return {};
  return divisor;
}

/// Whether an op may be worth it, before anything is known of ranges.
static bool isCandidate(Operation *op) {
  if (!isDivision(op) && !isRemainder(op))
    return false;
  Type type = op->getResult(0).getType();
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (tensor)
    return tensor.getElementType().isInteger(32) && tensor.getNumElements() >= kFewElements &&
           getDivisor(op);
  return (type.isIndex() || type.isInteger(64)) && getDivisor(op);
}

namespace {
class Multiplying {
public:
  Multiplying(KernelOp kernel, const DataFlowSolver &solver)
      : kernel(kernel), solver(solver), builder(kernel) {}

  void change(Operation *op) {
    if (isa<RankedTensorType>(op->getResult(0).getType()))
      multiply(op);
    else
      divideAsFloat(op);
  }

private:
  bool isWithin(Value value, int64_t least, int64_t greatest) const {
    std::optional<SignedRange> range = getSignedRange(solver, value);
    return range && range->isWithin(least, greatest);
  }

  Value makeConstant(Location loc, Type type, int64_t value) {
    TypedAttr attr = builder.getIntegerAttr(getElementTypeOrSelf(type), value);
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      attr = DenseElementsAttr::get(tensor, cast<Attribute>(attr));
    return arith::ConstantOp::create(builder, loc, attr);
  }

  /// What dividing by a scalar takes: (n * 2 * factor >> 32) >> shift is n // s, for n below 2^31.
  struct Reciprocal {
    Value factor, shift;
  };

  /// With l the least for which s <= 2^l, the factor is the least integer above 2^(31 + l) / s. It
  /// is below 2^32, and too great by at most 1, which is s <= 2^l in the product with s: so little
  /// that an n below 2^31 does not see it. A quotient of floats is off by one at most, which the
  /// rest tells. Of s = 0 the factor is 0, and so is n // 0.
  Reciprocal &getReciprocal(Value divisor) {
    Reciprocal &result = reciprocals[divisor];
    if (result.factor)
      return result;
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfterValue(divisor);
    Location loc = divisor.getLoc();
    Type i32 = builder.getI32Type(), i64 = builder.getI64Type(), f64 = builder.getF64Type();
    auto constant = [&](int64_t value) { return makeConstant(loc, i64, value); };
    auto add = [&](Value a, Value b) -> Value { return arith::AddIOp::create(builder, loc, a, b); };
    auto sub = [&](Value a, Value b) -> Value { return arith::SubIOp::create(builder, loc, a, b); };
    Value s = arith::ExtUIOp::create(builder, loc, i64, divisor);
    bool mayBeZero = !isWithin(divisor, 1, kMost32);
    if (mayBeZero)
      s = arith::MaxUIOp::create(builder, loc, s, constant(1));
    // The exponent of 2 s - 1 is l.
    Value odd = sub(add(s, s), constant(1));
    Value bits = arith::BitcastOp::create(
        builder, loc, i64, arith::UIToFPOp::create(builder, loc, f64, odd).getResult());
    Value exponent = arith::ShRUIOp::create(builder, loc, bits, constant(52));
    Value scale = add(exponent, constant(31)); // of 2^(31 + l), as a float has it
    Value power = arith::BitcastOp::create(
        builder, loc, f64, arith::ShLIOp::create(builder, loc, scale, constant(52)).getResult());
    Value real = arith::DivFOp::create(builder, loc, power,
                                       arith::UIToFPOp::create(builder, loc, f64, s).getResult());
    Value floor = arith::FPToUIOp::create(builder, loc, i64, real);
    Value whole = arith::FPToUIOp::create(builder, loc, i64, power);
    Value rest = sub(whole, arith::MulIOp::create(builder, loc, floor, s));
    Value isBelow =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, rest, constant(0));
    Value above = add(floor, arith::ExtUIOp::create(builder, loc, i64, isBelow));
    result.factor = arith::TruncIOp::create(builder, loc, i32, above);
    if (mayBeZero) {
      Value zero = makeConstant(loc, i32, 0);
      Value isZero = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, divisor, zero);
      result.factor = arith::SelectOp::create(builder, loc, isZero, zero, result.factor);
    }
    Value shift = arith::TruncIOp::create(builder, loc, i32, sub(exponent, constant(1023)));
    // So that nobody wonders whether it is one.
    result.shift = arith::AndIOp::create(builder, loc, shift, makeConstant(loc, i32, 31));
    return result;
  }

  void multiply(Operation *op) {
    Value dividend = op->getOperand(0), result = op->getResult(0), divisor = getDivisor(op);
    Type type = result.getType();
    if (!isWithin(dividend, 0, kMost32) || !isWithin(divisor, 0, kMost32))
      return;
    Reciprocal by = getReciprocal(divisor);
    builder.setInsertionPoint(op);
    Location loc = op->getLoc();
    auto splat = [&](Value scalar) -> Value { return SplatOp::create(builder, loc, type, scalar); };
    Value twice = arith::AddIOp::create(builder, loc, dividend, dividend);
    auto product = arith::MulUIExtendedOp::create(builder, loc, twice, splat(by.factor));
    Value quotient = arith::ShRUIOp::create(builder, loc, product.getHigh(), splat(by.shift));
    if (isRemainder(op)) {
      Value tile = op->getOperand(1);
      Value multiple = arith::MulIOp::create(builder, loc, quotient, tile);
      Value rest = arith::SubIOp::create(builder, loc, dividend, multiple);
      if (!isWithin(divisor, 1, kMost32)) {
        Value zero = makeConstant(loc, type, 0);
        Value none = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, tile, zero);
        rest = arith::SelectOp::create(builder, loc, none, zero, rest);
      }
      quotient = rest;
    }
    result.replaceAllUsesWith(quotient);
    op->erase();
  }

  /// Floats hold both numbers, and so their quotient is off by one at most, which the rest tells.
  void divideAsFloat(Operation *op) {
    Value dividend = op->getOperand(0), result = op->getResult(0), divisor = getDivisor(op);
    constexpr int64_t exact = int64_t(1) << 53;
    if (!isWithin(dividend, 0, exact) || isWithin(dividend, 0, kMost32) ||
        !isWithin(divisor, 1, kMost32))
      return;
    Location loc = op->getLoc();
    auto &[quotient, rest] = quotients[{dividend, divisor}];
    Type type = result.getType(), i64 = builder.getI64Type(), f64 = builder.getF64Type();
    auto castTo = [&](Value value, Type to) -> Value {
      return value.getType() == to
                 ? value
                 : arith::IndexCastOp::create(builder, loc, to, value).getResult();
    };
    if (!quotient) {
      builder.setInsertionPointAfterValue(dividend);
      if (divisor.getDefiningOp() &&
          DominanceInfo(kernel).dominates(dividend, divisor.getDefiningOp()))
        builder.setInsertionPointAfterValue(divisor);
      Value n = castTo(dividend, i64), s = castTo(divisor, i64);
      auto toFloat = [&](Value value) -> Value {
        return arith::UIToFPOp::create(builder, loc, f64, value);
      };
      auto test = [&](arith::CmpIPredicate predicate, Value a, Value b) -> Value {
        Value holds = arith::CmpIOp::create(builder, loc, predicate, a, b);
        return arith::ExtUIOp::create(builder, loc, i64, holds);
      };
      auto add = [&](Value a, Value b) -> Value {
        return arith::AddIOp::create(builder, loc, a, b);
      };
      auto sub = [&](Value a, Value b) -> Value {
        return arith::SubIOp::create(builder, loc, a, b);
      };
      auto mul = [&](Value a, Value b) -> Value {
        return arith::MulIOp::create(builder, loc, a, b);
      };
      Value real = arith::DivFOp::create(builder, loc, toFloat(n), toFloat(s));
      Value near = arith::FPToUIOp::create(builder, loc, i64, real);
      Value left = sub(n, mul(near, s));
      near = add(near, test(arith::CmpIPredicate::sge, left, s));
      near = sub(near, test(arith::CmpIPredicate::slt, left, makeConstant(loc, i64, 0)));
      quotient = near;
      rest = sub(n, mul(near, s));
    }
    builder.setInsertionPoint(op);
    result.replaceAllUsesWith(castTo(isRemainder(op) ? rest : quotient, type));
    op->erase();
  }

  KernelOp kernel;
  const DataFlowSolver &solver;
  OpBuilder builder;
  DenseMap<Value, Reciprocal> reciprocals;
  DenseMap<std::pair<Value, Value>, std::pair<Value, Value>> quotients;
};

struct MultiplyDivisions : public impl::MultiplyDivisionsBase<MultiplyDivisions> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      SmallVector<Operation *> ops;
      kernel.getBody().walk([&](Operation *op) {
        if (isCandidate(op))
          ops.push_back(op);
      });
      if (ops.empty())
        continue;
      DataFlowSolver solver;
      if (failed(findIndexRanges(solver, kernel)))
        return signalPassFailure();
      Multiplying multiplying(kernel, solver);
      for (Operation *op : ops)
        multiplying.change(op);
    }
  }
};
} // namespace
} // namespace kiln::tile
