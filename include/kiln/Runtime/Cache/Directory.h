// A directory that is safe to load code from, and file operations that stay inside it.
//
// Whoever can write there decides which code this process runs, so the directory must belong to
// this user and be writable by nobody else. It is checked and then used through one descriptor:
// what a path leads to later does not matter. Below it nothing is reached through a symbolic
// link, and every file that is read must be a regular one of this user's.
//
// Files lie under "v1", in 256 folders named after the first two digits of their own name.
#ifndef KILN_RUNTIME_CACHE_DIRECTORY_H
#define KILN_RUNTIME_CACHE_DIRECTORY_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <optional>
#include <string>

namespace kiln {

class CacheDirectory {
public:
  struct File {
    std::string name;
    uint64_t bytes = 0;
    int64_t modified = 0; ///< nanoseconds since 1970
  };

  /// Makes the directory if it is absent. KILN_ERROR_REFUSED says what is unsafe about it,
  /// KILN_ERROR_IO what the system answered.
  static llvm::Expected<CacheDirectory> open(llvm::StringRef path);
  CacheDirectory(CacheDirectory &&other);
  CacheDirectory &operator=(CacheDirectory &&) = delete;
  ~CacheDirectory();

  const std::string &path() const { return where; }

  /// Nothing if there is no such file, or none that may be trusted.
  std::optional<std::string> read(llvm::StringRef name) const;

  /// All or nothing: a temporary file, then a rename. The result is an errno, 0 for success.
  int write(llvm::StringRef name, llvm::StringRef bytes) const;

  /// Fails if there is such a file already (EEXIST). An errno.
  int create(llvm::StringRef name, llvm::StringRef bytes) const;

  /// An errno; a file that is not there counts as removed.
  int remove(llvm::StringRef name) const;

  /// Marks the file as used now, unless it was marked within the last minute.
  void touch(llvm::StringRef name) const;

  std::optional<File> stat(llvm::StringRef name) const;

  /// Every file below that may be ours: entries (.kiln), locks (.lock) and the temporary files of
  /// writers, dead or alive (.tmp).
  void forEach(llvm::function_ref<void(const File &)> visit) const;

private:
  CacheDirectory(int descriptor, std::string where)
      : descriptor(descriptor), where(std::move(where)) {}
  int openShard(llvm::StringRef name, bool make) const;

  int descriptor;
  std::string where;
};

} // namespace kiln

#endif // KILN_RUNTIME_CACHE_DIRECTORY_H
