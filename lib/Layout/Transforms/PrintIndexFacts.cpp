// Says of each integer of a kernel what is known of it: for tests of the analyses, and for those
// who wonder why an access is as narrow as it is.
#include "kiln/Dialect/Tile/Transforms/IndexRanges.h"
#include "kiln/Layout/Transforms/IndexFacts.h"
#include "kiln/Layout/Transforms/Passes.h"

namespace kiln {
#define GEN_PASS_DEF_PRINTINDEXFACTS
#include "kiln/Layout/Transforms/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

static void print(Diagnostic &to, const IndexFacts &facts) {
  auto list = [&](StringRef name, int64_t IndexFacts::Dim::*member) {
    to << ", " << name << " [";
    for (auto [d, dim] : llvm::enumerate(facts.dims))
      to << (d ? ", " : "") << dim.*member;
    to << "]";
  };
  to << "divisor " << facts.divisor;
  list("same", &IndexFacts::Dim::same);
  list("run", &IndexFacts::Dim::run);
}

namespace {
struct PrintIndexFacts : kiln::impl::PrintIndexFactsBase<PrintIndexFacts> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      IndexAnalysis analysis(kernel);
      DataFlowSolver solver;
      if (failed(findIndexRanges(solver, kernel)))
        return signalPassFailure();
      kernel.getBody().walk([&](Operation *op) {
        for (Value result : op->getResults()) {
          if (!getElementTypeOrSelf(result).isIntOrIndex())
            continue;
          InFlightDiagnostic remark = op->emitRemark();
          Diagnostic &text = *remark.getUnderlyingDiagnostic();
          print(text, analysis.get(result));
          if (std::optional<SignedRange> range = getSignedRange(solver, result))
            text << ", from " << range->least << " to " << range->greatest;
        }
      });
    }
    markAllAnalysesPreserved();
  }
};
} // namespace
