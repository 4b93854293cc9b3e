// The content address of a compiled kernel.
#ifndef KILN_RUNTIME_CACHE_KEY_H
#define KILN_RUNTIME_CACHE_KEY_H

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/BLAKE3.h"
#include <array>
#include <cstring>
#include <optional>
#include <string>

namespace kiln {

struct Key {
  std::array<uint8_t, 32> bytes{};

  bool operator==(const Key &other) const { return bytes == other.bytes; }
  bool operator<(const Key &other) const { return bytes < other.bytes; }
  std::string hex() const { return llvm::toHex(bytes, /*LowerCase=*/true); }

  static Key of(llvm::StringRef text) {
    Key key;
    auto sum = llvm::BLAKE3::hash<32>(llvm::arrayRefFromStringRef(text));
    std::memcpy(key.bytes.data(), sum.data(), sum.size());
    return key;
  }

  /// The inverse of hex(): exactly 64 lower-case digits.
  static std::optional<Key> fromHex(llvm::StringRef text) {
    std::string raw;
    if (text.size() != 64 || text.lower() != text || !llvm::tryGetFromHex(text, raw))
      return std::nullopt;
    Key key;
    std::memcpy(key.bytes.data(), raw.data(), 32);
    return key;
  }
};

/// Keys are hashes already: any eight bytes of one are a hash of it.
struct KeyHash {
  size_t operator()(const Key &key) const {
    size_t hash;
    std::memcpy(&hash, key.bytes.data(), sizeof(hash));
    return hash;
  }
};

} // namespace kiln

#endif // KILN_RUNTIME_CACHE_KEY_H
