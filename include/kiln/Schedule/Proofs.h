// Kernels whose protocol was proven on copies that decisions were tried on.
#ifndef KILN_SCHEDULE_PROOFS_H
#define KILN_SCHEDULE_PROOFS_H

#include "kiln/Dialect/Tile/IR/Tile.h"
#include <memory>
#include <vector>

namespace kiln {

/// Of one compilation, in whose context they are. What is tried out and taken is realised again, to
/// the same: one proof is enough.
class Proofs {
public:
  /// Whether a kernel that is the same, but for locations, was proven.
  bool has(tile::KernelOp kernel) const;
  void add(tile::KernelOp kernel);

private:
  std::vector<mlir::OwningOpRef<tile::KernelOp>> proven;
};
using SharedProofs = std::shared_ptr<Proofs>;

} // namespace kiln

#endif // KILN_SCHEDULE_PROOFS_H
