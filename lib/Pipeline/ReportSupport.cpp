// What a target makes of each op of a kernel, as remarks: the query behind the support table.
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Pipeline/Pipeline.h"
#include "kiln/Pipeline/Registration.h"
#include "kiln/Target/Registry.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace kiln {
namespace {
struct ReportSupport : public PassWrapper<ReportSupport, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ReportSupport)

  ReportSupport() = default;
  ReportSupport(const ReportSupport &other) : PassWrapper(other) {}

  StringRef getArgument() const final { return "tile-report-support"; }
  StringRef getDescription() const final {
    return "say of each op of a kernel whether a target has it, emulates it or refuses it";
  }
  void getDependentDialects(DialectRegistry &registry) const final {
    registerAllDialects(registry);
  }

  void runOnOperation() final {
    markAllAnalysesPreserved();
    ModuleOp module = getOperation();
    FailureOr<TargetInterface> parsed = parseTarget(
        target, &getContext(), [&] { return emitError(UnknownLoc::get(&getContext())); });
    if (failed(parsed))
      return signalPassFailure();
    module.walk(
        [&](tile::KernelOp kernel) { kernel.walk([&](Operation *op) { report(op, *parsed); }); });
  }

  static void report(Operation *op, TargetInterface target) {
    InFlightDiagnostic remark = emitRemark(op->getLoc()) << "'" << op->getName() << "' is ";
    if (std::optional<std::string> reason = target.whyUnsupported(op))
      remark << "refused" << (reason->empty() ? "" : ": ") << *reason;
    else
      remark << (target.isEmulated(op) ? "emulated" : "native");
  }

  Option<std::string> target{*this, "target", llvm::cl::desc("the target to ask: cpu, or a chip"),
                             llvm::cl::init("cpu")};
};
} // namespace

void registerReportSupport() { PassRegistration<ReportSupport>(); }

} // namespace kiln
