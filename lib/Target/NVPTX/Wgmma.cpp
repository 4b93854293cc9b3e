// wgmma: its fragments, the buffers that it reads, by the PTX ISA's figures, and how it is emitted.
//
// The products go through inline assembly, since NVVM's op takes neither a from registers nor a
// predicate that makes the accumulator count as zero; its tied operands also keep LLVM from moving
// accumulators while they are in flight.
#include "SharedMatrix.h"
#include "kiln/Dialect/Tile/IR/Roles.h"
#include "kiln/Dialect/Tile/IR/Turns.h"
#include "kiln/Layout/Transforms/AtomFit.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Target/Common/AtomCosts.h"
#include "kiln/Target/Common/Threads.h"
#include "kiln/Target/NVPTX/NVPTX.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

using namespace mlir;
using namespace kiln;
using namespace kiln::nvptx;
using tile::Completion;

static constexpr int64_t kRows = 64;
static constexpr int64_t kMostColumns = 256;
static constexpr int64_t kWarpsOfGroup = 4;

//===- Shapes -------------------------------------------------------------------------------===//

/// Bits of an operand's element, 0 for a type that has no products.
static int64_t getBits(Type element, Type accumulator) {
  if (accumulator.isF32()) {
    if (element.isF16() || element.isBF16())
      return 16;
    if (isa<FloatTF32Type>(element))
      return 32;
    if (isa<Float8E4M3FNType, Float8E5M2Type>(element))
      return 8;
  }
  return element.isInteger(8) && accumulator.isInteger(32) ? 8 : 0;
}

/// 32 bytes of k in each row.
static int64_t getDepth(Type element, Type accumulator) {
  return 256 / getBits(element, accumulator);
}

static std::optional<int64_t> parseColumns(StringRef shape, Type element, Type accumulator) {
  std::string tail = "k" + std::to_string(getDepth(element, accumulator));
  int64_t n;
  if (!shape.consume_front("m64n") || !shape.consume_back(tail) || shape.getAsInteger(10, n))
    return std::nullopt;
  // Integers take every multiple of 16, and of 8 up to 32.
  int64_t step = element.isInteger(8) && n > 32 ? 16 : 8;
  return n >= 8 && n <= 256 && n % step == 0 ? std::optional(n) : std::nullopt;
}

LogicalResult WgmmaAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef shape,
                                Type element, Type accumulator) {
  if (!getBits(element, accumulator))
    return emitError() << "expected types that wgmma multiplies, got " << element << " into "
                       << accumulator;
  if (parseColumns(shape, element, accumulator))
    return success();
  return emitError() << "expected a shape of wgmma for " << element << " into " << accumulator
                     << ", m64n8k" << getDepth(element, accumulator) << " to m64n256k"
                     << getDepth(element, accumulator) << ", got '" << shape << "'";
}

/// What ptxas 13.0 needs of a thread's registers beside the sums of one instruction: it assembles
/// one of 128 in blocks whose threads begin with 154, whatever they are handed later.
static constexpr int64_t kBesideSums = 26;

/// Of one instruction's sums, in the blocks of the kernel around a dot.
static int64_t countMostColumns(tile::DotOp dot, const Chip &chip) {
  auto kernel = dot->getParentOfType<tile::KernelOp>();
  auto roles = kernel ? kernel->getAttrOfType<ArrayAttr>(tile::kRolesAttrName) : ArrayAttr();
  if (!roles)
    return kMostColumns;
  int64_t warps = 0;
  for (auto role : roles.getAsRange<tile::RoleAttr>())
    warps += tile::countWarps(kernel, role);
  int64_t sums = int64_t(chip.getRegistersAtEntry(warps)) - kBesideSums;
  return std::min<int64_t>(kMostColumns, sums * kWarpsOfGroup * chip.warpSize / kRows);
}

Attribute kiln::nvptx::getWgmmaAtom(tile::DotOp dot, const Chip &chip) {
  Type element = getDotTypes(dot).first, other = getDotTypes(dot).second;
  Type accumulator = dot.getType().getElementType();
  if (dot.getPrecision() == tile::DotPrecision::TF32)
    element = other = FloatTF32Type::get(dot.getContext());
  if (element.isUnsignedInteger())
    element = IntegerType::get(dot.getContext(), element.getIntOrFloatBitWidth());
  if (other.isUnsignedInteger())
    other = IntegerType::get(dot.getContext(), other.getIntOrFloatBitWidth());
  int64_t rows = dot.getM(), columns = dot.getN();
  if (element != other || !getBits(element, accumulator) || rows % kRows ||
      dot.getK() % getDepth(element, accumulator))
    return {};
  std::string tail = "k" + std::to_string(getDepth(element, accumulator));
  // Copies of a role that are too many for its rows share out columns.
  tile::RoleAttr role = tile::lookUpRole(dot);
  int64_t copies = role ? role.getCopies() : 1;
  if (tile::getSharedDim(rows, columns, kRows, /*leastN=*/8, copies) == 1)
    columns /= copies;
  auto findAtom = [&](int64_t columns) -> Attribute {
    for (int64_t n = std::min(columns, countMostColumns(dot, chip)); n >= 8; --n) {
      std::string shape = "m64n" + std::to_string(n) + tail;
      if (columns % n == 0 && parseColumns(shape, element, accumulator))
        return WgmmaAttr::get(dot.getContext(), shape, element, accumulator);
    }
    return {};
  };
  return findForParts(dot, columns, findAtom);
}

/// Which integers have signs is said as it is emitted.
bool WgmmaAttr::multiplies(Type a, Type b, Type sum) const {
  auto isIt = [&](Type type) {
    return type == getElement() || (type.isUnsignedInteger(8) && getElement().isInteger(8));
  };
  return isIt(a) && isIt(b) && sum == getAccumulator();
}

std::array<int64_t, 3> WgmmaAttr::getExtents() const {
  return {kRows, *parseColumns(getShape(), getElement(), getAccumulator()),
          getDepth(getElement(), getAccumulator())};
}

Completion WgmmaAttr::getCompletion() const { return Completion::Groups; }

/// Sums of products of byte floats keep 14 bits (DeepSeek-V3's report, arXiv 2412.19437, 3.3.2).
bool WgmmaAttr::sumsExactly() const { return !isa<Float8E4M3FNType, Float8E5M2Type>(getElement()); }

bool WgmmaAttr::readsFrom(unsigned operand, tile::Place place) const {
  return place == tile::Place::Shared || (place == tile::Place::Registers && operand == 0);
}

unsigned WgmmaAttr::getWarps() const { return kWarpsOfGroup; }

std::optional<int64_t> WgmmaAttr::getIssueCycles(const Chip &chip, Type, int64_t products) const {
  return countMatrixCycles(chip, getElement(), getElement(), products);
}

std::optional<int64_t> WgmmaAttr::getLatency(const Chip &chip) const {
  return getValue(chip.figures.matrixWaitCost);
}

//===- Layouts ------------------------------------------------------------------------------===//

/// Rows of `shape` over the lanes and warps of as many groups as there are, then in registers.
/// `lane` elements of a row are one lane's, in words; `columns` registers come in front of rows.
static LinearLayout getRowLayout(ArrayRef<int64_t> shape, unsigned warps, int64_t word) {
  LinearLayout::InDim registers{"register", {}}, lanes{"lane", {}}, warpBits{"warp", {}};
  for (int64_t column = 1; column < word; column *= 2)
    registers.bases.push_back({0, column});
  for (int64_t lane : {1, 2})
    lanes.bases.push_back({0, lane * word});
  for (int64_t row : {1, 2, 4})
    lanes.bases.push_back({row, 0});
  registers.bases.push_back({8, 0});
  for (int64_t column = 4 * word; column < shape[1]; column *= 2)
    registers.bases.push_back({0, column});
  int64_t row = 16;
  for (unsigned warp = 1; warp < warps; warp *= 2, row *= 2)
    warpBits.bases.push_back({row < shape[0] ? row : 0, 0});
  for (; row < shape[0]; row *= 2)
    registers.bases.push_back({row, 0});
  return canonicalise(*LinearLayout::create({registers, lanes, warpBits}, getTensorOuts(shape)));
}

LinearLayout WgmmaAttr::getAccumulatorLayout(ArrayRef<int64_t> shape, unsigned warps) const {
  return getRowLayout(shape, warps, 2);
}

std::optional<LinearLayout> WgmmaAttr::getRegisterLayout(ArrayRef<int64_t> shape,
                                                         unsigned warps) const {
  return getRowLayout(shape, warps, 32 / getBits(getElement(), getAccumulator()));
}

std::vector<LinearLayout> WgmmaAttr::getSharedLayouts(unsigned operand, ArrayRef<int64_t> shape,
                                                      bool transposed) const {
  return getMatrixLayouts(shape, getBits(getElement(), getAccumulator()),
                          /*alongK=*/(operand == 0) != transposed, getExtents()[operand]);
}

//===- Emission -----------------------------------------------------------------------------===//

namespace {
/// The registers of a tensor by the element that the group's first thread holds in them.
class RegisterMap {
public:
  explicit RegisterMap(const LinearLayout &layout) {
    for (int64_t reg = layout.getInSize("register") - 1; reg >= 0; --reg) {
      auto element = layout.applyTo("register", reg);
      registers[{element[0], element[1]}] = reg;
    }
  }
  int64_t at(int64_t row, int64_t column) const { return registers.lookup({row, column}); }

private:
  llvm::DenseMap<std::pair<int64_t, int64_t>, int64_t> registers;
};
} // namespace

static std::string spellType(Type element, bool isUnsigned) {
  if (isa<Float8E4M3FNType>(element))
    return "e4m3";
  if (isa<Float8E5M2Type>(element))
    return "e5m2";
  if (element.isInteger())
    return isUnsigned ? "u8" : "s8";
  return isa<FloatTF32Type>(element) ? "tf32" : element.isBF16() ? "bf16" : "f16";
}

/// Pairs, or quadruples, of a's elements as words.
static SmallVector<Value> packWords(OpBuilder &builder, Location loc, ArrayRef<Value> elements) {
  Value words = castVector(builder, loc, makeVector(builder, loc, elements), builder.getI32Type());
  SmallVector<Value> result;
  for (int64_t i = 0; i < cast<VectorType>(words.getType()).getNumElements(); ++i)
    result.push_back(elementAt(builder, loc, words, i));
  return result;
}

/// A copy of a word that is read again. In a loop ptxas (12.9 and 13.0) may give it the register of
/// what the next products read, which overwrites it; it sees through a move, but not through a
/// permutation of bytes that changes nothing.
static Value copyWord(OpBuilder &builder, Location loc, Value word) {
  auto copy = LLVM::InlineAsmOp::create(
      builder, loc, word.getType(), word, "prmt.b32 $0, $1, $1, 0x3210;", "=r,r",
      /*has_side_effects=*/true,
      /*is_align_stack=*/false, LLVM::TailCallKind::None,
      LLVM::AsmDialectAttr::get(builder.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr());
  return copy.getResult(0);
}

namespace {
/// One instruction of a statement: the first of its sums, and of its inputs behind all sums.
struct Product {
  int64_t sum, input;
  /// Whether it is the first along k of its sums.
  bool isFirst;
};
} // namespace

/// The statement of products whose last input says whether the first sums count.
static std::string spellProducts(WgmmaAttr atom, const AsyncDot &dot, ArrayRef<Product> products,
                                 int64_t sums, int64_t inputs) {
  auto number = [](int64_t operand) { return "$" + std::to_string(operand); };
  auto list = [&](int64_t first, int64_t count) {
    std::string text;
    for (int64_t i = 0; i < count; ++i)
      text += (i ? ", " : "") + number(first + i);
    return "{" + text + "}";
  };
  Type element = atom.getElement();
  bool isInteger = element.isInteger(), isShared = bool(dot.a.base);
  std::string tail = isInteger ? "" : ", 1, 1";
  if (getBits(element, atom.getAccumulator()) == 16)
    tail += (isShared ? (dot.a.transposed ? ", 1" : ", 0") : std::string()) +
            (dot.b.transposed ? ", 0" : ", 1");
  std::string form = "wgmma.mma_async.sync.aligned." + atom.getShape().str() +
                     (isInteger ? ".s32." : ".f32.") + spellType(element, dot.a.isUnsigned) + "." +
                     spellType(element, dot.b.isUnsigned) + " ";
  std::string counts = number(sums + inputs - 1);
  std::string text = "{\n.reg .pred p, q;\nsetp.ne.b32 p, " + counts + ", 0;\nsetp.eq.b32 q, " +
                     counts + ", " + counts + ";\n";
  for (const Product &product : products) {
    int64_t a = sums + product.input, words = isShared ? 1 : 4;
    text += form + list(product.sum, atom.getExtents()[1] / 2) + ", " +
            (isShared ? number(a) : list(a, words)) + ", " + number(a + words) +
            (product.isFirst ? ", p" : ", q") + tail + ";\n";
  }
  return text + "}";
}

FailureOr<SmallVector<Value>> WgmmaAttr::start(OpBuilder &builder, Location loc,
                                               const AsyncDot &dot) const {
  auto [m, n, k] = getExtents();
  int64_t bits = getBits(getElement(), getAccumulator());
  bool fits = dot.m % m == 0 && dot.n % n == 0 && dot.k % k == 0;
  if (!fits || dot.accumulatorLayout != getAccumulatorLayout({dot.m, dot.n}, kWarpsOfGroup))
    return failure();
  std::optional<SharedMatrix> a, b;
  if (dot.a.base)
    a = SharedMatrix::describe(builder, loc, dot.a, bits, !dot.a.transposed, m);
  if (dot.b.base)
    b = SharedMatrix::describe(builder, loc, dot.b, bits, dot.b.transposed, n);
  if (!b || (dot.a.base && !a) ||
      (!dot.a.base && dot.a.layout != *getRegisterLayout({dot.m, dot.k}, kWarpsOfGroup)))
    return failure();

  RegisterMap mapC(dot.accumulatorLayout), mapA(dot.a.layout);
  LinearLayout fragmentC =
      getAccumulatorLayout({m, int64_t(llvm::bit_floor(uint64_t(n)))}, kWarpsOfGroup);
  LinearLayout fragmentA = *getRegisterLayout({m, k}, kWarpsOfGroup);

  // One statement has all products: a statement each would carry every sum in and out of it. But
  // where a is in registers, each depth of it is packed in front of its own: ptxas spreads what
  // packs them over the products before.
  int64_t depth = a ? dot.k : k;
  Type i32 = builder.getI32Type();
  Value counts = LLVM::ConstantOp::create(builder, loc, i32, 1);
  if (dot.accumulates)
    counts = LLVM::ZExtOp::create(builder, loc, i32, dot.accumulates);
  SmallVector<Value> sums = dot.accumulator;
  auto packA = [&](int64_t row, int64_t atK) {
    SmallVector<Value> elements;
    for (int64_t reg = 0; reg < fragmentA.getInSize("register"); ++reg) {
      auto at = fragmentA.applyTo("register", reg);
      elements.push_back(dot.a.registers[mapA.at(row + at[0], atK + at[1])]);
    }
    return packWords(builder, loc, elements);
  };
  std::map<std::pair<int64_t, int64_t>, SmallVector<Value>> copies;
  for (int64_t atK = 0; dot.a.isKept && atK < dot.k; atK += k)
    for (int64_t row = 0; row < dot.m; row += m)
      for (Value word : packA(row, atK))
        copies[{row, atK}].push_back(copyWord(builder, loc, word));
  NVVM::WgmmaFenceAlignedOp::create(builder, loc);
  for (int64_t from = 0; from < dot.k; from += depth) {
    // Its operands are the sums, then a and b of each product, and whether the first sums count.
    SmallVector<Product> products;
    SmallVector<int64_t> places;
    SmallVector<Value> operands;
    for (int64_t atK = from; atK < from + depth; atK += k)
      for (int64_t row = 0; row < dot.m; row += m)
        for (int64_t column = 0; column < dot.n; column += n) {
          int64_t block = row / m * (dot.n / n) + column / n;
          products.push_back({block * n / 2, int64_t(operands.size()), /*isFirst=*/atK == 0});
          if (a)
            operands.push_back(a->at(row, atK));
          else
            llvm::append_range(operands, dot.a.isKept ? copies[{row, atK}] : packA(row, atK));
          operands.push_back(b->at(column, atK));
          // Registers go in pairs of columns, two rows each, along n.
          for (int64_t pair = 0; atK == from && pair < n; pair += 8)
            for (int64_t reg = 0; reg < 4; ++reg) {
              auto at = fragmentC.applyTo("register", reg);
              places.push_back(mapC.at(row + at[0], column + pair + at[1]));
            }
        }
    operands.push_back(counts);
    std::string text = spellProducts(*this, dot, products, places.size(), operands.size());
    std::string constraints;
    for (size_t i = 0; i < places.size(); ++i)
      constraints += getElement().isInteger() ? "=r," : "=f,";
    for (Value operand : operands)
      constraints += operand.getType() == i32 ? "r," : "l,";
    for (size_t i = 0; i < places.size(); ++i)
      constraints += std::to_string(i) + ",";
    constraints.pop_back();
    for (int64_t place : places)
      operands.push_back(sums[place]);
    auto resultType = LLVM::LLVMStructType::getLiteral(
        builder.getContext(), SmallVector<Type>(places.size(), getAccumulator()));
    auto statement = LLVM::InlineAsmOp::create(
        builder, loc, resultType, operands, text, constraints, /*has_side_effects=*/true,
        /*is_align_stack=*/false, LLVM::TailCallKind::None,
        LLVM::AsmDialectAttr::get(builder.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr());
    for (auto [i, place] : llvm::enumerate(places))
      sums[place] = LLVM::ExtractValueOp::create(builder, loc, statement.getResult(0), i);
  }
  NVVM::WgmmaGroupSyncAlignedOp::create(builder, loc);
  return sums;
}
