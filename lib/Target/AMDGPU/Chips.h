// What only this folder asks of a chip. Which matrix instructions it has, their table says.
#ifndef KILN_LIB_TARGET_AMDGPU_CHIPS_H
#define KILN_LIB_TARGET_AMDGPU_CHIPS_H

#include "kiln/Target/AMDGPU/AMDGPU.h"

namespace kiln::amdgcn {

struct Abilities {
  /// The most bytes that a lane loads to LDS without registers between; 0: none.
  unsigned bytesToLDS;
  /// Reads LDS with rows and columns exchanged.
  bool transposes;
  /// Exchanges halves of two registers among lanes (`v_permlane32_swap`).
  bool swapsLanes;
  /// Both halves of a wave hold all operands of a matrix instruction.
  bool repeatsOperands;
  /// The last word of a buffer's descriptor, by the ISA manuals: the data format must not be zero
  /// (words of 32 bits). On RDNA bit 24 is set, and bits 28 and 29 choose how bounds are checked:
  /// an offset that is not below the number of bytes is out of them.
  int64_t bufferFlags;
  /// The bits of an access that tell caches that its data is used once.
  int64_t usedOnce;
};

/// None of one that is not in `getChips()`.
const Abilities &getAbilities(llvm::StringRef chip);

} // namespace kiln::amdgcn

#endif // KILN_LIB_TARGET_AMDGPU_CHIPS_H
