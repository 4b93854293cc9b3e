// Finds decisions that are left when all should be realised.
#include "kiln/Dialect/Tile/IR/Decisions.h"
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Target/Common/Passes.h"
#include "kiln/Target/TargetInterface.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace kiln {
#define GEN_PASS_DEF_CHECKREALISED
#include "kiln/Target/Common/Passes.h.inc"
} // namespace kiln

namespace {
struct CheckRealised : public kiln::impl::CheckRealisedBase<CheckRealised> {
  void runOnOperation() override {
    TargetInterface target = getTarget(getOperation());
    bool isHost = target && target.runsOnHost();
    getOperation().walk([&](Operation *op) {
      std::string name = findDecision(op, [&](const Decision &decision) {
        // A host's lowering reads none of what is decided of ops, and its launches have no more to
        // decide than the grid: they never overlap.
        if (isHost && (decision.name == kOverlapAttrName || decision.name == kTriggersAttrName))
          return false;
        return decision.readBy != ReadBy::Lowering ||
               (isHost && !decision.isMark && !isa<KernelOp>(op));
      });
      if (name.empty())
        return;
      InFlightDiagnostic error = op->emitOpError("expected no '") << name << "' ";
      if (isHost)
        error << "on " << target.getSpelling() << ", which runs a program as one thread's loops";
      else
        error << "once the schedule is realised: nothing obeyed it";
      signalPassFailure();
    });
  }
};
} // namespace
