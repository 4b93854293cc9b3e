// One pass over a source's characters, counting brackets, operators and digits.
#include "kiln/Support/SourceLimits.h"
#include "kiln/Runtime/Error.h"
#include "llvm/ADT/StringExtras.h"

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

std::optional<SourceProblem> kiln::findSourceProblem(StringRef source, uint32_t maxDepth) {
  if (source.starts_with(bytecodeMagic))
    return std::nullopt;
  // A bracket that closes closes the innermost one, whichever it is: what does not match is for
  // the parser to report. The > of an arrow is none, and neither are comparisons: the IR spells
  // them in words.
  uint64_t depth = 0, line = 1, chain = 0;
  size_t lineStart = 0;
  auto problem = [&](size_t at, const Twine &text) {
    return SourceProblem{line, at - lineStart + 1, text.str()};
  };
  auto newLine = [&](size_t at) {
    ++line;
    lineStart = at + 1;
  };
  for (size_t i = 0, size = source.size(); i < size; ++i) {
    if (isDigit(source[i])) {
      StringRef digits = source.substr(i).take_while([](char c) { return isDigit(c); });
      if (digits.size() > kMaxSourceDigits)
        return problem(i, "expected a number of at most " + Twine(kMaxSourceDigits) +
                              " digits, got " + Twine(digits.size()));
      i += digits.size() - 1;
      continue;
    }
    if (startsOperator(source.substr(i)) && ++chain > maxChain)
      return problem(i, "expected at most " + Twine(maxChain) +
                            " operators in one expression, got more");
    switch (source[i]) {
    case '\n':
      newLine(i);
      break;
    case '"':
      for (++i; i < size && source[i] != '"' && source[i] != '\n'; ++i)
        i += source[i] == '\\';
      if (i < size && source[i] == '\n')
        newLine(i);
      break;
    case '/':
      if (i + 1 < size && source[i + 1] == '/') {
        i = source.find('\n', i);
        if (i == StringRef::npos)
          return std::nullopt;
        newLine(i);
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
        return problem(i, "expected brackets to nest at most " + Twine(maxDepth) +
                              " deep, got deeper");
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
  return std::nullopt;
}

Error kiln::checkSource(StringRef source, StringRef name, uint64_t maxBytes, uint32_t maxDepth) {
  if (source.size() > maxBytes)
    return makeError(KILN_ERROR_REFUSED, name + ": expected at most " + Twine(maxBytes) +
                                             " bytes of source, got " + Twine(source.size()));
  if (std::optional<SourceProblem> problem = findSourceProblem(source, maxDepth))
    return makeError(KILN_ERROR_REFUSED, name + ":" + Twine(problem->line) + ":" +
                                             Twine(problem->column) + ": " + problem->text);
  return Error::success();
}
