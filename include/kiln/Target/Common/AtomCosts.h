// What atoms answer of their costs, by the numbers of a chip's record.
#ifndef KILN_TARGET_COMMON_ATOMCOSTS_H
#define KILN_TARGET_COMMON_ATOMCOSTS_H

#include "kiln/Target/Chip.h"
#include "mlir/IR/Types.h"

namespace kiln {

/// For how many cycles the matrix units of a core multiply so many elements of these types. What
/// the record has no rate for goes by that of the next wider type.
std::optional<int64_t> countMatrixCycles(const Chip &chip, mlir::Type a, mlir::Type b,
                                         int64_t products);

/// By instructions of one warp, which are slower on some chips.
std::optional<int64_t> countWarpMatrixCycles(const Chip &chip, mlir::Type a, mlir::Type b,
                                             int64_t products);

/// Of a figure, if there is one.
inline std::optional<int64_t> getValue(const std::optional<Figure> &figure) {
  return figure ? std::optional(figure->value) : std::nullopt;
}

/// How long what moves past the registers takes to come from global memory: as a load does, and by
/// as much longer as it takes from the second-level cache, if that was measured.
std::optional<int64_t> getCopyLatency(const Chip &chip, const std::optional<Figure> &fromCache);

/// For how many cycles shared memory takes so many bytes of each lane of a warp.
int64_t countWriteCycles(const Chip &chip, unsigned laneBytes);

} // namespace kiln

#endif // KILN_TARGET_COMMON_ATOMCOSTS_H
