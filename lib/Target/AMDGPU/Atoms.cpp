// MFMA and WMMA: fragments by the ISA manuals' figures, and how they are emitted.
//
// MFMA runs on waves of 64. For an M x M result, lane l holds column l mod M of the accumulator
// in groups of four rows, row l mod M of a and column l mod M of b; what is left of the lane
// number walks along k (and, for the accumulator, from one group of four rows to the next). The
// f64 form has its rows in single file instead. WMMA runs on waves of 32: on the first chips both
// halves hold all of a and b, later each half has its half of k.
#include "kiln/Target/AMDGPU/AMDGPU.h"
#include "kiln/Target/Common/Threads.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::amdgcn;

namespace {
enum class Kind { Float16, BFloat16, TF32, Float32, Float64, Int8, Int4, E4M3, E5M2 };
/// What the intrinsic takes besides its fragments: MFMA how blocks are broadcast and permuted, its
/// scaled form which types a and b have and their scales, integer WMMA whether they are signed.
enum class Form { Mfma, ScaledMfma, Wmma, IntegerWmma };
/// How the intrinsic wants a lane's elements of a and b.
enum class Operand { AsIs, Scalar, Bits16, Words, LongWord };

struct MatrixShape {
  StringLiteral instruction;
  ArrayRef<StringLiteral> chips;
  Kind a, b;
  Form form;
  int64_t m, k;
  Operand operand;
  StringLiteral fragmentA, fragmentB, fragmentC;
};
} // namespace

static constexpr StringLiteral kCdna[] = {"gfx90a", "gfx942", "gfx950"};
static constexpr StringLiteral kCdna2[] = {"gfx90a"};
static constexpr StringLiteral kCdna3[] = {"gfx942", "gfx950"};
static constexpr StringLiteral kCdna3Only[] = {"gfx942"};
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
static constexpr char kA32x4[] = "register = [[0,1]], "
                                 "lane = [[1,0],[2,0],[4,0],[8,0],[16,0],[0,2]] -> [32, 4]";
static constexpr char kB32x4[] = "register = [[1,0]], "
                                 "lane = [[0,1],[0,2],[0,4],[0,8],[0,16],[2,0]] -> [4, 32]";
static constexpr char kA16x8[] = "register = [[0,1]], "
                                 "lane = [[1,0],[2,0],[4,0],[8,0],[0,2],[0,4]] -> [16, 8]";
static constexpr char kB16x8[] = "register = [[1,0]], "
                                 "lane = [[0,1],[0,2],[0,4],[0,8],[2,0],[4,0]] -> [8, 16]";
static constexpr char kA16x64[] = "register = [[0,1],[0,2],[0,4],[0,8]], "
                                  "lane = [[1,0],[2,0],[4,0],[8,0],[0,16],[0,32]] -> [16, 64]";
static constexpr char kB16x64[] = "register = [[1,0],[2,0],[4,0],[8,0]], "
                                  "lane = [[0,1],[0,2],[0,4],[0,8],[16,0],[32,0]] -> [64, 16]";
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

static constexpr char kWmma12A32[] = "register = [[0,1],[0,2],[0,4],[0,8]], "
                                     "lane = [[1,0],[2,0],[4,0],[8,0],[0,16]] -> [16, 32]";
static constexpr char kWmma12B32[] = "register = [[1,0],[2,0],[4,0],[8,0]], "
                                     "lane = [[0,1],[0,2],[0,4],[0,8],[16,0]] -> [32, 16]";

static constexpr char kA16x32[] = "register = [[0,1],[0,2],[0,4]], "
                                  "lane = [[1,0],[2,0],[4,0],[8,0],[0,8],[0,16]] -> [16, 32]";
static constexpr char kB16x32[] = "register = [[1,0],[2,0],[4,0]], "
                                  "lane = [[0,1],[0,2],[0,4],[0,8],[8,0],[16,0]] -> [32, 16]";
static constexpr char kA32x32[] = "register = [[0,1],[0,2],[0,4],[0,8]], "
                                  "lane = [[1,0],[2,0],[4,0],[8,0],[16,0],[0,16]] -> [32, 32]";
static constexpr char kB32x32[] = "register = [[1,0],[2,0],[4,0],[8,0]], "
                                  "lane = [[0,1],[0,2],[0,4],[0,8],[0,16],[16,0]] -> [32, 32]";
static constexpr char kA32x64[] = "register = [[0,1],[0,2],[0,4],[0,8],[0,16]], "
                                  "lane = [[1,0],[2,0],[4,0],[8,0],[16,0],[0,32]] -> [32, 64]";
static constexpr char kB32x64[] = "register = [[1,0],[2,0],[4,0],[8,0],[16,0]], "
                                  "lane = [[0,1],[0,2],[0,4],[0,8],[0,16],[32,0]] -> [64, 32]";
static constexpr char kA16x128[] = "register = [[0,1],[0,2],[0,4],[0,8],[0,16]], "
                                   "lane = [[1,0],[2,0],[4,0],[8,0],[0,32],[0,64]] -> [16, 128]";
static constexpr char kB16x128[] = "register = [[1,0],[2,0],[4,0],[8,0],[16,0]], "
                                   "lane = [[0,1],[0,2],[0,4],[0,8],[32,0],[64,0]] -> [128, 16]";

// Of the products with 64 and 128 elements along k the order of these within a lane is not what
// the hardware's is; since a and b agree, their sum is the same.
static const MatrixShape kShapes[] = {
    {"mfma.scale.f32.32x32x64.f8f6f4", kCdna4, Kind::E4M3, Kind::E4M3, Form::ScaledMfma, 32, 64,
     Operand::Words, kA32x64, kB32x64, kC32},
    {"mfma.scale.f32.32x32x64.f8f6f4", kCdna4, Kind::E5M2, Kind::E5M2, Form::ScaledMfma, 32, 64,
     Operand::Words, kA32x64, kB32x64, kC32},
    {"mfma.scale.f32.16x16x128.f8f6f4", kCdna4, Kind::E4M3, Kind::E4M3, Form::ScaledMfma, 16, 128,
     Operand::Words, kA16x128, kB16x128, kC16},
    {"mfma.scale.f32.16x16x128.f8f6f4", kCdna4, Kind::E5M2, Kind::E5M2, Form::ScaledMfma, 16, 128,
     Operand::Words, kA16x128, kB16x128, kC16},
    {"mfma.f32.32x32x16.fp8.fp8", kCdna4, Kind::E4M3, Kind::E4M3, Form::Mfma, 32, 16,
     Operand::LongWord, kA32x16, kB32x16, kC32},
    {"mfma.f32.32x32x16.bf8.bf8", kCdna4, Kind::E5M2, Kind::E5M2, Form::Mfma, 32, 16,
     Operand::LongWord, kA32x16, kB32x16, kC32},
    {"mfma.f32.16x16x32.fp8.fp8", kCdna4, Kind::E4M3, Kind::E4M3, Form::Mfma, 16, 32,
     Operand::LongWord, kA16x32, kB16x32, kC16},
    {"mfma.f32.16x16x32.bf8.bf8", kCdna4, Kind::E5M2, Kind::E5M2, Form::Mfma, 16, 32,
     Operand::LongWord, kA16x32, kB16x32, kC16},
    {"mfma.scale.f32.32x32x64.f8f6f4", kCdna4, Kind::E4M3, Kind::E5M2, Form::ScaledMfma, 32, 64,
     Operand::Words, kA32x64, kB32x64, kC32},
    {"mfma.scale.f32.32x32x64.f8f6f4", kCdna4, Kind::E5M2, Kind::E4M3, Form::ScaledMfma, 32, 64,
     Operand::Words, kA32x64, kB32x64, kC32},
    {"mfma.scale.f32.16x16x128.f8f6f4", kCdna4, Kind::E4M3, Kind::E5M2, Form::ScaledMfma, 16, 128,
     Operand::Words, kA16x128, kB16x128, kC16},
    {"mfma.scale.f32.16x16x128.f8f6f4", kCdna4, Kind::E5M2, Kind::E4M3, Form::ScaledMfma, 16, 128,
     Operand::Words, kA16x128, kB16x128, kC16},
    {"mfma.f32.32x32x16.fp8.bf8", kCdna4, Kind::E4M3, Kind::E5M2, Form::Mfma, 32, 16,
     Operand::LongWord, kA32x16, kB32x16, kC32},
    {"mfma.f32.32x32x16.bf8.fp8", kCdna4, Kind::E5M2, Kind::E4M3, Form::Mfma, 32, 16,
     Operand::LongWord, kA32x16, kB32x16, kC32},
    {"mfma.f32.16x16x32.fp8.bf8", kCdna4, Kind::E4M3, Kind::E5M2, Form::Mfma, 16, 32,
     Operand::LongWord, kA16x32, kB16x32, kC16},
    {"mfma.f32.16x16x32.bf8.fp8", kCdna4, Kind::E5M2, Kind::E4M3, Form::Mfma, 16, 32,
     Operand::LongWord, kA16x32, kB16x32, kC16},
    {"mfma.i32.32x32x32.i8", kCdna4, Kind::Int8, Kind::Int8, Form::Mfma, 32, 32, Operand::Words,
     kA32x32, kB32x32, kC32},
    {"mfma.f32.32x32x16.f16", kCdna4, Kind::Float16, Kind::Float16, Form::Mfma, 32, 16,
     Operand::AsIs, kA32x16, kB32x16, kC32},
    {"mfma.f32.32x32x16.bf16", kCdna4, Kind::BFloat16, Kind::BFloat16, Form::Mfma, 32, 16,
     Operand::AsIs, kA32x16, kB32x16, kC32},
    {"mfma.f32.16x16x32.f16", kCdna4, Kind::Float16, Kind::Float16, Form::Mfma, 16, 32,
     Operand::AsIs, kA16x32, kB16x32, kC16},
    {"mfma.f32.16x16x32.bf16", kCdna4, Kind::BFloat16, Kind::BFloat16, Form::Mfma, 16, 32,
     Operand::AsIs, kA16x32, kB16x32, kC16},
    {"mfma.f32.32x32x8f16", kCdna, Kind::Float16, Kind::Float16, Form::Mfma, 32, 8, Operand::AsIs,
     kA32x8, kB32x8, kC32},
    {"mfma.f32.32x32x8bf16.1k", kCdna, Kind::BFloat16, Kind::BFloat16, Form::Mfma, 32, 8,
     Operand::Bits16, kA32x8, kB32x8, kC32},
    {"mfma.f32.16x16x16f16", kCdna, Kind::Float16, Kind::Float16, Form::Mfma, 16, 16, Operand::AsIs,
     kA16x16, kB16x16, kC16},
    {"mfma.f32.16x16x16bf16.1k", kCdna, Kind::BFloat16, Kind::BFloat16, Form::Mfma, 16, 16,
     Operand::Bits16, kA16x16, kB16x16, kC16},
    {"mfma.f32.16x16x4f32", kCdna, Kind::Float32, Kind::Float32, Form::Mfma, 16, 4, Operand::Scalar,
     kA16x4, kB16x4, kC16},
    {"mfma.f64.16x16x4f64", kCdna, Kind::Float64, Kind::Float64, Form::Mfma, 16, 4, Operand::Scalar,
     kA16x4, kB16x4, kRowsApart},
    {"mfma.i32.32x32x16.i8", kCdna3, Kind::Int8, Kind::Int8, Form::Mfma, 32, 16, Operand::LongWord,
     kA32x16, kB32x16, kC32},
    {"mfma.i32.32x32x8i8", kCdna2, Kind::Int8, Kind::Int8, Form::Mfma, 32, 8, Operand::Words,
     kA32x8, kB32x8, kC32},
    {"mfma.i32.16x16x64.i8", kCdna4, Kind::Int8, Kind::Int8, Form::Mfma, 16, 64, Operand::Words,
     kA16x64, kB16x64, kC16},
    {"mfma.i32.16x16x32.i8", kCdna3, Kind::Int8, Kind::Int8, Form::Mfma, 16, 32, Operand::LongWord,
     kA16x32, kB16x32, kC16},
    {"mfma.i32.16x16x16i8", kCdna2, Kind::Int8, Kind::Int8, Form::Mfma, 16, 16, Operand::Words,
     kA16x16, kB16x16, kC16},
    {"mfma.f32.32x32x4.xf32", kCdna3Only, Kind::TF32, Kind::TF32, Form::Mfma, 32, 4, Operand::AsIs,
     kA32x4, kB32x4, kC32},
    {"mfma.f32.16x16x8.xf32", kCdna3Only, Kind::TF32, Kind::TF32, Form::Mfma, 16, 8, Operand::AsIs,
     kA16x8, kB16x8, kC16},
    {"wmma.i32.16x16x16.iu4", kRdna3, Kind::Int4, Kind::Int4, Form::IntegerWmma, 16, 16,
     Operand::Words, kWmmaA, kWmmaB, kWmmaC},
    {"wmma.i32.16x16x32.iu4", kRdna4, Kind::Int4, Kind::Int4, Form::IntegerWmma, 16, 32,
     Operand::Words, kWmma12A32, kWmma12B32, kWmma12C},
    {"wmma.f32.16x16x16.fp8_bf8", kRdna4, Kind::E4M3, Kind::E5M2, Form::Wmma, 16, 16,
     Operand::Words, kWmma12A, kWmma12B, kWmma12C},
    {"wmma.f32.16x16x16.bf8_fp8", kRdna4, Kind::E5M2, Kind::E4M3, Form::Wmma, 16, 16,
     Operand::Words, kWmma12A, kWmma12B, kWmma12C},
    {"wmma.f32.16x16x16.f16", kRdna3, Kind::Float16, Kind::Float16, Form::Wmma, 16, 16,
     Operand::AsIs, kWmmaA, kWmmaB, kWmmaC},
    {"wmma.f32.16x16x16.bf16", kRdna3, Kind::BFloat16, Kind::BFloat16, Form::Wmma, 16, 16,
     Operand::Bits16, kWmmaA, kWmmaB, kWmmaC},
    {"wmma.i32.16x16x16.iu8", kRdna3, Kind::Int8, Kind::Int8, Form::IntegerWmma, 16, 16,
     Operand::Words, kWmmaA, kWmmaB, kWmmaC},
    {"wmma.i32.16x16x16.iu8", kRdna4, Kind::Int8, Kind::Int8, Form::IntegerWmma, 16, 16,
     Operand::Words, kWmma12A, kWmma12B, kWmma12C},
    {"wmma.f32.16x16x16.fp8_fp8", kRdna4, Kind::E4M3, Kind::E4M3, Form::Wmma, 16, 16,
     Operand::Words, kWmma12A, kWmma12B, kWmma12C},
    {"wmma.f32.16x16x16.bf8_bf8", kRdna4, Kind::E5M2, Kind::E5M2, Form::Wmma, 16, 16,
     Operand::Words, kWmma12A, kWmma12B, kWmma12C},
    {"wmma.f32.16x16x16.f16", kRdna4, Kind::Float16, Kind::Float16, Form::Wmma, 16, 16,
     Operand::AsIs, kWmma12A, kWmma12B, kWmma12C},
    {"wmma.f32.16x16x16.bf16", kRdna4, Kind::BFloat16, Kind::BFloat16, Form::Wmma, 16, 16,
     Operand::Bits16, kWmma12A, kWmma12B, kWmma12C},
};

static std::optional<Kind> getKind(Type element) {
  if (element.isF16())
    return Kind::Float16;
  if (element.isBF16())
    return Kind::BFloat16;
  if (isa<FloatTF32Type>(element))
    return Kind::TF32;
  if (element.isF32())
    return Kind::Float32;
  if (element.isF64())
    return Kind::Float64;
  if (element.isInteger(8))
    return Kind::Int8;
  if (element.isInteger(4))
    return Kind::Int4;
  if (isa<Float8E4M3FNType>(element))
    return Kind::E4M3;
  if (isa<Float8E5M2Type>(element))
    return Kind::E5M2;
  return std::nullopt;
}

static Type getAccumulator(Kind kind, MLIRContext *context) {
  Builder builder(context);
  return kind == Kind::Int8 || kind == Kind::Int4 ? Type(builder.getI32Type())
         : kind == Kind::Float64                  ? Type(builder.getF64Type())
                                                  : Type(builder.getF32Type());
}

static bool accepts(const MatrixShape &shape, Type a, Type b) {
  bool hasUnsigned = a.isUnsignedInteger() || b.isUnsignedInteger();
  return getKind(a) == shape.a && getKind(b) == shape.b &&
         (!hasUnsigned || shape.form == Form::IntegerWmma);
}

SmallVector<Attribute> kiln::amdgcn::getMatrixAtoms(StringRef chip, Type a, Type b,
                                                    Type accumulator) {
  MLIRContext *context = a.getContext();
  SmallVector<Attribute> atoms;
  for (const MatrixShape &shape : kShapes)
    if (accepts(shape, a, b) && llvm::is_contained(shape.chips, chip) &&
        accumulator == getAccumulator(shape.a, context))
      atoms.push_back(MatrixAttr::get(context, shape.instruction, chip, a, a == b ? Type() : b));
  return atoms;
}

/// Two generations of one instruction have fragments of their own.
static const MatrixShape *findShape(StringRef instruction, StringRef chip, Type a, Type b) {
  for (const MatrixShape &shape : kShapes)
    if (shape.instruction == instruction && llvm::is_contained(shape.chips, chip) &&
        accepts(shape, a, b))
      return &shape;
  return nullptr;
}

static const MatrixShape *findShape(MatrixAttr atom) {
  return findShape(atom.getInstruction(), atom.getChip(), atom.getTypeOf(0), atom.getTypeOf(1));
}

LogicalResult MatrixAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 StringRef instruction, StringRef chip, Type element,
                                 Type elementB) {
  if (findShape(instruction, chip, element, elementB ? elementB : element))
    return success();
  auto diagnostic = emitError() << "expected a matrix instruction of " << chip << " for "
                                << element;
  if (elementB)
    diagnostic << " and " << elementB;
  return diagnostic << ", got '" << instruction << "'";
}

std::array<int64_t, 3> MatrixAttr::getExtents() const {
  const MatrixShape *shape = findShape(*this);
  return {shape->m, shape->m, shape->k};
}

LinearLayout MatrixAttr::getFragment(unsigned operand) const {
  const MatrixShape *shape = findShape(*this);
  StringRef text = operand == 0   ? shape->fragmentA
                   : operand == 1 ? shape->fragmentB
                                  : shape->fragmentC;
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
  case Operand::Words: {
    Value words = toWords(builder, loc, registers);
    bool isOne = cast<VectorType>(words.getType()).getNumElements() == 1;
    return isOne ? Value(vector::ExtractOp::create(builder, loc, words, 0)) : words;
  }
  case Operand::LongWord:
    return vector::ExtractOp::create(builder, loc, castTo(1, builder.getI64Type()), 0);
  }
  return registers;
}

Value MatrixAttr::emit(OpBuilder &builder, Location loc, Value a, Value b,
                       Value accumulator) const {
  const MatrixShape *shape = findShape(*this);
  OperationState state(loc, ("rocdl." + getInstruction()).str());
  state.addOperands({getOperand(builder, loc, a, shape->operand),
                     getOperand(builder, loc, b, shape->operand), accumulator});
  auto word = [&](int64_t value) -> Value {
    return LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), value);
  };
  switch (shape->form) {
  case Form::Mfma:
    // No broadcast of blocks, no permutation: plain products.
    state.addOperands({word(0), word(0), word(0)});
    break;
  case Form::ScaledMfma: {
    // The types of a and b; then a byte of a register of scales, and the register, for each. No
    // register is a scale of one.
    Value typeA = word(shape->a == Kind::E4M3 ? 0 : 1),
          typeB = word(shape->b == Kind::E4M3 ? 0 : 1);
    state.addOperands({typeA, typeB, word(0), word(0), word(0), word(0)});
    break;
  }
  case Form::Wmma:
    break;
  case Form::IntegerWmma:
    state.addAttribute("signA", builder.getBoolAttr(!getTypeOf(0).isUnsignedInteger()));
    state.addAttribute("signB", builder.getBoolAttr(!getTypeOf(1).isUnsignedInteger()));
    break;
  }
  state.addTypes(accumulator.getType());
  return builder.create(state)->getResult(0);
}
