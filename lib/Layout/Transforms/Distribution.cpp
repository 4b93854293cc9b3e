// The models of DistributionInterface: one a kind of op, which says how a layout goes through it
// forwards and backwards, and what the copies of a role can share out.
#include "LayoutInference.h"
#include "kiln/Dialect/Tile/IR/AccessDecisions.h"
#include "kiln/Layout/Transforms/AccessFacts.h"
#include "kiln/Layout/Transforms/DistributionInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

#include "kiln/Layout/Transforms/DistributionInterface.cpp.inc"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

using Entry = LayoutInference::Entry;
using Misfit = std::optional<ShareMisfit>;

static bool isTensor(Value value) { return isa<RankedTensorType>(value.getType()); }

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

static SmallVector<Value> getValues(Operation *op) {
  SmallVector<Value> values(op->getOperands());
  llvm::append_range(values, op->getResults());
  return values;
}

//===- What kinds of ops have in common -----------------------------------------------------===//

/// All results as the strongest operand is. What is made of free values alone is, if it costs no
/// more than they do, made again as well as they are.
static void followOperands(Operation *op, LayoutInference &inference,
                           LayoutInference::Strength least) {
  std::optional<Entry> best; // a copy: setting the first result may move the table
  for (Value operand : op->getOperands())
    if (isTensor(operand) && inference.has(operand)) {
      Entry entry = inference.lookup(operand, op);
      if (!best || entry.strength > best->strength)
        best = entry;
    }
  for (Value result : op->getResults())
    if (isTensor(result)) {
      if (best)
        inference.set(result, best->layout, std::max(best->strength, least));
      else
        inference.set(result, inference.getBlocked(result), LayoutInference::Plain);
    }
}

static void makeBlocked(Operation *op, LayoutInference &inference,
                        LayoutInference::Strength strength) {
  for (Value result : op->getResults())
    if (isTensor(result))
      inference.set(result, inference.getBlocked(result), strength);
}

static LinearLayout getHere(OpOperand &operand, const LayoutInference &inference) {
  return inference.lookup(operand.get(), operand.getOwner()).layout;
}

static LinearLayout getResults(OpOperand &operand, const LayoutInference &inference) {
  for (Value result : operand.getOwner()->getResults())
    if (isTensor(result))
      return inference.get(result);
  return getHere(operand, inference);
}

/// Along an axis by each thread and its neighbours: as it is, if layouts can be taken apart there.
static LinearLayout getSeparable(OpOperand &operand, Value first, unsigned axis,
                                 const LayoutInference &inference) {
  Operation *op = operand.getOwner();
  LinearLayout layout = inference.lookup(first, op).layout;
  return isSeparable(layout, axis) ? layout : inference.getBlocked(operand.get(), op);
}

static Misfit isAlike(Operation *op, const CopyShares &shares) {
  std::optional<int> dim;
  for (Value value : getValues(op)) {
    if (!isa<RankedTensorType, PendingType>(value.getType()))
      continue;
    if (dim && shares.getDim(value) != *dim)
      return ShareMisfit{value};
    dim = shares.getDim(value);
  }
  return std::nullopt;
}

/// What works along an axis: each copy has the whole of it.
static Misfit isWholeAlong(Operation *op, unsigned axis, const CopyShares &shares) {
  for (Value value : getValues(op))
    if (shares.getDim(value) == int(axis))
      return ShareMisfit{value, /*isNeededWhole=*/true};
  return isAlike(op, shares);
}

/// What varies by place: no copy has what another needs.
static Misfit isWhole(Operation *op, const CopyShares &shares) {
  for (Value value : getValues(op))
    if (shares.getDim(value) >= 0)
      return ShareMisfit{value, /*isNeededWhole=*/true};
  return std::nullopt;
}

static Misfit require(bool fits, Value value) {
  return fits ? Misfit() : Misfit(ShareMisfit{value});
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

//===- Models -------------------------------------------------------------------------------===//

namespace {
/// Element by element, which others override in part.
template <typename Model, typename OpTy, LayoutInference::Strength least = LayoutInference::Plain>
struct Elements : DistributionInterface::ExternalModel<Model, OpTy> {
  void inferLayouts(Operation *op, LayoutInference &inference) const {
    followOperands(op, inference, least);
  }
  LinearLayout getWantedLayout(Operation *, OpOperand &operand,
                               const LayoutInference &inference) const {
    return getResults(operand, inference);
  }
  Misfit findMisfit(Operation *op, const CopyShares &shares) const { return isAlike(op, shares); }
};

template <typename OpTy>
struct Elementwise : Elements<Elementwise<OpTy>, OpTy> {};

/// It costs no more than its operands: the same of arithmetic.
template <typename OpTy>
struct Arithmetic : Elements<Arithmetic<OpTy>, OpTy, LayoutInference::Free> {};

/// Elements change their places: results are made anew, from operands as they are.
template <typename Model, typename OpTy>
struct Moves : Elements<Model, OpTy> {
  void inferLayouts(Operation *op, LayoutInference &inference) const {
    makeBlocked(op, inference, LayoutInference::Plain);
  }
  LinearLayout getWantedLayout(Operation *, OpOperand &operand,
                               const LayoutInference &inference) const {
    return getHere(operand, inference);
  }
  Misfit findMisfit(Operation *op, const CopyShares &shares) const { return isWhole(op, shares); }
};

/// Made of nothing, in any layout.
template <typename OpTy>
struct Generator : Elements<Generator<OpTy>, OpTy> {
  void inferLayouts(Operation *op, LayoutInference &inference) const {
    makeBlocked(op, inference, LayoutInference::Free);
  }
};

struct Constant : Elements<Constant, arith::ConstantOp> {
  void inferLayouts(Operation *op, LayoutInference &inference) const {
    makeBlocked(op, inference, LayoutInference::Free);
  }
  Misfit findMisfit(Operation *op, const CopyShares &shares) const {
    bool isSplat = isa<SplatElementsAttr>(cast<arith::ConstantOp>(op).getValue());
    return isSplat ? isAlike(op, shares) : isWhole(op, shares);
  }
};

/// Reads what it is given as it is, whatever it makes of it.
template <typename OpTy>
struct Reads : Elements<Reads<OpTy>, OpTy> {
  LinearLayout getWantedLayout(Operation *, OpOperand &operand,
                               const LayoutInference &inference) const {
    return getHere(operand, inference);
  }
};

//===- Shapes -------------------------------------------------------------------------------===//

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
    LinearLayout here = getHere(operand, inference);
    if (follow(op, here, inference))
      return here;
    return inference.get(op->getResult(0)).reshapeOuts(shapeOf(operand.get()));
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
  LinearLayout getWantedLayout(Operation *, OpOperand &operand,
                               const LayoutInference &inference) const {
    return getHere(operand, inference);
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
  void inferLayouts(Operation *op, LayoutInference &inference) const {
    if (cast<BitcastOp>(op).keepsElements())
      return followOperands(op, inference, LayoutInference::Plain);
    makeBlocked(op, inference, LayoutInference::Plain);
  }
  LinearLayout getWantedLayout(Operation *op, OpOperand &operand,
                               const LayoutInference &inference) const {
    return cast<BitcastOp>(op).keepsElements() ? getResults(operand, inference)
                                               : getHere(operand, inference);
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

struct Sort : Moves<Sort, SortOp> {
  void inferLayouts(Operation *op, LayoutInference &inference) const {
    followOperands(op, inference, LayoutInference::Plain);
  }
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

//===- Products -----------------------------------------------------------------------------===//

/// Rows follow a, columns b, and each copy needs all of k.
Misfit findProductMisfit(Operation *op, const CopyShares &shares) {
  Value a = op->getOperand(0), b = op->getOperand(1), accumulator = op->getOperand(2);
  int dim = shares.getDim(accumulator);
  auto agrees = [&](Value operand, int of, StringRef transposed) {
    int expected = dim == of ? (op->hasAttr(transposed) ? 1 - of : of) : -1;
    if (isa<BufferType>(operand.getType()))
      return expected < 0 || shares.keepsTogether(operand, expected, accumulator,
                                                  /*isOfProduct=*/true);
    return shares.getDim(operand) == expected;
  };
  if (!agrees(a, 0, "transpose_a"))
    return ShareMisfit{a};
  ValueRange scales = isa<DotOp>(op) ? ValueRange(cast<DotOp>(op).getScales())
                                     : ValueRange(cast<StartDotOp>(op).getScales());
  for (auto [operand, value] : llvm::enumerate(scales))
    if (isa<RankedTensorType>(value.getType()) &&
        shares.getDim(value) != (dim == int(operand) ? 0 : -1))
      return ShareMisfit{value};
  return require(agrees(b, 1, "transpose_b"), b);
}

struct Dot : Elements<Dot, DotOp> {
  void inferLayouts(Operation *op, LayoutInference &inference) const {
    auto dot = cast<DotOp>(op);
    inference.set(dot.getResult(),
                  getDotLayouts(dot, dot.getAtomAttr(), inference.getThreads(op)).accumulator,
                  LayoutInference::Anchored);
  }
  LinearLayout getWantedLayout(Operation *op, OpOperand &operand,
                               const LayoutInference &inference) const {
    auto dot = cast<DotOp>(op);
    unsigned index = operand.getOperandNumber();
    bool isPinned = cast<RankedTensorType>(operand.get().getType()).getEncoding() != nullptr;
    if (isPinned && index < 2)
      return getHere(operand, inference);
    DotLayouts layouts = getDotLayouts(dot, dot.getAtomAttr(), inference.getThreads(op),
                                       &inference.get(dot.getResult()));
    if (index > 2)
      return layouts.scales[index - 3];
    return index == 0 ? layouts.a : index == 1 ? layouts.b : layouts.accumulator;
  }
  Misfit findMisfit(Operation *op, const CopyShares &shares) const {
    return findProductMisfit(op, shares);
  }
};

struct StartDot : Elements<StartDot, StartDotOp> {
  Misfit findMisfit(Operation *op, const CopyShares &shares) const {
    return findProductMisfit(op, shares);
  }
};

struct DotScaled : Elements<DotScaled, DotScaledOp> {
  static std::array<LinearLayout, 5> getLayouts(Operation *op, const LayoutInference &inference) {
    auto dot = cast<DotScaledOp>(op);
    return getDotLayouts(dot, cast<ScaledMmaAtomInterface>(dot.getAtomAttr()),
                         inference.getThreads(op));
  }
  void inferLayouts(Operation *op, LayoutInference &inference) const {
    inference.set(op->getResult(0), getLayouts(op, inference).back(), LayoutInference::Anchored);
  }
  LinearLayout getWantedLayout(Operation *op, OpOperand &operand,
                               const LayoutInference &inference) const {
    return getLayouts(op, inference)[operand.getOperandNumber()];
  }
};

//===- Memory -------------------------------------------------------------------------------===//

/// What a product in flight reads as scales alone is loaded as it is written for it: a few bytes of
/// each row, which every warp has.
static std::optional<LinearLayout> getLayoutOfScales(LoadOp load,
                                                     const LayoutInference &inference) {
  for (OpOperand &use : load.getResult().getUses()) {
    auto dot = dyn_cast<DotOp>(use.getOwner());
    if (!dot || use.getOperandNumber() < 3 || !isa<AsyncMmaAtomInterface>(dot.getAtomAttr()) ||
        !(inference.getThreads(load) == inference.getThreads(dot)))
      return std::nullopt;
  }
  if (load->use_empty() || load.getAtomAttr())
    return std::nullopt;
  OpOperand &first = *load.getResult().use_begin();
  auto dot = cast<DotOp>(first.getOwner());
  return getDotLayouts(dot, dot.getAtomAttr(), inference.getThreads(dot))
      .scales[first.getOperandNumber() - 3];
}

struct Load : Elements<Load, LoadOp> {
  void inferLayouts(Operation *op, LayoutInference &inference) const {
    auto load = cast<LoadOp>(op);
    if (std::optional<LinearLayout> scales = getLayoutOfScales(load, inference))
      return inference.set(load.getResult(), *scales, LayoutInference::Anchored);
    inference.set(load.getResult(), inference.getBlocked(load.getResult(), getFastestDim(load)),
                  load.getAtomAttr() ? LayoutInference::Free : LayoutInference::Plain);
  }
};

struct Store : Elements<Store, StoreOp> {
  /// As it is made, unless that takes twice the sectors of memory.
  LinearLayout getWantedLayout(Operation *op, OpOperand &operand,
                               const LayoutInference &inference) const {
    auto store = cast<StoreOp>(op);
    Value value = store.getValue();
    // An engine's copies are coalesced whatever the threads hold, and a role's are as they are
    // made.
    if (store.getAtomAttr())
      return inference.get(value);
    LinearLayout here = getHere(operand, inference);
    if (store.getRole())
      return here;
    AccessFacts facts = getAccessFacts(store);
    Type element = cast<RankedTensorType>(value.getType()).getElementType();
    if (facts.dim < 0 || !element.isIntOrFloat())
      return here;
    LinearLayout blocked = canonicalise(inference.getBlocked(value, facts.dim));
    int64_t bytes = std::max(1u, element.getIntOrFloatBitWidth() / 8);
    auto count = [&](const LinearLayout &layout) {
      int64_t contiguous = layout.getContiguity(kRegister, getDimName(facts.dim));
      return countSectors(layout, facts.dim, std::min(facts.width, contiguous), bytes);
    };
    return count(here) >= 2 * count(blocked) ? blocked : here;
  }
};

struct Gather : Elements<Gather, GatherOp> {
  void inferLayouts(Operation *op, LayoutInference &inference) const {
    auto run = op->getAttrOfType<DenseI64ArrayAttr>(kRunAttrName);
    if (!run)
      return followOperands(op, inference, LayoutInference::Plain);
    inference.set(op->getResult(0), inference.getBlocked(op->getResult(0), run[0]),
                  LayoutInference::Plain);
  }
};

struct Scatter : Elements<Scatter, ScatterOp> {
  LinearLayout getWantedLayout(Operation *op, OpOperand &, const LayoutInference &inference) const {
    return inference.get(cast<ScatterOp>(op).getValue());
  }
};

struct Read : Elements<Read, ReadOp> {
  void inferLayouts(Operation *op, LayoutInference &inference) const {
    makeBlocked(op, inference, LayoutInference::Plain);
  }
  Misfit findMisfit(Operation *op, const CopyShares &shares) const {
    auto read = cast<ReadOp>(op);
    int dim = shares.getDim(read.getResult());
    return require(dim < 0 || shares.keepsTogether(read.getBuffer(), dim, read.getResult(),
                                                   /*isOfProduct=*/false),
                   read.getBuffer());
  }
};

struct Write : Elements<Write, WriteOp> {
  LinearLayout getWantedLayout(Operation *, OpOperand &operand,
                               const LayoutInference &inference) const {
    return getHere(operand, inference);
  }
  Misfit findMisfit(Operation *op, const CopyShares &shares) const {
    auto write = cast<WriteOp>(op);
    int dim = shares.getDim(write.getValue());
    return require(dim < 0 || shares.keepsTogether(write.getBuffer(), dim, write.getValue(),
                                                   /*isOfProduct=*/false),
                   write.getBuffer());
  }
};
} // namespace

//===- Which op has which -------------------------------------------------------------------===//

template <template <typename> typename Model, typename... Ops>
static void attach(MLIRContext *context) {
  (Ops::template attachInterface<Model<Ops>>(*context), ...);
}

void kiln::registerDistributionModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, TileDialect *) {
    attach<Generator, SplatOp, IotaOp>(context);
    attach<Elementwise, AtomicRMWOp, AtomicCASOp, InlineAsmOp, ExternCallOp, MultipleOfOp, PhiloxOp,
           PendOp, WaitOp, FetchOp, FillOp>(context);
    attach<Reads, ToScalarOp, PrintOp, AssertOp>(context);
    ArgReduceOp::attachInterface<ArgReduce>(*context);
    BitcastOp::attachInterface<Bitcast>(*context);
    BroadcastOp::attachInterface<Broadcast>(*context);
    ConcatOp::attachInterface<Concat>(*context);
    ConvertLayoutOp::attachInterface<ConvertLayout>(*context);
    DotOp::attachInterface<Dot>(*context);
    DotScaledOp::attachInterface<DotScaled>(*context);
    GatherOp::attachInterface<Gather>(*context);
    HistogramOp::attachInterface<Histogram>(*context);
    JoinOp::attachInterface<Join>(*context);
    LoadOp::attachInterface<Load>(*context);
    ReadOp::attachInterface<Read>(*context);
    ReduceOp::attachInterface<Reduce>(*context);
    ReshapeOp::attachInterface<Reshape>(*context);
    ScanOp::attachInterface<Scan>(*context);
    ScatterOp::attachInterface<Scatter>(*context);
    SliceOp::attachInterface<Slice>(*context);
    SortOp::attachInterface<Sort>(*context);
    SplitOp::attachInterface<Split>(*context);
    StartDotOp::attachInterface<StartDot>(*context);
    StoreOp::attachInterface<Store>(*context);
    TakeOp::attachInterface<Take>(*context);
    TopKOp::attachInterface<TopK>(*context);
    TransposeOp::attachInterface<Transpose>(*context);
    WriteOp::attachInterface<Write>(*context);
  });
  registry.addExtension(+[](MLIRContext *context, arith::ArithDialect *) {
    // The first model that an op is given stays.
    arith::ConstantOp::attachInterface<Constant>(*context);
    attach<Arithmetic,
#define GET_OP_LIST
#include "mlir/Dialect/Arith/IR/ArithOps.cpp.inc"
           >(context);
  });
  registry.addExtension(+[](MLIRContext *context, math::MathDialect *) {
    attach<Arithmetic,
#define GET_OP_LIST
#include "mlir/Dialect/Math/IR/MathOps.cpp.inc"
           >(context);
  });
  registry.addExtension(+[](MLIRContext *context, ub::UBDialect *) {
    ub::PoisonOp::attachInterface<Generator<ub::PoisonOp>>(*context);
  });
}
