// What a target's warps have to wait for one another, for their copies, and for engines.
#ifndef KILN_TARGET_COMMON_SYNCHRONISATION_H
#define KILN_TARGET_COMMON_SYNCHRONISATION_H

#include "kiln/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/Builders.h"

namespace kiln {

/// What a barrier in shared memory takes.
inline constexpr int64_t kByteBarrierBytes = 8;

} // namespace kiln

#include "kiln/Target/Common/Synchronisation.h.inc"

namespace kiln {

/// What a tensor takes of tensor memory: whole columns, of which it may leave lanes unused.
int64_t getTensorSlotBytes(mlir::RankedTensorType tensor, SynchronisationInterface sync);

} // namespace kiln

#endif // KILN_TARGET_COMMON_SYNCHRONISATION_H
