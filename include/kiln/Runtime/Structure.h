// Structures that a caller of the C API fills, of the library's own version or of another one.
//
// A structure begins with its size. Members are only ever added at its end, and zero there means
// what the version before did: so a caller of an older library's headers has fewer bytes, one of a
// newer library's more, which must be zero, because what they ask for is not known here.
#ifndef KILN_RUNTIME_STRUCTURE_H
#define KILN_RUNTIME_STRUCTURE_H

#include "kiln/Runtime/Error.h"
#include <algorithm>
#include <cstring>

namespace kiln {

/// More bytes than any version will have: such a size was never set.
inline constexpr size_t kMostStructureBytes = 1 << 16;

/// Checks a structure of `size` bytes, by its own word, whose first version had `first` bytes and
/// whose version here has `known`.
inline llvm::Error checkStructure(const void *structure, size_t size, size_t first, size_t known,
                                  llvm::StringRef name) {
  if (size < first || size > kMostStructureBytes)
    return makeError(KILN_ERROR_INVALID_ARGUMENT,
                     "expected a " + name + " of at least " + llvm::Twine(first) + " bytes, got " +
                         llvm::Twine(size) + " in its struct_size: was k" + name.drop_front() +
                         "Init called?");
  const char *bytes = static_cast<const char *>(structure);
  for (size_t i = known; i < size; ++i)
    if (bytes[i])
      return makeError(KILN_ERROR_INVALID_ARGUMENT,
                       "expected zeros behind the " + llvm::Twine(known) + " bytes of a " + name +
                           " that this library knows, got another value in byte " + llvm::Twine(i) +
                           ": it asks for what a newer library does");
  return llvm::Error::success();
}

/// A structure of this version: the caller's members, and zeros for those that it does not have.
template <typename T>
T adoptStructure(const T &given) {
  T result{};
  std::memcpy(static_cast<void *>(&result), &given, std::min(given.struct_size, sizeof(T)));
  result.struct_size = sizeof(T);
  return result;
}

} // namespace kiln

#endif // KILN_RUNTIME_STRUCTURE_H
