// Upstream's clean-ups, kept from ops that carry a decision.
#include "kiln/Dialect/Tile/Transforms/Passes.h"
#include "kiln/Dialect/Tile/Transforms/Undecided.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace kiln::tile {
#define GEN_PASS_DEF_SIMPLIFY
#include "kiln/Dialect/Tile/Transforms/Passes.h.inc"

namespace {
struct Simplify : public impl::SimplifyBase<Simplify> {
  void runOnOperation() override {
    canonicaliseUndecided(getOperation());
    // What equal things are merged by would drop these.
    for (Operation *op : findDecided(getOperation()))
      if (isOpTriviallyDead(op)) {
        op->emitOpError("expected a use, since '") << findAnyDecision(op) << "' is decided";
        return signalPassFailure();
      }
    mergeUndecided(getOperation());
  }
};
} // namespace
} // namespace kiln::tile
