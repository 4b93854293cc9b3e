// KeepFences.h: by attributes of the calls.
#include "KeepFences.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;

static bool isFence(const Function *function) {
  static constexpr StringLiteral names[] = {"llvm.nvvm.fence.mbarrier_init.",
                                            "llvm.nvvm.fence.proxy.", "llvm.nvvm.tcgen05.fence."};
  return function &&
         any_of(names, [&](StringRef name) { return function->getName().starts_with(name); });
}

void kiln::nvptx::keepFences(Module &module) {
  for (Function &function : module)
    for (Instruction &instruction : instructions(function)) {
      auto *call = dyn_cast<CallInst>(&instruction);
      if (!call || !isFence(call->getCalledFunction()))
        continue;
      call->addFnAttr(Attribute::NoDuplicate);
      call->addFnAttr(Attribute::NoMerge);
    }
}
