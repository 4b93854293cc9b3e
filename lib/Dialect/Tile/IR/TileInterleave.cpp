// How a dot's instructions alternate with others, as text: 16 x (1 read), 32 x (2 matrix, 1 load).
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace kiln::tile;

namespace kiln::tile {

ParseResult parseRounds(AsmParser &parser, SmallVector<int64_t> &times, SmallVector<int64_t> &sizes,
                        SmallVector<InstructionGroup> &groups) {
  auto parseGroup = [&]() -> ParseResult {
    InstructionGroup group;
    if (parser.parseInteger(group.count))
      return failure();
    SMLoc loc = parser.getCurrentLocation();
    StringRef word;
    if (parser.parseKeyword(&word))
      return failure();
    std::optional<InstructionKind> kind = symbolizeInstructionKind(word);
    if (!kind)
      return parser.emitError(loc) << "expected matrix, vector, scalar, transcendental, load, "
                                      "store, read or write, got '"
                                   << word << "'";
    group.kind = *kind;
    groups.push_back(group);
    return success();
  };
  return parser.parseCommaSeparatedList([&]() -> ParseResult {
    size_t before = groups.size();
    if (parser.parseInteger(times.emplace_back()) || parser.parseKeyword("x") ||
        parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseGroup))
      return failure();
    sizes.push_back(groups.size() - before);
    return success();
  });
}

void printRounds(AsmPrinter &printer, ArrayRef<int64_t> times, ArrayRef<int64_t> sizes,
                 ArrayRef<InstructionGroup> groups) {
  llvm::interleaveComma(llvm::zip(times, sizes), printer, [&](auto round) {
    auto [count, size] = round;
    printer << count << " x (";
    llvm::interleaveComma(groups.take_front(size), printer, [&](InstructionGroup group) {
      printer << group.count << " " << stringifyInstructionKind(group.kind);
    });
    printer << ")";
    groups = groups.drop_front(size);
  });
}

} // namespace kiln::tile

LogicalResult InterleaveAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                     ArrayRef<int64_t> times, ArrayRef<int64_t> sizes,
                                     ArrayRef<InstructionGroup> groups) {
  int64_t all = 0;
  for (auto [count, size] : llvm::zip(times, sizes)) {
    if (count < 1 || size < 1)
      return emitError() << "expected rounds of at least one group, at least once each, got "
                         << count << " x (" << size << " groups)";
    if (count > kMostGroups || (all += count * size) > kMostGroups)
      return emitError() << "expected at most " << kMostGroups << " groups in all rounds together";
  }
  for (InstructionGroup group : groups)
    if (group.count < 1)
      return emitError() << "expected groups of at least one instruction, got " << group.count
                         << " " << stringifyInstructionKind(group.kind);
  return success();
}

SmallVector<InstructionGroup> InterleaveAttr::getSequence() const {
  SmallVector<InstructionGroup> all;
  ArrayRef<InstructionGroup> groups = getGroups();
  for (auto [count, size] : llvm::zip(getTimes(), getSizes())) {
    for (int64_t i = 0; i < count; ++i)
      llvm::append_range(all, groups.take_front(size));
    groups = groups.drop_front(size);
  }
  return all;
}
