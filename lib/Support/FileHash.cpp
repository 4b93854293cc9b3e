// Hashes of files, kept for as long as the files stay as they are.
#include "kiln/Support/FileHash.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <mutex>

using namespace llvm;

std::string kiln::hashOf(StringRef bytes) {
  return toHex(BLAKE3::hash<32>(arrayRefFromStringRef(bytes)), /*LowerCase=*/true);
}

std::optional<std::string> kiln::stampOfFile(StringRef path) {
  sys::fs::file_status status;
  if (sys::fs::status(path, status))
    return std::nullopt;
  int64_t time = status.getLastModificationTime().time_since_epoch().count();
  return std::to_string(status.getSize()) + " " + std::to_string(time);
}

std::optional<std::string> kiln::hashOfFile(StringRef path) {
  struct Known {
    std::string stamp;
    std::optional<std::string> hash;
  };
  static std::mutex mutex;
  static StringMap<Known> files;
  std::optional<std::string> stamp = stampOfFile(path);
  if (!stamp)
    return std::nullopt;
  std::lock_guard<std::mutex> lock(mutex);
  Known &known = files[path];
  if (known.stamp != *stamp) {
    auto bytes = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/true,
                                       /*IsVolatile=*/true);
    known.hash = bytes ? std::optional(hashOf((*bytes)->getBuffer())) : std::nullopt;
    known.stamp = *stamp;
  }
  return known.hash;
}
