// What a source may look like before anything parses it.
#ifndef KILN_SUPPORT_SOURCELIMITS_H
#define KILN_SUPPORT_SOURCELIMITS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>

namespace kiln {

/// How deeply brackets may nest where nobody says otherwise.
inline constexpr uint32_t kMaxSourceDepth = 200;

/// Refuses a source that is too large, or whose brackets <> () {} [] nest too deeply outside
/// strings and comments: the parser recurses, and would overflow its stack. Bytecode is checked
/// for its size alone.
llvm::Error checkSource(llvm::StringRef source, llvm::StringRef name, uint64_t maxBytes,
                        uint32_t maxDepth);

} // namespace kiln

#endif // KILN_SUPPORT_SOURCELIMITS_H
