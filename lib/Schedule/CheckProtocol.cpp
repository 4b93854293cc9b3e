// Proves of each realised kernel, on small instances, that its roles keep to their channels.
#include "Protocol/Rounds.h"
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

/// The traces of all roles and their copies.
static FailureOr<std::vector<protocol::Trace>> traceAll(WarpGroupsOp groups,
                                                        const protocol::Instance &instance) {
  std::vector<protocol::Trace> traces;
  for (unsigned role = 0; role < groups.getRoles().size(); ++role)
    for (unsigned copy = 0; copy < groups.getRole(role).getCopies(); ++copy) {
      FailureOr<protocol::Trace> trace = protocol::trace(groups, role, copy, instance);
      if (failed(trace))
        return failure();
      traces.push_back(std::move(*trace));
    }
  return traces;
}

namespace {
/// Checks a kernel on one instance after another.
class Checker {
public:
  explicit Checker(WarpGroupsOp groups) : groups(groups), rounds(groups) {}
  LogicalResult run();

private:
  LogicalResult checkOn(const protocol::Instance &instance);

  WarpGroupsOp groups;
  protocol::Rounds rounds;
  bool isChecked = false;
  Operation *tooLong = nullptr;
};
} // namespace

/// Instances on which a role runs too long are left out: nested loops of small steps run through
/// the large extents, and go round each ring with the small ones.
LogicalResult Checker::checkOn(const protocol::Instance &instance) {
  FailureOr<std::vector<protocol::Trace>> traces = traceAll(groups, instance);
  if (failed(traces))
    return failure();
  auto isLong = [](const protocol::Trace &trace) { return trace.tooLong != nullptr; };
  if (auto trace = llvm::find_if(*traces, isLong); trace != traces->end()) {
    tooLong = trace->tooLong;
    return success();
  }
  FailureOr<protocol::Order> order = protocol::play(groups, *traces, instance);
  if (failed(order) || failed(protocol::checkPhases(groups, *traces, *order, instance)) ||
      failed(protocol::checkOwnRings(groups, *traces, instance)))
    return failure();
  rounds.add(*traces);
  isChecked |= instance.getExtent(0, 0) > 0;
  return success();
}

LogicalResult Checker::run() {
  if (failed(protocol::checkCounts(groups)))
    return failure();
  for (const protocol::Instance &instance : protocol::getInstances())
    if (failed(checkOn(instance)))
      return failure();
  while (std::optional<protocol::Instance> longer = rounds.getLonger())
    if (failed(checkOn(*longer)))
      return failure();
  if (isChecked || !tooLong)
    return success();
  return tooLong->emitOpError("expected a role that ends within ")
         << protocol::kMostSteps << " steps on small extents";
}

namespace {
struct CheckProtocol : kiln::impl::CheckProtocolBase<CheckProtocol> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk(
        [](WarpGroupsOp groups) -> WalkResult { return WalkResult(Checker(groups).run()); });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
