// What a source may look like before anything parses it.
#ifndef KILN_SUPPORT_SOURCELIMITS_H
#define KILN_SUPPORT_SOURCELIMITS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <optional>

namespace kiln {

/// How deeply brackets may nest where nobody says otherwise.
inline constexpr uint32_t kMaxSourceDepth = 200;
/// How many digits a number may have. The time to read one grows with the square of its length.
inline constexpr uint64_t kMaxSourceDigits = 1000;

/// Why a source cannot be parsed, and where. Line and column count from 1.
struct SourceProblem {
  uint64_t line, column;
  std::string text;
};

/// The first place where brackets <> () {} [] nest too deeply, an expression has too many
/// operators, or a number too many digits, outside strings and comments: the parser recurses, and
/// would overflow its stack. None in bytecode.
std::optional<SourceProblem> findSourceProblem(llvm::StringRef source,
                                               uint32_t maxDepth = kMaxSourceDepth);

/// Refuses a source that is too large, or has such a place.
llvm::Error checkSource(llvm::StringRef source, llvm::StringRef name, uint64_t maxBytes,
                        uint32_t maxDepth);

} // namespace kiln

#endif // KILN_SUPPORT_SOURCELIMITS_H
