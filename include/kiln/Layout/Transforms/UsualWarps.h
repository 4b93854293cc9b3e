// How many warps run a program of which nobody has said.
#ifndef KILN_LAYOUT_TRANSFORMS_USUALWARPS_H
#define KILN_LAYOUT_TRANSFORMS_USUALWARPS_H

#include "kiln/Target/Chip.h"

namespace kiln {

/// Of a tensor that is spread over several warps each thread has as many elements, or more.
inline constexpr int64_t kFewestElementsPerThread = 16;
/// More only where a tensor is large for these and they cannot reach all registers of a core.
inline constexpr int64_t kUsualWarps = 8;

/// Of a program whose largest tensor has so many elements, of which so many reductions are taken,
/// one after another: of two or more, half as many warps exchange less than they idle longer. On an
/// H200 a softmax of 4096 bf16 numbers took 0.92 of the time on 4 warps that it took on 8, a
/// LayerNorm 0.91, an RMS norm, with one reduction, 1.03.
int64_t countUsualWarps(int64_t elements, const Chip &chip, int64_t reductions = 0);

} // namespace kiln

#endif // KILN_LAYOUT_TRANSFORMS_USUALWARPS_H
