// tcgen05.mma: the buffers that it reads, its accumulators in tensor memory, by the PTX ISA's
// figures, and how it is emitted.
//
// Tensor memory is 128 lanes of 512 columns, of 32 bits each; an address has its lane in the upper
// half and its column in the lower. A product of 128 rows has row i in lane i. Warp w of a group of
// four reaches lanes 32 w to 32 w + 31 alone, so each thread fetches one row.
//
// A product of 64 rows has row i in lane 32 (i / 16) + i % 16 (data path layout F), so each warp
// has 16 rows in the first half of its lanes, and nothing in the other. By `.16x32bx2` the threads
// of the second half of a warp fetch further columns of the same rows, so each has half a row.
//
// Operand a may lie there, too, where warps have written it: in the lanes of its rows, as many
// elements along k in a column as have 32 bits. It is read by rows only.
//
// A product of 256 rows is one of two blocks of a cluster, of ranks 2 i and 2 i + 1
// (`.cta_group::2`). Each has 128 rows of the accumulator in its own lanes, as a product of 128 has
// them (data path layout A), each its own rows of a, and the first one the first half of b's rows
// of n, the other the second. Descriptors and the accumulator's address are meant in each of them.
// Each has in its own tensor memory the scales of its own rows of a, and those of all of b's.
#include "Tcgen05.h"
#include "SharedMatrix.h"
#include "Tcgen05Scales.h"
#include "kiln/Dialect/Tile/IR/Roles.h"
#include "kiln/Layout/Transforms/AtomFit.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Layout/Transforms/SharedLayout.h"
#include "kiln/Target/Common/AtomCosts.h"
#include "kiln/Target/Common/Threads.h"
#include "kiln/Target/NVPTX/NVPTX.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nvptx;
using tile::Completion;
using tile::Place;

static constexpr int64_t kMostColumns = 256;
static constexpr unsigned kPair = 2;

//===- Shapes -------------------------------------------------------------------------------===//

namespace {
/// What the instruction calls a type: its kind, of products with scales or of others, and its
/// number among those of the kind.
struct Format {
  NVVM::Tcgen05MMAKind kind;
  unsigned number;
  int64_t bits;
  std::optional<NVVM::MMABlockScaleKind> scaled = {};
};
} // namespace

/// Of an element whose blocks have scales. Those of four bits by blocks of 32 have a kind of their
/// own, which says what `mxf4nvf4` says of such.
static std::optional<Format> getScaledFormat(Type element, Type scale) {
  constexpr auto kNone = NVVM::Tcgen05MMAKind::F8F6F4;
  bool isPower = isa<Float8E8M0FNUType>(scale);
  if (isa<Float4E2M1FNType>(element) && (isPower || isa<Float8E4M3FNType>(scale)))
    return Format{kNone, 1, 4,
                  isPower ? NVVM::MMABlockScaleKind::MXF4 : NVVM::MMABlockScaleKind::MXF4NVF4};
  if (isPower && isa<Float8E4M3FNType>(element))
    return Format{kNone, 0, 8, NVVM::MMABlockScaleKind::MXF8F6F4};
  if (isPower && isa<Float8E5M2Type>(element))
    return Format{kNone, 1, 8, NVVM::MMABlockScaleKind::MXF8F6F4};
  return std::nullopt;
}

static std::optional<Format> getFormat(Type element, Type accumulator, Type scale = {}) {
  if (scale)
    return accumulator.isF32() ? getScaledFormat(element, scale) : std::nullopt;
  if (element.isSignlessInteger(8) && accumulator.isSignlessInteger(32))
    return Format{NVVM::Tcgen05MMAKind::I8, 1, 8};
  if (!accumulator.isF32())
    return std::nullopt;
  if (element.isF16())
    return Format{NVVM::Tcgen05MMAKind::F16, 0, 16};
  if (element.isBF16())
    return Format{NVVM::Tcgen05MMAKind::F16, 1, 16};
  if (isa<FloatTF32Type>(element))
    return Format{NVVM::Tcgen05MMAKind::TF32, 2, 32};
  if (isa<Float8E4M3FNType>(element))
    return Format{NVVM::Tcgen05MMAKind::F8F6F4, 0, 8};
  if (isa<Float8E5M2Type>(element))
    return Format{NVVM::Tcgen05MMAKind::F8F6F4, 1, 8};
  return std::nullopt;
}

/// Of what a buffer has of it: of elements of four bits bytes, two in each.
static int64_t getStoredBits(Format format) { return std::max<int64_t>(format.bits, 8); }

/// 32 bytes of k in each row.
static int64_t getDepth(Format format) { return 256 / format.bits; }

/// Integers of either sign are one type here: the instruction's descriptor tells of signs.
static Type dropSign(Type element) {
  return element.isUnsignedInteger(8) ? IntegerType::get(element.getContext(), 8) : element;
}

/// Each operand of a byte has its own format.
static bool areMultiplied(Type a, Type b) {
  auto isByte = [](Type element) { return isa<Float8E4M3FNType, Float8E5M2Type>(element); };
  return a == b || (isByte(a) && isByte(b));
}

/// Of a dot with scales; null if they are not of one type.
static Type getScaleType(tile::DotOp dot) {
  if (dot.getScales().empty())
    return {};
  return getElementTypeOrSelf(dot.getScales()[0]);
}

/// The types of the operands, as the instruction reads them.
static std::pair<Type, Type> getElements(tile::DotOp dot) {
  if (dot.getPrecision() == tile::DotPrecision::TF32)
    return {FloatTF32Type::get(dot.getContext()), FloatTF32Type::get(dot.getContext())};
  auto [a, b] = getDotTypes(dot);
  return {dropSign(a), dropSign(b)};
}

static SmallVector<Type> getElementTypes(ValueRange values) {
  return llvm::map_to_vector(values, [](Value value) { return getElementTypeOrSelf(value); });
}

/// That of a dot whose depth the instruction multiplies.
static std::optional<Format> findFormat(tile::DotOp dot) {
  auto [a, b] = getElements(dot);
  if (!areMultiplied(a, b) || !llvm::all_equal(getElementTypes(dot.getScales())))
    return std::nullopt;
  std::optional<Format> format = getFormat(a, dot.getType().getElementType(), getScaleType(dot));
  return format && dot.getK() % getDepth(*format) == 0 ? format : std::nullopt;
}

/// How many blocks multiply, how many rows each, and what columns.
struct Tcgen05Shape {
  unsigned programs;
  int64_t rows, columns;
};

/// By CUTLASS's rules for the instructions of each kind, and those of the PTX ISA ("Matrix shape").
static bool isColumns(Format format, unsigned programs, int64_t rows, int64_t n) {
  if (format.scaled && rows == kHalfRows)
    return false;
  int64_t step = programs == 1 && (rows == kHalfRows || format.scaled) ? 8 : 16;
  if (format.kind == NVVM::Tcgen05MMAKind::I8)
    step = programs > 1 ? 32 : n == 8 ? step : 16;
  return n >= step && n <= kMostColumns && n % step == 0;
}

static std::optional<Tcgen05Shape> parseShape(StringRef shape, Format format) {
  Tcgen05Shape parsed = {1, kRows, 0};
  if (shape.consume_front("m64n"))
    parsed.rows = kHalfRows;
  else if (shape.consume_front("m256n"))
    parsed.programs = kPair;
  else if (!shape.consume_front("m128n"))
    return std::nullopt;
  if (!shape.consume_back("k" + std::to_string(getDepth(format))) ||
      shape.getAsInteger(10, parsed.columns) ||
      !isColumns(format, parsed.programs, parsed.rows, parsed.columns))
    return std::nullopt;
  return parsed;
}

static Tcgen05Attr getAtom(tile::DotOp dot, Format format, Tcgen05Shape shape) {
  std::string text = "m" + std::to_string(shape.programs * shape.rows) + "n" +
                     std::to_string(shape.columns) + "k" + std::to_string(getDepth(format));
  auto [a, b] = getElements(dot);
  return Tcgen05Attr::get(dot.getContext(), text, a, dot.getType().getElementType(),
                          a == b ? Type() : b, getScaleType(dot));
}

LogicalResult Tcgen05Attr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef shape,
                                  Type element, Type accumulator, Type elementB, Type scale) {
  if (elementB && !areMultiplied(element, elementB))
    return emitError() << "expected types that tcgen05 multiplies, got " << element << " and "
                       << elementB;
  std::optional<Format> format = getFormat(element, accumulator, scale);
  if (!format) {
    InFlightDiagnostic error = emitError()
                               << "expected types that tcgen05 multiplies, got " << element;
    if (scale)
      error << " with scales of " << scale;
    return error << " into " << accumulator;
  }
  if (parseShape(shape, *format))
    return success();
  std::string tail = "k" + std::to_string(getDepth(*format));
  if (scale)
    return emitError() << "expected a shape of tcgen05 for " << element << " with scales of "
                       << scale << ", m128n8" << tail << " to m128n256" << tail
                       << " or, of two programs, m256n16" << tail << " to m256n256" << tail
                       << ", got '" << shape << "'";
  int64_t ofPair = format->kind == NVVM::Tcgen05MMAKind::I8 ? 32 : 16;
  return emitError() << "expected a shape of tcgen05 for " << element << " into " << accumulator
                     << ", m64n8" << tail << " to m64n256" << tail << ", m128n16" << tail
                     << " to m128n256" << tail << " or, of two programs, m256n" << ofPair << tail
                     << " to m256n256" << tail << ", got '" << shape << "'";
}

/// Copies of a role share out rows, or columns where rows are too few.
Attribute kiln::nvptx::getTcgen05Atom(tile::DotOp dot) {
  std::optional<Format> format = findFormat(dot);
  if (!format)
    return {};
  tile::RoleAttr role = tile::lookUpRole(dot);
  int64_t copies = role ? role.getCopies() : 1, m = dot.getM(), n = dot.getN();
  if (int dim = tile::getSharedDim(m, n, kHalfRows, /*leastN=*/8, copies); dim >= 0)
    (dim == 0 ? m : n) /= copies;
  int64_t rows = m % kRows ? kHalfRows : kRows;
  // One copy has no more rows than these, and no role says yet that there are several.
  if (!role && rows == kHalfRows && m != kHalfRows)
    return {};
  auto findAtom = [&](int64_t n) -> Attribute {
    // Scales of further columns begin in a column of their own.
    auto beginsScales = [&](int64_t columns) {
      return !format->scaled || columns == n || columns % kLanesOfWarp == 0;
    };
    for (int64_t columns = std::min(n, kMostColumns); m % rows == 0 && columns >= 8; --columns)
      if (n % columns == 0 && isColumns(*format, 1, rows, columns) && beginsScales(columns))
        return getAtom(dot, *format, {1, rows, columns});
    return {};
  };
  return findForParts(dot, n, findAtom);
}

/// As if its extents were what they should be, so that whoever asks learns why it does not fit.
Attribute kiln::nvptx::getTcgen05Atom(tile::DotScaledOp dot) {
  auto elementOf = [](Value value) { return getElementTypeOrSelf(value); };
  Type a = elementOf(dot.getA()), b = elementOf(dot.getB()), scale = elementOf(dot.getScaleA());
  Type sum = elementOf(dot.getResult());
  std::optional<Format> format = getFormat(a, sum, scale);
  if (!format || !areMultiplied(a, b) || scale != elementOf(dot.getScaleB()))
    return {};
  int64_t n = llvm::PowerOf2Ceil(dot.getN()), columns = std::clamp<int64_t>(n, 8, kMostColumns);
  std::string text = "m" + std::to_string(kRows) + "n" + std::to_string(columns) + "k" +
                     std::to_string(getDepth(*format));
  return Tcgen05Attr::get(dot.getContext(), text, a, sum, a == b ? Type() : b, scale);
}

/// By one instruction for all columns: by several, each would have its own halves.
Attribute kiln::nvptx::getTcgen05PairAtom(tile::DotOp dot) {
  std::optional<Format> format = findFormat(dot);
  int64_t n = dot.getN();
  if (!format || dot.getM() % kRows || !isColumns(*format, kPair, kRows, n))
    return {};
  return getAtom(dot, *format, {kPair, kRows, n});
}

bool Tcgen05Attr::multiplies(Type a, Type b, Type sum) const {
  return !getScale() && dropSign(a) == getTypeOf(0) && dropSign(b) == getTypeOf(1) &&
         sum == getAccumulator();
}

bool Tcgen05Attr::multipliesScaled(Type a, Type b, Type sum, Type scale) const {
  return a == getTypeOf(0) && b == getTypeOf(1) && sum == getAccumulator() && scale == getScale();
}

int64_t Tcgen05Attr::getBlock() const {
  return !getScale() ? 0 : isa<Float8E4M3FNType>(getScale()) ? 16 : 32;
}

std::array<int64_t, 3> Tcgen05Attr::getExtents() const {
  Format format = *getFormat(getElement(), getAccumulator(), getScale());
  Tcgen05Shape shape = *parseShape(getShape(), format);
  return {shape.rows, shape.columns, getDepth(format)};
}

unsigned Tcgen05Attr::getPrograms() const {
  return parseShape(getShape(), *getFormat(getElement(), getAccumulator(), getScale()))->programs;
}

Completion Tcgen05Attr::getCompletion() const { return Completion::Commit; }

Place Tcgen05Attr::getAccumulatorPlace() const { return Place::Tensor; }

bool Tcgen05Attr::readsFrom(unsigned operand, Place place) const {
  return place == Place::Shared || (operand == 0 && place == Place::Tensor && !getScale());
}

unsigned Tcgen05Attr::getWarps() const { return kWarpsOfGroup; }

/// Of a pair each block's units make its own rows. Of 64 rows half of the units are idle.
std::optional<int64_t> Tcgen05Attr::getIssueCycles(const Chip &chip, Type, int64_t products) const {
  return countMatrixCycles(chip, getElement(), getElement(), products * kRows / getExtents()[0]);
}

/// What was measured has the commit and the wait for it.
std::optional<int64_t> Tcgen05Attr::getLatency(const Chip &chip) const {
  return getValue(chip.figures.matrixLatency);
}

//===- Layouts ------------------------------------------------------------------------------===//

/// A row is one thread's, or two threads' of 64 rows. Rows beyond the instruction's are further
/// columns of tensor memory.
LinearLayout Tcgen05Attr::getAccumulatorLayout(ArrayRef<int64_t> shape, unsigned warps) const {
  LinearLayout::InDim registers{"register", {}}, lanes{"lane", {}}, warpBits{"warp", {}};
  bool isHalf = getExtents()[0] == kHalfRows;
  // Further rows would lie in lanes of their own.
  if (isHalf && (shape[0] != kHalfRows || warps != kWarpsOfGroup))
    return {};
  int64_t row = 1, half = isHalf ? getColumnsOfHalf(shape[1]) : 0;
  auto nextRow = [&] {
    LinearLayout::Basis basis{row < shape[0] ? row : 0, 0};
    row *= 2;
    return basis;
  };
  for (int64_t lane = 1; lane < (isHalf ? 16 : 32); lane *= 2)
    lanes.bases.push_back(nextRow());
  if (isHalf)
    lanes.bases.push_back({0, half});
  for (unsigned warp = 1; warp < warps; warp *= 2)
    warpBits.bases.push_back(nextRow());
  for (int64_t column = 1; column < shape[1]; column *= 2)
    if (column != half)
      registers.bases.push_back({0, column});
  while (row < shape[0])
    registers.bases.push_back(nextRow());
  std::optional<LinearLayout> layout =
      LinearLayout::create({registers, lanes, warpBits}, getTensorOuts(shape));
  return layout ? canonicalise(*layout) : LinearLayout();
}

/// By rows, as an accumulator.
std::optional<LinearLayout> Tcgen05Attr::getRegisterLayout(ArrayRef<int64_t> shape,
                                                           unsigned warps) const {
  if (getScale())
    return std::nullopt;
  return getAccumulatorLayout(shape, warps);
}

std::optional<LinearLayout> Tcgen05Attr::getScaleLayout(unsigned, ArrayRef<int64_t> shape,
                                                        unsigned warps) const {
  return getScale() ? getTensorScaleLayout(shape, warps) : std::nullopt;
}

std::vector<LinearLayout> Tcgen05Attr::getSharedLayouts(unsigned operand, ArrayRef<int64_t> shape,
                                                        bool transposed) const {
  return getMatrixLayouts(shape,
                          getStoredBits(*getFormat(getElement(), getAccumulator(), getScale())),
                          /*alongK=*/(operand == 0) != transposed, getExtents()[operand]);
}

//===- Emission -----------------------------------------------------------------------------===//

/// What is multiplied, as the instruction descriptor says it.
static int64_t getInstruction(Tcgen05Attr atom, int64_t m, int64_t n, const AsyncDot &dot) {
  // s32 or f32; f32 alone with scales.
  int64_t sum = atom.getAccumulator().isInteger() ? 2 : atom.getScale() ? 0 : 1;
  auto getNumber = [&](const AsyncDot::Operand &operand) -> int64_t {
    Format format =
        *getFormat(atom.getTypeOf(&operand == &dot.b), atom.getAccumulator(), atom.getScale());
    return format.kind == NVVM::Tcgen05MMAKind::I8 ? !operand.isUnsigned : format.number;
  };
  int64_t isAlongM = dot.a.transposed, isAlongN = !dot.b.transposed;
  return sum << 4 | getNumber(dot.a) << 7 | getNumber(dot.b) << 10 | isAlongM << 15 |
         isAlongN << 16 | n >> 3 << 17 | m >> 4 << 24;
}

namespace {
/// Starts the instructions of one dot with scales.
struct ScaledStart {
  Tcgen05Attr atom;
  const AsyncDot &dot;

  /// Of scales that lie as the atom has them.
  bool fits() const {
    auto isThere = [&](unsigned operand) {
      const AsyncDot::Operand &scales = dot.scales[operand];
      return scales.address &&
             atom.getScaleLayout(operand, scales.layout.getShape(), kWarpsOfGroup) == scales.layout;
    };
    return dot.scales.size() == 2 && isThere(0) && isThere(1);
  }
  void multiply(OpBuilder &builder, Location loc, NVVM::CTAGroupKind group, Value sums, Value a,
                Value b, int64_t instruction, Value accumulates,
                std::array<int64_t, 3> place) const {
    Format format = *getFormat(atom.getElement(), atom.getAccumulator(), atom.getScale());
    auto [row, column, k] = place;
    ScalePlace ofA = findScale(dot.scales[0].layout.getShape(), row, k / atom.getBlock());
    ScalePlace ofB = findScale(dot.scales[1].layout.getShape(), column, k / atom.getBlock());
    bool isPower = isa<Float8E8M0FNUType>(atom.getScale());
    instruction |= ofB.byte << 4 | int64_t(isPower) << 23 | ofA.byte << 29;
    auto size = isPower ? NVVM::Tcgen05MMABlockScale::DEFAULT : NVVM::Tcgen05MMABlockScale::BLOCK16;
    NVVM::Tcgen05MMABlockScaleOp::create(
        builder, loc, *format.scaled, group, size, NVVM::Tcgen05MMACollectorOp::DISCARD, sums, a, b,
        number(builder, loc, instruction), accumulates,
        getTensorPointer(builder, loc, dot.scales[0].address, ofA.column),
        getTensorPointer(builder, loc, dot.scales[1].address, ofB.column));
  }
};
} // namespace

FailureOr<SmallVector<Value>> Tcgen05Attr::start(OpBuilder &builder, Location loc,
                                                 const AsyncDot &dot) const {
  auto [m, n, k] = getExtents();
  Format format = *getFormat(getElement(), getAccumulator(), getScale());
  ScaledStart scaled{*this, dot};
  int64_t programs = getPrograms();
  bool fits = dot.m % m == 0 && dot.n % n == 0 && dot.k % k == 0 && dot.b.base;
  fits &= programs == 1 || dot.n == n;
  fits &= getScale() ? scaled.fits() : dot.scales.empty();
  if (!fits || dot.accumulatorLayout != getAccumulatorLayout({dot.m, dot.n}, kWarpsOfGroup))
    return failure();
  constexpr uint64_t kConstant = uint64_t(1) << 46;
  int64_t stored = getStoredBits(format);
  std::optional<SharedMatrix> a;
  if (dot.a.base)
    a = SharedMatrix::describe(builder, loc, dot.a, stored, !dot.a.transposed, m, kConstant);
  std::optional<SharedMatrix> b =
      SharedMatrix::describe(builder, loc, dot.b, stored, dot.b.transposed, n, kConstant);
  bool isWritten =
      dot.a.address && getRegisterLayout({dot.m, dot.k}, kWarpsOfGroup) == dot.a.layout;
  if ((!a && !isWritten) || !b)
    return failure();
  // Further rows are further columns.
  int64_t perColumn = kColumnBits / format.bits;
  auto getA = [&](int64_t row, int64_t atK) {
    return a ? a->at(row, atK * format.bits / stored)
             : getTensorPointer(builder, loc, dot.a.address,
                                (row / kRows * dot.k + atK) / perColumn);
  };
  auto getB = [&](int64_t column, int64_t atK) {
    return b->at(column, atK * format.bits / stored);
  };
  Value address = dot.accumulator.front();
  int64_t instruction = getInstruction(*this, programs * m, n, dot);
  auto group = programs == 1 ? NVVM::CTAGroupKind::CTA_1 : NVVM::CTAGroupKind::CTA_2;
  Value always = LLVM::ConstantOp::create(builder, loc, builder.getI1Type(), 1);
  for (int64_t atK = 0; atK < dot.k; atK += k)
    for (int64_t row = 0; row < dot.m; row += m)
      for (int64_t column = 0; column < dot.n; column += n) {
        Value sums = getTensorPointer(builder, loc, address, row / m * dot.n + column);
        Value accumulates = atK == 0 && dot.accumulates ? dot.accumulates : always;
        if (getScale())
          scaled.multiply(builder, loc, group, sums, getA(row, atK), getB(column, atK), instruction,
                          accumulates, {row, column, atK});
        else
          NVVM::Tcgen05MMAOp::create(builder, loc, format.kind, group,
                                     NVVM::Tcgen05MMACollectorOp::DISCARD, /*aShift=*/false, sums,
                                     getA(row, atK), getB(column, atK),
                                     number(builder, loc, instruction), accumulates,
                                     /*scaleInputD=*/Value(), /*disableOutputLane=*/Value());
      }
  return SmallVector<Value>{address};
}
