// Outline.h: a function's body is the instruction alone, between casts of its operands and result.
#include "Outline.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

bool kiln::emulated::isKeptAsBits(Type *type) { return type->isHalfTy() || type->isBFloatTy(); }

/// As what a function has a value of the type; null if it is not one that the fast selection
/// passes.
static Type *getPassed(Type *type) {
  if (kiln::emulated::isKeptAsBits(type))
    return Type::getInt16Ty(type->getContext());
  if (type->isIntegerTy(1))
    return Type::getInt32Ty(type->getContext());
  bool isPassed = type->isVoidTy() || type->isFloatTy() || type->isDoubleTy() ||
                  type->isIntegerTy(16) || type->isIntegerTy(32) || type->isIntegerTy(64) ||
                  type->isPointerTy();
  return isPassed ? type : nullptr;
}

/// A value as what it is passed as, or the other way round.
static Value *convert(IRBuilder<> &builder, Value *value, Type *type) {
  if (value->getType() == type)
    return value;
  return value->getType()->isIntegerTy() && type->isIntegerTy()
             ? builder.CreateZExtOrTrunc(value, type)
             : builder.CreateBitCast(value, type);
}

/// The operands that a function takes: all but the function that a call is of.
static SmallVector<Value *> getOperands(Instruction &instruction) {
  auto *call = dyn_cast<CallBase>(&instruction);
  return call ? SmallVector<Value *>(call->args()) : SmallVector<Value *>(instruction.operands());
}

static bool isSame(Instruction &one, Instruction &other) {
  auto *call = dyn_cast<CallBase>(&one);
  return one.isSameOperationAs(&other) && one.hasSameSubclassOptionalData(&other) &&
         (!call || call->getCalledOperand() == cast<CallBase>(other).getCalledOperand());
}

Function *kiln::emulated::Outliner::getFunction(Instruction &instruction) {
  auto &alike = made[instruction.getOpcode()];
  for (auto [other, function] : alike)
    if (isSame(instruction, *other))
      return function;
  SmallVector<Type *> types;
  for (Value *operand : getOperands(instruction))
    types.push_back(getPassed(operand->getType()));
  Type *type = getPassed(instruction.getType());
  if (!type || is_contained(types, nullptr))
    return nullptr;
  auto *call = dyn_cast<CallBase>(&instruction);
  auto *function = Function::Create(
      FunctionType::get(type, types, /*isVarArg=*/false), GlobalValue::InternalLinkage,
      "kiln." + (call ? call->getCalledOperand()->getName() : instruction.getOpcodeName()), module);
  IRBuilder<> builder(BasicBlock::Create(module.getContext(), "", function));
  Instruction *own = instruction.clone();
  own->setDebugLoc({});
  own->dropUnknownNonDebugMetadata();
  for (auto [i, argument] : enumerate(function->args()))
    own->setOperand(i, convert(builder, &argument, instruction.getOperand(i)->getType()));
  builder.Insert(own);
  if (type->isVoidTy())
    builder.CreateRetVoid();
  else
    builder.CreateRet(convert(builder, own, type));
  alike.push_back({own, function});
  return function;
}

Value *kiln::emulated::Outliner::outline(Instruction &instruction, ArrayRef<Value *> operands) {
  Function *function = getFunction(instruction);
  if (!function)
    return nullptr;
  IRBuilder<> builder(&instruction);
  SmallVector<Value *> arguments;
  for (auto [operand, type] : zip_equal(operands, function->getFunctionType()->params()))
    arguments.push_back(convert(builder, operand, type));
  Value *call = builder.CreateCall(function, arguments);
  return instruction.getType()->isIntegerTy(1) ? builder.CreateTrunc(call, instruction.getType())
                                               : call;
}

Value *kiln::emulated::Outliner::outline(Instruction &instruction) {
  return outline(instruction, getOperands(instruction));
}
