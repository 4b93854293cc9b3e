// Functions that generated host code may call although no library of the process has them.
#ifndef KILN_LIB_RUNTIME_HOST_BUILTINS_H
#define KILN_LIB_RUNTIME_HOST_BUILTINS_H

#include "llvm/ADT/StringRef.h"

namespace kiln {

/// The address of a compiler support function, or null.
void *findBuiltin(llvm::StringRef name);

} // namespace kiln

#endif // KILN_LIB_RUNTIME_HOST_BUILTINS_H
