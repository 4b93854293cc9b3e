// Proves of each realised kernel, on small instances, that its roles keep to their channels.
#include "Protocol/Protocol.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace kiln {
#define GEN_PASS_DEF_CHECKPROTOCOL
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

static LogicalResult check(WarpGroupsOp groups) {
  if (failed(protocol::checkCounts(groups)))
    return failure();
  for (const protocol::Instance &instance : protocol::getInstances()) {
    std::vector<protocol::Trace> traces;
    for (unsigned role = 0; role < groups.getRoles().size(); ++role)
      for (unsigned copy = 0; copy < groups.getRole(role).getCopies(); ++copy) {
        FailureOr<protocol::Trace> trace = protocol::trace(groups, role, copy, instance);
        if (failed(trace))
          return failure();
        traces.push_back(std::move(*trace));
      }
    if (failed(protocol::play(groups, traces, instance)) ||
        failed(protocol::checkOwnRings(groups, traces, instance)))
      return failure();
  }
  return success();
}

namespace {
struct CheckProtocol : kiln::impl::CheckProtocolBase<CheckProtocol> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk(
        [](WarpGroupsOp groups) -> WalkResult { return WalkResult(check(groups)); });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
