// Layouts as text, both ways, and as a picture.
#include "kiln/Layout/Algebra/LinearLayout.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

using llvm::SmallVector;
using llvm::StringRef;

namespace kiln {

void LinearLayout::print(llvm::raw_ostream &os) const {
  llvm::interleaveComma(ins, os, [&](const InDim &in) {
    os << in.name << " = [";
    llvm::interleave(
        in.bases, os,
        [&](const Basis &basis) {
          os << "[";
          llvm::interleave(basis, os, ",");
          os << "]";
        },
        ",");
    os << "]";
  });
  os << (ins.empty() ? "-> [" : " -> [");
  llvm::interleaveComma(outs, os, [&](const OutDim &out) { os << out.size; });
  os << "]";
}

std::string LinearLayout::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(os);
  return text;
}

namespace {
/// A cursor over the text; the first failure is kept.
struct Reader {
  StringRef rest;
  std::string error;

  bool accept(StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }
  bool expect(StringRef token) {
    if (accept(token))
      return true;
    if (error.empty())
      error = "expected '" + token.str() + "', got '" + rest.take_front(16).str() + "'";
    return false;
  }
  bool integers(llvm::SmallVectorImpl<int64_t> &values) {
    if (!expect("["))
      return false;
    if (accept("]"))
      return true;
    do {
      int64_t value;
      rest = rest.ltrim();
      if (rest.consumeInteger(10, value)) {
        error = "expected an integer, got '" + rest.take_front(16).str() + "'";
        return false;
      }
      values.push_back(value);
    } while (accept(","));
    return expect("]");
  }
};
} // namespace

std::optional<LinearLayout> LinearLayout::parse(StringRef text, std::string *error) {
  Reader reader{text, {}};
  SmallVector<InDim> ins;
  SmallVector<int64_t> shape;
  auto run = [&] {
    while (!reader.accept("->")) {
      reader.rest = reader.rest.ltrim();
      InDim in{reader.rest.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; }).str(),
               {}};
      reader.rest = reader.rest.drop_front(in.name.size());
      if (in.name.empty() || !reader.expect("=") || !reader.expect("["))
        return reader.expect("a name");
      while (!reader.accept("]")) {
        Basis basis;
        if (!reader.integers(basis))
          return false;
        in.bases.push_back(basis);
        if (!reader.accept(",") && !reader.rest.ltrim().starts_with("]"))
          return reader.expect("]");
      }
      ins.push_back(in);
      reader.accept(",");
    }
    if (!reader.integers(shape))
      return false;
    if (!reader.rest.trim().empty())
      return reader.expect("the end");
    return true;
  };
  if (!run()) {
    if (error)
      *error = reader.error;
    return std::nullopt;
  }
  std::optional<LinearLayout> layout = create(ins, getTensorOuts(shape), error);
  if (!layout || layout->isExact())
    return layout;
  if (error)
    *error = "expected extents that are no powers of two to be counted by the highest bits of one "
             "part each, got " +
             layout->str();
  return std::nullopt;
}

std::string LinearLayout::picture() const {
  // All parts but the first say who holds the element, the first says in which of its places.
  constexpr unsigned kMaxBits = 14;
  if (getTotalInBits() > kMaxBits || outs.empty() || ins.empty())
    return str() + "\n";
  std::map<std::pair<int64_t, int64_t>, std::string> cells;
  for (int64_t flat = 0; flat < int64_t(1) << getTotalInBits(); ++flat) {
    Basis place = unflattenPlace(flat);
    Basis element = apply(place);
    if (!isThere(place))
      continue;
    if (llvm::any_of(llvm::drop_begin(element, std::min<size_t>(2, element.size())),
                     [](int64_t value) { return value != 0; }))
      continue;
    std::string who;
    for (unsigned i = ins.size() - 1; i > 0; --i)
      if (!ins[i].bases.empty())
        who += ins[i].name.substr(0, 1) + std::to_string(place[i]) + " ";
    who = StringRef(who).rtrim().str() + ":" + std::to_string(place[0]);
    auto at = outs.size() == 1 ? std::make_pair(int64_t(0), element[0])
                               : std::make_pair(element[0], element[1]);
    std::string &cell = cells[at];
    cell += (cell.empty() ? "" : "|") + who;
  }
  size_t width = 1;
  for (const auto &cell : cells)
    width = std::max(width, cell.second.size());
  int64_t rows = outs.size() == 1 ? 1 : outs[0].size;
  int64_t columns = outs.size() == 1 ? outs[0].size : outs[1].size;
  std::string text;
  llvm::raw_string_ostream os(text);
  for (int64_t row = 0; row < rows; ++row) {
    std::string line;
    llvm::raw_string_ostream lineStream(line);
    for (int64_t column = 0; column < columns; ++column)
      lineStream << llvm::left_justify(cells.count({row, column}) ? cells[{row, column}] : ".",
                                       width + 1);
    os << StringRef(line).rtrim() << "\n";
  }
  return text;
}

} // namespace kiln
