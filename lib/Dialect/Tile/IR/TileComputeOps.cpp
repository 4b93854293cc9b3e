// Verifiers of matrix products and of ops that combine along an axis.
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace kiln::tile;

//===- Dots ---------------------------------------------------------------------------------===//

namespace {
/// A tensor or buffer operand, as a dot looks at it.
struct Operand {
  explicit Operand(Value value) {
    if (auto buffer = dyn_cast<BufferType>(value.getType())) {
      shape = buffer.getShape();
      element = buffer.getElementType();
      return;
    }
    auto tensor = cast<RankedTensorType>(value.getType());
    shape = tensor.getShape();
    element = tensor.getElementType();
  }
  int64_t rows(bool transposed) const { return shape[shape.size() - (transposed ? 1 : 2)]; }
  int64_t columns(bool transposed) const { return shape[shape.size() - (transposed ? 2 : 1)]; }

  ArrayRef<int64_t> shape;
  Type element;
};
} // namespace

/// [batch…, M, K] · [batch…, K, N] into [batch…, M, N].
static LogicalResult verifyShapes(Operation *op, const Operand &a, bool transposeA,
                                  const Operand &b, bool transposeB, const Operand &c) {
  size_t rank = c.shape.size();
  if (rank < 2 || a.shape.size() != rank || b.shape.size() != rank)
    return op->emitOpError("expected operands of one rank of at least 2, got ")
           << a.shape.size() << ", " << b.shape.size() << " and " << rank;
  if (a.shape.drop_back(2) != c.shape.drop_back(2) || b.shape.drop_back(2) != c.shape.drop_back(2))
    return op->emitOpError("expected the same batch extents in all operands");
  if (a.columns(transposeA) != b.rows(transposeB))
    return op->emitOpError("expected the same K in both operands, got ")
           << a.columns(transposeA) << " and " << b.rows(transposeB);
  if (a.rows(transposeA) != c.rows(false) || b.columns(transposeB) != c.columns(false))
    return op->emitOpError("expected an accumulator of ")
           << a.rows(transposeA) << "x" << b.columns(transposeB) << ", got " << c.rows(false) << "x"
           << c.columns(false);
  return success();
}

int64_t DotOp::getM() { return getType().getShape().end()[-2]; }
int64_t DotOp::getN() { return getType().getShape().back(); }
int64_t DotOp::getK() { return Operand(getA()).columns(getTransposeA()); }

/// Whether a dot of such operands may have such an accumulator: the table of the op.
static bool isAccumulator(Type operand, Type accumulator) {
  if (operand.isF64())
    return accumulator.isF64();
  if (operand.isF16())
    return accumulator.isF32() || accumulator.isF16();
  if (isa<Float32Type, FloatTF32Type, BFloat16Type, Float8E4M3FNType, Float8E5M2Type>(operand))
    return accumulator.isF32();
  if (operand.isInteger(8) || operand.isInteger(4))
    return accumulator.isInteger(32);
  return false;
}

LogicalResult DotOp::verify() {
  Operand a(getA()), b(getB()), c(getAccumulator());
  if (failed(verifyShapes(*this, a, getTransposeA(), b, getTransposeB(), c)))
    return failure();
  bool bothF8 = isa<Float8E4M3FNType, Float8E5M2Type>(a.element) &&
                isa<Float8E4M3FNType, Float8E5M2Type>(b.element);
  if (a.element != b.element && !bothF8)
    return emitOpError("expected operands of one element type, got ")
           << a.element << " and " << b.element;
  if (!isAccumulator(a.element, c.element))
    return emitOpError("expected operands and an accumulator of the op's table, got ")
           << a.element << " into " << c.element;
  if ((getUnsignedA() || getUnsignedB()) && !a.element.isInteger())
    return emitOpError("expected integer operands with unsigned_a or unsigned_b, got ")
           << a.element;
  if (getPrecision() != DotPrecision::IEEE && !a.element.isF32())
    return emitOpError("expected f32 operands with a precision, got ") << a.element;
  return success();
}

LogicalResult DotScaledOp::verify() {
  Operand a(getA()), b(getB()), c(getAccumulator());
  if (failed(verifyShapes(*this, a, /*transposeA=*/false, b, getTransposeB(), c)))
    return failure();
  if (c.shape.size() != 2 || !c.element.isF32())
    return emitOpError("expected an accumulator of rank 2 of f32, got ")
           << getAccumulator().getType();
  auto verifyScale = [&](const Operand &matrix, int64_t outer, int64_t inner, Value value,
                         StringRef name) -> LogicalResult {
    Operand scale(value);
    bool nv = isa<Float8E4M3FNType>(scale.element);
    bool fits = nv ? isa<Float4E2M1FNType>(matrix.element)
                   : isa<Float8E8M0FNUType>(scale.element) &&
                         isa<Float8E4M3FNType, Float8E5M2Type, Float6E2M3FNType, Float6E3M2FNType,
                             Float4E2M1FNType>(matrix.element);
    if (!fits)
      return emitOpError("expected elements and scales of an MX or NV format for ")
             << name << ", got " << matrix.element << " and " << scale.element;
    int64_t block = nv ? 16 : 32;
    if (inner % block || scale.shape != ArrayRef<int64_t>({outer, inner / block}))
      return emitOpError("expected scales of [") << outer << ", " << inner << " / " << block
                                                 << "] for " << name << ", got " << value.getType();
    return success();
  };
  if (failed(verifyScale(a, a.rows(false), a.columns(false), getScaleA(), "a")))
    return failure();
  return verifyScale(b, b.columns(getTransposeB()), b.rows(getTransposeB()), getScaleB(), "b");
}

//===- Combining along an axis --------------------------------------------------------------===//

static LogicalResult verifyAxis(Operation *op, int64_t axis, RankedTensorType input) {
  if (axis >= 0 && axis < input.getRank())
    return success();
  return op->emitOpError("expected an axis from 0 to ")
         << input.getRank() - 1 << " of " << input << ", got " << axis;
}

static RankedTensorType dropAxis(RankedTensorType type, int64_t axis, Type element) {
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + axis);
  return RankedTensorType::get(shape, element);
}

static LogicalResult verifyTypes(Operation *op, TypeRange expected, TypeRange got, StringRef what) {
  if (llvm::equal(expected, got))
    return success();
  auto diagnostic = op->emitOpError("expected ") << what << " (";
  llvm::interleaveComma(expected, diagnostic);
  diagnostic << "), got (";
  llvm::interleaveComma(got, diagnostic);
  return diagnostic << ")";
}

/// The region takes left and right of every input and yields the given types.
static LogicalResult verifyCombiner(Operation *op, Region &region, TypeRange inputs,
                                    TypeRange yielded) {
  SmallVector<Type> scalars;
  for (int side = 0; side < 2; ++side)
    for (Type input : inputs)
      scalars.push_back(getElementTypeOrSelf(input));
  if (failed(verifyTypes(op, scalars, region.getArgumentTypes(), "the region to take")))
    return failure();
  return verifyTypes(op, yielded, region.front().getTerminator()->getOperandTypes(),
                     "the region to yield");
}

static SmallVector<Type> elementTypes(TypeRange types) {
  return llvm::map_to_vector(types, [](Type type) { return getElementTypeOrSelf(type); });
}

LogicalResult ReduceOp::verify() {
  if (getInputs().empty())
    return emitOpError("expected at least one input");
  auto first = cast<RankedTensorType>(getInputs().front().getType());
  if (failed(verifyAxis(*this, getAxis(), first)))
    return failure();
  if (first.getShape()[getAxis()] == 0)
    return emitOpError("expected at least one element along the axis");
  SmallVector<Type> results;
  for (Type input : getInputs().getTypes())
    results.push_back(
        dropAxis(cast<RankedTensorType>(input), getAxis(), getElementTypeOrSelf(input)));
  if (failed(verifyTypes(*this, results, getResultTypes(), "results")))
    return failure();
  return verifyCombiner(*this, getCombiner(), getInputs().getTypes(),
                        elementTypes(getInputs().getTypes()));
}

LogicalResult ScanOp::verify() {
  if (getInputs().empty())
    return emitOpError("expected at least one input");
  auto first = cast<RankedTensorType>(getInputs().front().getType());
  if (failed(verifyAxis(*this, getAxis(), first)) ||
      failed(verifyTypes(*this, getInputs().getTypes(), getResultTypes(), "results")))
    return failure();
  return verifyCombiner(*this, getCombiner(), getInputs().getTypes(),
                        elementTypes(getInputs().getTypes()));
}

LogicalResult ArgReduceOp::verify() {
  RankedTensorType input = getInput().getType();
  if (failed(verifyAxis(*this, getAxis(), input)))
    return failure();
  Type i32 = IntegerType::get(getContext(), 32);
  if (input.getShape()[getAxis()] == 0)
    return emitOpError("expected at least one element along the axis");
  if (failed(verifyTypes(
          *this,
          {dropAxis(input, getAxis(), input.getElementType()), dropAxis(input, getAxis(), i32)},
          getResultTypes(), "results")))
    return failure();
  return verifyCombiner(*this, getCombiner(), input, IntegerType::get(getContext(), 1));
}
