// From an LLVM module to a processor's code: what every target that runs on one does last.
#ifndef KILN_TARGET_COMMON_EMITHOST_H
#define KILN_TARGET_COMMON_EMITHOST_H

#include "kiln/Target/TargetInterface.h"

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace kiln {

struct HostEmission {
  int optLevel = 3;
  /// The width of vector that the code generator is to prefer; 0 leaves it to LLVM.
  unsigned vectorBits = 0;
  /// A kind of processor; "" is the machine at hand.
  llvm::StringRef processor = "";
  /// Appended to the processor's own, each with its comma.
  llvm::StringRef features;
  /// Whether the metadata say how many bytes of stack a call takes at most, if no function calls
  /// itself.
  bool tellsStack = false;
  /// Sees the module before it is optimised.
  llvm::function_ref<llvm::Error(llvm::Module &, llvm::TargetMachine &)> prepare;
};

mlir::FailureOr<TargetCode> emitForHost(mlir::ModuleOp module, llvm::Module &code,
                                        const EmitRequest &request, const HostEmission &how);

} // namespace kiln

#endif // KILN_TARGET_COMMON_EMITHOST_H
