// The contents of files, by a hash or by when they were written.
#ifndef KILN_SUPPORT_FILEHASH_H
#define KILN_SUPPORT_FILEHASH_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace kiln {

/// BLAKE3 in hexadecimal digits.
std::string hashOf(llvm::StringRef bytes);

/// A file's size and time, which stand for its bytes where reading them would take too long; none
/// if there is no such file.
std::optional<std::string> stampOfFile(llvm::StringRef path);

/// The hash of a file's bytes, read again only when its size or time has changed; none if it cannot
/// be read.
std::optional<std::string> hashOfFile(llvm::StringRef path);

} // namespace kiln

#endif // KILN_SUPPORT_FILEHASH_H
