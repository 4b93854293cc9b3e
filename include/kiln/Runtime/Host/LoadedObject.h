// A relocatable host object in executable memory.
//
// The object is linked by LLVM's JITLink without a session around it: one object, its symbols
// against the functions in Builtins.cpp and the process's own libraries (libm, libc), nothing
// else. That takes a fraction of a millisecond. Accelerators load their grid functions with it
// too.
#ifndef KILN_RUNTIME_HOST_LOADEDOBJECT_H
#define KILN_RUNTIME_HOST_LOADEDOBJECT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace kiln {

class LoadedObject {
public:
  /// `name` is what errors call the object. Its memory goes with the result. `given` are symbols
  /// that come before all others.
  static llvm::Expected<std::unique_ptr<LoadedObject>>
  load(llvm::StringRef object, llvm::StringRef name,
       const llvm::StringMap<void *> &given = llvm::StringMap<void *>());
  ~LoadedObject();

  /// Null if the object defines no such function.
  template <typename Function>
  Function find(llvm::StringRef symbol) const {
    return reinterpret_cast<Function>(symbols.lookup(symbol));
  }

  /// The process's own function of that name, or null.
  static void *findInProcess(llvm::StringRef symbol);

  struct Memory;

private:
  LoadedObject();
  llvm::StringMap<uint64_t> symbols;
  std::unique_ptr<Memory> memory;
};

} // namespace kiln

#endif // KILN_RUNTIME_HOST_LOADEDOBJECT_H
