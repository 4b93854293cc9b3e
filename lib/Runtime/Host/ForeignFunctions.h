// The functions of shared libraries that a kernel calls, found when it is loaded.
#ifndef KILN_LIB_RUNTIME_HOST_FOREIGNFUNCTIONS_H
#define KILN_LIB_RUNTIME_HOST_FOREIGNFUNCTIONS_H

#include "kiln/Binary/Artifact.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

namespace kiln {

/// Holds the libraries open for as long as a kernel may call into them.
class ForeignFunctions {
public:
  /// What the artifact's metadata lists under `foreign`. Errors name the kernel, and the place in
  /// its source that calls the function.
  static llvm::Expected<ForeignFunctions> find(const Artifact &artifact, llvm::StringRef kernel);
  ForeignFunctions(ForeignFunctions &&) = default;
  ~ForeignFunctions();

  /// Addresses, by the names that the object calls them by.
  llvm::StringMap<void *> addresses;

private:
  ForeignFunctions() = default;
  llvm::StringMap<void *> libraries;
};

} // namespace kiln

#endif // KILN_LIB_RUNTIME_HOST_FOREIGNFUNCTIONS_H
