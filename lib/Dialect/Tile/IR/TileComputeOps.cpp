// Verifiers of matrix products and of ops that combine along an axis.
#include "Checks.h"
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/CallInterfaces.h"

using namespace mlir;
using namespace kiln::tile;

//===- Dots ---------------------------------------------------------------------------------===//

namespace {
/// A tensor or buffer operand, as a dot looks at it.
struct Operand {
  explicit Operand(Value value) : Operand(value.getType()) {}
  explicit Operand(Type type) {
    if (auto buffer = dyn_cast<BufferType>(type)) {
      shape = buffer.getShape();
      element = buffer.getElementType();
      return;
    }
    auto tensor = cast<RankedTensorType>(type);
    shape = tensor.getShape();
    element = tensor.getElementType();
  }
  int64_t rows(bool transposed) const { return shape[shape.size() - (transposed ? 1 : 2)]; }
  int64_t columns(bool transposed) const { return shape[shape.size() - (transposed ? 2 : 1)]; }

  ArrayRef<int64_t> shape;
  Type element;
};
} // namespace

/// [batch…, M, K] · [batch…, K, N] into [batch…, M, N], where b may be the part that one of so many
/// programs has of its columns.
static LogicalResult verifyShapes(Operation *op, const Operand &a, bool transposeA,
                                  const Operand &b, bool transposeB, const Operand &c,
                                  ArrayRef<unsigned> programs) {
  size_t rank = c.shape.size();
  if (rank < 2 || a.shape.size() != rank || b.shape.size() != rank)
    return op->emitOpError("expected operands of one rank of at least 2, got ")
           << a.shape.size() << ", " << b.shape.size() << " and " << rank;
  if (a.shape.drop_back(2) != c.shape.drop_back(2) || b.shape.drop_back(2) != c.shape.drop_back(2))
    return op->emitOpError("expected the same batch extents in all operands");
  if (a.columns(transposeA) != b.rows(transposeB))
    return op->emitOpError("expected the same K in both operands, got ")
           << a.columns(transposeA) << " and " << b.rows(transposeB);
  bool hasColumns = llvm::any_of(
      programs, [&](int64_t count) { return b.columns(transposeB) * count == c.columns(false); });
  if (a.rows(transposeA) == c.rows(false) && hasColumns)
    return success();
  return op->emitOpError("expected an accumulator of ")
         << a.rows(transposeA) << "x" << b.columns(transposeB) * programs.front() << ", got "
         << c.rows(false) << "x" << c.columns(false);
}

/// How many elements of an operand with scales are one of its bytes.
static int64_t countPacked(Type element) { return element.isInteger(8) ? 2 : 1; }

/// A buffer is read when the dot runs; tensors are values.
void DotOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  for (OpOperand *operand : {&getAMutable(), &getBMutable()})
    if (isa<BufferType>(operand->get().getType()))
      effects.emplace_back(MemoryEffects::Read::get(), operand, SharedMemory::get());
}

int64_t DotOp::getM() { return getType().getShape().end()[-2]; }
int64_t DotOp::getN() { return getType().getShape().back(); }
int64_t DotOp::getK() {
  Operand a(getA());
  return a.columns(getTransposeA()) * (getScales().empty() ? 1 : countPacked(a.element));
}

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

/// One scale for each block along k of an operand, for so many rows, or columns, of the sum: of two
/// programs each has those of all columns, also where it brings half of these.
static LogicalResult verifyScale(Operation *op, const Operand &matrix, bool lastIsK, int64_t outer,
                                 Type type, StringRef name) {
  Operand scale(type);
  int64_t inner = matrix.shape[lastIsK ? 1 : 0];
  Type element = matrix.element;
  if (countPacked(element) > 1 && !isa<DotScaledOp>(op)) {
    if (!lastIsK)
      return op->emitOpError("expected k along the rows of ")
             << name << ", whose bytes are two elements each";
    element = Float4E2M1FNType::get(op->getContext());
    inner *= countPacked(matrix.element);
  }
  bool nv = isa<Float8E4M3FNType>(scale.element);
  bool fits = nv ? isa<Float4E2M1FNType>(element)
                 : isa<Float8E8M0FNUType>(scale.element) &&
                       isa<Float8E4M3FNType, Float8E5M2Type, Float6E2M3FNType, Float6E3M2FNType,
                           Float4E2M1FNType>(element);
  if (!fits)
    return op->emitOpError("expected elements and scales of an MX or NV format for ")
           << name << ", got " << element << " and " << scale.element;
  int64_t block = nv ? 16 : 32;
  if (inner % block || scale.shape != ArrayRef<int64_t>({outer, inner / block}))
    return op->emitOpError("expected scales of [")
           << outer << ", " << inner << " / " << block << "] for " << name << ", got " << type;
  return success();
}

static LogicalResult verifyScales(Operation *op, const Operand &a, bool transposeA,
                                  const Operand &b, bool transposeB, const Operand &c,
                                  TypeRange scales) {
  if (scales.size() != 2)
    return op->emitOpError("expected scales of a and of b, got ") << scales.size();
  if (c.shape.size() != 2 || !c.element.isF32())
    return op->emitOpError("expected an accumulator of rank 2 of f32, got ")
           << RankedTensorType::get(c.shape, c.element);
  if (countPacked(a.element) != countPacked(b.element))
    return op->emitOpError("expected bytes of two elements in both operands, or in none");
  if (failed(verifyScale(op, a, !transposeA, c.rows(false), scales[0], "a")))
    return failure();
  return verifyScale(op, b, transposeB, c.columns(false), scales[1], "b");
}

LogicalResult kiln::tile::verifyDot(Operation *op, Type aType, bool transposeA, Type bType,
                                    bool transposeB, RankedTensorType accumulator, TypeRange scales,
                                    bool hasUnsigned, DotPrecision precision,
                                    ArrayRef<unsigned> programs) {
  Operand a(aType), b(bType), c(accumulator);
  if (failed(verifyShapes(op, a, transposeA, b, transposeB, c, programs)))
    return failure();
  if (!scales.empty() && (hasUnsigned || precision != DotPrecision::IEEE))
    return op->emitOpError("expected neither unsigned operands nor a precision beside scales");
  if (!scales.empty())
    return verifyScales(op, a, transposeA, b, transposeB, c, scales);
  bool bothF8 = isa<Float8E4M3FNType, Float8E5M2Type>(a.element) &&
                isa<Float8E4M3FNType, Float8E5M2Type>(b.element);
  if (a.element != b.element && !bothF8)
    return op->emitOpError("expected operands of one element type, got ")
           << a.element << " and " << b.element;
  if (!isAccumulator(a.element, c.element))
    return op->emitOpError("expected operands and an accumulator of the op's table, got ")
           << a.element << " into " << c.element;
  if (hasUnsigned && !a.element.isInteger())
    return op->emitOpError("expected integer operands with unsigned_a or unsigned_b, got ")
           << a.element;
  if (precision != DotPrecision::IEEE && !a.element.isF32())
    return op->emitOpError("expected f32 operands with a precision, got ") << a.element;
  return success();
}

/// Two numbers for each part: of its reads, and of its dot. Each order is that of one of them.
static LogicalResult verifyPlaces(DotOp dot, StringRef name, ArrayRef<int64_t> places) {
  ArrayRef<int64_t> parts = *dot.getParts();
  int64_t count = 2 * parts[0] * parts[1] * parts[2];
  bool areOrders = name == "part_orders", fits = int64_t(places.size()) == count;
  llvm::SmallDenseSet<int64_t> seen;
  for (int64_t place : places)
    fits = fits && place >= 0 && (!areOrders || (place < count && seen.insert(place).second));
  if (!fits) {
    InFlightDiagnostic error =
        dot.emitOpError("expected '")
        << name << "' of " << count
        << (areOrders ? " different numbers from 0 on" : " numbers of at least 0")
        << ", for the reads and the dot of each part, got [";
    llvm::interleaveComma(places, error);
    return error << "]";
  }
  // These say where reads run.
  if (dot.getReadsAhead())
    return dot.emitOpError("expected no 'reads_ahead' beside '") << name << "'";
  return success();
}

static LogicalResult verifyParts(DotOp dot) {
  int64_t extents[] = {dot.getM(), dot.getN(), dot.getK()};
  if (std::optional<ArrayRef<int64_t>> parts = dot.getParts()) {
    bool fits = parts->size() == 3;
    for (auto [count, extent] : llvm::zip(*parts, extents))
      fits = fits && count >= 1 && extent % count == 0;
    if (!fits) {
      InFlightDiagnostic error = dot.emitOpError("expected parts of m, n and k that divide [");
      llvm::interleaveComma(extents, error);
      error << "], got [";
      llvm::interleaveComma(*parts, error);
      return error << "]";
    }
  }
  for (StringRef name : {"reads_ahead", "part_stages", "part_orders"})
    if (dot->getAttr(name) && !dot.getParts())
      return dot.emitOpError("expected 'parts', since '") << name << "' is decided";
  if (dot.getPartStages() && failed(verifyPlaces(dot, "part_stages", *dot.getPartStages())))
    return failure();
  if (dot.getPartOrders() && failed(verifyPlaces(dot, "part_orders", *dot.getPartOrders())))
    return failure();
  if (std::optional<int64_t> ahead = dot.getReadsAhead()) {
    int64_t count = (*dot.getParts())[0] * (*dot.getParts())[1] * (*dot.getParts())[2];
    if (*ahead >= count)
      return dot.emitOpError("expected reads_ahead below the number of parts, ")
             << count << ", got " << *ahead;
  }
  if (dot.isPromoted() && !dot.getType().getElementType().isF32())
    return dot.emitOpError("expected sums of f32 to promote, got ")
           << dot.getType().getElementType();
  return verifyCount(dot, "reads_ahead", dot.getReadsAhead(), 0);
}

LogicalResult DotOp::verify() {
  if (!getScales().empty() && (getParts() || isPromoted()))
    return emitOpError("expected no '") << (getParts() ? "parts" : "promote") << "' beside scales";
  auto atom = dyn_cast_or_null<MmaAtomInterface>(getAtomAttr());
  if (failed(verifyDot(*this, getA().getType(), getTransposeA(), getB().getType(), getTransposeB(),
                       getType(), getScales().getTypes(), getUnsignedA() || getUnsignedB(),
                       getPrecision(), {1, atom ? atom.getPrograms() : 1})) ||
      failed(verifyCount(*this, "stage", getStage(), 0)) ||
      failed(verifyCount(*this, "order", getOrder(), 0)) || failed(verifyParts(*this)))
    return failure();
  return verifyCount(*this, "in_flight", getInFlight(), 0);
}

int64_t DotScaledOp::getM() { return getType().getDimSize(0); }
int64_t DotScaledOp::getN() { return getType().getDimSize(1); }
int64_t DotScaledOp::getK() { return getA().getType().getDimSize(1); }

LogicalResult DotScaledOp::verify() {
  Operand a(getA()), b(getB()), c(getAccumulator());
  if (failed(verifyShapes(*this, a, /*transposeA=*/false, b, getTransposeB(), c, {1})) ||
      failed(verifyScales(*this, a, /*transposeA=*/false, b, getTransposeB(), c,
                          TypeRange{getScaleA().getType(), getScaleB().getType()})) ||
      failed(verifyCount(*this, "stage", getStage(), 0)) ||
      failed(verifyCount(*this, "order", getOrder(), 0)))
    return failure();
  return verifyCount(*this, "in_flight", getInFlight(), 0);
}

//===- Combining along an axis --------------------------------------------------------------===//

/// The input without its axis; what a layout says is checked where layouts are decided.
static bool isReduced(RankedTensorType input, int64_t axis, Type element, Type result) {
  SmallVector<int64_t> shape(input.getShape());
  shape.erase(shape.begin() + axis);
  auto tensor = cast<RankedTensorType>(result);
  return tensor.getElementType() == element && tensor.getShape() == ArrayRef<int64_t>(shape);
}

static LogicalResult verifyReduced(Operation *op, RankedTensorType input, int64_t axis,
                                   Type element, Type result) {
  if (isReduced(input, axis, element, result))
    return success();
  return op->emitOpError("expected a result of ")
         << element << " elements without axis " << axis << " of " << input << ", got " << result;
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

/// The region takes left and right of every input, yields the given types, and holds nothing
/// but scalar ops that touch no memory, so that it may be applied anywhere in any grouping.
static LogicalResult verifyCombiner(Operation *op, Region &region, TypeRange inputs,
                                    TypeRange yielded) {
  SmallVector<Type> scalars;
  for (int side = 0; side < 2; ++side)
    for (Type input : inputs)
      scalars.push_back(getElementTypeOrSelf(input));
  if (failed(verifyTypes(op, scalars, region.getArgumentTypes(), "the region to take")))
    return failure();
  if (failed(
          verifyTypes(op, yielded, region.front().back().getOperandTypes(), "the region to yield")))
    return failure();
  WalkResult result = region.walk([](Operation *nested) -> WalkResult {
    if (!isa<CallOpInterface>(nested) && nested->getNumRegions() == 0 &&
        !isMemoryEffectFree(nested))
      return nested->emitOpError("expected no access to memory in a combining region");
    auto isTile = [](Type type) { return isa<ShapedType, BufferType>(type); };
    if (llvm::any_of(nested->getOperandTypes(), isTile) ||
        llvm::any_of(nested->getResultTypes(), isTile))
      return nested->emitOpError("expected only scalars in a combining region");
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

static SmallVector<Type> elementTypes(TypeRange types) {
  return llvm::map_to_vector(types, [](Type type) { return getElementTypeOrSelf(type); });
}

LogicalResult ReduceOp::verify() {
  auto first = cast<RankedTensorType>(getInputs().front().getType());
  if (failed(verifyAxis(*this, getAxis(), first)))
    return failure();
  if (getNumResults() != getInputs().size())
    return emitOpError("expected ")
           << getInputs().size() << " results (one an input), got " << getNumResults();
  for (auto [input, result] : llvm::zip_equal(getInputs().getTypes(), getResultTypes()))
    if (failed(verifyReduced(*this, cast<RankedTensorType>(input), getAxis(),
                             getElementTypeOrSelf(input), result)))
      return failure();
  return success();
}

LogicalResult ReduceOp::verifyRegions() {
  return verifyCombiner(*this, getCombiner(), getInputs().getTypes(),
                        elementTypes(getInputs().getTypes()));
}

/// One element along the axis combines with nothing.
void ReduceOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(+[](ReduceOp op, PatternRewriter &rewriter) -> LogicalResult {
    if (cast<RankedTensorType>(op.getInputs().front().getType()).getShape()[op.getAxis()] != 1)
      return rewriter.notifyMatchFailure(op, "the axis holds more than one element");
    SmallVector<Value> results;
    for (auto [input, type] : llvm::zip_equal(op.getInputs(), op.getResultTypes()))
      results.push_back(ReshapeOp::create(rewriter, op.getLoc(), type, input));
    rewriter.replaceOp(op, results);
    return success();
  });
}

LogicalResult ScanOp::verify() {
  auto first = cast<RankedTensorType>(getInputs().front().getType());
  if (failed(verifyAxis(*this, getAxis(), first)))
    return failure();
  return verifyTypes(*this, getInputs().getTypes(), getResultTypes(), "results");
}

LogicalResult ScanOp::verifyRegions() {
  return verifyCombiner(*this, getCombiner(), getInputs().getTypes(),
                        elementTypes(getInputs().getTypes()));
}

LogicalResult ScanOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &results) {
  if (cast<RankedTensorType>(getInputs().front().getType()).getShape()[getAxis()] != 1)
    return failure();
  llvm::append_range(results, getInputs());
  return success();
}

LogicalResult ArgReduceOp::verify() {
  RankedTensorType input = getInput().getType();
  if (failed(verifyAxis(*this, getAxis(), input)) ||
      failed(verifyReduced(*this, input, getAxis(), input.getElementType(), getValue().getType())))
    return failure();
  return verifyReduced(*this, input, getAxis(), IntegerType::get(getContext(), 32),
                       getPosition().getType());
}

LogicalResult ArgReduceOp::verifyRegions() {
  return verifyCombiner(*this, getCombiner(), getInput().getType(),
                        IntegerType::get(getContext(), 1));
}
