// One pass over the text, then LLVM's parser.
#include "kiln/Support/ParseJSON.h"
#include <algorithm>

using namespace llvm;

/// How deep brackets outside strings nest.
static int depthOf(StringRef text) {
  int now = 0, most = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inString && c == '\\')
      ++i;
    else if (c == '"')
      inString = !inString;
    else if (!inString && (c == '{' || c == '['))
      most = std::max(most, ++now);
    else if (!inString && (c == '}' || c == ']'))
      --now;
  }
  return most;
}

Expected<json::Value> kiln::parseJSON(StringRef text) {
  if (depthOf(text) > kMaxJSONDepth)
    return createStringError("expected brackets to nest at most " + Twine(kMaxJSONDepth) +
                             " deep, got deeper");
  return json::parse(text);
}
