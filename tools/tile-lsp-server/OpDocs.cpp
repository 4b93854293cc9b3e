// The pages that mlir-tblgen writes of dialects are linked in as they are; here they are cut at
// their headings, "### `tile.load` (kiln::tile::LoadOp)".
#include "OpDocs.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using llvm::StringRef;

namespace kiln {
#define KILN_OP_DOCS(NAME) extern const StringRef NAME;
#include "OpDocs.def"
#undef KILN_OP_DOCS
} // namespace kiln

static void readPage(StringRef page, llvm::StringMap<StringRef> &docs) {
  while (!page.empty()) {
    size_t start = page.find("\n### `");
    if (start == StringRef::npos)
      return;
    page = page.drop_front(start + 6);
    StringRef name = page.take_until([](char c) { return c == '`'; });
    page = page.drop_front(std::min(page.find('\n'), page.size()));
    size_t end = std::min({page.find("\n### "), page.find("\n## "), page.find("\n# ")});
    docs[name] = page.take_front(end).trim();
  }
}

StringRef kiln::lsp::documentationOf(StringRef op) {
  static const llvm::StringMap<StringRef> *docs = [] {
    auto *all = new llvm::StringMap<StringRef>();
#define KILN_OP_DOCS(NAME) readPage(NAME, *all);
#include "OpDocs.def"
#undef KILN_OP_DOCS
    return all;
  }();
  return docs->lookup(op);
}

StringRef kiln::lsp::opAt(StringRef text, unsigned line, unsigned character) {
  for (; line; --line)
    text = text.split('\n').second;
  text = text.take_until([](char c) { return c == '\n'; });
  auto isWord = [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.' || c == '$'; };
  if (character >= text.size() || !isWord(text[character]))
    return "";
  size_t from = character, to = character;
  while (from && isWord(text[from - 1]))
    --from;
  while (to < text.size() && isWord(text[to]))
    ++to;
  if (from && StringRef("%@#!^").contains(text[from - 1]))
    return "";
  return text.slice(from, to);
}
