// Arithmetic of one shape, scalar or vector, as the functions of mathematics are written in it.
#ifndef KILN_LIB_TARGET_CPU_MATH_BUILDER_H
#define KILN_LIB_TARGET_CPU_MATH_BUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"

namespace kiln::cpu {

class MathBuilder {
public:
  using Value = mlir::Value;
  using Predicate = mlir::arith::CmpFPredicate;

  /// `floats`: f32 or f64, or a vector of them.
  MathBuilder(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type floats)
      : builder(builder), loc(loc), floats(floats),
        integers(like(builder.getIntegerType(width()))) {}

  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Type floats, integers; ///< integers of as many bits

  unsigned width() const { return mlir::getElementTypeOrSelf(floats).getIntOrFloatBitWidth(); }
  /// The shape with another element.
  mlir::Type like(mlir::Type element) const {
    auto vector = mlir::dyn_cast<mlir::VectorType>(floats);
    return vector ? mlir::Type(mlir::VectorType::get(vector.getShape(), element)) : element;
  }
  Value real(double value) {
    return constant(floats, builder.getFloatAttr(mlir::getElementTypeOrSelf(floats), value));
  }
  Value word(uint64_t value) {
    llvm::APInt bits(64, value);
    return constant(integers,
                    builder.getIntegerAttr(builder.getIntegerType(width()), bits.trunc(width())));
  }

  Value fma(Value a, Value b, Value c) { return make<mlir::math::FmaOp>(a, b, c); }
  Value mul(Value a, Value b) { return make<mlir::arith::MulFOp>(a, b); }
  Value add(Value a, Value b) { return make<mlir::arith::AddFOp>(a, b); }
  Value sub(Value a, Value b) { return make<mlir::arith::SubFOp>(a, b); }
  Value divide(Value a, Value b) { return make<mlir::arith::DivFOp>(a, b); }
  Value negate(Value a) { return make<mlir::arith::NegFOp>(a); }
  Value magnitude(Value a) { return make<mlir::math::AbsFOp>(a); }
  Value root(Value a) { return make<mlir::math::SqrtOp>(a); }
  Value truncate(Value a) { return make<mlir::math::TruncOp>(a); }
  Value withSign(Value size, Value sign) { return make<mlir::math::CopySignOp>(size, sign); }

  Value addI(Value a, Value b) { return make<mlir::arith::AddIOp>(a, b); }
  Value subI(Value a, Value b) { return make<mlir::arith::SubIOp>(a, b); }
  Value mulI(Value a, Value b) { return make<mlir::arith::MulIOp>(a, b); }
  Value bitAnd(Value a, Value b) { return make<mlir::arith::AndIOp>(a, b); }
  Value bitOr(Value a, Value b) { return make<mlir::arith::OrIOp>(a, b); }
  Value bitXor(Value a, Value b) { return make<mlir::arith::XOrIOp>(a, b); }
  Value shiftLeft(Value a, Value by) { return make<mlir::arith::ShLIOp>(a, by); }
  Value shiftLeft(Value a, unsigned by) { return shiftLeft(a, word(by)); }
  Value shiftRight(Value a, unsigned by) { return make<mlir::arith::ShRUIOp>(a, word(by)); }
  Value shiftRightSigned(Value a, unsigned by) { return make<mlir::arith::ShRSIOp>(a, word(by)); }
  Value equal(Value a, Value b) {
    return make<mlir::arith::CmpIOp>(mlir::arith::CmpIPredicate::eq, a, b);
  }

  Value bits(Value value) { return cast<mlir::arith::BitcastOp>(integers, value); }
  Value number(Value bits) { return cast<mlir::arith::BitcastOp>(floats, bits); }
  Value compare(Predicate how, Value a, Value b) { return make<mlir::arith::CmpFOp>(how, a, b); }
  Value select(Value condition, Value yes, Value no) {
    return make<mlir::arith::SelectOp>(condition, yes, no);
  }
  /// Keeps x within bounds; NaN stays.
  Value clamp(Value x, double low, double high) {
    Value top = real(high), bottom = real(low);
    x = select(compare(Predicate::OLT, top, x), top, x);
    return select(compare(Predicate::OGT, bottom, x), bottom, x);
  }
  Value polynomial(Value x, llvm::ArrayRef<double> highestFirst) {
    Value sum = real(highestFirst.front());
    for (double next : highestFirst.drop_front())
      sum = fma(sum, x, real(next));
    return sum;
  }

  /// `usual`, or where `isRare` holds for a lane, what `rare` makes of all lanes: behind a branch.
  llvm::SmallVector<Value> unlessRare(Value isRare, mlir::ValueRange usual,
                                      llvm::function_ref<llvm::SmallVector<Value>()> rare) {
    if (mlir::isa<mlir::VectorType>(isRare.getType()))
      isRare = make<mlir::vector::ReductionOp>(mlir::vector::CombiningKind::OR, isRare);
    auto branch = mlir::scf::IfOp::create(builder, loc, usual.getTypes(), isRare,
                                          /*withElseRegion=*/true);
    {
      mlir::OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(branch.thenBlock());
      mlir::scf::YieldOp::create(builder, loc, rare());
      builder.setInsertionPointToStart(branch.elseBlock());
      mlir::scf::YieldOp::create(builder, loc, usual);
    }
    return llvm::SmallVector<Value>(branch.getResults());
  }

  template <typename Op, typename... Args>
  Value make(Args &&...args) {
    return Op::create(builder, loc, std::forward<Args>(args)...)->getResult(0);
  }
  template <typename Op>
  Value cast(mlir::Type to, Value value) {
    return Op::create(builder, loc, to, value)->getResult(0);
  }

private:
  Value constant(mlir::Type type, mlir::TypedAttr value) {
    if (auto vector = mlir::dyn_cast<mlir::VectorType>(type))
      value = mlir::DenseElementsAttr::get(vector, mlir::Attribute(value));
    return make<mlir::arith::ConstantOp>(value);
  }
};

} // namespace kiln::cpu

#endif // KILN_LIB_TARGET_CPU_MATH_BUILDER_H
