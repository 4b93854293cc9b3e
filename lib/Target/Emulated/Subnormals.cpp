// Subnormals of f32 as zeros. A chip says before it rounds what is subnormal, as it was recorded
// (test/python/conformance).
#include "Subnormals.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

static constexpr double kLeastNormal = 0x1p-126;

static bool isSingle(const Value *value) { return value->getType()->getScalarType()->isFloatTy(); }

/// The value, or where its size is that of a subnormal, a zero of its sign.
static Value *flushBySize(IRBuilder<> &builder, Value *value, Value *measured) {
  Value *size = builder.CreateUnaryIntrinsic(Intrinsic::fabs, measured);
  Value *isSmall = builder.CreateFCmpOLT(size, ConstantFP::get(size->getType(), kLeastNormal));
  Value *zero = builder.CreateCopySign(ConstantFP::get(value->getType(), 0.0), value);
  return builder.CreateSelect(isSmall, zero, value);
}

Value *kiln::emulated::flush(IRBuilder<> &builder, Value *value) {
  return isSingle(value) ? flushBySize(builder, value, value) : value;
}

static bool flushes(const Instruction &instruction) {
  if (auto *call = dyn_cast<IntrinsicInst>(&instruction))
    return is_contained({Intrinsic::fma, Intrinsic::fmuladd, Intrinsic::minnum, Intrinsic::maxnum,
                         Intrinsic::minimum, Intrinsic::maximum, Intrinsic::fabs, Intrinsic::sqrt,
                         Intrinsic::exp2},
                        call->getIntrinsicID());
  return isa<FCmpInst>(instruction) ||
         (isa<BinaryOperator>(instruction) && isa<FPMathOperator>(instruction) &&
          instruction.getOpcode() != Instruction::FRem);
}

/// A product, and a sum of one, before it is rounded, as far as that decides which zeros there are.
static Value *measure(IRBuilder<> &builder, Instruction &made) {
  bool isProduct = made.getOpcode() == Instruction::FMul;
  auto *fused = dyn_cast<IntrinsicInst>(&made);
  if (!isProduct && (!fused || fused->arg_size() != 3))
    return &made;
  Type *wide = builder.getDoubleTy();
  if (auto *vector = dyn_cast<VectorType>(made.getType()))
    wide = VectorType::get(wide, vector->getElementCount());
  auto widen = [&](unsigned i) { return builder.CreateFPExt(made.getOperand(i), wide); };
  Value *product = builder.CreateFMul(widen(0), widen(1));
  return isProduct ? product : builder.CreateFAdd(product, widen(2));
}

void kiln::emulated::flushSubnormals(Function &function) {
  if (function.getFnAttribute("denormal-fp-math-f32").getValueAsString() !=
      "preserve-sign,preserve-sign")
    return;
  for (Instruction &instruction : make_early_inc_range(instructions(function))) {
    if (!flushes(instruction) || !isSingle(instruction.getOperand(0)))
      continue;
    IRBuilder<> builder(&instruction);
    Instruction *made = instruction.clone();
    builder.Insert(made);
    builder.SetInsertPoint(made);
    auto *call = dyn_cast<CallInst>(made);
    for (unsigned i = 0, count = call ? call->arg_size() : made->getNumOperands(); i < count; ++i)
      made->setOperand(i, flush(builder, made->getOperand(i)));
    builder.SetInsertPoint(&instruction);
    Value *result = isSingle(made) ? flushBySize(builder, made, measure(builder, *made)) : made;
    instruction.replaceAllUsesWith(result);
    instruction.eraseFromParent();
  }
}
