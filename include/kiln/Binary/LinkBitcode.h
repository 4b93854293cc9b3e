// Bitcode of a library, linked into a module: what the module calls, and what that calls.
#ifndef KILN_BINARY_LINKBITCODE_H
#define KILN_BINARY_LINKBITCODE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace llvm {
class Module;
} // namespace llvm

namespace kiln {

/// Forgets what a library was compiled for and with which options: the module's are what counts.
void forgetOrigin(llvm::Module &library, const llvm::Module &module);

/// Links those functions of `bitcode` that `module` declares, as its own: nobody else sees them,
/// and they are compiled for the module's chip whatever they were made for. `name` is for errors.
llvm::Error linkBitcode(llvm::Module &module, llvm::StringRef bitcode, llvm::StringRef name);

/// Links the device's mathematics (lib/Target/Common/Math) where the module calls some of it.
llvm::Error linkDeviceMath(llvm::Module &module, llvm::StringRef bitcode);

} // namespace kiln

#endif // KILN_BINARY_LINKBITCODE_H
