// Elements.h: structs by hand, vectors by LLVM's Scalarizer.
#include "Elements.h"
#include "WholeNumbers.h"
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
using namespace kiln;

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

/// What the fast selection does not know and other functions can do.
static bool isSlow(Instruction &instruction) {
  if (auto *call = dyn_cast<IntrinsicInst>(&instruction))
    return call->doesNotAccessMemory() &&
           !call->getCalledFunction()->getAttributes().hasAttrSomewhere(Attribute::ImmArg);
  return instruction.isAtomic() && isa<LoadInst, AtomicRMWInst>(instruction);
}

static void outlineSlow(Function &function, emulated::Outliner &outliner) {
  for (Instruction &instruction : make_early_inc_range(instructions(function))) {
    Value *call = isSlow(instruction) ? outliner.outline(instruction) : nullptr;
    if (!call)
      continue;
    instruction.replaceAllUsesWith(call);
    instruction.eraseFromParent();
  }
}

void kiln::emulated::splitElements(Module &module, TargetMachine &machine) {
  FunctionAnalysisManager analyses;
  analyses.registerPass([] { return PassInstrumentationAnalysis(); });
  analyses.registerPass([] { return DominatorTreeAnalysis(); });
  analyses.registerPass([&] { return machine.getTargetIRAnalysis(); });
  ScalarizerPassOptions options;
  options.ScalarizeLoadStore = true;
  Outliner outliner(module);
  // Not those that are made meanwhile.
  for (Function *function : to_vector(make_pointer_range(module))) {
    if (function->isDeclaration())
      continue;
    splitStructs(*function);
    ScalarizerPass(options).run(*function, analyses);
    useWholeNumbers(*function, outliner);
    outlineSlow(*function, outliner);
  }
}
