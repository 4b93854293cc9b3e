// Puts the bodies of helper functions where kernels call them.
//
// The upstream inliner starts from callable ops, which a kernel is not, and leaves a recursive
// call where it is. Here every call goes or is an error that names it.
#include "kiln/Dialect/Tile/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace kiln::tile {
#define GEN_PASS_DEF_INLINEFUNCTIONS
#include "kiln/Dialect/Tile/Transforms/Passes.h.inc"

namespace {
/// A call that is to be inlined, and the body that it came from.
struct PendingCall {
  func::CallOp call;
  int parent; ///< index into Inliner::frames, or -1 for the kernel's own call
};

/// A body that was put into the kernel: with its parents, the chain of calls that led to it.
struct Frame {
  func::FuncOp function;
  int parent;
};

class Inliner {
public:
  Inliner(KernelOp kernel, SymbolTableCollection &symbols, int64_t maxOps)
      : kernel(kernel), symbols(symbols), maxOps(maxOps) {}

  LogicalResult run() {
    collectCalls(kernel, -1);
    while (!pending.empty())
      if (failed(inlineCall(pending.pop_back_val())))
        return failure();
    return success();
  }

private:
  void collectCalls(Operation *root, int parent) {
    root->walk([&](func::CallOp call) { pending.push_back({call, parent}); });
  }

  LogicalResult inlineCall(PendingCall site) {
    func::CallOp call = site.call;
    auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
    if (!callee)
      return call.emitOpError("expected a function, got ") << call.getCalleeAttr();
    for (int frame = site.parent; frame >= 0; frame = frames[frame].parent)
      if (frames[frame].function == callee)
        return refuse(call, callee, "expected a call without recursion");
    if (callee.isExternal())
      return refuse(call, callee, "expected a function with a body");
    if (!callee.getBody().hasOneBlock() ||
        !isa<func::ReturnOp>(callee.getBody().front().getTerminator()))
      return refuse(call, callee, "expected a function of one block that ends in func.return");

    frames.push_back({callee, site.parent});
    OpBuilder builder(call);
    IRMapping mapping;
    Block &body = callee.getBody().front();
    mapping.map(body.getArguments(), call.getOperands());
    for (Operation &op : body.without_terminator()) {
      Operation *clone = builder.clone(op, mapping);
      clone->walk([&](Operation *nested) {
        nested->setLoc(CallSiteLoc::get(nested->getLoc(), call.getLoc()));
        ++numOps;
      });
      if (numOps > maxOps)
        return call.emitOpError("expected at most ")
               << maxOps << " operations inlined into kernel @" << kernel.getSymName();
      collectCalls(clone, static_cast<int>(frames.size()) - 1);
    }
    for (auto [result, value] :
         llvm::zip_equal(call.getResults(), body.getTerminator()->getOperands()))
      result.replaceAllUsesWith(mapping.lookupOrDefault(value));
    call.erase();
    return success();
  }

  static LogicalResult refuse(func::CallOp call, func::FuncOp callee, StringRef expected) {
    InFlightDiagnostic diagnostic = call.emitOpError(expected) << ", got @" << callee.getSymName();
    diagnostic.attachNote(callee.getLoc()) << "the function is here";
    return diagnostic;
  }

  KernelOp kernel;
  SymbolTableCollection &symbols;
  int64_t maxOps;
  int64_t numOps = 0;
  SmallVector<PendingCall> pending;
  SmallVector<Frame> frames;
};

struct InlineFunctions : public impl::InlineFunctionsBase<InlineFunctions> {
  using InlineFunctionsBase::InlineFunctionsBase;

  void runOnOperation() override {
    SymbolTableCollection symbols;
    for (auto kernel : getOperation().getOps<KernelOp>())
      if (failed(Inliner(kernel, symbols, maxOps).run()))
        return signalPassFailure();
    for (auto function : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      function.erase();
  }
};
} // namespace
} // namespace kiln::tile
