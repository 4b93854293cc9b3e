// Which gathers and scatters move several neighbours at once.
#include "kiln/Dialect/Tile/IR/AccessDecisions.h"
#include "kiln/Layout/Transforms/IndexFacts.h"
#include "kiln/Layout/Transforms/Passes.h"

namespace kiln {
#define GEN_PASS_DEF_DECIDERUNS
#include "kiln/Layout/Transforms/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
struct DecideRuns : kiln::impl::DecideRunsBase<DecideRuns> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      std::optional<IndexAnalysis> analysis;
      kernel.getBody().walk([&](Operation *op) {
        if (!isa<GatherOp, ScatterOp>(op) || op->hasAttr(kRunAttrName))
          return;
        if (!analysis)
          analysis.emplace(kernel);
        auto gather = dyn_cast<GatherOp>(op);
        auto scatter = dyn_cast<ScatterOp>(op);
        RunFacts run =
            gather ? getRunFacts(*analysis, gather.getView(), gather.getIndices(), gather.getMask())
                   : getRunFacts(*analysis, scatter.getView(), scatter.getIndices(),
                                 scatter.getMask());
        if (run.dim >= 0)
          op->setAttr(kRunAttrName, DenseI64ArrayAttr::get(&getContext(), {run.dim, run.width}));
      });
    }
  }
};
} // namespace
