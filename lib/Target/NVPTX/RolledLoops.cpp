// Loops that the assembler is told to leave rolled: those with a barrier.
//
// ptxas unrolls an innermost loop by four, with a remainder of two and one: seven copies of the
// body, for which it then takes seven times as long. Where loads of several turns can be in flight
// at once that pays, but nothing of one turn moves over a barrier to another. What is left is a
// saved comparison, for more registers: a product of 128x128x32 in bf16 took 146 instead of 128,
// which is one block on a multiprocessor instead of two, and 103 ms in ptxas instead of 42.
#include "RolledLoops.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"

using namespace llvm;

/// Of all threads of the block; roles wait at barriers with a count.
static bool isBarrier(const Instruction &instruction) {
  auto *call = dyn_cast<IntrinsicInst>(&instruction);
  return call && call->getIntrinsicID() == Intrinsic::nvvm_barrier_cta_sync_aligned_all;
}

void kiln::nvptx::keepWaitingLoopsRolled(Module &module) {
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    DominatorTree dominators(function);
    LoopInfo loops(dominators);
    for (Loop *loop : loops.getLoopsInPreorder())
      if (loop->isInnermost() &&
          any_of(loop->blocks(), [](const BasicBlock *block) { return any_of(*block, isBarrier); }))
        loop->setLoopAlreadyUnrolled();
  }
}
