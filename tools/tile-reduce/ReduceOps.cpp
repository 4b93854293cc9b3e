// Repeats, until nothing more goes: change one op of a copy of the module, and keep the copy if
// it verifies and the script still finds it interesting. Ops are visited from the last to the
// first, so that an op's users have had their turn and the positions before it stay valid.
#include "ReduceOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Reducer/Tester.h"

using namespace mlir;

namespace {

/// Without the module itself and the ops that end a block.
SmallVector<Operation *> candidates(ModuleOp module) {
  SmallVector<Operation *> ops;
  module->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != module && !op->hasTrait<OpTrait::IsTerminator>())
      ops.push_back(op);
  });
  return ops;
}

bool eraseUnused(Operation *op) {
  if (!op->use_empty())
    return false;
  op->erase();
  return true;
}

bool forwardOperand(Operation *op) {
  if (op->getNumResults() != 1 || op->use_empty())
    return false;
  for (Value operand : op->getOperands())
    if (operand.getType() == op->getResult(0).getType()) {
      op->getResult(0).replaceAllUsesWith(operand);
      op->erase();
      return true;
    }
  return false;
}

struct ReduceOps : PassWrapper<ReduceOps, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ReduceOps)

  ReduceOps() = default;
  ReduceOps(const ReduceOps &other) : PassWrapper(other) {}

  StringRef getArgument() const final { return "reduce-ops"; }
  StringRef getDescription() const final {
    return "Remove one op at a time while the script finds the module interesting (exit code 1)";
  }

  Option<std::string> script{*this, "test", llvm::cl::desc("the script; gets a file's path")};
  ListOption<std::string> scriptArgs{*this, "test-arg", llvm::cl::desc("its first arguments")};

  void runOnOperation() final {
    Tester tester(script, scriptArgs);
    if (!isInteresting(tester, getOperation())) {
      getOperation().emitError("expected a module that the script finds interesting, got exit "
                               "code 0 from '")
          << script << "'";
      return signalPassFailure();
    }
    while (sweep(tester))
      ;
  }

  bool isInteresting(const Tester &tester, ModuleOp module) {
    return tester.isInteresting(module).first == Tester::Interestingness::True;
  }

  /// Whether anything went.
  bool sweep(const Tester &tester) {
    bool changed = false;
    for (size_t i = candidates(getOperation()).size(); i-- > 0;)
      for (auto change : {eraseUnused, forwardOperand})
        if (attempt(tester, i, change)) {
          changed = true;
          break;
        }
    return changed;
  }

  bool attempt(const Tester &tester, size_t index, bool (*change)(Operation *)) {
    OwningOpRef<ModuleOp> copy = getOperation().clone();
    ScopedDiagnosticHandler silence(&getContext(), [](Diagnostic &) { return success(); });
    if (!change(candidates(*copy)[index]) || failed(verify(*copy)) || !isInteresting(tester, *copy))
      return false;
    getOperation().getBodyRegion().takeBody(copy->getBodyRegion());
    return true;
  }
};

} // namespace

void kiln::registerReduceOpsPass() { PassRegistration<ReduceOps>(); }
