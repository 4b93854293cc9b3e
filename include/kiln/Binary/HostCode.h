// From an LLVM module to code for the machine at hand, or for a kind of processor.
#ifndef KILN_BINARY_HOSTCODE_H
#define KILN_BINARY_HOSTCODE_H

#include "kiln/Binary/LentMachine.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace llvm {
class Module;
} // namespace llvm

namespace kiln {

/// The CPU of this machine and its features, as LLVM spells them.
struct HostCPU {
  std::string triple, name, features;
};
const HostCPU &getHostCPU();

/// A kind of processor: "x86-64-v2", "x86-64-v3" and "x86-64-v4" as the psABI for x86-64 defines
/// them, "aarch64" for ARMv8.0 with NEON; "" is the machine at hand. Null for another name.
const HostCPU *getProcessor(llvm::StringRef name);

/// Of a processor's features those that its code may use, without signs, in their order.
std::vector<std::string> getNeededFeatures(const HostCPU &processor);

/// A code generator for a processor; position-independent code.
llvm::Expected<LentMachine> lendHostMachine(const HostCPU &processor, int optLevel);

/// Optimises in place. Loops arrive vectorised, so that LLVM neither vectorises nor unrolls them
/// again; it inlines, simplifies and schedules.
void optimizeForHost(llvm::Module &module, llvm::TargetMachine &machine, int optLevel);

/// Assembly text, or a relocatable object and what its frames take (see emitFile). The module is
/// not usable afterwards.
llvm::Expected<std::string> emitHostAssembly(llvm::Module &module, llvm::TargetMachine &machine);
llvm::Expected<std::string> emitHostObject(llvm::Module &module, llvm::TargetMachine &machine,
                                           uint64_t *stackBytes);

} // namespace kiln

#endif // KILN_BINARY_HOSTCODE_H
