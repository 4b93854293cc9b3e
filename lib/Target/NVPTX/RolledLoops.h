// Loops that the assembler is told to leave rolled.
#ifndef KILN_LIB_TARGET_NVPTX_ROLLEDLOOPS_H
#define KILN_LIB_TARGET_NVPTX_ROLLEDLOOPS_H

namespace llvm {
class Module;
}

namespace kiln::nvptx {

/// Marks each innermost loop whose turns do not overlap, as has been decided, as one that is not
/// unrolled.
void keepLoopsRolled(llvm::Module &module);

} // namespace kiln::nvptx

#endif // KILN_LIB_TARGET_NVPTX_ROLLEDLOOPS_H
