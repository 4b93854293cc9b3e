// The records of this folder's chips, with what only this folder asks of one.
#ifndef KILN_LIB_TARGET_NVPTX_CHIPS_H
#define KILN_LIB_TARGET_NVPTX_CHIPS_H

#include "kiln/Target/NVPTX/NVPTX.h"

namespace kiln::nvptx {

/// What include/kiln/Target/NVPTX/Chips.td adds, where each field is described.
struct ChipRecord : Chip {
  bool byteFloats = false;
  bool nibbles = false;
  bool tallDoubles = false;
  bool byteBarriers = false;
  bool storesMatrices = false;
  bool groupProducts = false;
  bool tensorProducts = false;
  bool tensorIntegers = false;
};

/// One without abilities for a name that is not in `getChips()`.
const ChipRecord &getRecord(llvm::StringRef chip);

} // namespace kiln::nvptx

#endif // KILN_LIB_TARGET_NVPTX_CHIPS_H
