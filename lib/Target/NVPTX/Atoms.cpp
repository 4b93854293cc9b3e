// mma.sync: its fragments, by the PTX ISA's figures, and how it is emitted.
#include "Chips.h"
#include "kiln/Target/Common/AtomCosts.h"
#include "kiln/Target/Common/Threads.h"
#include "kiln/Target/NVPTX/NVPTX.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nvptx;

namespace {
/// Which types of a and b there are: the two alike, or each of a family.
enum class Types { Halves, TF32, F64, TallF64, Bytes, ByteFloats, Nibbles };

/// One shape for one width of operands. In each fragment lanes go in groups of four along k (or
/// n), and groups along m (or n).
struct MmaShape {
  StringLiteral name;
  int64_t m, n, k;
  Types types;
  StringLiteral a, b, c;
};
} // namespace

static constexpr char kAccumulator[] =
    "register = [[0,1],[8,0]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]] -> [16, 8]";
static constexpr char kBytesA[] =
    "register = [[0,1],[0,2],[8,0],[0,16]], lane = [[0,4],[0,8],[1,0],[2,0],[4,0]] -> [16, 32]";
static constexpr char kBytesB[] =
    "register = [[1,0],[2,0],[16,0]], lane = [[4,0],[8,0],[0,1],[0,2],[0,4]] -> [32, 8]";

static const MmaShape kShapes[] = {
    {"m16n8k16", 16, 8, 16, Types::Halves,
     "register = [[0,1],[8,0],[0,8]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]] -> [16, 16]",
     "register = [[1,0],[8,0]], lane = [[2,0],[4,0],[0,1],[0,2],[0,4]] -> [16, 8]", kAccumulator},
    {"m16n8k8", 16, 8, 8, Types::TF32,
     "register = [[8,0],[0,4]], lane = [[0,1],[0,2],[1,0],[2,0],[4,0]] -> [16, 8]",
     "register = [[4,0]], lane = [[1,0],[2,0],[0,1],[0,2],[0,4]] -> [8, 8]", kAccumulator},
    {"m16n8k32", 16, 8, 32, Types::Bytes, kBytesA, kBytesB, kAccumulator},
    {"m16n8k32", 16, 8, 32, Types::ByteFloats, kBytesA, kBytesB, kAccumulator},
    {"m16n8k64", 16, 8, 64, Types::Nibbles,
     "register = [[0,1],[0,2],[0,4],[8,0],[0,32]], "
     "lane = [[0,8],[0,16],[1,0],[2,0],[4,0]] -> [16, 64]",
     "register = [[1,0],[2,0],[4,0],[32,0]], lane = [[8,0],[16,0],[0,1],[0,2],[0,4]] -> [64, 8]",
     kAccumulator},
    {"m16n8k16", 16, 8, 16, Types::TallF64,
     "register = [[8,0],[0,4],[0,8]], lane = [[0,1],[0,2],[1,0],[2,0],[4,0]] -> [16, 16]",
     "register = [[4,0],[8,0]], lane = [[1,0],[2,0],[0,1],[0,2],[0,4]] -> [16, 8]", kAccumulator},
    {"m16n8k8", 16, 8, 8, Types::TallF64,
     "register = [[8,0],[0,4]], lane = [[0,1],[0,2],[1,0],[2,0],[4,0]] -> [16, 8]",
     "register = [[4,0]], lane = [[1,0],[2,0],[0,1],[0,2],[0,4]] -> [8, 8]", kAccumulator},
    {"m16n8k4", 16, 8, 4, Types::TallF64,
     "register = [[8,0]], lane = [[0,1],[0,2],[1,0],[2,0],[4,0]] -> [16, 4]",
     "register = [], lane = [[1,0],[2,0],[0,1],[0,2],[0,4]] -> [4, 8]", kAccumulator},
    {"m8n8k4", 8, 8, 4, Types::F64,
     "register = [], lane = [[0,1],[0,2],[1,0],[2,0],[4,0]] -> [8, 4]",
     "register = [], lane = [[1,0],[2,0],[0,1],[0,2],[0,4]] -> [4, 8]",
     "register = [[0,1]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]] -> [8, 8]"},
};

static bool accepts(Types types, Type a, Type b, Type accumulator) {
  switch (types) {
  case Types::Halves:
    return a == b && (a.isF16() || a.isBF16()) && accumulator.isF32();
  case Types::TF32:
    return a == b && isa<FloatTF32Type>(a) && accumulator.isF32();
  case Types::F64:
  case Types::TallF64:
    return a == b && a.isF64() && accumulator.isF64();
  case Types::Bytes:
    return a.isInteger(8) && b.isInteger(8) && accumulator.isInteger(32);
  case Types::ByteFloats:
    return isa<Float8E4M3FNType, Float8E5M2Type>(a) && isa<Float8E4M3FNType, Float8E5M2Type>(b) &&
           accumulator.isF32();
  case Types::Nibbles:
    return a.isInteger(4) && b.isInteger(4) && accumulator.isInteger(32);
  }
  return false;
}

static bool has(StringRef chip, Types types) {
  const ChipRecord &record = getRecord(chip);
  return types == Types::ByteFloats ? record.byteFloats
         : types == Types::Nibbles  ? record.nibbles
         : types == Types::TallF64  ? record.tallDoubles
                                    : true;
}

static const MmaShape *findShape(StringRef name, Type a, Type b, Type accumulator) {
  for (const MmaShape &shape : kShapes)
    if (shape.name == name && accepts(shape.types, a, b, accumulator))
      return &shape;
  return nullptr;
}

static const MmaShape *findShape(MmaSyncAttr atom) {
  return findShape(atom.getShape(), atom.getTypeOf(0), atom.getTypeOf(1), atom.getAccumulator());
}

SmallVector<Attribute> kiln::nvptx::getMmaSyncAtoms(StringRef chip, Type a, Type b,
                                                    Type accumulator) {
  SmallVector<Attribute> atoms;
  for (const MmaShape &shape : kShapes)
    if (accepts(shape.types, a, b, accumulator) && has(chip, shape.types))
      atoms.push_back(
          MmaSyncAttr::get(a.getContext(), shape.name, a, accumulator, a == b ? Type() : b));
  return atoms;
}

LogicalResult MmaSyncAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef shape,
                                  Type element, Type accumulator, Type elementB) {
  if (findShape(shape, element, elementB ? elementB : element, accumulator))
    return success();
  auto diagnostic = emitError() << "expected a shape of mma.sync for " << element;
  if (elementB)
    diagnostic << " and " << elementB;
  return diagnostic << " into " << accumulator << ", got '" << shape << "'";
}

std::array<int64_t, 3> MmaSyncAttr::getExtents() const {
  const MmaShape *shape = findShape(*this);
  return {shape->m, shape->n, shape->k};
}

std::optional<int64_t> MmaSyncAttr::getIssueCycles(const Chip &chip, Type, int64_t products) const {
  return countWarpMatrixCycles(chip, getTypeOf(0), getTypeOf(1), products);
}

std::optional<int64_t> MmaSyncAttr::getLatency(const Chip &chip) const {
  const Figures &figures = chip.figures;
  return getValue(figures.warpMatrixLatency ? figures.warpMatrixLatency : figures.matrixLatency);
}

LinearLayout MmaSyncAttr::getFragment(unsigned operand) const {
  const MmaShape *shape = findShape(*this);
  StringRef text = operand == 0 ? shape->a : operand == 1 ? shape->b : shape->c;
  return *LinearLayout::parse(text);
}

/// An operand as the instruction takes it: f64 alone, pairs of f16, all else in words.
static SmallVector<Value> getOperands(OpBuilder &builder, Location loc, Value registers) {
  Type element = cast<VectorType>(registers.getType()).getElementType();
  Value words = element.isF64() ? registers : toWords(builder, loc, registers);
  SmallVector<Value> operands;
  for (int64_t i = 0; i < cast<VectorType>(words.getType()).getNumElements(); ++i) {
    Value word = elementAt(builder, loc, words, i);
    if (element.isF16())
      word = LLVM::BitcastOp::create(builder, loc, VectorType::get({2}, element), word);
    operands.push_back(word);
  }
  return operands;
}

using NVVM::MMATypes;

static MMATypes getKind(Type element) {
  if (element.isF16())
    return MMATypes::f16;
  if (element.isBF16())
    return MMATypes::bf16;
  if (isa<FloatTF32Type>(element))
    return MMATypes::tf32;
  if (element.isF64())
    return MMATypes::f64;
  if (element.isInteger(4))
    return element.isUnsignedInteger() ? MMATypes::u4 : MMATypes::s4;
  return element.isUnsignedInteger() ? MMATypes::u8 : MMATypes::s8;
}

Value MmaSyncAttr::emit(OpBuilder &builder, Location loc, Value a, Value b,
                        Value accumulator) const {
  auto type = cast<VectorType>(accumulator.getType());
  SmallVector<Value> sums;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    sums.push_back(elementAt(builder, loc, accumulator, i));
  SmallVector<Type> results(sums.size(), type.getElementType());
  auto resultType = LLVM::LLVMStructType::getLiteral(builder.getContext(), results);
  SmallVector<Value> left = getOperands(builder, loc, a), right = getOperands(builder, loc, b);
  // NVVM's op knows no floats of a byte, and of f64 the smallest shape alone.
  std::string name;
  if (isa<FloatType>(getElement()) && getElement().getIntOrFloatBitWidth() == 8) {
    auto spell = [](Type element) { return isa<Float8E5M2Type>(element) ? "e5m2" : "e4m3"; };
    name = std::string("f32.") + spell(getTypeOf(0)) + "." + spell(getTypeOf(1)) + ".f32";
  } else if (getElement().isF64() && getShape() != "m8n8k4") {
    name = "f64";
  }
  Value result;
  if (!name.empty()) {
    name = "llvm.nvvm.mma." + getShape().str() + ".row.col." + name;
    SmallVector<Value> operands;
    for (ArrayRef<Value> part :
         {ArrayRef<Value>(left), ArrayRef<Value>(right), ArrayRef<Value>(sums)})
      llvm::append_range(operands, part);
    result = LLVM::CallIntrinsicOp::create(builder, loc, resultType, builder.getStringAttr(name),
                                           operands)
                 .getResults();
  } else {
    std::array<MMATypes, 2> kinds = {getKind(getTypeOf(0)), getKind(getTypeOf(1))};
    std::optional<NVVM::MMAIntOverflow> overflow;
    if (getElement().isInteger())
      overflow = NVVM::MMAIntOverflow::wrapped;
    result = NVVM::MmaOp::create(
        builder, loc, resultType, left, right, sums, getExtents(), std::nullopt, overflow, kinds,
        std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row, NVVM::MMALayout::col});
  }
  SmallVector<Value> parts;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    parts.push_back(LLVM::ExtractValueOp::create(builder, loc, result, i));
  return makeVector(builder, loc, parts);
}
