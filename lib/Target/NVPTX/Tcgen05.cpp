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
#include "SharedMatrix.h"
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

static constexpr int64_t kRows = 128, kHalfRows = 64;
static constexpr int64_t kWarpsOfGroup = 4;
static constexpr int64_t kMostColumns = 256;
/// Of a lane in one column.
static constexpr int64_t kColumnBits = 32;
static constexpr unsigned kPair = 2;
/// Of tensor memory, as a pointer has it.
static constexpr unsigned kTensorSpace = 6;

//===- Shapes -------------------------------------------------------------------------------===//

namespace {
/// What the instruction calls a type: its kind, and its number among those of the kind.
struct Format {
  NVVM::Tcgen05MMAKind kind;
  unsigned number;
  int64_t bits;
};
} // namespace

static std::optional<Format> getFormat(Type element, Type accumulator) {
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

/// The types of the operands, as the instruction reads them.
static std::pair<Type, Type> getElements(tile::DotOp dot) {
  if (dot.getPrecision() == tile::DotPrecision::TF32)
    return {FloatTF32Type::get(dot.getContext()), FloatTF32Type::get(dot.getContext())};
  auto [a, b] = getDotTypes(dot);
  return {dropSign(a), dropSign(b)};
}

/// That of a dot whose depth the instruction multiplies.
static std::optional<Format> findFormat(tile::DotOp dot) {
  auto [a, b] = getElements(dot);
  std::optional<Format> format =
      areMultiplied(a, b) ? getFormat(a, dot.getType().getElementType()) : std::nullopt;
  return format && dot.getK() % getDepth(*format) == 0 ? format : std::nullopt;
}

/// How many blocks multiply, how many rows each, and what columns.
struct Tcgen05Shape {
  unsigned programs;
  int64_t rows, columns;
};

/// By CUTLASS's rules for the instructions of each kind, and those of the PTX ISA ("Matrix shape").
static bool isColumns(Format format, unsigned programs, int64_t rows, int64_t n) {
  int64_t step = programs == 1 && rows == kHalfRows ? 8 : 16;
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
                          a == b ? Type() : b);
}

LogicalResult Tcgen05Attr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef shape,
                                  Type element, Type accumulator, Type elementB) {
  if (elementB && !areMultiplied(element, elementB))
    return emitError() << "expected types that tcgen05 multiplies, got " << element << " and "
                       << elementB;
  std::optional<Format> format = getFormat(element, accumulator);
  if (!format)
    return emitError() << "expected types that tcgen05 multiplies, got " << element << " into "
                       << accumulator;
  if (parseShape(shape, *format))
    return success();
  std::string tail = "k" + std::to_string(getDepth(*format));
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
    for (int64_t columns = std::min(n, kMostColumns); m % rows == 0 && columns >= 8; --columns)
      if (n % columns == 0 && isColumns(*format, 1, rows, columns))
        return getAtom(dot, *format, {1, rows, columns});
    return {};
  };
  return findForParts(dot, n, findAtom);
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
  return dropSign(a) == getTypeOf(0) && dropSign(b) == getTypeOf(1) && sum == getAccumulator();
}

std::array<int64_t, 3> Tcgen05Attr::getExtents() const {
  Format format = *getFormat(getElement(), getAccumulator());
  Tcgen05Shape shape = *parseShape(getShape(), format);
  return {shape.rows, shape.columns, getDepth(format)};
}

unsigned Tcgen05Attr::getPrograms() const {
  return parseShape(getShape(), *getFormat(getElement(), getAccumulator()))->programs;
}

Completion Tcgen05Attr::getCompletion() const { return Completion::Commit; }

Place Tcgen05Attr::getAccumulatorPlace() const { return Place::Tensor; }

bool Tcgen05Attr::readsFrom(unsigned operand, Place place) const {
  return place == Place::Shared || (operand == 0 && place == Place::Tensor);
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

/// Of 64 rows: the columns that one half of a warp fetches before those of the other half. Boxes of
/// 32 columns or more are whole registers of every thread.
static int64_t getColumnsOfHalf(int64_t columns) {
  return std::min<int64_t>(getPowerOf2Factor(columns) / 2, 16);
}

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
  return getAccumulatorLayout(shape, warps);
}

std::vector<LinearLayout> Tcgen05Attr::getSharedLayouts(unsigned operand, ArrayRef<int64_t> shape,
                                                        bool transposed) const {
  return getMatrixLayouts(shape, getFormat(getElement(), getAccumulator())->bits,
                          /*alongK=*/(operand == 0) != transposed);
}

//===- Emission -----------------------------------------------------------------------------===//

static Value number(OpBuilder &builder, Location loc, int64_t value) {
  return LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), value);
}

/// So many columns behind an address.
static Value getPointer(OpBuilder &builder, Location loc, Value address, int64_t columns) {
  if (columns)
    address = LLVM::AddOp::create(builder, loc, address, number(builder, loc, columns));
  return LLVM::IntToPtrOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext(), kTensorSpace), address);
}

/// What is multiplied, as the instruction descriptor says it.
static int64_t getInstruction(Tcgen05Attr atom, int64_t m, int64_t n, const AsyncDot &dot) {
  int64_t sum = atom.getAccumulator().isInteger() ? 2 : 1; // s32 or f32
  auto getNumber = [&](const AsyncDot::Operand &operand) -> int64_t {
    Format format = *getFormat(atom.getTypeOf(&operand == &dot.b), atom.getAccumulator());
    return format.kind == NVVM::Tcgen05MMAKind::I8 ? !operand.isUnsigned : format.number;
  };
  int64_t isAlongM = dot.a.transposed, isAlongN = !dot.b.transposed;
  return sum << 4 | getNumber(dot.a) << 7 | getNumber(dot.b) << 10 | isAlongM << 15 |
         isAlongN << 16 | n >> 3 << 17 | m >> 4 << 24;
}

FailureOr<SmallVector<Value>> Tcgen05Attr::start(OpBuilder &builder, Location loc,
                                                 const AsyncDot &dot) const {
  auto [m, n, k] = getExtents();
  Format format = *getFormat(getElement(), getAccumulator());
  int64_t programs = getPrograms();
  bool fits = dot.m % m == 0 && dot.n % n == 0 && dot.k % k == 0 && dot.b.base;
  fits &= programs == 1 || dot.n == n;
  if (!fits || dot.accumulatorLayout != getAccumulatorLayout({dot.m, dot.n}, kWarpsOfGroup))
    return failure();
  constexpr uint64_t kConstant = uint64_t(1) << 46;
  std::optional<SharedMatrix> a;
  if (dot.a.base)
    a = SharedMatrix::describe(builder, loc, dot.a, format.bits, !dot.a.transposed, kConstant);
  std::optional<SharedMatrix> b =
      SharedMatrix::describe(builder, loc, dot.b, format.bits, dot.b.transposed, kConstant);
  bool isWritten =
      dot.a.address && dot.a.layout == *getRegisterLayout({dot.m, dot.k}, kWarpsOfGroup);
  if ((!a && !isWritten) || !b)
    return failure();
  // Further rows are further columns.
  int64_t perColumn = kColumnBits / format.bits;
  auto getA = [&](int64_t row, int64_t atK) {
    return a ? a->at(row, atK)
             : getPointer(builder, loc, dot.a.address, (row / kRows * dot.k + atK) / perColumn);
  };
  Value address = dot.accumulator.front();
  Value instruction = number(builder, loc, getInstruction(*this, programs * m, n, dot));
  auto group = programs == 1 ? NVVM::CTAGroupKind::CTA_1 : NVVM::CTAGroupKind::CTA_2;
  Value always = LLVM::ConstantOp::create(builder, loc, builder.getI1Type(), 1);
  for (int64_t atK = 0; atK < dot.k; atK += k)
    for (int64_t row = 0; row < dot.m; row += m)
      for (int64_t column = 0; column < dot.n; column += n)
        NVVM::Tcgen05MMAOp::create(builder, loc, format.kind, group,
                                   NVVM::Tcgen05MMACollectorOp::DISCARD, /*aShift=*/false,
                                   getPointer(builder, loc, address, row / m * dot.n + column),
                                   getA(row, atK), b->at(column, atK), instruction,
                                   atK == 0 && dot.accumulates ? dot.accumulates : always,
                                   /*scaleInputD=*/Value(), /*disableOutputLane=*/Value());
  return SmallVector<Value>{address};
}

/// The registers are tied through the wait: NVVM's op does not hold them, and LLVM might use them
/// in front of it.
static void waitForLoads(OpBuilder &builder, Location loc, SmallVectorImpl<Value> &registers) {
  std::string constraints;
  for (size_t i = 0; i < registers.size(); ++i)
    constraints += "=r,";
  for (size_t i = 0; i < registers.size(); ++i)
    constraints += std::to_string(i) + ",";
  constraints += "~{memory}";
  auto type = LLVM::LLVMStructType::getLiteral(
      builder.getContext(), SmallVector<Type>(registers.size(), builder.getI32Type()));
  auto wait = LLVM::InlineAsmOp::create(
      builder, loc, type, registers, "tcgen05.wait::ld.sync.aligned;", constraints,
      /*has_side_effects=*/true, /*is_align_stack=*/false, LLVM::TailCallKind::None,
      LLVM::AsmDialectAttr::get(builder.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr());
  for (auto [i, value] : llvm::enumerate(registers))
    value = LLVM::ExtractValueOp::create(builder, loc, wait.getResult(0), i);
}

namespace {
/// What one thread reaches of an accumulator, or of an operand: so many columns of its lane at a
/// time, of one element each, or of several.
struct Row {
  Row(OpBuilder &builder, Location loc, Value accumulator, const LinearLayout &layout,
      int64_t perColumn = 1)
      : layout(layout), perColumn(perColumn), columns(layout.getShape()[1] / perColumn),
        half(layout.getShape()[0] == kHalfRows ? getColumnsOfHalf(layout.getShape()[1]) / perColumn
                                               : 0),
        atOnce(half ? half : std::min(getPowerOf2Factor(columns), kMostAtOnce)) {
    // 32 times the warp's number in its group, as a lane.
    Value lanes = NVVM::ThreadIdXOp::create(builder, loc, builder.getI32Type());
    lanes =
        LLVM::AndOp::create(builder, loc, lanes, number(builder, loc, 32 * (kWarpsOfGroup - 1)));
    lanes = LLVM::ShlOp::create(builder, loc, lanes, number(builder, loc, 16));
    address = LLVM::AddOp::create(builder, loc, accumulator, lanes);
    if (half)
      behind = LLVM::ConstantOp::create(builder, loc, builder.getI64Type(), half);
  }
  /// Of 32 bits.
  int64_t getRegisters() const { return layout.getInSize("register") / perColumn; }
  NVVM::Tcgen05LdStShape getShape() const {
    return half ? NVVM::Tcgen05LdStShape::SHAPE_16X32BX2 : NVVM::Tcgen05LdStShape::SHAPE_32X32B;
  }
  /// Where the columns of the registers from this one on lie: further rows are further columns, and
  /// what counts an odd factor of columns comes behind them in registers alone.
  Value at(OpBuilder &builder, Location loc, int64_t reg) const {
    LinearLayout::Basis element = layout.applyTo("register", reg * perColumn);
    return getPointer(builder, loc, address, element[0] / kRows * columns + element[1] / perColumn);
  }

  static constexpr int64_t kMostAtOnce = 64;
  const LinearLayout &layout;
  /// How far behind lies what the other half of the warp reaches; 0 if it reaches other lanes.
  int64_t perColumn, columns, half, atOnce;
  Value address, behind;
};
} // namespace

FailureOr<SmallVector<Value>> Tcgen05Attr::fetch(OpBuilder &builder, Location loc, Value address,
                                                 const LinearLayout &layout) const {
  SmallVector<int64_t> shape = layout.getShape();
  if (layout != getAccumulatorLayout(shape, kWarpsOfGroup))
    return failure();
  Row row(builder, loc, address, layout);
  SmallVector<Value> sums;
  int64_t all = row.getRegisters(), awaited = std::max(row.atOnce, Row::kMostAtOnce);
  for (int64_t from = 0; from < all; from += awaited) {
    SmallVector<Value> registers;
    for (int64_t first = from; first < std::min(all, from + awaited); first += row.atOnce) {
      Value loaded = NVVM::Tcgen05LdOp::create(
          builder, loc, VectorType::get({row.atOnce}, builder.getI32Type()),
          /*pack=*/false, row.getShape(), row.at(builder, loc, first), row.behind);
      for (int64_t i = 0; i < row.atOnce; ++i)
        registers.push_back(
            LLVM::ExtractElementOp::create(builder, loc, loaded, number(builder, loc, i)));
    }
    waitForLoads(builder, loc, registers);
    for (Value word : registers)
      sums.push_back(LLVM::BitcastOp::create(builder, loc, getAccumulator(), word));
  }
  return sums;
}

LogicalResult Tcgen05Attr::fill(OpBuilder &builder, Location loc, ArrayRef<Value> registers,
                                Value address, const LinearLayout &layout) const {
  SmallVector<int64_t> shape = layout.getShape();
  int64_t bits = registers.front().getType().getIntOrFloatBitWidth();
  if (layout != getAccumulatorLayout(shape, kWarpsOfGroup))
    return failure();
  Row row(builder, loc, address, layout, kColumnBits / bits);
  for (int64_t first = 0; first < row.getRegisters(); first += row.atOnce) {
    Value part = makeVector(builder, loc,
                            registers.slice(first * row.perColumn, row.atOnce * row.perColumn));
    NVVM::Tcgen05StOp::create(builder, loc, /*unpack=*/false, row.getShape(),
                              row.at(builder, loc, first),
                              castVector(builder, loc, part, builder.getI32Type()), row.behind);
  }
  NVVM::Tcgen05WaitOp::create(builder, loc, NVVM::Tcgen05WaitKind::STORE);
  return success();
}
