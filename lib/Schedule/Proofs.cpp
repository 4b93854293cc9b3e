// Proofs.h: by copies of what was proven.
#include "kiln/Schedule/Proofs.h"
#include "mlir/IR/OperationSupport.h"

using namespace mlir;
using namespace kiln;

bool Proofs::has(tile::KernelOp kernel) const {
  return llvm::any_of(proven, [&](const OwningOpRef<tile::KernelOp> &other) {
    return OperationEquivalence::isEquivalentTo(kernel, other.get(),
                                                OperationEquivalence::IgnoreLocations);
  });
}

void Proofs::add(tile::KernelOp kernel) { proven.push_back(kernel.clone()); }
