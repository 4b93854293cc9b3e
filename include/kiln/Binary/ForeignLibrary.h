// Libraries of device functions that others wrote, as LLVM's bitcode or its text.
//
// A library is read when a call of it is lowered, to check the call at its line, and again when the
// module is made code, to be linked; a hash of its bytes says that it is the same one.
#ifndef KILN_BINARY_FOREIGNLIBRARY_H
#define KILN_BINARY_FOREIGNLIBRARY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>

namespace llvm {
class Function;
class LLVMContext;
class MemoryBuffer;
class Module;
} // namespace llvm

namespace kiln {

class ForeignLibrary {
public:
  static llvm::Expected<ForeignLibrary> open(llvm::StringRef path);
  ForeignLibrary(ForeignLibrary &&);
  ~ForeignLibrary();

  const std::string &getPath() const { return path; }
  /// Of the bytes, in hexadecimal digits.
  const std::string &getHash() const { return hash; }

  /// Reads it: all of it and checked, or (of bitcode) function bodies where they are used. The
  /// library must be for the triple, or say of none, and agree with it on how data lies.
  llvm::Expected<std::unique_ptr<llvm::Module>> parse(llvm::LLVMContext &context,
                                                      llvm::StringRef triple, bool isLazy) const;

private:
  ForeignLibrary();
  std::string path, hash;
  std::unique_ptr<llvm::MemoryBuffer> bytes;
};

/// The function that a library defines and a kernel can call; an error that says why there is none.
llvm::Expected<llvm::Function *> findForeignFunction(llvm::Module &library, llvm::StringRef symbol,
                                                     llvm::StringRef path);

/// A library's function under the name that the module declares it by.
struct ForeignName {
  std::string symbol, name;
};

/// Links these functions and what they need into a module that declares them. Nobody else sees what
/// comes in, so that libraries do not get in each other's way; it is compiled for the module's chip
/// and called as the module's own functions are.
llvm::Error linkForeignLibrary(llvm::Module &module, std::unique_ptr<llvm::Module> library,
                               llvm::ArrayRef<ForeignName> names, llvm::StringRef path);

} // namespace kiln

#endif // KILN_BINARY_FOREIGNLIBRARY_H
