// Decides how each conversion is made: by renaming registers, between lanes, or through memory.
#include "kiln/Layout/Transforms/Passes.h"
#include "kiln/Layout/Transforms/SharedLayout.h"
#include "kiln/Target/TargetInterface.h"

namespace kiln {
#define GEN_PASS_DEF_DECIDECONVERSIONS
#include "kiln/Layout/Transforms/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
struct DecideConversions : kiln::impl::DecideConversionsBase<DecideConversions> {
  void runOnOperation() override {
    FailureOr<TargetInterface> target = requireTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    getOperation().walk([&](ConvertLayoutOp op) {
      if (!op.getHowAttr())
        op.setHowAttr(decideConversion(op, *target).how);
    });
  }
};
} // namespace
