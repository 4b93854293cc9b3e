// The models of DistributionInterface of ops that change shapes or move elements along an axis.
#include "DistributionModels.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::distribution;
using namespace kiln::tile;

/// Along an axis by each thread and its neighbours: as it is, if layouts can be taken apart there.
static LinearLayout getSeparable(OpOperand &operand, Value first, unsigned axis,
                                 const LayoutInference &inference) {
  Operation *op = operand.getOwner();
  LinearLayout layout = inference.lookup(first, op).layout;
  return isSeparable(layout, axis) ? layout : inference.getBlocked(operand.get(), op);
}

/// What works along an axis: each copy has the whole of it.
static Misfit isWholeAlong(Operation *op, unsigned axis, const CopyShares &shares) {
  for (Value value : getValues(op))
    if (shares.getDim(value) == int(axis))
      return ShareMisfit{value, /*isNeededWhole=*/true};
  return isAlike(op, shares);
}

/// Whether copies that share out a tensor have rows or columns of it that lie together, in order.
static bool isSharedInOrder(const LinearLayout &layout, int64_t copies) {
  ArrayRef<LinearLayout::Basis> warps = layout.getBases(kWarp);
  size_t bits = llvm::Log2_64_Ceil(copies);
  if (copies == 1 || warps.size() < bits)
    return true;
  std::optional<size_t> shared;
  for (auto [bit, basis] : llvm::enumerate(warps.take_back(bits)))
    for (auto [dim, value] : llvm::enumerate(basis)) {
      if (!value)
        continue;
      if ((shared && *shared != dim) || value != layout.getShape()[dim] / copies << bit)
        return false;
      shared = dim;
    }
  return true;
}

//===- Shapes -------------------------------------------------------------------------------===//

namespace {
struct Broadcast : Elements<Broadcast, BroadcastOp> {
  void inferLayouts(Operation *op, LayoutInference &inference) const {
    makeBlocked(op, inference, LayoutInference::Free);
  }
  LinearLayout getWantedLayout(Operation *op, OpOperand &operand,
                               const LayoutInference &inference) const {
    return projectTo(inference.get(op->getResult(0)), shapeOf(operand.get()));
  }
  Misfit findMisfit(Operation *op, const CopyShares &shares) const {
    auto broadcast = cast<BroadcastOp>(op);
    int from = shares.getDim(broadcast.getInput()), to = shares.getDim(broadcast.getResult());
    bool spreads = from < 0 && to >= 0 && broadcast.getInput().getType().getDimSize(to) == 1;
    return require(from == to || spreads, broadcast.getResult());
  }
};

/// The elements of the dimensions in front of one.
int64_t countInFront(Value tensor, int dim) {
  return ShapedType::getNumElements(shapeOf(tensor).take_front(dim));
}

struct Reshape : Elements<Reshape, ReshapeOp> {
  /// As its elements are, unless copies would have no rows or columns of it together.
  static std::optional<LinearLayout> follow(Operation *op, const LinearLayout &input,
                                            const LayoutInference &inference) {
    LinearLayout layout = input.reshapeOuts(shapeOf(op->getResult(0)));
    bool isRegular = isSharedInOrder(layout, inference.getThreads(op).copies);
    return isRegular ? std::optional(layout) : std::nullopt;
  }
  void inferLayouts(Operation *op, LayoutInference &inference) const {
    Entry input = inference.lookup(op->getOperand(0), op);
    std::optional<LinearLayout> layout = follow(op, input.layout, inference);
    inference.set(op->getResult(0), layout ? *layout : inference.getBlocked(op->getResult(0)),
                  input.strength);
  }
  LinearLayout getWantedLayout(Operation *op, OpOperand &operand,
                               const LayoutInference &inference) const {
    LinearLayout here = getHere(operand, inference), result = inference.get(op->getResult(0));
    std::optional<LinearLayout> layout = follow(op, here, inference);
    if (layout && canonicalise(*layout) == result)
      return here;
    return canonicalise(result.reshapeOuts(shapeOf(operand.get())));
  }
  /// Whatever becomes of the dimensions in front of the one that is shared out, and behind it:
  /// as many elements lie in front, so the copies have the same of what is behind these.
  Misfit findMisfit(Operation *op, const CopyShares &shares) const {
    Value input = op->getOperand(0), result = op->getResult(0);
    int from = shares.getDim(input), to = shares.getDim(result);
    bool isWhole = from < 0 && to < 0;
    bool keepsParts = from >= 0 && to >= 0 && countInFront(input, from) == countInFront(result, to);
    return require(isWhole || keepsParts, input);
  }
};

struct Transpose : Elements<Transpose, TransposeOp> {
  void inferLayouts(Operation *op, LayoutInference &inference) const {
    auto transpose = cast<TransposeOp>(op);
    Entry input = inference.lookup(transpose.getInput(), op);
    SmallVector<unsigned> permutation(transpose.getPermutation());
    inference.set(transpose.getResult(), input.layout.transposeOuts(permutation), input.strength);
  }
  /// As it is made, unless the result lies otherwise than that, as where products read it.
  LinearLayout getWantedLayout(Operation *op, OpOperand &operand,
                               const LayoutInference &inference) const {
    SmallVector<unsigned> permutation(cast<TransposeOp>(op).getPermutation());
    LinearLayout here = getHere(operand, inference), result = inference.get(op->getResult(0));
    if (canonicalise(here.transposeOuts(permutation)) == result)
      return here;
    SmallVector<unsigned> back(permutation.size());
    for (auto [to, from] : llvm::enumerate(permutation))
      back[from] = to;
    return canonicalise(result.transposeOuts(back));
  }
  Misfit findMisfit(Operation *op, const CopyShares &shares) const {
    auto transpose = cast<TransposeOp>(op);
    int from = shares.getDim(transpose.getInput()), to = shares.getDim(transpose.getResult());
    bool follows = from < 0 ? to < 0 : to >= 0 && transpose.getPermutation()[to] == from;
    return require(follows, transpose.getInput());
  }
};

struct Slice : Moves<Slice, SliceOp> {
  Misfit findMisfit(Operation *op, const CopyShares &shares) const {
    auto slice = cast<SliceOp>(op);
    int dim = shares.getDim(slice.getInput());
    bool isWhole = dim < 0 || slice.getInput().getType().getDimSize(dim) ==
                                  slice.getResult().getType().getDimSize(dim);
    return require(dim == shares.getDim(slice.getResult()) && isWhole, slice.getInput());
  }
};

struct Concat : Moves<Concat, ConcatOp> {
  Misfit findMisfit(Operation *op, const CopyShares &shares) const {
    auto concat = cast<ConcatOp>(op);
    int dim = shares.getDim(concat.getResult());
    for (Value input : concat.getInputs())
      if (shares.getDim(input) != dim || (dim >= 0 && dim == int64_t(concat.getAxis())))
        return ShareMisfit{input};
    return std::nullopt;
  }
};

struct Join : Moves<Join, JoinOp> {
  void inferLayouts(Operation *op, LayoutInference &inference) const {
    Entry left = inference.lookup(op->getOperand(0), op);
    Entry right = inference.lookup(op->getOperand(1), op);
    const Entry &best = right.strength > left.strength ? right : left;
    inference.set(op->getResult(0), joinPairs(best.layout), best.strength);
  }
  /// Both halves alike, whatever the author has pinned of the whole.
  LinearLayout getWantedLayout(Operation *op, OpOperand &, const LayoutInference &inference) const {
    return splitPairs(inference.get(op->getResult(0)))
        .value_or(inference.lookup(op->getOperand(0), op).layout);
  }
  Misfit findMisfit(Operation *op, const CopyShares &shares) const { return isAlike(op, shares); }
};

struct Split : Moves<Split, SplitOp> {
  void inferLayouts(Operation *op, LayoutInference &inference) const {
    Entry input = inference.lookup(op->getOperand(0), op);
    std::optional<LinearLayout> each = splitPairs(input.layout);
    for (Value result : op->getResults())
      inference.set(result, each ? *each : inference.getBlocked(result),
                    each ? input.strength : LayoutInference::Plain);
  }
  /// The pairs themselves are no copy's alone.
  Misfit findMisfit(Operation *op, const CopyShares &shares) const { return isAlike(op, shares); }
};

struct Bitcast : Elements<Bitcast, BitcastOp> {
  /// Copies share out both sides alike; who has all bits of an element has those of its parts.
  void inferLayouts(Operation *op, LayoutInference &inference) const {
    if (cast<BitcastOp>(op).keepsElements())
      return followOperands(op, inference, LayoutInference::Plain);
    Value result = op->getResult(0);
    const Entry &input = inference.lookup(op->getOperand(0), op);
    bool areParts = shapeOf(op->getOperand(0)).back() < shapeOf(result).back();
    if (inference.getThreads(op).copies > 1 && areParts)
      if (std::optional<LinearLayout> parts = regroup(input.layout, shapeOf(result)))
        return inference.set(result, *parts, LayoutInference::Plain);
    makeBlocked(op, inference, LayoutInference::Plain);
  }
  LinearLayout getWantedLayout(Operation *op, OpOperand &operand,
                               const LayoutInference &inference) const {
    if (cast<BitcastOp>(op).keepsElements())
      return getResults(operand, inference);
    LinearLayout here = getHere(operand, inference), result = inference.get(op->getResult(0));
    int64_t copies = inference.getThreads(op).copies;
    if (findSharedDims(here, copies) == findSharedDims(result, copies))
      return here;
    return regroup(result, shapeOf(operand.get())).value_or(here);
  }

private:
  /// The dimensions along which copies have parts of a tensor.
  static SmallVector<bool> findSharedDims(const LinearLayout &layout, int64_t copies) {
    SmallVector<bool> shared(layout.getShape().size());
    ArrayRef<LinearLayout::Basis> warps = layout.getBases(kWarp);
    size_t bits = std::min<size_t>(llvm::Log2_64_Ceil(copies), warps.size());
    for (const auto &basis : warps.take_back(bits))
      for (auto [dim, value] : llvm::enumerate(basis))
        shared[dim] = shared[dim] || value != 0;
    return shared;
  }
  /// The same bits by the same threads, as more or fewer elements a row; nothing if a thread has
  /// not all bits of one.
  static std::optional<LinearLayout> regroup(LinearLayout layout, ArrayRef<int64_t> shape) {
    SmallVector<int64_t> now = layout.getShape();
    while (now.back() < shape.back()) {
      now.back() *= 2;
      layout = joinPairs(layout).reshapeOuts(now);
    }
    while (now.back() > shape.back()) {
      now.back() /= 2;
      SmallVector<int64_t> pairs(now);
      pairs.push_back(2);
      std::optional<LinearLayout> each = splitPairs(layout.reshapeOuts(pairs));
      if (!each)
        return std::nullopt;
      layout = *each;
    }
    return now.back() == shape.back() ? std::optional(layout) : std::nullopt;
  }
};

struct ConvertLayout : Elements<ConvertLayout, ConvertLayoutOp> {
  void inferLayouts(Operation *op, LayoutInference &inference) const {
    inference.set(op->getResult(0), getLayout(op->getResult(0)), LayoutInference::Anchored);
  }
  LinearLayout getWantedLayout(Operation *, OpOperand &operand,
                               const LayoutInference &inference) const {
    return inference.get(operand.get());
  }
};

//===- Along an axis ------------------------------------------------------------------------===//

struct Reduce : Elements<Reduce, ReduceOp> {
  void inferLayouts(Operation *op, LayoutInference &inference) const {
    auto reduce = cast<ReduceOp>(op);
    LinearLayout wanted = getWantedLayout(op, op->getOpOperand(0), inference);
    // What it is made of may lie anywhere; what it makes does not, and a loop that adds to it had
    // best carry its sum so.
    auto strength =
        std::max(inference.lookup(reduce.getInputs().front(), op).strength, LayoutInference::Plain);
    for (Value result : reduce.getResults())
      inference.set(result, dropDim(wanted, reduce.getAxis()), strength);
  }
  LinearLayout getWantedLayout(Operation *op, OpOperand &operand,
                               const LayoutInference &inference) const {
    auto reduce = cast<ReduceOp>(op);
    return getSeparable(operand, reduce.getInputs().front(), reduce.getAxis(), inference);
  }
  /// Along what copies share out each makes a part of a result that all have.
  Misfit findMisfit(Operation *op, const CopyShares &shares) const {
    auto reduce = cast<ReduceOp>(op);
    int first = shares.getDim(reduce.getInputs().front()), axis = reduce.getAxis();
    for (auto [input, result] : llvm::zip_equal(reduce.getInputs(), reduce.getResults())) {
      int dim = shares.getDim(input), left = dim < 0 || dim == axis ? -1 : dim - (dim > axis);
      if (dim != first || shares.getDim(result) != left)
        return ShareMisfit{input};
    }
    return std::nullopt;
  }
};

struct Scan : Moves<Scan, ScanOp> {
  void inferLayouts(Operation *op, LayoutInference &inference) const {
    auto scan = cast<ScanOp>(op);
    LinearLayout wanted = getWantedLayout(op, op->getOpOperand(0), inference);
    for (Value result : scan.getResults())
      inference.set(result, wanted,
                    std::max(inference.lookup(scan.getInputs().front(), op).strength,
                             LayoutInference::Plain));
  }
  LinearLayout getWantedLayout(Operation *op, OpOperand &operand,
                               const LayoutInference &inference) const {
    auto scan = cast<ScanOp>(op);
    return getSeparable(operand, scan.getInputs().front(), scan.getAxis(), inference);
  }
  Misfit findMisfit(Operation *op, const CopyShares &shares) const { return isAlike(op, shares); }
};

struct ArgReduce : Moves<ArgReduce, ArgReduceOp> {};

struct TopK : Moves<TopK, TopKOp> {
  Misfit findMisfit(Operation *op, const CopyShares &shares) const {
    return isWholeAlong(op, cast<TopKOp>(op).getAxis(), shares);
  }
};

struct Sort : Elements<Sort, SortOp> {
  Misfit findMisfit(Operation *op, const CopyShares &shares) const {
    return isWholeAlong(op, cast<SortOp>(op).getAxis(), shares);
  }
};

struct Take : Moves<Take, TakeOp> {
  LinearLayout getWantedLayout(Operation *, OpOperand &operand,
                               const LayoutInference &inference) const {
    return operand.getOperandNumber() == 0 ? getHere(operand, inference)
                                           : getResults(operand, inference);
  }
  Misfit findMisfit(Operation *op, const CopyShares &shares) const {
    return isWholeAlong(op, cast<TakeOp>(op).getAxis(), shares);
  }
};

struct Histogram : Moves<Histogram, HistogramOp> {
  LinearLayout getWantedLayout(Operation *op, OpOperand &, const LayoutInference &inference) const {
    return inference.get(cast<HistogramOp>(op).getInput());
  }
};
} // namespace

void distribution::attachMoves(MLIRContext *context) {
  ArgReduceOp::attachInterface<ArgReduce>(*context);
  BitcastOp::attachInterface<Bitcast>(*context);
  BroadcastOp::attachInterface<Broadcast>(*context);
  ConcatOp::attachInterface<Concat>(*context);
  ConvertLayoutOp::attachInterface<ConvertLayout>(*context);
  HistogramOp::attachInterface<Histogram>(*context);
  JoinOp::attachInterface<Join>(*context);
  ReduceOp::attachInterface<Reduce>(*context);
  ReshapeOp::attachInterface<Reshape>(*context);
  ScanOp::attachInterface<Scan>(*context);
  SliceOp::attachInterface<Slice>(*context);
  SortOp::attachInterface<Sort>(*context);
  SplitOp::attachInterface<Split>(*context);
  TakeOp::attachInterface<Take>(*context);
  TopKOp::attachInterface<TopK>(*context);
  TransposeOp::attachInterface<Transpose>(*context);
}
