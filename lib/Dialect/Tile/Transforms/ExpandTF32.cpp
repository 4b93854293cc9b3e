// tf32 as the f32 that it is kept in: what computes one is rounded to it.
#include "kiln/Dialect/Tile/Transforms/Passes.h"
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

  /// f64 by way of the f32 towards zero whose last bit says that something was lost, so that the
  /// second rounding is the only one.
  Value fromF64(Value value) {
    Value nearest = cast<arith::TruncFOp>(value, builder.getF32Type());
    Value back = cast<arith::ExtFOp>(nearest, builder.getF64Type());
    Value up = compare(arith::CmpFPredicate::OGT, math::AbsFOp::create(builder, loc, back),
                       math::AbsFOp::create(builder, loc, value));
    Value lost = compare(arith::CmpFPredicate::UNE, back, value);
    Value bits = cast<arith::BitcastOp>(nearest, builder.getI32Type());
    bits = op<arith::SubIOp>(bits, cast<arith::ExtUIOp>(up, builder.getI32Type()));
    bits = op<arith::OrIOp>(bits, cast<arith::ExtUIOp>(lost, builder.getI32Type()));
    return fromF32(cast<arith::BitcastOp>(bits, builder.getF32Type()));
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
    Type f64 = builder.getF64Type();
    if (auto narrow = dyn_cast<arith::TruncFOp>(op)) {
      bool isWide = getElementTypeOrSelf(narrow.getIn().getType()).isF64();
      result.replaceAllUsesWith(isWide ? rounding.fromF64(narrow.getIn())
                                       : rounding.fromF32(narrow.getIn()));
      op->erase();
      return;
    }
    builder.setInsertionPointAfter(op);
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : result.getUses())
      uses.push_back(&use);
    bool isInteger = isa<arith::SIToFPOp, arith::UIToFPOp>(op);
    if (isInteger)
      result.setType(withElement(result.getType(), f64));
    Value rounded = isInteger ? rounding.fromF64(result) : rounding.fromF32(result);
    for (OpOperand *use : uses)
      use->set(rounded);
  }
};
} // namespace
} // namespace kiln::tile
