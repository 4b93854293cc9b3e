// What stands around a thread's code of the host: its entry, its shared and its global memory.
#ifndef KILN_LIB_TARGET_EMULATED_SURROUNDINGS_H
#define KILN_LIB_TARGET_EMULATED_SURROUNDINGS_H

namespace llvm {
class Function;
class Module;
} // namespace llvm

namespace kiln::emulated {

/// Defines `kiln_emulated_kernel` and `kiln_emulated_globals`, and asks the runtime for shared
/// memory.
void defineSurroundings(llvm::Module &module, llvm::Function &kernel);

} // namespace kiln::emulated

#endif // KILN_LIB_TARGET_EMULATED_SURROUNDINGS_H
