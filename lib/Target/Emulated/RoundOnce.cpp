// RoundOnce.h: what a rounding leaves out is kept in the last bit of its result, which is far below
// those of bf16 ("rounding to odd"). Conversions are not mended here: whatever the chip's code
// generator would have to expand is explicit before, and the host's does no better.
#include "RoundOnce.h"

using namespace llvm;

/// The type of a value's elements, in as many as it has.
static Type *like(Value *value, Type *element) { return value->getType()->getWithNewType(element); }

/// A number rounded to nearest, with its last bit set where it is not exact, one towards zero first
/// where it went further from it.
static Value *makeOdd(IRBuilder<> &builder, Value *near, Value *isFurther, Value *isInexact) {
  unsigned width = near->getType()->getScalarSizeInBits();
  Value *bits = builder.CreateBitCast(near, like(near, builder.getIntNTy(width)));
  Value *one = ConstantInt::get(bits->getType(), 1);
  Value *cut = builder.CreateSelect(isFurther, builder.CreateSub(bits, one), bits);
  Value *odd = builder.CreateSelect(isInexact, builder.CreateOr(cut, one), bits);
  return builder.CreateBitCast(odd, near->getType());
}

/// A double as f32.
static Value *narrow(IRBuilder<> &builder, Value *value) {
  Value *near = builder.CreateFPTrunc(value, like(value, builder.getFloatTy()));
  Value *back = builder.CreateFPExt(near, value->getType());
  Value *isFurther = builder.CreateFCmpOGT(builder.CreateUnaryIntrinsic(Intrinsic::fabs, back),
                                           builder.CreateUnaryIntrinsic(Intrinsic::fabs, value));
  return makeOdd(builder, near, isFurther, builder.CreateFCmpONE(back, value));
}

Value *kiln::emulated::roundOnce(IRBuilder<> &builder, CallInst &call) {
  Type *element = call.getType()->getScalarType();
  if (call.getIntrinsicID() != Intrinsic::fma || !(element->isHalfTy() || element->isBFloatTy()))
    return nullptr;
  auto wide = [&](unsigned operand) {
    Value *value = call.getArgOperand(operand);
    return builder.CreateFPExt(value, like(value, builder.getDoubleTy()));
  };
  // The product is exact, and the sum's error is a double (Knuth's two-sum); of infinities and NaN
  // it is NaN, which is not taken for an error.
  Value *product = builder.CreateFMul(wide(0), wide(1)), *addend = wide(2);
  Value *sum = builder.CreateFAdd(product, addend);
  Value *other = builder.CreateFSub(sum, product);
  Value *error = builder.CreateFAdd(builder.CreateFSub(product, builder.CreateFSub(sum, other)),
                                    builder.CreateFSub(addend, other));
  Value *zero = ConstantFP::get(sum->getType(), 0.0);
  Value *isInexact = builder.CreateFCmpONE(error, zero);
  Value *areOpposed =
      builder.CreateXor(builder.CreateFCmpOLT(error, zero), builder.CreateFCmpOLT(sum, zero));
  Value *odd = makeOdd(builder, sum, builder.CreateAnd(isInexact, areOpposed), isInexact);
  return builder.CreateFPTrunc(narrow(builder, odd), call.getType());
}
