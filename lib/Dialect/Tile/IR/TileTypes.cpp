// Spelling and validity of views and buffers.
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Layout/Algebra/LinearLayout.h"
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

//===- What a value may be ------------------------------------------------------------------===//

bool kiln::tile::isElementType(Type type) {
  if (isa<Float64Type, Float32Type, FloatTF32Type, Float16Type, BFloat16Type, Float8E4M3FNType,
          Float8E5M2Type, Float8E8M0FNUType, Float6E2M3FNType, Float6E3M2FNType, Float4E2M1FNType,
          IndexType>(type))
    return true;
  auto integer = dyn_cast<IntegerType>(type);
  return integer && integer.isSignless() && integer.getWidth() <= 64 &&
         llvm::isPowerOf2_32(integer.getWidth());
}

bool kiln::tile::isMemoryElementType(Type type) {
  return isElementType(type) && !isa<IndexType, FloatTF32Type>(type) && !type.isInteger(1);
}

/// The product of the extents, or nothing if one is below 1 or there are too many elements.
static std::optional<int64_t> countElements(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t extent : shape) {
    if (extent < 1 || extent > kMaxTileElements / count)
      return std::nullopt;
    count *= extent;
  }
  return count;
}

bool kiln::tile::isTileType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() <= kMaxRank && isElementType(tensor.getElementType()) &&
         countElements(tensor.getShape());
}

static LogicalResult verifyMemory(function_ref<InFlightDiagnostic()> emitError, Type element,
                                  size_t rank = 0) {
  if (rank > static_cast<size_t>(kMaxRank))
    return emitError() << "expected a rank of at most " << kMaxRank << ", got " << rank;
  if (isMemoryElementType(element))
    return success();
  return emitError() << "expected an element type that memory can hold, got " << element;
}

LogicalResult PointerType::verify(function_ref<InFlightDiagnostic()> emitError, Type elementType) {
  return verifyMemory(emitError, elementType);
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
  return verifyMemory(emitError, elementType, shape.size());
}

//===- BufferType ---------------------------------------------------------------------------===//

Type BufferType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> shape, whole;
  Type element;
  Attribute layout;
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(element))
    return {};
  if (succeeded(parser.parseOptionalKeyword("of")) &&
      parser.parseDimensionList(whole, /*allowDynamic=*/false, /*withTrailingX=*/false))
    return {};
  if (succeeded(parser.parseOptionalComma()) && parser.parseAttribute(layout))
    return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<BufferType>(loc, parser.getContext(), shape, element, layout, whole);
}

void BufferType::print(AsmPrinter &printer) const {
  printer << '<';
  for (int64_t extent : getShape())
    printer << extent << 'x';
  printer << getElementType();
  if (isWindow()) {
    printer << " of ";
    llvm::interleave(getWhole(), printer, "x");
  }
  if (getLayout())
    printer << ", " << getLayout();
  printer << '>';
}

LogicalResult BufferType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<int64_t> shape, Type elementType, Attribute layout,
                                 ArrayRef<int64_t> whole) {
  if (!countElements(shape))
    return emitError() << "expected 1 to " << kMaxTileElements << " elements in a buffer";
  if (failed(verifyMemory(emitError, elementType, shape.size())))
    return failure();
  bool isWindow = !whole.empty();
  if (isWindow && (!layout || whole.size() != shape.size()))
    return emitError() << "expected a window of " << shape.size()
                       << " extents of a buffer with as many and a layout, got " << whole.size()
                       << (layout ? "" : " and no layout");
  if (!layout)
    return success();
  auto order = dyn_cast<LayoutAttr>(layout);
  if (!order || llvm::any_of(order.getNames(), [](StringAttr name) { return name != "offset"; }))
    return emitError() << "expected a layout of offsets in a buffer, got " << layout;
  return order.verifyEncoding(isWindow ? whole : shape, elementType, emitError);
}
