// Reading JSON that somebody else wrote.
#ifndef KILN_SUPPORT_PARSEJSON_H
#define KILN_SUPPORT_PARSEJSON_H

#include "llvm/Support/JSON.h"

namespace kiln {

/// What this project writes nests far less.
inline constexpr int kMaxJSONDepth = 32;

/// LLVM's parser recurses for each bracket, so how deep they nest is found out before it runs.
llvm::Expected<llvm::json::Value> parseJSON(llvm::StringRef text);

} // namespace kiln

#endif // KILN_SUPPORT_PARSEJSON_H
