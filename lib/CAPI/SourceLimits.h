// What a source may look like before anything parses it.
#ifndef KILN_LIB_CAPI_SOURCELIMITS_H
#define KILN_LIB_CAPI_SOURCELIMITS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>

namespace kiln::capi {

/// Refuses a source that is too large, or whose brackets <> () {} [] nest too deeply outside
/// strings and comments: the parser recurses, and would overflow its stack. Bytecode is checked
/// for its size alone.
llvm::Error checkSource(llvm::StringRef source, llvm::StringRef name, uint64_t maxBytes,
                        uint32_t maxDepth);

} // namespace kiln::capi

#endif // KILN_LIB_CAPI_SOURCELIMITS_H
