// tf32 as the f32 that it is kept in: what computes one is rounded to it.
#include "kiln/Dialect/Tile/Transforms/Passes.h"
#include "kiln/Dialect/Tile/Transforms/RoundToOdd.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace kiln::tile {
#define GEN_PASS_DEF_EXPANDTF32
#include "kiln/Dialect/Tile/Transforms/Passes.h.inc"

static bool isTF32(Type type) { return isa<FloatTF32Type>(getElementTypeOrSelf(type)); }

static Type withElement(Type type, Type element) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? Type(tensor.clone(element)) : element;
}

static Type asF32(Type type) {
  return isTF32(type) ? withElement(type, Float32Type::get(type.getContext())) : type;
}

/// The same numbers in f32.
static TypedAttr asF32(TypedAttr attr) {
  auto widen = [](APFloat value) {
    bool inexact;
    value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &inexact);
    return value;
  };
  if (auto scalar = dyn_cast<FloatAttr>(attr))
    return FloatAttr::get(asF32(attr.getType()), widen(scalar.getValue()));
  return cast<TypedAttr>(Attribute(cast<DenseFPElementsAttr>(attr).mapValues(
      Float32Type::get(attr.getContext()),
      [&](const APFloat &value) { return widen(value).bitcastToAPInt(); })));
}

namespace {
class Rounding {
public:
  Rounding(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  /// f32 to the nearest tf32, ties to even; NaN stays NaN.
  Value fromF32(Value value) {
    Value bits = cast<arith::BitcastOp>(value, builder.getI32Type());
    Value even = op<arith::AndIOp>(op<arith::ShRUIOp>(bits, word(bits, 13)), word(bits, 1));
    Value sum = op<arith::AddIOp>(op<arith::AddIOp>(bits, word(bits, 0xfff)), even);
    sum = op<arith::AndIOp>(sum, word(bits, int32_t(0xffffe000)));
    Value rounded = cast<arith::BitcastOp>(sum, builder.getF32Type());
    Value isNaN = compare(arith::CmpFPredicate::UNO, value, value);
    return arith::SelectOp::create(builder, loc, isNaN, value, rounded);
  }

  /// f64 to the nearest tf32.
  Value fromF64(Value value) { return fromF32(kiln::roundToOdd(builder, loc, value)); }

  /// An integer to the nearest tf32.
  template <typename Op>
  Value fromInteger(Value value, bool isSigned) {
    Value odd = kiln::roundIntegerToOdd(builder, loc, value, isSigned);
    return fromF32(cast<Op>(odd, builder.getF32Type()));
  }

private:
  template <typename Op>
  Value cast(Value value, Type element) {
    return Op::create(builder, loc, withElement(value.getType(), element), value);
  }
  template <typename Op>
  Value op(Value left, Value right) {
    return Op::create(builder, loc, left, right);
  }
  Value compare(arith::CmpFPredicate predicate, Value left, Value right) {
    return arith::CmpFOp::create(builder, loc, predicate, left, right);
  }
  Value word(Value like, int32_t value) {
    TypedAttr attr = builder.getI32IntegerAttr(value);
    if (auto tensor = dyn_cast<RankedTensorType>(like.getType()))
      attr = DenseElementsAttr::get(tensor, Attribute(attr));
    return arith::ConstantOp::create(builder, loc, attr);
  }

  OpBuilder &builder;
  Location loc;
};

struct ExpandTF32 : public impl::ExpandTF32Base<ExpandTF32> {
  void runOnOperation() override {
    // Who makes one is known only as long as types tell.
    SmallVector<Operation *> made, same;
    SmallVector<DotOp> dots;
    getOperation()->walk([&](Operation *op) {
      if (auto dot = dyn_cast<DotOp>(op); dot && isTF32(dot.getA().getType()))
        dots.push_back(dot);
      bool makes = llvm::any_of(op->getResultTypes(), isTF32);
      if (isa<arith::ExtFOp>(op) &&
          asF32(op->getOperand(0).getType()) == op->getResult(0).getType())
        same.push_back(op);
      bool isExact = isa<arith::ConstantOp, arith::SelectOp, arith::NegFOp, arith::ExtFOp,
                         arith::BitcastOp, math::AbsFOp, math::CopySignOp>(op);
      if (makes && !isExact && isa<arith::ArithDialect, math::MathDialect>(op->getDialect()))
        made.push_back(op);
    });
    getOperation()->walk([&](Operation *op) {
      auto constant = dyn_cast<arith::ConstantOp>(op);
      if (constant && isTF32(constant.getType()))
        constant.setValueAttr(asF32(constant.getValue()));
      for (Value result : op->getResults())
        result.setType(asF32(result.getType()));
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (Value argument : block.getArguments())
            argument.setType(asF32(argument.getType()));
    });
    for (DotOp dot : dots)
      dot.setPrecision(DotPrecision::TF32);
    for (Operation *op : made)
      round(op);
    for (Operation *op : same) {
      op->getResult(0).replaceAllUsesWith(op->getOperand(0));
      op->erase();
    }
  }

  void round(Operation *op) {
    OpBuilder builder(op);
    Rounding rounding(builder, op->getLoc());
    Value result = op->getResult(0);
    auto replace = [&](Value rounded) {
      result.replaceAllUsesWith(rounded);
      op->erase();
    };
    if (auto narrow = dyn_cast<arith::TruncFOp>(op)) {
      bool isWide = getElementTypeOrSelf(narrow.getIn().getType()).isF64();
      return replace(isWide ? rounding.fromF64(narrow.getIn()) : rounding.fromF32(narrow.getIn()));
    }
    if (isa<arith::SIToFPOp>(op))
      return replace(rounding.fromInteger<arith::SIToFPOp>(op->getOperand(0), /*isSigned=*/true));
    if (isa<arith::UIToFPOp>(op))
      return replace(rounding.fromInteger<arith::UIToFPOp>(op->getOperand(0), /*isSigned=*/false));
    builder.setInsertionPointAfter(op);
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : result.getUses())
      uses.push_back(&use);
    Value rounded = rounding.fromF32(result);
    for (OpOperand *use : uses)
      use->set(rounded);
  }
};
} // namespace
} // namespace kiln::tile
