// ldmatrix and stmatrix: their fragments, by the PTX ISA's figures, and how they are emitted.
#include "kiln/Target/Common/AtomCosts.h"
#include "kiln/Target/Common/Threads.h"
#include "kiln/Target/NVPTX/NVPTX.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nvptx;
using tile::Place;

using InDim = LinearLayout::InDim;

static constexpr unsigned kRowBytes = 16;

template <typename Atom>
static void listAtoms(Type element, SmallVectorImpl<Attribute> &atoms) {
  unsigned bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
  if (bits != 8 && bits != 16 && bits != 32)
    return;
  for (unsigned count : {4, 2, 1})
    for (bool transposed : {false, true})
      if (!transposed || bits == 16)
        atoms.push_back(Atom::get(element.getContext(), count, bits, transposed));
}

SmallVector<Attribute> kiln::nvptx::getMatrixCopies(Type element, bool storesToo) {
  SmallVector<Attribute> atoms;
  listAtoms<LdMatrixAttr>(element, atoms);
  if (storesToo)
    listAtoms<StMatrixAttr>(element, atoms);
  return atoms;
}

//===- The form -----------------------------------------------------------------------------===//

static LogicalResult verifyMatrices(function_ref<InFlightDiagnostic()> emitError, unsigned count,
                                    unsigned bits, bool transposed) {
  if (count != 1 && count != 2 && count != 4)
    return emitError() << "expected 1, 2 or 4 matrices, got " << count;
  if (bits != 8 && bits != 16 && bits != 32)
    return emitError() << "expected elements of 8, 16 or 32 bits, got " << bits;
  if (transposed && bits != 16)
    return emitError() << "expected elements of 16 bits to transpose, got " << bits;
  return success();
}

template <typename Atom>
static Attribute parseMatrices(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  unsigned count = 0, bits = 0;
  bool transposed = false;
  if (parser.parseLess() || parser.parseInteger(count) || parser.parseComma() ||
      parser.parseInteger(bits))
    return {};
  if (succeeded(parser.parseOptionalComma())) {
    transposed = true;
    if (parser.parseKeyword("transposed"))
      return {};
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<Atom>(loc, parser.getContext(), count, bits, transposed);
}

template <typename Atom>
static void printMatrices(AsmPrinter &printer, Atom atom) {
  printer << '<' << atom.getCount() << ", " << atom.getBits()
          << (atom.getTransposed() ? ", transposed" : "") << '>';
}

//===- Fragments ----------------------------------------------------------------------------===//

/// A lane holds one register of 32 bits of each matrix: of row lane / 4, the unit lane mod 4; or,
/// transposed, of column lane / 4 the two rows from 2 (lane mod 4) on.
template <typename Atom>
static LinearLayout getMatrixTile(Atom atom) {
  InDim registers{"register", {}}, lanes{"lane", {}};
  int64_t packed = 32 / atom.getBits(), at = 1;
  auto inRow = [&](InDim &part) {
    part.bases.push_back({at});
    at *= 2;
  };
  auto amongRows = [](InDim &part) { part.bases.push_back({0}); };
  for (int64_t reg = 1; reg < packed; reg *= 2)
    atom.getTransposed() ? amongRows(registers) : inRow(registers);
  for (int bit = 0; bit < 2; ++bit)
    atom.getTransposed() ? amongRows(lanes) : inRow(lanes);
  for (int bit = 0; bit < 3; ++bit)
    atom.getTransposed() ? inRow(lanes) : amongRows(lanes);
  for (unsigned matrix = 1; matrix < atom.getCount(); matrix *= 2)
    amongRows(registers);
  return *LinearLayout::create({registers, lanes}, getTensorOuts({128 / atom.getBits()}));
}

/// Eight lanes a matrix, one a row.
template <typename Atom>
static LinearLayout getMatrixRows(Atom atom) {
  int64_t packed = 32 / atom.getBits();
  InDim lanes{"lane", {}};
  if (atom.getTransposed())
    lanes.bases = {{1, 0}, {0, 1}, {0, 2}};
  else
    lanes.bases = {{0, 4}, {0, 8}, {0, 16}};
  for (unsigned matrix = 1; matrix < 4; matrix *= 2)
    lanes.bases.push_back({matrix < atom.getCount() ? packed * matrix : 0, 0});
  return *LinearLayout::create({lanes}, {{"register", packed * atom.getCount()}, {"lane", 32}});
}

//===- ldmatrix -----------------------------------------------------------------------------===//

LogicalResult LdMatrixAttr::verify(function_ref<InFlightDiagnostic()> emitError, unsigned count,
                                   unsigned bits, bool transposed) {
  return verifyMatrices(emitError, count, bits, transposed);
}

Attribute LdMatrixAttr::parse(AsmParser &parser, Type) {
  return parseMatrices<LdMatrixAttr>(parser);
}

void LdMatrixAttr::print(AsmPrinter &printer) const { printMatrices(printer, *this); }

bool LdMatrixAttr::canCopy(Place from, Place to) const {
  return from == Place::Shared && to == Place::Registers;
}

unsigned LdMatrixAttr::getGranularity() const { return kRowBytes; }

std::optional<int64_t> LdMatrixAttr::getLatency(const Chip &chip) const {
  return getValue(chip.figures.fragmentLatency);
}

LinearLayout LdMatrixAttr::getTile() const { return getMatrixTile(*this); }

LinearLayout LdMatrixAttr::getNamedRows() const { return getMatrixRows(*this); }

Value LdMatrixAttr::emit(OpBuilder &builder, Location loc, Value pointer, Value) const {
  Type word = builder.getI32Type(), result = word;
  if (getCount() > 1)
    result =
        LLVM::LLVMStructType::getLiteral(builder.getContext(), SmallVector<Type>(getCount(), word));
  auto layout = getTransposed() ? NVVM::MMALayout::col : NVVM::MMALayout::row;
  auto shape = NVVM::LdStMatrixShapeAttr::get(builder.getContext(), 8, 8);
  Value loaded = NVVM::LdMatrixOp::create(builder, loc, result, pointer, getCount(), layout, shape,
                                          NVVM::LdStMatrixEltType::B16);
  SmallVector<Value> words;
  for (unsigned i = 0; i < getCount(); ++i)
    words.push_back(getCount() > 1 ? Value(LLVM::ExtractValueOp::create(builder, loc, loaded, i))
                                   : loaded);
  return castVector(builder, loc, makeVector(builder, loc, words),
                    builder.getIntegerType(getBits()));
}

//===- stmatrix -----------------------------------------------------------------------------===//

LogicalResult StMatrixAttr::verify(function_ref<InFlightDiagnostic()> emitError, unsigned count,
                                   unsigned bits, bool transposed) {
  return verifyMatrices(emitError, count, bits, transposed);
}

Attribute StMatrixAttr::parse(AsmParser &parser, Type) {
  return parseMatrices<StMatrixAttr>(parser);
}

void StMatrixAttr::print(AsmPrinter &printer) const { printMatrices(printer, *this); }

bool StMatrixAttr::canCopy(Place from, Place to) const {
  return from == Place::Registers && to == Place::Shared;
}

unsigned StMatrixAttr::getGranularity() const { return kRowBytes; }

std::optional<int64_t> StMatrixAttr::getLatency(const Chip &chip) const {
  return getValue(chip.figures.sharedLatency);
}

LinearLayout StMatrixAttr::getTile() const { return getMatrixTile(*this); }

LinearLayout StMatrixAttr::getNamedRows() const { return getMatrixRows(*this); }

Value StMatrixAttr::emit(OpBuilder &builder, Location loc, Value pointer, Value registers) const {
  Value packed = castVector(builder, loc, registers, builder.getI32Type());
  SmallVector<Value> words;
  for (unsigned i = 0; i < getCount(); ++i)
    words.push_back(elementAt(builder, loc, packed, i));
  auto layout = getTransposed() ? NVVM::MMALayout::col : NVVM::MMALayout::row;
  NVVM::StMatrixOp::create(builder, loc, pointer, words, layout,
                           NVVM::LdStMatrixShapeAttr::get(builder.getContext(), 8, 8),
                           NVVM::LdStMatrixEltType::B16);
  return {};
}
