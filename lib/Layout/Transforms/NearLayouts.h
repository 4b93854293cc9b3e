// Layouts near one that is wanted, in which a tile is loaded by wide accesses: lanes of one warp
// exchange the rest, so that nothing goes through shared memory.
#ifndef KILN_LIB_LAYOUT_TRANSFORMS_NEARLAYOUTS_H
#define KILN_LIB_LAYOUT_TRANSFORMS_NEARLAYOUTS_H

#include "kiln/Layout/Transforms/Layouts.h"
#include <vector>

namespace kiln {

/// What a warp's accesses by a load cost: sectors of 32 bytes, and instructions.
struct AccessCost {
  int64_t sectors = 0, instructions = 0;
};
AccessCost countAccess(tile::LoadOp load, const LinearLayout &layout);

/// `wanted` itself, and such layouts beside it that some bits of a lane's number change places with
/// bits of a register's: so that registers have 2, 4, … consecutive elements of the load, as many
/// as one access may take, and lanes next to one another what follows, up to a sector. `loaded` is
/// what the load has where what is made of it, of as many elements, is laid out as `wanted`.
std::vector<LinearLayout> findNearLayouts(const LinearLayout &wanted, const LinearLayout &loaded,
                                          tile::LoadOp load);

} // namespace kiln

#endif // KILN_LIB_LAYOUT_TRANSFORMS_NEARLAYOUTS_H
