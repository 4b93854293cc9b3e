// The records of this folder's chips, with what only this folder asks of one.
#ifndef KILN_LIB_TARGET_AMDGPU_CHIPS_H
#define KILN_LIB_TARGET_AMDGPU_CHIPS_H

#include "kiln/Target/AMDGPU/AMDGPU.h"

namespace kiln::amdgcn {

/// The generations of matrix instructions.
enum class MatrixCores { None, CDNA2, CDNA3, CDNA4, RDNA3, RDNA4 };

/// What says how many accesses may be outstanding: one instruction, whose fields lie as the ISA
/// manual of the generation has them, or one for each counter.
enum class WaitForm { GFX9, GFX11, Apart };

/// What include/kiln/Target/AMDGPU/Chips.td adds, where each field is described.
struct ChipRecord : Chip {
  MatrixCores matrixCores = MatrixCores::None;
  WaitForm waits = WaitForm::GFX9;
  unsigned bytesToLDS = 0;
  bool transposes = false;
  bool swapsLanes = false;
  bool repeatsOperands = false;
  int64_t bufferFlags = 0;
  int64_t usedOnce = 0;
  int64_t pastCore = 0;
  int64_t writesPastCore = 0;
  int64_t pastDevice = 0;
};

/// One without abilities for a name that is not in `getChips()`.
const ChipRecord &getRecord(llvm::StringRef chip);

} // namespace kiln::amdgcn

#endif // KILN_LIB_TARGET_AMDGPU_CHIPS_H
