// MFMA and WMMA: fragments by the ISA manuals' figures, and how they are emitted.
//
// MFMA runs on waves of 64. For an M x M result, lane l holds column l mod M of the accumulator
// in groups of four rows, row l mod M of a and column l mod M of b; what is left of the lane
// number walks along k (and, for the accumulator, from one group of four rows to the next). The
// f64 form has its rows in single file instead. WMMA runs on waves of 32: on the first chips both
// halves hold all of a and b, later each half has its half of k.
#include "kiln/Target/AMDGPU/AMDGPU.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::amdgcn;

namespace {
enum class Kind { Float16, BFloat16, Float32, Float64, Int8 };
/// How the intrinsic wants a lane's elements of a and b.
enum class Operand { AsIs, Scalar, Bits16, Words, LongWord };

struct MatrixShape {
  StringLiteral instruction;
  ArrayRef<StringLiteral> chips;
  Kind kind;
  bool isMfma;
  int64_t m, k;
  Operand operand;
  StringLiteral a, b, c;
};
} // namespace

static constexpr StringLiteral kCdna[] = {"gfx90a", "gfx942", "gfx950"};
static constexpr StringLiteral kCdna2[] = {"gfx90a"};
static constexpr StringLiteral kCdna3[] = {"gfx942", "gfx950"};
static constexpr StringLiteral kCdna4[] = {"gfx950"};
static constexpr StringLiteral kRdna3[] = {"gfx1100"};
static constexpr StringLiteral kRdna4[] = {"gfx1201"};

static constexpr char kC32[] = "register = [[1,0],[2,0],[8,0],[16,0]], "
                               "lane = [[0,1],[0,2],[0,4],[0,8],[0,16],[4,0]] -> [32, 32]";
static constexpr char kA32x8[] = "register = [[0,1],[0,2]], "
                                 "lane = [[1,0],[2,0],[4,0],[8,0],[16,0],[0,4]] -> [32, 8]";
static constexpr char kB32x8[] = "register = [[1,0],[2,0]], "
                                 "lane = [[0,1],[0,2],[0,4],[0,8],[0,16],[4,0]] -> [8, 32]";
static constexpr char kA32x16[] = "register = [[0,1],[0,2],[0,4]], "
                                  "lane = [[1,0],[2,0],[4,0],[8,0],[16,0],[0,8]] -> [32, 16]";
static constexpr char kB32x16[] = "register = [[1,0],[2,0],[4,0]], "
                                  "lane = [[0,1],[0,2],[0,4],[0,8],[0,16],[8,0]] -> [16, 32]";
static constexpr char kC16[] = "register = [[1,0],[2,0]], "
                               "lane = [[0,1],[0,2],[0,4],[0,8],[4,0],[8,0]] -> [16, 16]";
static constexpr char kA16x16[] = "register = [[0,1],[0,2]], "
                                  "lane = [[1,0],[2,0],[4,0],[8,0],[0,4],[0,8]] -> [16, 16]";
static constexpr char kB16x16[] = "register = [[1,0],[2,0]], "
                                  "lane = [[0,1],[0,2],[0,4],[0,8],[4,0],[8,0]] -> [16, 16]";
static constexpr char kA16x4[] = "register = [], "
                                 "lane = [[1,0],[2,0],[4,0],[8,0],[0,1],[0,2]] -> [16, 4]";
static constexpr char kB16x4[] = "register = [], "
                                 "lane = [[0,1],[0,2],[0,4],[0,8],[1,0],[2,0]] -> [4, 16]";
static constexpr char kRowsApart[] = "register = [[4,0],[8,0]], "
                                     "lane = [[0,1],[0,2],[0,4],[0,8],[1,0],[2,0]] -> [16, 16]";
static constexpr char kWmmaA[] = "register = [[0,1],[0,2],[0,4],[0,8]], "
                                 "lane = [[1,0],[2,0],[4,0],[8,0],[0,0]] -> [16, 16]";
static constexpr char kWmmaB[] = "register = [[1,0],[2,0],[4,0],[8,0]], "
                                 "lane = [[0,1],[0,2],[0,4],[0,8],[0,0]] -> [16, 16]";
static constexpr char kWmmaC[] = "register = [[2,0],[4,0],[8,0]], "
                                 "lane = [[0,1],[0,2],[0,4],[0,8],[1,0]] -> [16, 16]";
static constexpr char kWmma12A[] = "register = [[0,1],[0,2],[0,4]], "
                                   "lane = [[1,0],[2,0],[4,0],[8,0],[0,8]] -> [16, 16]";
static constexpr char kWmma12B[] = "register = [[1,0],[2,0],[4,0]], "
                                   "lane = [[0,1],[0,2],[0,4],[0,8],[8,0]] -> [16, 16]";
static constexpr char kWmma12C[] = "register = [[1,0],[2,0],[4,0]], "
                                   "lane = [[0,1],[0,2],[0,4],[0,8],[8,0]] -> [16, 16]";

static const MatrixShape kShapes[] = {
    {"mfma.f32.32x32x16.f16", kCdna4, Kind::Float16, true, 32, 16, Operand::AsIs, kA32x16, kB32x16,
     kC32},
    {"mfma.f32.32x32x16.bf16", kCdna4, Kind::BFloat16, true, 32, 16, Operand::AsIs, kA32x16,
     kB32x16, kC32},
    {"mfma.f32.32x32x8f16", kCdna, Kind::Float16, true, 32, 8, Operand::AsIs, kA32x8, kB32x8, kC32},
    {"mfma.f32.32x32x8bf16.1k", kCdna, Kind::BFloat16, true, 32, 8, Operand::Bits16, kA32x8, kB32x8,
     kC32},
    {"mfma.f32.16x16x16f16", kCdna, Kind::Float16, true, 16, 16, Operand::AsIs, kA16x16, kB16x16,
     kC16},
    {"mfma.f32.16x16x16bf16.1k", kCdna, Kind::BFloat16, true, 16, 16, Operand::Bits16, kA16x16,
     kB16x16, kC16},
    {"mfma.f32.16x16x4f32", kCdna, Kind::Float32, true, 16, 4, Operand::Scalar, kA16x4, kB16x4,
     kC16},
    {"mfma.f64.16x16x4f64", kCdna, Kind::Float64, true, 16, 4, Operand::Scalar, kA16x4, kB16x4,
     kRowsApart},
    {"mfma.i32.32x32x16.i8", kCdna3, Kind::Int8, true, 32, 16, Operand::LongWord, kA32x16, kB32x16,
     kC32},
    {"mfma.i32.32x32x8i8", kCdna2, Kind::Int8, true, 32, 8, Operand::Words, kA32x8, kB32x8, kC32},
    {"wmma.f32.16x16x16.f16", kRdna3, Kind::Float16, false, 16, 16, Operand::AsIs, kWmmaA, kWmmaB,
     kWmmaC},
    {"wmma.f32.16x16x16.bf16", kRdna3, Kind::BFloat16, false, 16, 16, Operand::Bits16, kWmmaA,
     kWmmaB, kWmmaC},
    {"wmma.f32.16x16x16.f16", kRdna4, Kind::Float16, false, 16, 16, Operand::AsIs, kWmma12A,
     kWmma12B, kWmma12C},
    {"wmma.f32.16x16x16.bf16", kRdna4, Kind::BFloat16, false, 16, 16, Operand::Bits16, kWmma12A,
     kWmma12B, kWmma12C},
};

static std::optional<Kind> getKind(Type element) {
  if (element.isF16())
    return Kind::Float16;
  if (element.isBF16())
    return Kind::BFloat16;
  if (element.isF32())
    return Kind::Float32;
  if (element.isF64())
    return Kind::Float64;
  if (element.isInteger(8))
    return Kind::Int8;
  return std::nullopt;
}

static Type getAccumulator(Kind kind, MLIRContext *context) {
  Builder builder(context);
  return kind == Kind::Int8      ? Type(builder.getI32Type())
         : kind == Kind::Float64 ? Type(builder.getF64Type())
                                 : Type(builder.getF32Type());
}

SmallVector<Attribute> kiln::amdgcn::getMatrixAtoms(StringRef chip, Type element,
                                                    Type accumulator) {
  SmallVector<Attribute> atoms;
  std::optional<Kind> kind = getKind(element);
  for (const MatrixShape &shape : kShapes)
    if (kind == shape.kind && llvm::is_contained(shape.chips, chip) &&
        accumulator == getAccumulator(*kind, element.getContext()))
      atoms.push_back(MatrixAttr::get(element.getContext(), shape.instruction, chip, element));
  return atoms;
}

/// Two generations of one instruction have fragments of their own.
static const MatrixShape *findShape(StringRef instruction, StringRef chip, Type element) {
  for (const MatrixShape &shape : kShapes)
    if (shape.instruction == instruction && llvm::is_contained(shape.chips, chip) &&
        getKind(element) == shape.kind)
      return &shape;
  return nullptr;
}

LogicalResult MatrixAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 StringRef instruction, StringRef chip, Type element) {
  if (findShape(instruction, chip, element))
    return success();
  return emitError() << "expected a matrix instruction of " << chip << " for " << element
                     << ", got '" << instruction << "'";
}

std::array<int64_t, 3> MatrixAttr::getExtents() const {
  const MatrixShape *shape = findShape(getInstruction(), getChip(), getElement());
  return {shape->m, shape->m, shape->k};
}

LinearLayout MatrixAttr::getFragment(unsigned operand) const {
  const MatrixShape *shape = findShape(getInstruction(), getChip(), getElement());
  StringRef text = operand == 0 ? shape->a : operand == 1 ? shape->b : shape->c;
  return *LinearLayout::parse(text);
}

static Value getOperand(OpBuilder &builder, Location loc, Value registers, Operand form) {
  auto type = cast<VectorType>(registers.getType());
  auto castTo = [&](int64_t count, Type element) {
    return vector::BitCastOp::create(builder, loc, VectorType::get({count}, element), registers);
  };
  switch (form) {
  case Operand::AsIs:
    return registers;
  case Operand::Scalar:
    return vector::ExtractOp::create(builder, loc, registers, 0);
  case Operand::Bits16:
    return castTo(type.getNumElements(), builder.getI16Type());
  case Operand::Words:
    return vector::ExtractOp::create(builder, loc, castTo(1, builder.getI32Type()), 0);
  case Operand::LongWord:
    return vector::ExtractOp::create(builder, loc, castTo(1, builder.getI64Type()), 0);
  }
  return registers;
}

Value MatrixAttr::emit(OpBuilder &builder, Location loc, Value a, Value b,
                       Value accumulator) const {
  const MatrixShape *shape = findShape(getInstruction(), getChip(), getElement());
  OperationState state(loc, ("rocdl." + getInstruction()).str());
  state.addOperands({getOperand(builder, loc, a, shape->operand),
                     getOperand(builder, loc, b, shape->operand), accumulator});
  if (shape->isMfma) {
    // No broadcast of blocks, no permutation: plain products.
    Value zero = LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), 0);
    state.addOperands({zero, zero, zero});
  }
  state.addTypes(accumulator.getType());
  return builder.create(state)->getResult(0);
}
