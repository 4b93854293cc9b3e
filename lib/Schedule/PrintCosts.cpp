// Says of each op what it takes of a core: for tests of the costs, and for those who wonder why a
// loop was scheduled as it is.
#include "OpCosts.h"
#include "kiln/Schedule/Passes.h"
#include "kiln/Target/TargetInterface.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace kiln {
#define GEN_PASS_DEF_PRINTCOSTS
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

static StringRef spell(Unit unit) {
  switch (unit) {
  case Unit::Matrix:
    return "matrix units";
  case Unit::Lanes:
    return "lanes";
  case Unit::Engine:
    return "engine";
  }
  return "";
}

namespace {
struct PrintCosts : kiln::impl::PrintCostsBase<PrintCosts> {
  void runOnOperation() override {
    FailureOr<TargetInterface> target = requireTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    const Chip &chip = target->getChipRecord();
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      kernel.getBody().walk([&](Operation *op) {
        std::optional<OpCost> cost = getCost(op, chip);
        if (!cost) {
          op->emitRemark() << "unknown: the record of " << chip.name << " lacks a number for it";
          return;
        }
        if (!cost->unit && !cost->latency)
          return;
        InFlightDiagnostic remark = op->emitRemark();
        if (cost->unit)
          remark << spell(*cost->unit) << " for " << cost->cycles << " cycles, ";
        remark << "result after " << cost->latency;
      });
    markAllAnalysesPreserved();
  }
};
} // namespace
