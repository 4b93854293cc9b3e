// From an LLVM module to code for the machine at hand.
#ifndef KILN_BINARY_HOSTCODE_H
#define KILN_BINARY_HOSTCODE_H

#include "llvm/Support/Error.h"
#include <string>

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace kiln {

/// The CPU of this machine and its features, as LLVM spells them.
struct HostCPU {
  std::string triple, name, features;
};
const HostCPU &getHostCPU();

/// A code generator for this machine; position-independent code. One a thread: it is not shared.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createHostMachine(int optLevel);

/// Optimises in place. Loops arrive vectorised, so that LLVM neither vectorises nor unrolls them
/// again; it inlines, simplifies and schedules.
void optimizeForHost(llvm::Module &module, llvm::TargetMachine &machine, int optLevel);

/// Assembly text, or a relocatable object. The module is not usable afterwards.
llvm::Expected<std::string> emitHostAssembly(llvm::Module &module, llvm::TargetMachine &machine);
llvm::Expected<std::string> emitHostObject(llvm::Module &module, llvm::TargetMachine &machine);

} // namespace kiln

#endif // KILN_BINARY_HOSTCODE_H
