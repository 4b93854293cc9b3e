// Stages by name, and the target attribute of a module.
#include "kiln/Target/TargetInterface.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

#include "kiln/Target/TargetInterface.cpp.inc"

namespace kiln {

static constexpr Stage kStages[] = {Stage::Tile, Stage::Layout, Stage::Schedule, Stage::Target,
                                    Stage::LLVM, Stage::LLVMIR, Stage::Asm,      Stage::Binary};
static constexpr StringLiteral kStageNames[] = {"tile", "layout", "schedule", "target",
                                                "llvm", "llvmir", "asm",      "binary"};

ArrayRef<Stage> getStages() { return kStages; }

StringRef stringify(Stage stage) { return kStageNames[static_cast<int>(stage)]; }

std::optional<Stage> parseStage(StringRef name) {
  for (Stage stage : kStages)
    if (stringify(stage) == name)
      return stage;
  return std::nullopt;
}

TargetInterface getTarget(Operation *op) {
  for (; op; op = op->getParentOp())
    if (auto target = op->getAttrOfType<TargetInterface>(kTargetAttrName))
      return target;
  return {};
}

FailureOr<TargetInterface> requireTarget(Operation *op) {
  if (TargetInterface target = getTarget(op))
    return target;
  return op->emitError() << "expected a target, got a module without '" << kTargetAttrName << "'";
}

/// Where the user wrote the op. What folding made has no place, but those who use it do.
static Location findPlace(Operation *op) {
  if (!isa<UnknownLoc>(op->getLoc()))
    return op->getLoc();
  for (Operation *user : op->getUsers())
    if (!isa<UnknownLoc>(user->getLoc()))
      return user->getLoc();
  Operation *parent = op->getParentOp();
  return parent ? findPlace(parent) : op->getLoc();
}

InFlightDiagnostic emitUnsupported(Operation *op, TargetInterface target, StringRef reason) {
  InFlightDiagnostic diagnostic = mlir::emitError(findPlace(op));
  diagnostic << "'" << op->getName() << "' is not supported on " << target.getSpelling() << " yet";
  if (!reason.empty())
    diagnostic << ": " << reason;
  return diagnostic;
}

} // namespace kiln
