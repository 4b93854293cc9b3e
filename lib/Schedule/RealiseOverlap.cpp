// Where a kernel that overlaps its neighbours on the stream lets the next one begin, and where it
// waits for those before it.
#include "Decisions.h"
#include "kiln/Schedule/Passes.h"
#include "kiln/Target/Common/ABI.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace kiln {
#define GEN_PASS_DEF_REALISEOVERLAP
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

static LogicalResult realise(KernelOp kernel) {
  SmallVector<Operation *> triggers;
  kernel.getBody().walk([&](Operation *op) {
    if (op->hasAttr(kTriggersAttrName))
      triggers.push_back(op);
  });
  bool overlaps = kernel->hasAttr(kOverlapAttrName);
  if (!overlaps && !triggers.empty())
    return triggers.front()->emitOpError("expected a kernel with '")
           << kOverlapAttrName << "', since '" << kTriggersAttrName << "' is decided";
  if (!overlaps)
    return success();
  OpBuilder builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
  if (triggers.empty())
    LaunchDependentsOp::create(builder, kernel.getLoc());
  WaitDependenciesOp::create(builder, kernel.getLoc());
  for (Operation *op : triggers) {
    builder.setInsertionPointAfter(op);
    auto trigger = LaunchDependentsOp::create(builder, op->getLoc());
    if (StringRef role = getRoleName(op); !role.empty())
      setRoleName(trigger, role);
    // In its trip, where the op is.
    if (Attribute stage = getDecision(op, "stage"))
      trigger->setAttr("stage", stage);
    op->removeAttr(kTriggersAttrName);
  }
  kernel->removeAttr(kOverlapAttrName);
  setMetadata(kernel, "overlap", builder.getBoolAttr(true));
  return success();
}

namespace {
struct RealiseOverlap : kiln::impl::RealiseOverlapBase<RealiseOverlap> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (failed(realise(kernel)))
        return signalPassFailure();
  }
};
} // namespace
