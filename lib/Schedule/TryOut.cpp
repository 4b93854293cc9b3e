// A kernel, realised on a copy of its module in silence.
#include "kiln/Schedule/TryOut.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

OwningOpRef<ModuleOp> kiln::tryOut(KernelOp kernel, const Realise &realise,
                                   std::optional<Refusal> &refusal) {
  OwningOpRef<ModuleOp> copy = kernel->getParentOfType<ModuleOp>().clone();
  for (KernelOp other : llvm::to_vector(copy->getOps<KernelOp>()))
    if (other.getSymName() != kernel.getSymName())
      other.erase();
  std::optional<Refusal> first;
  ScopedDiagnosticHandler quiet(kernel.getContext(), [&](Diagnostic &diagnostic) {
    if (first || diagnostic.getSeverity() != DiagnosticSeverity::Error)
      return success();
    first = {diagnostic.getLocation(), diagnostic.str()};
    for (Diagnostic &note : diagnostic.getNotes())
      first->notes.push_back({note.getLocation(), note.str()});
    return success();
  });
  if (succeeded(realise(*copy)))
    return copy;
  refusal = first;
  return nullptr;
}
