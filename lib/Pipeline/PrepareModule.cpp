// What a request says of a module, in front of all stages.
#include "PrepareModule.h"
#include "kiln/Target/Common/FastMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace kiln;

FailureOr<tile::KernelOp> kiln::selectKernel(ModuleOp module, StringRef name) {
  SmallVector<tile::KernelOp> kernels(module.getOps<tile::KernelOp>());
  auto list = [&](InFlightDiagnostic &&diagnostic) -> FailureOr<tile::KernelOp> {
    diagnostic << " (the module holds ";
    llvm::interleaveComma(kernels, diagnostic,
                          [&](tile::KernelOp kernel) { diagnostic << "@" << kernel.getSymName(); });
    return diagnostic << (kernels.empty() ? "no kernel)" : ")");
  };
  tile::KernelOp chosen;
  for (tile::KernelOp kernel : kernels)
    if (kernel.getSymName() == name || (name.empty() && kernels.size() == 1))
      chosen = kernel;
  if (!chosen && name.empty())
    return list(module.emitError("expected one kernel, or the name of one"));
  if (!chosen)
    return list(module.emitError("expected a kernel named @") << name);
  for (tile::KernelOp kernel : kernels)
    if (kernel != chosen)
      kernel.erase();
  return chosen;
}

void kiln::allowFastMath(ModuleOp module) {
  module->setAttr(kFlushAttrName, UnitAttr::get(module.getContext()));
  auto fast = arith::FastMathFlagsAttr::get(module.getContext(), arith::FastMathFlags::fast);
  module.walk(
      [&](arith::ArithFastMathInterface op) { op->setAttr(op.getFastMathAttrName(), fast); });
}
