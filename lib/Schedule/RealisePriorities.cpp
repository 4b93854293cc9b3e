// Lets the copies of a role with a skew that multiply go first.
//
// Of groups of warps that lag behind one another one multiplies while another reads and copies.
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Schedule/Passes.h"
#include "kiln/Target/Chip.h"
#include "kiln/Target/TargetInterface.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace kiln {
#define GEN_PASS_DEF_REALISEPRIORITIES
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// Of what the warps compute themselves: dots that follow one another are raised as one.
static void raise(DotOp dot) {
  OpBuilder builder(dot);
  if (auto lowered = dyn_cast_or_null<PriorityOp>(dot->getPrevNode()))
    lowered.erase();
  else
    PriorityOp::create(builder, dot.getLoc(), 1);
  builder.setInsertionPointAfter(dot);
  PriorityOp::create(builder, dot.getLoc(), 0);
}

namespace {
struct RealisePriorities : kiln::impl::RealisePrioritiesBase<RealisePriorities> {
  void runOnOperation() override {
    SmallVector<DotOp> dots;
    getOperation().walk([&](DotOp dot) {
      RoleAttr role = WarpGroupsOp::getRoleOf(dot);
      if (role && role.getSkew() > 0)
        dots.push_back(dot);
    });
    if (dots.empty())
      return;
    FailureOr<TargetInterface> target = requireTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    if (target->getChipRecord().priorities)
      llvm::for_each(dots, raise);
  }
};
} // namespace
