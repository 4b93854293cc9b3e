// Fences stay as many as the schedule has.
#ifndef KILN_LIB_TARGET_NVPTX_KEEPFENCES_H
#define KILN_LIB_TARGET_NVPTX_KEEPFENCES_H

namespace llvm {
class Module;
}

namespace kiln::nvptx {

/// LLVM makes no two of a fence, and no one of two: they are counted in the final code, where one
/// that is missing must not be made up for by another's double (Declared.h).
void keepFences(llvm::Module &module);

} // namespace kiln::nvptx

#endif // KILN_LIB_TARGET_NVPTX_KEEPFENCES_H
