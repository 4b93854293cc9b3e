// What the chips' scalar instructions compute, by the PTX ISA and the ISA manuals of CDNA.
#include "Scalars.h"
#include "Subnormals.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;

namespace {
class Scalar {
public:
  Scalar(IRBuilder<> &builder, CallInst &call) : builder(builder), call(call) {}

  Value *compute() {
    StringRef name = call.getCalledFunction()->getName();
    name.consume_front("llvm.");
    // Whether subnormals are taken for zeros is part of a name.
    std::string plain = name.str();
    if (size_t at = plain.find(".ftz"); at != std::string::npos) {
      plain.erase(at, 4);
      flushes = true;
    }
    name = plain;
    if (name.consume_front("nvvm.")) {
      Value *result = computeNVIDIA(name);
      return result && flushes ? kiln::emulated::flush(builder, result) : result;
    }
    if (name.consume_front("amdgcn."))
      return computeAMD(name);
    return nullptr;
  }

private:
  Value *get(unsigned i) {
    Value *operand = call.getArgOperand(i);
    return flushes ? kiln::emulated::flush(builder, operand) : operand;
  }
  Value *one() { return ConstantFP::get(call.getType(), 1.0); }
  Value *apply(Intrinsic::ID function) {
    SmallVector<Value *> operands;
    for (unsigned i = 0; i < call.arg_size(); ++i)
      operands.push_back(get(i));
    return builder.CreateIntrinsic(call.getType(), function, operands);
  }
  Value *root() { return builder.CreateUnaryIntrinsic(Intrinsic::sqrt, get(0)); }

  /// To an integer, to nearest if asked, and to the nearest that there is beyond its range.
  Value *convert(bool toNearest, Intrinsic::ID how) {
    Value *value = get(0);
    if (toNearest)
      value = builder.CreateUnaryIntrinsic(Intrinsic::roundeven, value);
    return builder.CreateIntrinsic(how, {call.getType(), value->getType()}, {value});
  }

  /// The upper half of a product.
  Value *multiplyHigh(bool isSigned) {
    unsigned bits = call.getType()->getIntegerBitWidth();
    Type *wide = builder.getIntNTy(2 * bits);
    Value *a = isSigned ? builder.CreateSExt(get(0), wide) : builder.CreateZExt(get(0), wide);
    Value *b = isSigned ? builder.CreateSExt(get(1), wide) : builder.CreateZExt(get(1), wide);
    return builder.CreateTrunc(builder.CreateLShr(builder.CreateMul(a, b), bits), call.getType());
  }

  /// Half of a double's bits.
  Value *getHalf(unsigned from) {
    Value *bits = builder.CreateBitCast(get(0), builder.getInt64Ty());
    return builder.CreateTrunc(builder.CreateLShr(bits, from), builder.getInt32Ty());
  }

  Value *join() {
    Type *i64 = builder.getInt64Ty();
    Value *high = builder.CreateShl(builder.CreateZExt(get(1), i64), 32);
    return builder.CreateBitCast(builder.CreateOr(high, builder.CreateZExt(get(0), i64)),
                                 call.getType());
  }

  /// An approximation whose lower 32 bits are zeros.
  Value *coarse(Value *value) {
    Value *bits = builder.CreateBitCast(value, builder.getInt64Ty());
    bits = builder.CreateAnd(bits, builder.getInt64(0xffffffff00000000));
    return builder.CreateBitCast(bits, call.getType());
  }

  /// NaN and -0 become +0.
  Value *clampToOne(Value *value) {
    Value *zero = ConstantFP::get(call.getType(), 0.0);
    Value *above = builder.CreateBinaryIntrinsic(Intrinsic::maximumnum, value, zero);
    return builder.CreateBinaryIntrinsic(Intrinsic::minimumnum, above, one());
  }

  Value *computeNVIDIA(StringRef name);
  Value *computeAMD(StringRef name);

  IRBuilder<> &builder;
  CallInst &call;
  bool flushes = false;
};
} // namespace

Value *Scalar::computeNVIDIA(StringRef name) {
  Intrinsic::ID same =
      StringSwitch<Intrinsic::ID>(name)
          .Cases({"fma.rn.f", "fma.rn.d"}, Intrinsic::fma)
          .Cases({"ex2.approx.f", "ex2.approx.f32", "ex2.approx.d"}, Intrinsic::exp2)
          .Cases({"lg2.approx.f", "lg2.approx.d"}, Intrinsic::log2)
          .Case("sin.approx.f", Intrinsic::sin)
          .Case("cos.approx.f", Intrinsic::cos)
          .Cases({"fabs.f", "fabs.d", "fabs.f32", "fabs.f64"}, Intrinsic::fabs)
          .Cases({"floor.f", "floor.d"}, Intrinsic::floor)
          .Cases({"ceil.f", "ceil.d"}, Intrinsic::ceil)
          .Cases({"trunc.f", "trunc.d"}, Intrinsic::trunc)
          .Cases({"round.f", "round.d"}, Intrinsic::roundeven)
          .Cases({"fmin.f", "fmin.d"}, Intrinsic::minnum)
          .Cases({"fmax.f", "fmax.d"}, Intrinsic::maxnum)
          .Cases({"sqrt.rn.f", "sqrt.rn.d", "sqrt.approx.f"}, Intrinsic::sqrt)
          .Default(Intrinsic::not_intrinsic);
  if (same != Intrinsic::not_intrinsic)
    return apply(same);
  if (name == "add.rn.f" || name == "add.rn.d")
    return builder.CreateFAdd(get(0), get(1));
  if (name == "mul.rn.f" || name == "mul.rn.d")
    return builder.CreateFMul(get(0), get(1));
  if (name == "div.rn.f" || name == "div.rn.d" || name == "div.approx.f")
    return builder.CreateFDiv(get(0), get(1));
  if (name == "rcp.rn.f" || name == "rcp.rn.d" || name == "rcp.approx.f")
    return builder.CreateFDiv(one(), get(0));
  if (name == "rcp.approx.d")
    return coarse(builder.CreateFDiv(one(), get(0)));
  if (name == "rsqrt.approx.f" || name == "rsqrt.approx.d")
    return builder.CreateFDiv(one(), root());
  if (name == "saturate.f" || name == "saturate.d")
    return clampToOne(get(0));
  if (name == "fma.rn.sat.f")
    return clampToOne(apply(Intrinsic::fma));
  if (name == "f2i.rn" || name == "d2i.rn" || name == "f2ll.rn" || name == "d2ll.rn")
    return convert(/*toNearest=*/true, Intrinsic::fptosi_sat);
  if (name == "f2i.rz" || name == "d2i.rz" || name == "f2ll.rz" || name == "d2ll.rz")
    return convert(/*toNearest=*/false, Intrinsic::fptosi_sat);
  if (name == "i2d.rn" || name == "i2f.rn" || name == "ll2d.rn" || name == "ll2f.rn")
    return builder.CreateSIToFP(get(0), call.getType());
  if (name == "ui2d.rn" || name == "ui2f.rn" || name == "ull2d.rn" || name == "ull2f.rn")
    return builder.CreateUIToFP(get(0), call.getType());
  if (name == "d2f.rn")
    return builder.CreateFPTrunc(get(0), call.getType());
  if (name == "mulhi.i" || name == "mulhi.ll")
    return multiplyHigh(/*isSigned=*/true);
  if (name == "mulhi.ui" || name == "mulhi.ull")
    return multiplyHigh(/*isSigned=*/false);
  if (name == "d2i.lo")
    return getHalf(0);
  if (name == "d2i.hi")
    return getHalf(32);
  if (name == "lohi.i2d")
    return join();
  return nullptr;
}

Value *Scalar::computeAMD(StringRef name) {
  name = name.split(".f").first; // the type
  Intrinsic::ID same = StringSwitch<Intrinsic::ID>(name)
                           .Case("exp2", Intrinsic::exp2)
                           .Case("log", Intrinsic::log2)
                           .Case("sqrt", Intrinsic::sqrt)
                           .Default(Intrinsic::not_intrinsic);
  if (same != Intrinsic::not_intrinsic)
    return apply(same);
  if (name == "rcp")
    return builder.CreateFDiv(one(), get(0));
  if (name == "rsq")
    return builder.CreateFDiv(one(), root());
  return nullptr;
}

Value *kiln::emulated::computeScalar(IRBuilder<> &builder, CallInst &call) {
  return Scalar(builder, call).compute();
}

/// `div.approx.f32` multiplies by the divisor's reciprocal, which of a divisor beyond 2^126 is
/// zero; `rcp.approx.f32`, which is taken of 1, has it.
Value *kiln::emulated::computeApproximateQuotient(IRBuilder<> &builder, BinaryOperator &division) {
  Value *x = division.getOperand(0), *y = division.getOperand(1);
  Type *type = division.getType();
  if (division.getOpcode() != Instruction::FDiv || !division.hasApproxFunc() ||
      !type->getScalarType()->isFloatTy() || PatternMatch::match(x, PatternMatch::m_FPOne()))
    return nullptr;
  Value *size = builder.CreateUnaryIntrinsic(Intrinsic::fabs, y);
  Value *isFinite = builder.CreateFCmpOLT(size, ConstantFP::getInfinity(type));
  Value *isHuge = builder.CreateFCmpOGT(size, ConstantFP::get(type, 0x1p126));
  Value *zero = builder.CreateCopySign(ConstantFP::get(type, 0.0), y);
  return builder.CreateSelect(builder.CreateAnd(isFinite, isHuge), builder.CreateFMul(x, zero),
                              builder.CreateFDiv(x, y));
}

/// Chips put -0 below +0, where the host takes either operand, and of two NaNs it matters not
/// which they give: all threads that compute a value must hold the same bits of it.
Value *kiln::emulated::computeExtreme(IRBuilder<> &builder, CallInst &call) {
  Intrinsic::ID intrinsic = call.getIntrinsicID();
  if (intrinsic != Intrinsic::maxnum && intrinsic != Intrinsic::minnum)
    return nullptr;
  Intrinsic::ID defined =
      intrinsic == Intrinsic::maxnum ? Intrinsic::maximumnum : Intrinsic::minimumnum;
  Value *chosen =
      builder.CreateBinaryIntrinsic(defined, call.getArgOperand(0), call.getArgOperand(1));
  Value *isNaN = builder.CreateFCmpUNO(chosen, chosen);
  return builder.CreateSelect(isNaN, ConstantFP::getQNaN(call.getType()), chosen);
}

/// All of a cluster's threads are one of the host's, which none interrupts between a load and a
/// store.
void kiln::emulated::updateNarrowFloat(IRBuilder<> &builder, AtomicRMWInst &update) {
  Type *type = update.getType(), *word = builder.getInt16Ty();
  AtomicRMWInst::BinOp op = update.getOperation();
  bool isExtreme = op == AtomicRMWInst::FMax || op == AtomicRMWInst::FMin;
  if ((!type->isHalfTy() && !type->isBFloatTy()) || (!isExtreme && op != AtomicRMWInst::FAdd))
    return;
  Value *pointer = update.getPointerOperand(), *value = update.getValOperand();
  Value *before = builder.CreateBitCast(builder.CreateLoad(word, pointer), type);
  Intrinsic::ID extreme = op == AtomicRMWInst::FMax ? Intrinsic::maximumnum : Intrinsic::minimumnum;
  Value *after = isExtreme ? builder.CreateBinaryIntrinsic(extreme, before, value)
                           : builder.CreateFAdd(before, value);
  builder.CreateStore(builder.CreateBitCast(after, word), pointer);
  update.replaceAllUsesWith(before);
  update.eraseFromParent();
}
