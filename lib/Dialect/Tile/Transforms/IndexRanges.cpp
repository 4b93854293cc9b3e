// What each op of the tile dialect says of its results.
#include "kiln/Dialect/Tile/Transforms/IndexRanges.h"
#include "mlir/Analysis/DataFlow/Utils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::dataflow;

namespace kiln::tile {

static constexpr int64_t kMost32 = std::numeric_limits<int32_t>::max();
static constexpr int64_t kMost64 = std::numeric_limits<int64_t>::max();

static FactsAttr getFacts(Value view) {
  auto argument = dyn_cast<BlockArgument>(view);
  auto kernel = argument ? dyn_cast<KernelOp>(argument.getOwner()->getParentOp()) : KernelOp();
  return kernel ? kernel.getFacts(argument.getArgNumber()) : FactsAttr();
}

static SignedRange getExtentRange(DimOp op) {
  ViewType view = op.getView().getType();
  int64_t dim = op.getDim(), extent = view.getShape()[dim];
  if (!ShapedType::isDynamic(extent))
    return {extent, extent};
  FactsAttr facts = getFacts(op.getView());
  SignedRange range{0, kMost64};
  if (!facts)
    return range;
  // What is a multiple of something is positive.
  if (dim < int64_t(facts.getExtents().size()) && facts.getExtents()[dim] > 1)
    range.least = facts.getExtents()[dim];
  if (facts.getIndex32()) {
    range.greatest = kMost32;
    // Elements side by side take as many bytes as there are.
    unsigned bits = view.getElementType().getIntOrFloatBitWidth();
    if (view.getStrides()[dim] == 1 && bits > 8)
      range.greatest = (int64_t(1) << 31) / (bits / 8);
  }
  return range;
}

static SignedRange getStrideRange(StrideOp op) {
  int64_t stride = op.getView().getType().getStrides()[op.getDim()];
  if (!ShapedType::isDynamic(stride))
    return {stride, stride};
  FactsAttr facts = getFacts(op.getView());
  if (facts && facts.getIndex32())
    return {-kMost32 - 1, kMost32};
  return {-kMost64 - 1, kMost64};
}

/// No launch has more programs along an axis.
static std::optional<SignedRange> getRange(Operation *op) {
  return TypeSwitch<Operation *, std::optional<SignedRange>>(op)
      .Case<DimOp>([](DimOp dim) { return getExtentRange(dim); })
      .Case<StrideOp>([](StrideOp stride) { return getStrideRange(stride); })
      .Case<ProgramIdOp>([](auto) { return SignedRange{0, kMost32 - 1}; })
      .Case<NumProgramsOp>([](auto) { return SignedRange{1, kMost32}; })
      .Case<IotaOp>(
          [](IotaOp iota) { return SignedRange{0, iota.getType().getDimSize(iota.getDim()) - 1}; })
      .Default(std::nullopt);
}

/// Whether each result is one of the operands' elements.
static bool movesElements(Operation *op) {
  return isa<SplatOp, ToScalarOp, BroadcastOp, ReshapeOp, TransposeOp, SliceOp, ConcatOp, JoinOp,
             SplitOp, ConvertLayoutOp, MultipleOfOp>(op);
}

/// Widening: how often a range may grow before it becomes that of its type. What loops carry
/// grows turn by turn, by one step each, and would otherwise need as many visits as its type has
/// values. MLIR's own analysis widens only what a terminator yields itself.
static constexpr unsigned kMostGrowths = 4;

LogicalResult
IndexRangeAnalysis::visitOperation(Operation *op,
                                   ArrayRef<const IntegerValueRangeLattice *> operands,
                                   ArrayRef<IntegerValueRangeLattice *> results) {
  auto before = llvm::map_to_vector(results, [](auto *result) { return result->getValue(); });
  if (failed(visitTransfer(op, operands, results)))
    return failure();
  for (auto [result, range] : llvm::zip_equal(results, before))
    if (!(result->getValue() == range) && ++growths[result->getAnchor()] > kMostGrowths)
      propagateIfChanged(result, result->join(IntegerValueRange::getMaxRange(result->getAnchor())));
  return success();
}

LogicalResult IndexRangeAnalysis::visitTransfer(Operation *op,
                                                ArrayRef<const IntegerValueRangeLattice *> operands,
                                                ArrayRef<IntegerValueRangeLattice *> results) {
  std::optional<SignedRange> known = getRange(op);
  if (!known && !movesElements(op))
    return IntegerRangeAnalysis::visitOperation(op, operands, results);
  for (IntegerValueRangeLattice *result : results) {
    Value value = result->getAnchor();
    unsigned bits = ConstantIntRanges::getStorageBitwidth(value.getType());
    if (bits == 0)
      continue;
    IntegerValueRange range;
    if (known) {
      bool fits = llvm::isIntN(bits, known->least) && llvm::isIntN(bits, known->greatest);
      range = fits ? IntegerValueRange(ConstantIntRanges::fromSigned(
                         APInt(bits, known->least, true), APInt(bits, known->greatest, true)))
                   : IntegerValueRange::getMaxRange(value);
    } else {
      for (const IntegerValueRangeLattice *operand : operands) {
        if (operand->getValue().isUninitialized())
          return success();
        range = IntegerValueRange::join(range, operand->getValue());
      }
    }
    propagateIfChanged(result, result->join(range));
  }
  return success();
}

LogicalResult findIndexRanges(DataFlowSolver &solver, KernelOp kernel) {
  loadBaselineAnalyses(solver);
  solver.load<IndexRangeAnalysis>();
  return solver.initializeAndRun(kernel);
}

std::optional<SignedRange> getSignedRange(const DataFlowSolver &solver, Value value) {
  auto *state = solver.lookupState<IntegerValueRangeLattice>(value);
  if (!state || state->getValue().isUninitialized())
    return std::nullopt;
  const ConstantIntRanges &range = state->getValue().getValue();
  if (range.smin().getBitWidth() == 0 || range.smin().getBitWidth() > 64)
    return std::nullopt;
  return SignedRange{range.smin().getSExtValue(), range.smax().getSExtValue()};
}

} // namespace kiln::tile
