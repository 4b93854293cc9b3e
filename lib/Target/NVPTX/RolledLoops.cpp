// Tells the assembler which loops it leaves rolled, as `nvptx-decide-rolled-loops` says.
//
// LLVM itself unrolls what it would: its optimisation comes first, and a loop that has become
// another's body is rolled no more. The assembler unrolls innermost loops alone.
#include "RolledLoops.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Module.h"

using namespace llvm;

void kiln::nvptx::keepLoopsRolled(Module &module) {
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    DominatorTree dominators(function);
    LoopInfo loops(dominators);
    for (Loop *loop : loops.getLoopsInPreorder())
      if (loop->isInnermost() && getBooleanLoopAttribute(loop, "llvm.loop.pipeline.disable"))
        loop->setLoopAlreadyUnrolled();
  }
}
