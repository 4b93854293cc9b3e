// What the common passes ask of a chip: numbers, never a vendor's name.
#ifndef KILN_TARGET_CHIP_H
#define KILN_TARGET_CHIP_H

#include "llvm/ADT/StringRef.h"

namespace kiln {

/// One chip that a target can compile for. Sizes are those of one program (block).
struct Chip {
  llvm::StringLiteral name;
  /// Threads that run in step and can exchange registers.
  unsigned warpSize;
  /// The most threads that one program can have.
  unsigned maxThreads;
  /// 32-bit registers: the most one thread can address, and what one core holds.
  unsigned registersPerThread;
  unsigned registersPerCore;
  /// The shared memory one program can use, in bytes.
  unsigned sharedBytes;
  /// Features for LLVM's code generator, as it spells them.
  llvm::StringLiteral features;
};

} // namespace kiln

#endif // KILN_TARGET_CHIP_H
