// RoundOnce.h: what a first rounding leaves out is kept in the last bit of its result, which is far
// below those of bf16 ("rounding to odd").
#include "RoundOnce.h"

using namespace llvm;

/// The type of a value's elements, in as many as it has.
static Type *like(Value *value, Type *element) { return value->getType()->getWithNewType(element); }

/// A double as f32. Its last bit is 1 where it is not exact.
static Value *narrow(IRBuilder<> &builder, Value *value) {
  Value *near = builder.CreateFPTrunc(value, like(value, builder.getFloatTy()));
  Value *back = builder.CreateFPExt(near, value->getType());
  Value *bits = builder.CreateBitCast(near, like(value, builder.getInt32Ty()));
  Value *one = ConstantInt::get(bits->getType(), 1);
  // Towards zero first, so that the bit can only add what was left out.
  Value *isFurther = builder.CreateFCmpOGT(builder.CreateUnaryIntrinsic(Intrinsic::fabs, back),
                                           builder.CreateUnaryIntrinsic(Intrinsic::fabs, value));
  Value *cut = builder.CreateSelect(isFurther, builder.CreateSub(bits, one), bits);
  Value *odd = builder.CreateOr(cut, one);
  Value *isInexact = builder.CreateFCmpONE(back, value);
  return builder.CreateBitCast(builder.CreateSelect(isInexact, odd, bits), near->getType());
}

/// An integer of 64 bits in no more than 53: what the lowest twelve hold is gathered in one of
/// them.
static Value *gather(IRBuilder<> &builder, Value *value, bool isSigned) {
  auto constant = [&](uint64_t number) { return ConstantInt::get(value->getType(), number); };
  Value *some = builder.CreateIsNotNull(builder.CreateAnd(value, constant(0xfff)));
  Value *kept = builder.CreateAnd(value, constant(~uint64_t(0xfff)));
  Value *odd = builder.CreateOr(kept, builder.CreateSelect(some, constant(0x800), constant(0)));
  Value *size =
      isSigned ? builder.CreateXor(value, builder.CreateAShr(value, constant(63))) : value;
  return builder.CreateSelect(builder.CreateICmpUGE(size, constant(uint64_t(1) << 52)), odd, value);
}

Value *kiln::emulated::roundOnce(IRBuilder<> &builder, CastInst &cast) {
  Value *value = cast.getOperand(0);
  Type *from = value->getType()->getScalarType();
  if (!cast.getType()->getScalarType()->isBFloatTy())
    return nullptr;
  bool isSigned = isa<SIToFPInst>(cast);
  if (isSigned || isa<UIToFPInst>(cast)) {
    if (from->getIntegerBitWidth() <= 16)
      return nullptr;
    if (from->getIntegerBitWidth() > 32)
      value = gather(builder, value, isSigned);
    Type *wide = like(value, builder.getDoubleTy());
    value = isSigned ? builder.CreateSIToFP(value, wide) : builder.CreateUIToFP(value, wide);
  } else if (!isa<FPTruncInst>(cast) || !from->isDoubleTy()) {
    return nullptr;
  }
  return builder.CreateFPTrunc(narrow(builder, value), cast.getType());
}
