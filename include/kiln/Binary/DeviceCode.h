// From a module of the LLVM dialect to an accelerator's code.
#ifndef KILN_BINARY_DEVICECODE_H
#define KILN_BINARY_DEVICECODE_H

#include "kiln/Binary/LentMachine.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Support/Error.h"
#include <functional>
#include <memory>
#include <string>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace kiln {

/// The code generator for a chip, as LLVM names things.
struct DeviceMachine {
  llvm::StringRef triple, chip, features;
  /// Module flags that the code generator reads.
  llvm::SmallVector<std::pair<llvm::StringRef, uint32_t>, 1> flags = {};
  /// Whether line numbers are directives of the assembly, from which an assembler makes its tables;
  /// else they are tables of the object, and none is in the assembly.
  bool hasLineDirectives = false;
  /// Whether LLVM's code generator for it makes the same of a module whatever it made before.
  bool isKept = false;
  /// The device's mathematics for this triple (cmake/KilnDeviceMath.cmake).
  llvm::StringRef math = {};
  /// Links what else the module calls, before it is optimised.
  std::function<llvm::Error(llvm::Module &)> link = {};
  /// What is said of the module before it is optimised.
  std::function<void(llvm::Module &)> prepare = {};
  /// The last word on the optimised module.
  std::function<void(llvm::Module &)> finish = {};
};

/// One module on its way through LLVM. Errors of the code generator that do not end the process
/// are caught and returned.
class DeviceCompilation {
public:
  DeviceCompilation();
  ~DeviceCompilation();

  /// Translates, sets triple and data layout, links the mathematics, and optimises. Every function
  /// says which lines of the source it is made of.
  llvm::Error translate(mlir::ModuleOp module, const DeviceMachine &machine, int optLevel);
  llvm::Module &getModule() { return *module; }
  /// Without line numbers.
  std::string printIR() const;
  /// Each works on a copy, so that both can be asked for.
  llvm::Expected<std::string> emitAssembly();
  llvm::Expected<std::string> emitObject();

private:
  llvm::Expected<std::string> emit(llvm::CodeGenFileType type);
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  LentMachine machine;
  bool hasLineDirectives = false;
  std::string errors;
};

/// Links one relocatable object to a shared one, in process. One at a time: the linker keeps
/// global state, so callers wait for each other.
llvm::Expected<std::string> linkSharedObject(llvm::StringRef object);

} // namespace kiln

#endif // KILN_BINARY_DEVICECODE_H
