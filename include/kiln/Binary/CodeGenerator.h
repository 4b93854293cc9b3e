// LLVM's optimiser and code generator, as every target of Kiln runs them.
#ifndef KILN_BINARY_CODEGENERATOR_H
#define KILN_BINARY_CODEGENERATOR_H

#include "kiln/Binary/LentMachine.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"
#include <string>

namespace kiln {

/// A code generator for position-independent code; an error that names the chip if there is none.
/// It is kept for others afterwards if `isKept`.
llvm::Expected<LentMachine>
lendTargetMachine(llvm::StringRef triple, llvm::StringRef chip, llvm::StringRef features,
                  int optLevel, bool isKept,
                  std::optional<llvm::CodeModel::Model> codeModel = std::nullopt);

/// Optimises in place for `machine`, whose triple and data layout the module takes. Loops arrive
/// vectorised, so that LLVM never does it.
void optimise(llvm::Module &module, llvm::TargetMachine &machine, int optLevel,
              llvm::PipelineTuningOptions tuning = {});

/// Assembly text, or a relocatable object; what the code generator refuses (inline assembly, for
/// one) as an error. `stackBytes`, if given, is what the frames of all functions take together of
/// which the attribute "warn-stack-size" is "0". The module is not usable afterwards.
llvm::Expected<std::string> emitFile(llvm::Module &module, llvm::TargetMachine &machine,
                                     llvm::CodeGenFileType type, uint64_t *stackBytes = nullptr);

} // namespace kiln

#endif // KILN_BINARY_CODEGENERATOR_H
