// What of inline assembly LLVM would abort over, or make of it code that cannot run.
#include "kiln/Target/Common/ForeignCode.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/InlineAsm.h"

using namespace mlir;
using namespace kiln;

/// What of an assembly text's own syntax LLVM takes for granted, and aborts over: each `$` names an
/// operand that there is, or is one of `$$`, `$(`, `$|`, `$)` and `${:word}`.
static std::optional<std::string> whyBadText(StringRef text, size_t operands) {
  bool inVariant = false;
  for (size_t at = text.find('$'); at != StringRef::npos; at = text.find('$', at)) {
    StringRef rest = text.substr(at + 1);
    auto got = [&](StringRef part) { return ", got '$" + part.take_front(24).str() + "'"; };
    if (rest.empty())
      return "expected something after '$', got the text's end";
    ++at;
    char next = rest.front();
    if (next == '$' || next == '|') {
      ++at;
      continue;
    }
    if (next == '(' || next == ')') {
      if ((next == '(') == inVariant)
        return std::string("expected '$(' and '$)' in pairs, not nested") + got(rest.take_front(1));
      inVariant = next == '(';
      ++at;
      continue;
    }
    StringRef digits = rest;
    if (next == '{') {
      size_t end = rest.find('}');
      if (end == StringRef::npos)
        return "expected '}' after '${'" + got(rest);
      StringRef inner = rest.slice(1, end);
      at += end + 1;
      if (inner.consume_front(":")) {
        if (inner != "uid" && inner != "comment" && inner != "private")
          return "expected ${:uid}, ${:comment} or ${:private}" + got(rest.take_front(end + 1));
        continue;
      }
      digits = inner.take_until([](char c) { return c == ':'; });
      StringRef modifier = inner.drop_front(digits.size());
      if (!modifier.empty() && modifier.size() != 2)
        return "expected one letter as the operand's modifier" + got(rest.take_front(end + 1));
      if (digits.empty() || digits.find_first_not_of("0123456789") != StringRef::npos)
        return "expected an operand's number" + got(rest.take_front(end + 1));
    } else {
      digits = rest.take_while(llvm::isDigit);
      if (digits.empty())
        return "expected an operand's number" + got(rest);
      at += digits.size();
    }
    uint64_t number;
    if (digits.getAsInteger(10, number) || number >= operands)
      return "expected an operand's number below " + std::to_string(operands) + ", got $" +
             digits.str();
  }
  if (inVariant)
    return "expected '$)' after '$(', got the text's end";
  return std::nullopt;
}

/// What of an assembly text leaves the section that the kernel's code is in: what follows the text
/// would stand elsewhere, and its jumps would lead nowhere. Between `.pushsection` and
/// `.popsection` it may.
static std::optional<std::string> whyOtherSection(StringRef text) {
  static constexpr StringRef switches[] = {".section", ".text",     ".data",
                                           ".bss",     ".rodata",   ".tdata",
                                           ".tbss",    ".previous", ".subsection"};
  unsigned pushed = 0;
  bool isStart = true; // of a statement
  for (size_t at = 0; at < text.size();) {
    if (char c = text[at]; c != '.' || !isStart) {
      // A label, or what begins, parts or ends variants of the text, may stand before a statement.
      bool isMark = at > 0 && text[at - 1] == '$' && StringRef("(|)").contains(c);
      isStart = isMark || StringRef(";:\n").contains(c) || (isStart && llvm::isSpace(c));
      ++at;
      continue;
    }
    StringRef word =
        text.substr(at).take_while([](char c) { return llvm::isAlnum(c) || c == '.' || c == '_'; });
    std::string name = word.lower();
    at += word.size();
    isStart = false;
    if (name == ".pushsection")
      ++pushed;
    else if (name == ".popsection" && pushed)
      --pushed;
    else if (!pushed && llvm::is_contained(switches, name))
      return "expected inline assembly that stays in the kernel's section, got '" + word.str() +
             "': put other sections between .pushsection and .popsection";
  }
  if (pushed)
    return std::string("expected '.popsection' after '.pushsection', got the text's end");
  return std::nullopt;
}

/// Constraints that LLVM can read, for as many operands and results as the op has.
LogicalResult kiln::verifyInlineAsm(tile::InlineAsmOp op) {
  using Info = llvm::InlineAsm::ConstraintInfo;
  llvm::InlineAsm::ConstraintInfoVector parsed =
      llvm::InlineAsm::ParseConstraints(op.getConstraints());
  if (parsed.empty() && !op.getConstraints().empty())
    return op.emitOpError("expected constraints that LLVM can read, got \"")
           << op.getConstraints() << '"';
  unsigned outputs = 0, inputs = 0;
  for (const Info &one : parsed) {
    if (one.Type == llvm::InlineAsm::isOutput && inputs)
      return op.emitOpError("expected constraints of results before those of operands, got \"")
             << op.getConstraints() << '"';
    if (one.isIndirect || one.Type == llvm::InlineAsm::isLabel)
      return op.emitOpError("expected constraints on values, got one on memory or a label in \"")
             << op.getConstraints() << '"';
    outputs += one.Type == llvm::InlineAsm::isOutput;
    inputs += one.Type == llvm::InlineAsm::isInput;
  }
  if (outputs != op->getNumResults() || inputs != op->getNumOperands())
    return op.emitOpError("expected constraints for ")
           << op->getNumResults() << " results and " << op->getNumOperands() << " operands, got \""
           << op.getConstraints() << "\" for " << outputs << " and " << inputs;
  // In the text, clobbers come after all that has a number.
  if (std::optional<std::string> reason = whyBadText(op.getText(), outputs + inputs))
    return op.emitOpError(*reason);
  if (std::optional<std::string> reason = whyOtherSection(op.getText()))
    return op.emitOpError(*reason);
  return success();
}

std::optional<std::string> kiln::whyForeignConstraints(tile::InlineAsmOp op, StringRef letters) {
  std::string known;
  for (char letter : letters)
    known += (known.empty() ? "" : ", ") + std::string(1, letter);
  llvm::InlineAsm::ConstraintInfoVector constraints =
      llvm::InlineAsm::ParseConstraints(op.getConstraints());
  for (const llvm::InlineAsm::ConstraintInfo &one : constraints) {
    if (one.Type == llvm::InlineAsm::isClobber)
      continue;
    std::string code = one.Codes.empty() ? "" : one.Codes.front();
    bool isTie = one.Type == llvm::InlineAsm::isInput && llvm::all_of(code, llvm::isDigit);
    bool isKnown = code.size() == 1 && letters.contains(code);
    if (one.Codes.size() != 1 || !(isTie || isKnown))
      return (Twine("expected one of the constraints ") + known + ", got '" + code + "'").str();
  }
  return std::nullopt;
}
