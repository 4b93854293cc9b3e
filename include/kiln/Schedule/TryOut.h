// Tries on a copy whether what a pass has decided of a kernel can be realised.
#ifndef KILN_SCHEDULE_TRYOUT_H
#define KILN_SCHEDULE_TRYOUT_H

#include "kiln/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <functional>
#include <vector>

namespace kiln {

/// What stands in the way of a decision, and where.
struct Refusal {
  mlir::Location loc;
  std::string text;
  std::vector<std::pair<mlir::Location, std::string>> notes = {};
};

using Realise = std::function<llvm::LogicalResult(mlir::ModuleOp)>;

/// A copy of the kernel's module, of this kernel alone, as it is realised. Null if it cannot be;
/// then `refusal` is the first error, which nobody else hears of.
mlir::OwningOpRef<mlir::ModuleOp> tryOut(tile::KernelOp kernel, const Realise &realise,
                                         std::optional<Refusal> &refusal);

} // namespace kiln

#endif // KILN_SCHEDULE_TRYOUT_H
