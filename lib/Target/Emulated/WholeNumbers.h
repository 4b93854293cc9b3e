// What the fast instruction selection does not know, by whole numbers and pointers as it knows
// them.
#ifndef KILN_LIB_TARGET_EMULATED_WHOLENUMBERS_H
#define KILN_LIB_TARGET_EMULATED_WHOLENUMBERS_H

#include "Outline.h"
#include "llvm/IR/Function.h"

namespace kiln::emulated {
/// Has a function, of which vectors are split, keep floats of 16 bits as their bits, take the
/// elements of words and put them together by shifts, and cast pointers between address spaces by
/// their numbers.
void useWholeNumbers(llvm::Function &function, Outliner &outliner);
} // namespace kiln::emulated

#endif // KILN_LIB_TARGET_EMULATED_WHOLENUMBERS_H
