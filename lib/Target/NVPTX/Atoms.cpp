// mma.sync: its fragments, by the PTX ISA's figures, and how it is emitted.
#include "kiln/Target/NVPTX/NVPTX.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nvptx;

namespace {
/// One shape for one width of operands. In each fragment lanes go in groups of four along k (or
/// n), and groups along m (or n).
struct MmaShape {
  StringLiteral name;
  int64_t m, n, k;
  bool (*accepts)(Type element, Type accumulator);
  StringLiteral a, b, c;
};
} // namespace

static constexpr char kAccumulator[] =
    "register = [[0,1],[8,0]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]] -> [16, 8]";

static const MmaShape kShapes[] = {
    {"m16n8k16", 16, 8, 16,
     [](Type element, Type accumulator) {
       return (element.isF16() || element.isBF16()) && accumulator.isF32();
     },
     "register = [[0,1],[8,0],[0,8]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]] -> [16, 16]",
     "register = [[1,0],[8,0]], lane = [[2,0],[4,0],[0,1],[0,2],[0,4]] -> [16, 8]", kAccumulator},
    {"m16n8k8", 16, 8, 8,
     [](Type element, Type accumulator) {
       return isa<FloatTF32Type>(element) && accumulator.isF32();
     },
     "register = [[8,0],[0,4]], lane = [[0,1],[0,2],[1,0],[2,0],[4,0]] -> [16, 8]",
     "register = [[4,0]], lane = [[1,0],[2,0],[0,1],[0,2],[0,4]] -> [8, 8]", kAccumulator},
    {"m16n8k32", 16, 8, 32,
     [](Type element, Type accumulator) {
       return element.isInteger(8) && accumulator.isInteger(32);
     },
     "register = [[0,1],[0,2],[8,0],[0,16]], lane = [[0,4],[0,8],[1,0],[2,0],[4,0]] -> [16, 32]",
     "register = [[1,0],[2,0],[16,0]], lane = [[4,0],[8,0],[0,1],[0,2],[0,4]] -> [32, 8]",
     kAccumulator},
    {"m8n8k4", 8, 8, 4,
     [](Type element, Type accumulator) { return element.isF64() && accumulator.isF64(); },
     "register = [], lane = [[0,1],[0,2],[1,0],[2,0],[4,0]] -> [8, 4]",
     "register = [], lane = [[1,0],[2,0],[0,1],[0,2],[0,4]] -> [4, 8]",
     "register = [[0,1]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]] -> [8, 8]"},
};

static const MmaShape *findShape(StringRef name, Type element, Type accumulator) {
  for (const MmaShape &shape : kShapes)
    if (shape.name == name && shape.accepts(element, accumulator))
      return &shape;
  return nullptr;
}

SmallVector<Attribute> kiln::nvptx::getMmaSyncAtoms(Type element, Type accumulator) {
  SmallVector<Attribute> atoms;
  for (const MmaShape &shape : kShapes)
    if (shape.accepts(element, accumulator))
      atoms.push_back(MmaSyncAttr::get(element.getContext(), shape.name, element, accumulator));
  return atoms;
}

LogicalResult MmaSyncAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef shape,
                                  Type element, Type accumulator) {
  if (findShape(shape, element, accumulator))
    return success();
  return emitError() << "expected a shape of mma.sync for " << element << " into " << accumulator
                     << ", got '" << shape << "'";
}

std::array<int64_t, 3> MmaSyncAttr::getExtents() const {
  const MmaShape *shape = findShape(getShape(), getElement(), getAccumulator());
  return {shape->m, shape->n, shape->k};
}

LinearLayout MmaSyncAttr::getFragment(unsigned operand) const {
  const MmaShape *shape = findShape(getShape(), getElement(), getAccumulator());
  StringRef text = operand == 0 ? shape->a : operand == 1 ? shape->b : shape->c;
  return *LinearLayout::parse(text);
}

/// An operand as the instruction takes it: f64 alone, pairs of f16, all else in words.
static SmallVector<Value> getOperands(OpBuilder &builder, Location loc, Value registers) {
  auto type = cast<VectorType>(registers.getType());
  Type element = type.getElementType();
  Value words = registers;
  if (!element.isF64()) {
    int64_t count = type.getNumElements() * element.getIntOrFloatBitWidth() / 32;
    words = vector::BitCastOp::create(builder, loc, VectorType::get({count}, builder.getI32Type()),
                                      registers);
  }
  SmallVector<Value> operands;
  for (int64_t i = 0; i < cast<VectorType>(words.getType()).getNumElements(); ++i) {
    Value word = vector::ExtractOp::create(builder, loc, words, i);
    if (element.isF16())
      word = LLVM::BitcastOp::create(builder, loc, VectorType::get({2}, element), word);
    operands.push_back(word);
  }
  return operands;
}

Value MmaSyncAttr::emit(OpBuilder &builder, Location loc, Value a, Value b,
                        Value accumulator) const {
  Type element = getElement();
  auto type = cast<VectorType>(accumulator.getType());
  SmallVector<Value> sums;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    sums.push_back(vector::ExtractOp::create(builder, loc, accumulator, i));
  SmallVector<Type> results(sums.size(), type.getElementType());
  auto resultType = LLVM::LLVMStructType::getLiteral(builder.getContext(), results);
  using NVVM::MMATypes;
  MMATypes kind = element.isF16()               ? MMATypes::f16
                  : element.isBF16()            ? MMATypes::bf16
                  : isa<FloatTF32Type>(element) ? MMATypes::tf32
                  : element.isF64()             ? MMATypes::f64
                                                : MMATypes::s8;
  std::optional<NVVM::MMAIntOverflow> overflow;
  if (kind == MMATypes::s8)
    overflow = NVVM::MMAIntOverflow::wrapped;
  std::array<int64_t, 3> extents = getExtents();
  Value result = NVVM::MmaOp::create(
      builder, loc, resultType, getOperands(builder, loc, a), getOperands(builder, loc, b), sums,
      extents, std::nullopt, overflow, std::array<MMATypes, 2>{kind, kind},
      std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row, NVVM::MMALayout::col});
  SmallVector<Value> parts;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    parts.push_back(LLVM::ExtractValueOp::create(builder, loc, result, i));
  return vector::FromElementsOp::create(builder, loc, type, parts);
}
