// What only this folder asks of a chip.
#ifndef KILN_LIB_TARGET_NVPTX_CHIPS_H
#define KILN_LIB_TARGET_NVPTX_CHIPS_H

#include "kiln/Target/NVPTX/NVPTX.h"

namespace kiln::nvptx {

struct Abilities {
  /// Converts floats of a byte and multiplies tiles of them (`mma.sync`).
  bool byteFloats;
  /// Multiplies tiles of integers of four bits.
  bool nibbles;
  /// Has barriers that count bytes, which copy engines and `wgmma` go with.
  bool byteBarriers;
  /// The most of them on a multiprocessor.
  unsigned warps, programs;
};

/// None of one that is not in `getChips()`.
const Abilities &getAbilities(llvm::StringRef chip);

} // namespace kiln::nvptx

#endif // KILN_LIB_TARGET_NVPTX_CHIPS_H
