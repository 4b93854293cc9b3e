// Spelling and validity of views and buffers.
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace kiln::tile;

#define GET_TYPEDEF_CLASSES
#include "kiln/Dialect/Tile/IR/TileTypes.cpp.inc"

void TileDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "kiln/Dialect/Tile/IR/TileTypes.cpp.inc"
      >();
}

/// What memory can hold: `index` has no size there.
static LogicalResult verifyElement(function_ref<InFlightDiagnostic()> emitError, Type element) {
  if (isa<FloatType>(element) || element.isSignlessInteger())
    return success();
  return emitError() << "expected a float or signless integer element type, got " << element;
}

//===- ViewType -----------------------------------------------------------------------------===//

SmallVector<int64_t> ViewType::getDefaultStrides(int64_t rank) {
  SmallVector<int64_t> strides(rank, ShapedType::kDynamic);
  if (rank > 0)
    strides.back() = 1;
  return strides;
}

int64_t ViewType::getNumDynamicDims() const {
  return llvm::count_if(getShape(), ShapedType::isDynamic);
}

int64_t ViewType::getNumDynamicStrides() const {
  return llvm::count_if(getStrides(), ShapedType::isDynamic);
}

ViewType ViewType::get(ArrayRef<int64_t> shape, Type elementType) {
  return get(elementType.getContext(), shape, elementType, getDefaultStrides(shape.size()));
}

Type ViewType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> shape;
  Type element;
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/true) ||
      parser.parseType(element))
    return {};
  SmallVector<int64_t> strides = getDefaultStrides(shape.size());
  if (succeeded(parser.parseOptionalComma())) {
    strides.clear();
    auto parseStride = [&]() -> ParseResult {
      if (succeeded(parser.parseOptionalQuestion())) {
        strides.push_back(ShapedType::kDynamic);
        return success();
      }
      return parser.parseInteger(strides.emplace_back());
    };
    if (parser.parseKeyword("strides") ||
        parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseStride))
      return {};
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<ViewType>(loc, parser.getContext(), shape, element, strides);
}

void ViewType::print(AsmPrinter &printer) const {
  printer << '<';
  for (int64_t extent : getShape()) {
    if (ShapedType::isDynamic(extent))
      printer << '?';
    else
      printer << extent;
    printer << 'x';
  }
  printer << getElementType();
  if (getStrides() != ArrayRef<int64_t>(getDefaultStrides(getRank()))) {
    printer << ", strides [";
    llvm::interleaveComma(getStrides(), printer, [&](int64_t stride) {
      if (ShapedType::isDynamic(stride))
        printer << '?';
      else
        printer << stride;
    });
    printer << ']';
  }
  printer << '>';
}

LogicalResult ViewType::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<int64_t> shape, Type elementType,
                               ArrayRef<int64_t> strides) {
  if (strides.size() != shape.size())
    return emitError() << "expected " << shape.size() << " strides (one a dimension), got "
                       << strides.size();
  for (int64_t extent : shape)
    if (!ShapedType::isDynamic(extent) && extent < 0)
      return emitError() << "expected extents of at least 0, got " << extent;
  return verifyElement(emitError, elementType);
}

//===- BufferType ---------------------------------------------------------------------------===//

Type BufferType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> shape;
  Type element;
  Attribute layout;
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(element))
    return {};
  if (succeeded(parser.parseOptionalComma()) && parser.parseAttribute(layout))
    return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<BufferType>(loc, parser.getContext(), shape, element, layout);
}

void BufferType::print(AsmPrinter &printer) const {
  printer << '<';
  for (int64_t extent : getShape())
    printer << extent << 'x';
  printer << getElementType();
  if (getLayout())
    printer << ", " << getLayout();
  printer << '>';
}

LogicalResult BufferType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<int64_t> shape, Type elementType, Attribute layout) {
  for (int64_t extent : shape)
    if (extent < 1)
      return emitError() << "expected static extents of at least 1, got " << extent;
  return verifyElement(emitError, elementType);
}
