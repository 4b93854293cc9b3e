// MFMA and WMMA: fragments by the ISA manuals' figures, and how they are emitted.
//
// MFMA runs on waves of 64. For an M x M result, lane l holds column l mod M of the accumulator
// in groups of four rows, row l mod M of a and column l mod M of b; what is left of the lane
// number walks along k (and, for the accumulator, from one group of four rows to the next). The
// f64 form has its rows in single file instead. The form with scales takes them from the lanes of
// the same row or column, one a block. WMMA runs on waves of 32: on the first chips both halves
// hold all of a and b, later each half has its half of k.
#include "Chips.h"
#include "kiln/Target/Common/AtomCosts.h"
#include "kiln/Target/Common/Threads.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::amdgcn;

using Basis = LinearLayout::Basis;
using InDim = LinearLayout::InDim;

namespace {
/// What a matrix is made of; Narrow is any of the five floats of at most a byte that one
/// instruction of CDNA 4 takes.
enum class Kind { Float16, BFloat16, TF32, Float32, Float64, Int8, Int4, E4M3, E5M2, Narrow };
/// What the intrinsic takes besides its fragments: MFMA how blocks are broadcast and permuted, its
/// scaled form which types a and b have and their scales, integer WMMA whether they are signed.
enum class Form { Mfma, ScaledMfma, Wmma, IntegerWmma };
/// How the intrinsic wants a lane's elements of a and b.
enum class Operand { AsIs, Scalar, Bits16, Words, LongWord };

struct MatrixShape {
  StringLiteral instruction;
  ArrayRef<MatrixCores> cores;
  Kind a, b;
  int64_t m, k;
  Operand operand = Operand::AsIs;
  Form form = Form::Mfma;

  int64_t getLanes() const { return form == Form::Mfma || form == Form::ScaledMfma ? 64 : 32; }
};
} // namespace

static constexpr MatrixCores kCdna[] = {MatrixCores::CDNA2, MatrixCores::CDNA3, MatrixCores::CDNA4};
static constexpr MatrixCores kCdna2[] = {MatrixCores::CDNA2};
static constexpr MatrixCores kCdna3[] = {MatrixCores::CDNA3, MatrixCores::CDNA4};
static constexpr MatrixCores kCdna3Only[] = {MatrixCores::CDNA3};
static constexpr MatrixCores kCdna4[] = {MatrixCores::CDNA4};
static constexpr MatrixCores kRdna3[] = {MatrixCores::RDNA3};
static constexpr MatrixCores kRdna4[] = {MatrixCores::RDNA4};

// Of those that take the same types the best comes first.
static constexpr MatrixShape kShapes[] = {
    {"mfma.scale.f32.32x32x64.f8f6f4", kCdna4, Kind::Narrow, Kind::Narrow, 32, 64, Operand::Words,
     Form::ScaledMfma},
    {"mfma.scale.f32.16x16x128.f8f6f4", kCdna4, Kind::Narrow, Kind::Narrow, 16, 128, Operand::Words,
     Form::ScaledMfma},
    {"mfma.f32.32x32x16.fp8.fp8", kCdna4, Kind::E4M3, Kind::E4M3, 32, 16, Operand::LongWord},
    {"mfma.f32.16x16x32.fp8.fp8", kCdna4, Kind::E4M3, Kind::E4M3, 16, 32, Operand::LongWord},
    {"mfma.f32.32x32x16.fp8.bf8", kCdna4, Kind::E4M3, Kind::E5M2, 32, 16, Operand::LongWord},
    {"mfma.f32.16x16x32.fp8.bf8", kCdna4, Kind::E4M3, Kind::E5M2, 16, 32, Operand::LongWord},
    {"mfma.f32.32x32x16.bf8.fp8", kCdna4, Kind::E5M2, Kind::E4M3, 32, 16, Operand::LongWord},
    {"mfma.f32.16x16x32.bf8.fp8", kCdna4, Kind::E5M2, Kind::E4M3, 16, 32, Operand::LongWord},
    {"mfma.f32.32x32x16.bf8.bf8", kCdna4, Kind::E5M2, Kind::E5M2, 32, 16, Operand::LongWord},
    {"mfma.f32.16x16x32.bf8.bf8", kCdna4, Kind::E5M2, Kind::E5M2, 16, 32, Operand::LongWord},
    {"mfma.f32.32x32x16.f16", kCdna4, Kind::Float16, Kind::Float16, 32, 16},
    {"mfma.f32.16x16x32.f16", kCdna4, Kind::Float16, Kind::Float16, 16, 32},
    {"mfma.f32.32x32x16.bf16", kCdna4, Kind::BFloat16, Kind::BFloat16, 32, 16},
    {"mfma.f32.16x16x32.bf16", kCdna4, Kind::BFloat16, Kind::BFloat16, 16, 32},
    {"mfma.f32.32x32x8f16", kCdna, Kind::Float16, Kind::Float16, 32, 8},
    {"mfma.f32.32x32x8bf16.1k", kCdna, Kind::BFloat16, Kind::BFloat16, 32, 8, Operand::Bits16},
    {"mfma.f32.16x16x16f16", kCdna, Kind::Float16, Kind::Float16, 16, 16},
    {"mfma.f32.16x16x16bf16.1k", kCdna, Kind::BFloat16, Kind::BFloat16, 16, 16, Operand::Bits16},
    {"mfma.f32.16x16x4f32", kCdna, Kind::Float32, Kind::Float32, 16, 4, Operand::Scalar},
    {"mfma.f64.16x16x4f64", kCdna, Kind::Float64, Kind::Float64, 16, 4, Operand::Scalar},
    {"mfma.i32.32x32x32.i8", kCdna4, Kind::Int8, Kind::Int8, 32, 32, Operand::Words},
    {"mfma.i32.32x32x16.i8", kCdna3, Kind::Int8, Kind::Int8, 32, 16, Operand::LongWord},
    {"mfma.i32.32x32x8i8", kCdna2, Kind::Int8, Kind::Int8, 32, 8, Operand::Words},
    {"mfma.i32.16x16x64.i8", kCdna4, Kind::Int8, Kind::Int8, 16, 64, Operand::Words},
    {"mfma.i32.16x16x32.i8", kCdna3, Kind::Int8, Kind::Int8, 16, 32, Operand::LongWord},
    {"mfma.i32.16x16x16i8", kCdna2, Kind::Int8, Kind::Int8, 16, 16, Operand::Words},
    {"mfma.f32.32x32x4.xf32", kCdna3Only, Kind::TF32, Kind::TF32, 32, 4},
    {"mfma.f32.16x16x8.xf32", kCdna3Only, Kind::TF32, Kind::TF32, 16, 8},
    {"wmma.i32.16x16x16.iu4", kRdna3, Kind::Int4, Kind::Int4, 16, 16, Operand::Words,
     Form::IntegerWmma},
    {"wmma.i32.16x16x32.iu4", kRdna4, Kind::Int4, Kind::Int4, 16, 32, Operand::Words,
     Form::IntegerWmma},
    {"wmma.f32.16x16x16.f16", kRdna3, Kind::Float16, Kind::Float16, 16, 16, Operand::AsIs,
     Form::Wmma},
    {"wmma.f32.16x16x16.bf16", kRdna3, Kind::BFloat16, Kind::BFloat16, 16, 16, Operand::Bits16,
     Form::Wmma},
    {"wmma.i32.16x16x16.iu8", kRdna3, Kind::Int8, Kind::Int8, 16, 16, Operand::Words,
     Form::IntegerWmma},
    {"wmma.f32.16x16x16.f16", kRdna4, Kind::Float16, Kind::Float16, 16, 16, Operand::AsIs,
     Form::Wmma},
    {"wmma.f32.16x16x16.bf16", kRdna4, Kind::BFloat16, Kind::BFloat16, 16, 16, Operand::Bits16,
     Form::Wmma},
    {"wmma.i32.16x16x16.iu8", kRdna4, Kind::Int8, Kind::Int8, 16, 16, Operand::Words,
     Form::IntegerWmma},
    {"wmma.f32.16x16x16.fp8_fp8", kRdna4, Kind::E4M3, Kind::E4M3, 16, 16, Operand::Words,
     Form::Wmma},
    {"wmma.f32.16x16x16.fp8_bf8", kRdna4, Kind::E4M3, Kind::E5M2, 16, 16, Operand::Words,
     Form::Wmma},
    {"wmma.f32.16x16x16.bf8_fp8", kRdna4, Kind::E5M2, Kind::E4M3, 16, 16, Operand::Words,
     Form::Wmma},
    {"wmma.f32.16x16x16.bf8_bf8", kRdna4, Kind::E5M2, Kind::E5M2, 16, 16, Operand::Words,
     Form::Wmma},
};

/// The number by which the instruction of narrow floats knows a type.
static std::optional<unsigned> getNarrowFormat(Type element) {
  if (isa<Float8E4M3FNType>(element))
    return 0;
  if (isa<Float8E5M2Type>(element))
    return 1;
  if (isa<Float6E2M3FNType>(element))
    return 2;
  if (isa<Float6E3M2FNType>(element))
    return 3;
  if (isa<Float4E2M1FNType>(element))
    return 4;
  return std::nullopt;
}

static bool is(Type element, Kind kind) {
  switch (kind) {
  case Kind::Float16:
    return element.isF16();
  case Kind::BFloat16:
    return element.isBF16();
  case Kind::TF32:
    return isa<FloatTF32Type>(element);
  case Kind::Float32:
    return element.isF32();
  case Kind::Float64:
    return element.isF64();
  case Kind::Int8:
    return element.isInteger(8);
  case Kind::Int4:
    return element.isInteger(4);
  case Kind::E4M3:
    return isa<Float8E4M3FNType>(element);
  case Kind::E5M2:
    return isa<Float8E5M2Type>(element);
  case Kind::Narrow:
    return getNarrowFormat(element).has_value();
  }
  return false;
}

static Type getAccumulator(Kind kind, MLIRContext *context) {
  Builder builder(context);
  return kind == Kind::Int8 || kind == Kind::Int4 ? Type(builder.getI32Type())
         : kind == Kind::Float64                  ? Type(builder.getF64Type())
                                                  : Type(builder.getF32Type());
}

static bool accepts(const MatrixShape &shape, Type a, Type b) {
  bool hasUnsigned = a.isUnsignedInteger() || b.isUnsignedInteger();
  return is(a, shape.a) && is(b, shape.b) && (!hasUnsigned || shape.form == Form::IntegerWmma);
}

static bool has(StringRef chip, const MatrixShape &shape) {
  return llvm::is_contained(shape.cores, getRecord(chip).matrixCores);
}

SmallVector<Attribute> kiln::amdgcn::getMatrixAtoms(StringRef chip, Type a, Type b,
                                                    Type accumulator) {
  MLIRContext *context = a.getContext();
  SmallVector<Attribute> atoms;
  for (const MatrixShape &shape : kShapes)
    if (accepts(shape, a, b) && has(chip, shape) && accumulator == getAccumulator(shape.a, context))
      atoms.push_back(MatrixAttr::get(context, shape.instruction, chip, a, a == b ? Type() : b));
  return atoms;
}

SmallVector<Attribute> kiln::amdgcn::getScaledMatrixAtoms(StringRef chip, Type a, Type scaleA,
                                                          Type b, Type scaleB, Type accumulator) {
  SmallVector<Attribute> atoms;
  if (!isa<Float8E8M0FNUType>(scaleA) || !isa<Float8E8M0FNUType>(scaleB))
    return atoms;
  for (Attribute atom : getMatrixAtoms(chip, a, b, accumulator))
    if (cast<MatrixAttr>(atom).getInstruction().starts_with("mfma.scale."))
      atoms.push_back(atom);
  return atoms;
}

/// Two generations of one instruction have fragments of their own.
static const MatrixShape *findShape(StringRef instruction, StringRef chip, Type a, Type b) {
  for (const MatrixShape &shape : kShapes)
    if (shape.instruction == instruction && has(chip, shape) && accepts(shape, a, b))
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

std::optional<int64_t> MatrixAttr::getIssueCycles(const Chip &chip, Type, int64_t products) const {
  return countMatrixCycles(chip, getTypeOf(0), getTypeOf(1), products);
}

std::optional<int64_t> MatrixAttr::getLatency(const Chip &chip) const {
  return getValue(chip.figures.matrixLatency);
}

/// A matrix of [along, across], or for a of [across, along]. The lanes stand side by side across;
/// along, each holds `run` elements one after the other. What is left of the lane's number says
/// which run, and what is left then lies in more registers.
static LinearLayout spread(int64_t lanes, int64_t across, int64_t along, int64_t run, bool isA) {
  InDim registers{"register", {}}, lane{"lane", {}};
  auto add = [&](InDim &part, int64_t atAlong, int64_t atAcross) {
    part.bases.push_back(isA ? Basis{atAcross, atAlong} : Basis{atAlong, atAcross});
  };
  int64_t at = 1;
  for (; at < run; at *= 2)
    add(registers, at, 0);
  for (int64_t value = 1; value < across; value *= 2)
    add(lane, 0, value);
  // Lanes that are left over hold what others do.
  for (int64_t left = lanes / across; left > 1; left /= 2, at *= 2)
    add(lane, at < along ? at : 0, 0);
  for (; at < along; at *= 2)
    add(registers, at, 0);
  SmallVector<int64_t> shape = {isA ? across : along, isA ? along : across};
  return *LinearLayout::create({registers, lane}, getTensorOuts(shape));
}

static bool repeatsOperands(MatrixAttr atom) { return getRecord(atom.getChip()).repeatsOperands; }

/// How many elements along k a lane holds one after the other.
static int64_t getRun(MatrixAttr atom, const MatrixShape &shape, unsigned operand) {
  if (repeatsOperands(atom))
    return shape.k;
  int64_t all = shape.k * shape.m / shape.getLanes();
  // Of bytes half comes from either half of k, in what sixteen bytes hold.
  bool isByte =
      shape.form == Form::ScaledMfma && atom.getTypeOf(operand).getIntOrFloatBitWidth() == 8;
  return isByte ? all / 2 : all;
}

LinearLayout MatrixAttr::getFragment(unsigned operand) const {
  const MatrixShape *shape = findShape(*this);
  if (operand < 2)
    return spread(shape->getLanes(), shape->m, shape->k, getRun(*this, *shape, operand),
                  operand == 0);
  bool isMfma = shape->getLanes() == 64;
  int64_t rows = isMfma ? (shape->a == Kind::Float64 ? 1 : 4) : repeatsOperands(*this) ? 1 : 8;
  return spread(shape->getLanes(), shape->m, shape->m, rows, false);
}

int64_t MatrixAttr::getBlock() const { return 32; }

/// Block i along k is scaled by the lanes from i times the rows (columns) on.
LinearLayout MatrixAttr::getScales(unsigned) const {
  const MatrixShape *shape = findShape(*this);
  return spread(shape->getLanes(), shape->m, shape->k / getBlock(), 1, true);
}

static Value getOperand(OpBuilder &builder, Location loc, Value registers, Operand form) {
  auto castTo = [&](Type element) { return castVector(builder, loc, registers, element); };
  switch (form) {
  case Operand::AsIs:
    return registers;
  case Operand::Scalar:
    return vector::ExtractOp::create(builder, loc, registers, 0);
  case Operand::Bits16:
    return castTo(builder.getI16Type());
  case Operand::Words: {
    Value words = toWords(builder, loc, registers);
    bool isOne = cast<VectorType>(words.getType()).getNumElements() == 1;
    return isOne ? Value(vector::ExtractOp::create(builder, loc, words, 0)) : words;
  }
  case Operand::LongWord:
    return vector::ExtractOp::create(builder, loc, castTo(builder.getI64Type()), 0);
  }
  return registers;
}

static Value word(OpBuilder &builder, Location loc, int64_t value) {
  return LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), value);
}

static OperationState getState(OpBuilder &builder, Location loc, MatrixAttr atom, Value a, Value b,
                               Value accumulator) {
  Operand form = findShape(atom)->operand;
  OperationState state(loc, ("rocdl." + atom.getInstruction()).str());
  state.addOperands(
      {getOperand(builder, loc, a, form), getOperand(builder, loc, b, form), accumulator});
  state.addTypes(accumulator.getType());
  return state;
}

/// The types of a and b; then a byte of a register of scales, and the register, for each.
static Value createScaled(OpBuilder &builder, OperationState &state, MatrixAttr atom,
                          unsigned byteA, Value scalesA, unsigned byteB, Value scalesB) {
  auto add = [&](int64_t value) { state.addOperands(word(builder, state.location, value)); };
  add(*getNarrowFormat(atom.getTypeOf(0)));
  add(*getNarrowFormat(atom.getTypeOf(1)));
  add(byteA);
  state.addOperands(scalesA);
  add(byteB);
  state.addOperands(scalesB);
  return builder.create(state)->getResult(0);
}

Value MatrixAttr::emit(OpBuilder &builder, Location loc, Value a, Value b,
                       Value accumulator) const {
  OperationState state = getState(builder, loc, *this, a, b, accumulator);
  switch (findShape(*this)->form) {
  case Form::Mfma:
    // No broadcast of blocks, no permutation: plain products.
    state.addOperands({word(builder, loc, 0), word(builder, loc, 0), word(builder, loc, 0)});
    break;
  case Form::ScaledMfma: {
    // No registers of scales: the form without them.
    Value none = word(builder, loc, 0);
    return createScaled(builder, state, *this, 0, none, 0, none);
  }
  case Form::Wmma:
    break;
  case Form::IntegerWmma:
    state.addAttribute("signA", builder.getBoolAttr(!getTypeOf(0).isUnsignedInteger()));
    state.addAttribute("signB", builder.getBoolAttr(!getTypeOf(1).isUnsignedInteger()));
    break;
  }
  return builder.create(state)->getResult(0);
}

/// The register in which one of the lane's scales lies, four a register.
static Value getScaleWord(OpBuilder &builder, Location loc, Value scales, unsigned which) {
  int64_t count = cast<VectorType>(scales.getType()).getNumElements();
  Type i8 = builder.getI8Type();
  Value bytes = vector::BitCastOp::create(builder, loc, VectorType::get({count}, i8), scales);
  SmallVector<Value> parts;
  for (int64_t at = which / 4 * 4, end = at + 4; at < end; ++at)
    parts.push_back(at < count ? Value(vector::ExtractOp::create(builder, loc, bytes, at))
                               : Value(LLVM::ConstantOp::create(builder, loc, i8, 0)));
  Value four = vector::FromElementsOp::create(builder, loc, VectorType::get({4}, i8), parts);
  Value word = vector::ExtractOp::create(builder, loc, toWords(builder, loc, four), 0);
  // The code generator takes two constants of zeros, which are scales as well, for none: it must
  // not see constants. A text of no instructions hides them.
  auto isConstant = [](Value element) {
    auto extract = element.getDefiningOp<vector::ExtractOp>();
    return matchPattern(extract ? extract->getOperand(0) : element, m_Constant());
  };
  auto from = scales.getDefiningOp<vector::FromElementsOp>();
  bool hides =
      from ? llvm::all_of(from.getElements(), isConstant) : matchPattern(scales, m_Constant());
  if (!hides)
    return word;
  auto hidden = LLVM::InlineAsmOp::create(
      builder, loc, word.getType(), word, "", "=v,0", /*has_side_effects=*/false,
      /*is_align_stack=*/false, LLVM::TailCallKind::None,
      LLVM::AsmDialectAttr::get(builder.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr());
  return hidden.getResult(0);
}

Value MatrixAttr::emitScaled(OpBuilder &builder, Location loc, Value a, Value scalesA,
                             unsigned scaleA, Value b, Value scalesB, unsigned scaleB,
                             Value accumulator) const {
  OperationState state = getState(builder, loc, *this, a, b, accumulator);
  Value wordA = getScaleWord(builder, loc, scalesA, scaleA);
  Value wordB = getScaleWord(builder, loc, scalesB, scaleB);
  return createScaled(builder, state, *this, scaleA % 4, wordA, scaleB % 4, wordB);
}
