// Vectors and structs as their elements.
#ifndef KILN_LIB_TARGET_EMULATED_ELEMENTS_H
#define KILN_LIB_TARGET_EMULATED_ELEMENTS_H

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace kiln::emulated {
/// Has code compute each element of vectors and structs for itself. LLVM's fast instruction
/// selection knows single values alone, and gives the rest of a block to the slow one where it
/// meets another.
void splitElements(llvm::Module &module, llvm::TargetMachine &machine);
} // namespace kiln::emulated

#endif // KILN_LIB_TARGET_EMULATED_ELEMENTS_H
