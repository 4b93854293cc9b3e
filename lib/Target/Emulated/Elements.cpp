// Elements.h: structs by hand, vectors by LLVM's Scalarizer.
#include "Elements.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/IR/ValueHandle.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Scalar/Scalarizer.h"

using namespace llvm;

/// The members of a struct that is loaded to take them out of it are loaded one by one, where it
/// was; those of one that was put together are what was put there.
static void splitStructs(Function &function) {
  SmallVector<WeakVH> structs; // an insertion may be erased before it has its turn
  for (Instruction &instruction : instructions(function)) {
    if (isa<StructType>(instruction.getType()))
      structs.push_back(&instruction);
    auto *extract = dyn_cast<ExtractValueInst>(&instruction);
    if (!extract)
      continue;
    if (Value *member = FindInsertedValue(extract->getAggregateOperand(), extract->getIndices()))
      extract->replaceAllUsesWith(member);
  }
  for (const WeakVH &handle : reverse(structs)) {
    auto *instruction = cast_or_null<Instruction>(static_cast<Value *>(handle));
    if (!instruction)
      continue;
    for (User *user : make_early_inc_range(instruction->users()))
      if (user->use_empty() && isa<ExtractValueInst, InsertValueInst>(user))
        cast<Instruction>(user)->eraseFromParent();
    auto *load = dyn_cast<LoadInst>(instruction);
    if (!load || load->isVolatile())
      continue;
    IRBuilder<> builder(load);
    auto *type = cast<StructType>(load->getType());
    const StructLayout &layout = *function.getDataLayout().getStructLayout(type);
    SmallVector<Value *> members(type->getNumElements());
    for (User *user : make_early_inc_range(load->users())) {
      auto *extract = dyn_cast<ExtractValueInst>(user);
      if (!extract || extract->getNumIndices() != 1)
        continue;
      unsigned number = extract->getIndices().front();
      Value *&member = members[number];
      if (!member)
        member = builder.CreateAlignedLoad(
            extract->getType(), builder.CreateStructGEP(type, load->getPointerOperand(), number),
            commonAlignment(load->getAlign(), layout.getElementOffset(number)));
      extract->replaceAllUsesWith(member);
      extract->eraseFromParent();
    }
    if (load->use_empty())
      load->eraseFromParent();
  }
}

/// Whether the fast selection passes values of the type to functions.
static bool isPassed(Type *type) {
  return type->isFloatTy() || type->isDoubleTy() || type->isIntegerTy(32) || type->isIntegerTy(64);
}

/// Intrinsics that compute a number, each in a function of its own type, so that it is selected
/// once: the fast selection knows few, and the slow one is started anew for each call.
static void outlineIntrinsics(Module &module) {
  DenseMap<Function *, Function *> outlined;
  for (Function &function : module)
    for (Instruction &instruction : instructions(function)) {
      auto *call = dyn_cast<IntrinsicInst>(&instruction);
      if (!call || !call->doesNotAccessMemory() || !isPassed(call->getType()) ||
          !all_of(call->args(), [](Value *value) { return isPassed(value->getType()); }))
        continue;
      Function *callee = call->getCalledFunction();
      if (callee->getAttributes().hasAttrSomewhere(Attribute::ImmArg))
        continue;
      Function *&own = outlined[callee];
      if (!own)
        own = Function::Create(callee->getFunctionType(), GlobalValue::InternalLinkage,
                               "kiln." + callee->getName(), module);
      call->setCalledFunction(own);
    }
  for (auto [intrinsic, own] : outlined) {
    IRBuilder<> builder(BasicBlock::Create(module.getContext(), "", own));
    SmallVector<Value *> arguments(make_pointer_range(own->args()));
    builder.CreateRet(builder.CreateCall(intrinsic, arguments));
  }
}

void kiln::emulated::splitElements(Module &module, TargetMachine &machine) {
  FunctionAnalysisManager analyses;
  analyses.registerPass([] { return PassInstrumentationAnalysis(); });
  analyses.registerPass([] { return DominatorTreeAnalysis(); });
  analyses.registerPass([&] { return machine.getTargetIRAnalysis(); });
  ScalarizerPassOptions options;
  options.ScalarizeLoadStore = true;
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    splitStructs(function);
    ScalarizerPass(options).run(function, analyses);
  }
  outlineIntrinsics(module);
}
