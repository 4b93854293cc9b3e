// Loops in which all threads of the block wait for one another stay rolled.
#include "kiln/Target/NVPTX/Passes.h"
#include "mlir/Analysis/CFGLoopInfo.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Dominance.h"

namespace kiln {
#define GEN_PASS_DEF_DECIDEROLLEDLOOPS
#include "kiln/Target/NVPTX/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;

/// Beside what is said of the loop already, by whoever made it.
static void keepRolled(Operation *branch) {
  MLIRContext *context = branch->getContext();
  StringRef foreign = LLVM::LoopAnnotationAttr::name;
  auto said = dyn_cast_or_null<LLVM::LoopAnnotationAttr>(branch->removeDiscardableAttr(foreign));
  auto pipeline = LLVM::LoopPipelineAttr::get(context, /*disable=*/BoolAttr::get(context, true),
                                              /*initiationinterval=*/{});
  auto annotate = [&](auto op) {
    LLVM::LoopAnnotationAttr all = said ? said : op.getLoopAnnotationAttr();
    if (!all)
      all = LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
                                          {}, {}, {});
    op.setLoopAnnotationAttr(LLVM::LoopAnnotationAttr::get(
        context, all.getDisableNonforced(), all.getVectorize(), all.getInterleave(),
        all.getUnroll(), all.getUnrollAndJam(), all.getLicm(), all.getDistribute(), pipeline,
        all.getPeeled(), all.getUnswitch(), all.getMustProgress(), all.getIsVectorized(),
        all.getStartLoc(), all.getEndLoc(), all.getParallelAccesses()));
  };
  if (auto br = dyn_cast<LLVM::BrOp>(branch))
    annotate(br);
  else if (auto br = dyn_cast<LLVM::CondBrOp>(branch))
    annotate(br);
}

static bool waits(CFGLoop *loop) {
  return llvm::any_of(loop->blocks(), [](Block *block) {
    return llvm::any_of(*block, llvm::IsaPred<NVVM::Barrier0Op>);
  });
}

namespace {
struct DecideRolledLoops : kiln::impl::DecideRolledLoopsBase<DecideRolledLoops> {
  void runOnOperation() override {
    getOperation().walk([](LLVM::LLVMFuncOp function) {
      Region &body = function.getBody();
      if (body.empty() || body.hasOneBlock())
        return;
      DominanceInfo dominance(function);
      CFGLoopInfo loops(dominance.getDomTree(&body));
      for (CFGLoop *loop : loops.getLoopsInPreorder()) {
        if (!waits(loop))
          continue;
        SmallVector<Block *> latches;
        loop->getLoopLatches(latches);
        for (Block *latch : latches)
          keepRolled(latch->getTerminator());
      }
    });
  }
};
} // namespace
