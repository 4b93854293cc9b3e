// A code generator of LLVM's that one compile after another uses.
#ifndef KILN_BINARY_LENTMACHINE_H
#define KILN_BINARY_LENTMACHINE_H

#include <memory>

namespace llvm {
class TargetMachine;
} // namespace llvm

namespace kiln {

/// Keeps a code generator for the process's next one of the same kind: what LLVM looks up of a chip
/// takes it milliseconds, a good part of what a small kernel takes.
struct KeepMachine {
  void operator()(llvm::TargetMachine *machine) const;
  /// Not if what it makes depends on what it made before.
  bool isKept = true;
};
/// A code generator for one thread.
using LentMachine = std::unique_ptr<llvm::TargetMachine, KeepMachine>;

} // namespace kiln

#endif // KILN_BINARY_LENTMACHINE_H
