// The layout attribute, in its spelling and its algebra, and the op that changes layouts. The
// form is written by hand because a list of named lists has no declarative one.
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Layout/Algebra/LinearLayout.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<StringAttr> names;
  SmallVector<int64_t> bits, bases;
  int64_t rank = 0;
  bool first = true;
  auto parseBasis = [&]() -> ParseResult {
    SMLoc basisLoc = parser.getCurrentLocation();
    int64_t size = 0;
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
          ++size;
          return parser.parseInteger(bases.emplace_back());
        }))
      return failure();
    if (!first && size != rank)
      return parser.emitError(basisLoc) << "expected " << rank << " coordinates as in the basis "
                                        << "before, got " << size;
    rank = size;
    first = false;
    ++bits.back();
    return success();
  };
  auto parsePart = [&]() -> ParseResult {
    std::string name;
    if (parser.parseKeywordOrString(&name) || parser.parseEqual())
      return failure();
    names.push_back(StringAttr::get(parser.getContext(), name));
    bits.push_back(0);
    return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseBasis);
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, parsePart))
    return {};
  return parser.getChecked<LayoutAttr>(loc, parser.getContext(), ArrayRef(names), ArrayRef(bits),
                                       ArrayRef(bases), rank);
}

void LayoutAttr::print(AsmPrinter &printer) const {
  ArrayRef<int64_t> rest = getBases();
  printer << '<';
  llvm::interleaveComma(llvm::zip(getNames(), getBits()), printer, [&](auto part) {
    auto [name, bits] = part;
    printer.printKeywordOrString(name.getValue());
    printer << " = [";
    for (int64_t bit = 0; bit < bits; ++bit) {
      printer << (bit ? ",[" : "[");
      llvm::interleave(rest.take_front(getRank()), printer, ",");
      printer << "]";
      rest = rest.drop_front(getRank());
    }
    printer << "]";
  });
  printer << '>';
}

LogicalResult LayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<StringAttr> names, ArrayRef<int64_t> bits,
                                 ArrayRef<int64_t> bases, int64_t rank) {
  int64_t total = 0;
  for (auto [i, name] : llvm::enumerate(names)) {
    if (llvm::is_contained(names.take_front(i), name))
      return emitError() << "expected one list of bases for '" << name.getValue() << "', got two";
    total += bits[i];
  }
  if (total > 62)
    return emitError() << "expected at most 62 bases, got " << total;
  if (llvm::any_of(bases, [](int64_t value) { return value < 0; }))
    return emitError() << "expected coordinates of at least 0, got a negative one";
  return success();
}

LogicalResult LayoutAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                                         function_ref<InFlightDiagnostic()> emitError) const {
  bool hasBases = llvm::any_of(getBits(), [](int64_t bits) { return bits > 0; });
  if (hasBases && getRank() != int64_t(shape.size()))
    return emitError() << "expected bases of " << shape.size() << " coordinates, got " << getRank();
  for (auto [dim, extent] : llvm::enumerate(shape))
    for (size_t at = dim; hasBases && at < getBases().size(); at += getRank())
      if (getBases()[at] >= extent)
        return emitError() << "expected a basis within the extent " << extent << " of dimension "
                           << dim << ", got " << getBases()[at];
  LinearLayout layout = toLinear(shape);
  // Each lane is there: what is cut is a thread's registers, the warps, or memory.
  bool hasAllLanes = layout.getInSize("lane") == int64_t(1) << layout.getInBits("lane");
  if (!layout.isExact() || !hasAllLanes)
    return emitError()
           << "expected a layout of extents that are powers of two, or whose odd factor "
              "the highest bits of one part other than lanes count, got "
           << layout.str();
  if (layout.isSurjective())
    return success();
  InFlightDiagnostic error = emitError();
  error << "expected a place for each element of ";
  llvm::interleave(shape, error, "x");
  return error << ", got " << *this;
}

LayoutAttr LayoutAttr::get(MLIRContext *context, const LinearLayout &layout) {
  SmallVector<StringAttr> names;
  SmallVector<int64_t> bits, bases;
  for (const LinearLayout::InDim &in : layout.getIns()) {
    names.push_back(StringAttr::get(context, in.name));
    bits.push_back(in.bases.size());
    for (const LinearLayout::Basis &basis : in.bases)
      llvm::append_range(bases, basis);
  }
  // Text cannot tell a rank without bases, so none is kept then.
  int64_t rank = layout.getTotalInBits() ? layout.getOuts().size() : 0;
  return get(context, ArrayRef(names), ArrayRef(bits), ArrayRef(bases), rank);
}

LinearLayout LayoutAttr::toLinear(ArrayRef<int64_t> shape) const {
  SmallVector<LinearLayout::InDim> ins;
  ArrayRef<int64_t> rest = getBases();
  for (auto [name, bits] : llvm::zip(getNames(), getBits())) {
    ins.push_back({name.str(), {}});
    for (int64_t bit = 0; bit < bits; ++bit) {
      ins.back().bases.emplace_back(rest.take_front(getRank()));
      rest = rest.drop_front(getRank());
    }
  }
  return LinearLayout::create(ins, getTensorOuts(shape)).value_or(LinearLayout());
}

OpFoldResult ConvertLayoutOp::fold(FoldAdaptor) {
  if (getInput().getType() == getResult().getType())
    return getInput();
  return {};
}

LogicalResult ConvertLayoutOp::verify() {
  for (Type type : {getInput().getType(), getResult().getType()})
    if (!isa_and_nonnull<LayoutAttr>(cast<RankedTensorType>(type).getEncoding()))
      return emitOpError("expected tensors with a layout, got ") << type;
  return success();
}
