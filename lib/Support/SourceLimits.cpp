// One pass over a source's characters, counting brackets.
#include "kiln/Support/SourceLimits.h"
#include "kiln/Runtime/Error.h"

using namespace kiln;
using namespace llvm;

static constexpr StringLiteral bytecodeMagic = "ML\xefR";

/// The parser of affine expressions recurses for each operator, brackets or not.
static constexpr uint64_t maxChain = 1000;
static bool startsOperator(StringRef rest) {
  switch (rest.front()) {
  case '+':
  case '-':
  case '*':
    return true;
  case 'm':
    return rest.starts_with("mod ");
  case 'f':
    return rest.starts_with("floordiv ");
  case 'c':
    return rest.starts_with("ceildiv ");
  default:
    return false;
  }
}

Error kiln::checkSource(StringRef source, StringRef name, uint64_t maxBytes, uint32_t maxDepth) {
  if (source.size() > maxBytes)
    return makeError(KILN_ERROR_REFUSED, name + ": expected at most " + Twine(maxBytes) +
                                             " bytes of source, got " + Twine(source.size()));
  if (source.starts_with(bytecodeMagic))
    return Error::success();
  // A bracket that closes closes the innermost one, whichever it is: what does not match is for
  // the parser to report. The > of an arrow is none, and neither are comparisons: the IR spells
  // them in words.
  uint64_t depth = 0, line = 1, chain = 0;
  for (size_t i = 0, size = source.size(); i < size; ++i) {
    StringRef rest = source.substr(i);
    if (startsOperator(rest) && ++chain > maxChain)
      return makeError(KILN_ERROR_REFUSED, name + ":" + Twine(line) + ": expected at most " +
                                               Twine(maxChain) +
                                               " operators in one expression, got more");
    switch (source[i]) {
    case '\n':
      ++line;
      break;
    case '"':
      for (++i; i < size && source[i] != '"' && source[i] != '\n'; ++i)
        i += source[i] == '\\';
      line += i < size && source[i] == '\n';
      break;
    case '/':
      if (i + 1 < size && source[i + 1] == '/') {
        i = source.find('\n', i);
        if (i == StringRef::npos)
          return Error::success();
        ++line;
      }
      break;
    case ',':
    case '=':
      chain = 0;
      break;
    case '<':
    case '(':
    case '{':
    case '[':
      chain = 0;
      if (++depth > maxDepth)
        return makeError(KILN_ERROR_REFUSED, name + ":" + Twine(line) +
                                                 ": expected brackets to nest at most " +
                                                 Twine(maxDepth) + " deep, got deeper");
      break;
    case '>':
      if (i && source[i - 1] == '-')
        break;
      LLVM_FALLTHROUGH;
    case ')':
    case '}':
    case ']':
      chain = 0;
      depth -= depth > 0;
      break;
    }
  }
  return Error::success();
}
