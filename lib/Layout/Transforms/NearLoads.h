// Tiles that are loaded near the layout in which others want what is made of them.
#ifndef KILN_LIB_LAYOUT_TRANSFORMS_NEARLOADS_H
#define KILN_LIB_LAYOUT_TRANSFORMS_NEARLOADS_H

#include "Relayouts.h"

namespace kiln {

/// What a conversion's operand is made of, laid out anew.
struct NearLoads {
  Layouts layouts;
  /// Loads that have another layout, from which they are converted to what `layouts` says.
  Layouts converted;
};

/// The layouts by which loads, with the conversion or with one behind each of them, take the fewest
/// cycles of the unit that lanes exchange through, and no more sectors of memory than as it is;
/// none if that takes fewer cycles, unless it cannot stay so (`isNeeded`), or a product multiplies
/// what is converted: how operands come is decided otherwise.
std::optional<NearLoads> findNearLoads(tile::ConvertLayoutOp op, const LinearLayout &wanted,
                                       TargetInterface target, bool isNeeded);

} // namespace kiln

#endif // KILN_LIB_LAYOUT_TRANSFORMS_NEARLOADS_H
