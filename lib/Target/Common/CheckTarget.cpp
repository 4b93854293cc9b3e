// Refuses what the target cannot do before anything is decided.
#include "kiln/Dialect/Tile/IR/PinnedPlaces.h"
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Target/Common/Passes.h"
#include "kiln/Target/TargetInterface.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_CHECKTARGET
#include "kiln/Target/Common/Passes.h.inc"

namespace {
struct CheckTarget : public impl::CheckTargetBase<CheckTarget> {
  void runOnOperation() override {
    FailureOr<TargetInterface> target = requireTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    bool supported = true;
    auto check = [&](Operation *op) {
      if (std::optional<std::string> reason = target->whyUnsupported(op)) {
        emitUnsupported(op, *target, *reason);
        supported = false;
      }
    };
    for (tile::KernelOp kernel : getOperation().getOps<tile::KernelOp>()) {
      if (target->runsOnHost() && kernel->hasAttr(tile::kRolesAttrName)) {
        tile::emitPinError(kernel, tile::kRolesAttrName,
                           "expected a target whose programs several warps run, since '")
            << tile::kRolesAttrName << "' is decided, got " << target->getSpelling()
            << ", which obeys of a schedule what is decided of the grid";
        supported = false;
        continue;
      }
      check(kernel);
      // The grid is the host's affair.
      kernel.getBody().walk(check);
    }
    if (!supported)
      signalPassFailure();
  }
};
} // namespace
} // namespace kiln
