// Spelling and validity of argument facts.
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace kiln::tile;

#define GET_ATTRDEF_CLASSES
#include "kiln/Dialect/Tile/IR/TileAttributes.cpp.inc"

void TileDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "kiln/Dialect/Tile/IR/TileAttributes.cpp.inc"
      >();
}

static ParseResult parseIntegers(AsmParser &parser, SmallVectorImpl<int64_t> &values) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                        [&] { return parser.parseInteger(values.emplace_back()); });
}

Attribute FactsAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  int64_t pointer = 0, divisor = 0;
  SmallVector<int64_t> strides, extents;
  bool index32 = false, noalias = false;
  llvm::StringSet<> seen;
  auto parseFact = [&]() -> ParseResult {
    StringRef fact;
    SMLoc factLoc = parser.getCurrentLocation();
    if (parser.parseKeyword(&fact))
      return failure();
    if (!seen.insert(fact).second)
      return parser.emitError(factLoc) << "expected each fact once, got '" << fact << "' again";
    if (fact == "index32" || fact == "noalias") {
      (fact == "index32" ? index32 : noalias) = true;
      return success();
    }
    if (parser.parseEqual())
      return failure();
    if (fact == "pointer")
      return parser.parseInteger(pointer);
    if (fact == "divisor")
      return parser.parseInteger(divisor);
    if (fact == "strides")
      return parseIntegers(parser, strides);
    if (fact == "extents")
      return parseIntegers(parser, extents);
    return parser.emitError(factLoc) << "expected pointer, strides, extents, index32, noalias or "
                                        "divisor, got '"
                                     << fact << "'";
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, parseFact))
    return {};
  return parser.getChecked<FactsAttr>(loc, parser.getContext(), pointer, strides, extents, index32,
                                      noalias, divisor);
}

void FactsAttr::print(AsmPrinter &printer) const {
  llvm::ListSeparator separator;
  auto printList = [&](StringRef name, ArrayRef<int64_t> values) {
    printer << StringRef(separator) << name << " = [";
    llvm::interleaveComma(values, printer);
    printer << ']';
  };
  printer << '<';
  if (getPointer())
    printer << StringRef(separator) << "pointer = " << getPointer();
  if (!getStrides().empty())
    printList("strides", getStrides());
  if (!getExtents().empty())
    printList("extents", getExtents());
  if (getIndex32())
    printer << StringRef(separator) << "index32";
  if (getNoalias())
    printer << StringRef(separator) << "noalias";
  if (getDivisor())
    printer << StringRef(separator) << "divisor = " << getDivisor();
  printer << '>';
}

LogicalResult FactsAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t pointer,
                                ArrayRef<int64_t> strides, ArrayRef<int64_t> extents, bool index32,
                                bool noalias, int64_t divisor) {
  auto isNegative = [](int64_t value) { return value < 0; };
  if (pointer < 0 || divisor < 0 || llvm::any_of(strides, isNegative) ||
      llvm::any_of(extents, isNegative))
    return emitError() << "expected multiples of at least 0, got a negative one";
  if (pointer && !llvm::isPowerOf2_64(pointer))
    return emitError() << "expected a pointer that is a multiple of a power of two, got "
                       << pointer;
  return success();
}

LogicalResult TunableAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringAttr name,
                                  Attribute value, ArrayAttr candidates) {
  if (llvm::is_contained(candidates, value))
    return success();
  return emitError() << "expected a value of " << name << " among the candidates " << candidates
                     << ", got " << value;
}
