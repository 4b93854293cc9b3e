// What an op takes of a core.
//
// Costs are of whole tiles, whose elements all warps of a core share out: elements over the core's
// rate. What products and copies take, their atoms say. They are rough, and only their proportions
// matter: which of the matrix units and the lanes is busy for how much of a trip.
#ifndef KILN_LIB_SCHEDULE_OPCOSTS_H
#define KILN_LIB_SCHEDULE_OPCOSTS_H

#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Target/Chip.h"
#include "mlir/IR/Operation.h"

namespace kiln {

/// What an op keeps busy, for how many cycles, and the cycles from its start to its result.
struct OpCost {
  std::optional<tile::Unit> unit;
  int64_t cycles = 0;
  int64_t latency = 0;
};

/// The cost of an op whose tiles the warps of a core share out; nothing if the chip's record lacks
/// a figure for it. A dot without an atom costs what it does by its usual one.
std::optional<OpCost> getCost(mlir::Operation *op, const Chip &chip);

/// How long a lane waits for another's register. What nobody has measured goes by a load from
/// shared memory, whose ways to all lanes exchanges take.
std::optional<int64_t> getExchangeLatency(const Figures &figures);

/// Whether an op only names elements otherwise.
bool isView(mlir::Operation *op);

/// The bytes of a tile; 0 of what is none.
int64_t countBytes(mlir::Type type);

} // namespace kiln

#endif // KILN_LIB_SCHEDULE_OPCOSTS_H
