// LLVM's list of code generators, which is made for one thread.
#ifndef KILN_SUPPORT_CODEGENERATORS_H
#define KILN_SUPPORT_CODEGENERATORS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/TargetParser/Triple.h"
#include <string>

namespace llvm {
class Target;
}

namespace kiln {

/// Calls LLVM's functions that add to the list while no other thread adds or looks. One that was
/// added beside another could be lost for as long as the process lives. Gives true, so that a local
/// static can have it done once.
bool registerCodeGenerators(llvm::function_ref<void()> add);

/// The code generator for a machine; null, and why, if it was not added.
const llvm::Target *findCodeGenerator(const llvm::Triple &triple, std::string &error);

} // namespace kiln

#endif // KILN_SUPPORT_CODEGENERATORS_H
