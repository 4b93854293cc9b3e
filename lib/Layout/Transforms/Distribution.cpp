// The models of DistributionInterface: one a kind of op, which says how a layout goes through it
// forwards and backwards, and what the copies of a role can share out. Here are those of what is
// computed element by element, of products and of accesses.
#include "DistributionModels.h"
#include "kiln/Dialect/Tile/IR/AccessDecisions.h"
#include "kiln/Layout/Transforms/AccessFacts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

#include "kiln/Layout/Transforms/DistributionInterface.cpp.inc"

using namespace mlir;
using namespace kiln;
using namespace kiln::distribution;
using namespace kiln::tile;

//===- What kinds of ops have in common -----------------------------------------------------===//

SmallVector<Value> distribution::getValues(Operation *op) {
  SmallVector<Value> values(op->getOperands());
  llvm::append_range(values, op->getResults());
  return values;
}

bool distribution::isTensor(Value value) { return isa<RankedTensorType>(value.getType()); }

ArrayRef<int64_t> distribution::shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

void distribution::followOperands(Operation *op, LayoutInference &inference,
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

void distribution::makeBlocked(Operation *op, LayoutInference &inference,
                               LayoutInference::Strength strength) {
  for (Value result : op->getResults())
    if (isTensor(result))
      inference.set(result, inference.getBlocked(result), strength);
}

LinearLayout distribution::getHere(OpOperand &operand, const LayoutInference &inference) {
  return inference.lookup(operand.get(), operand.getOwner()).layout;
}

LinearLayout distribution::getResults(OpOperand &operand, const LayoutInference &inference) {
  for (Value result : operand.getOwner()->getResults())
    if (isTensor(result))
      return inference.get(result);
  return getHere(operand, inference);
}

Misfit distribution::isAlike(Operation *op, const CopyShares &shares) {
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

Misfit distribution::isWhole(Operation *op, const CopyShares &shares) {
  for (Value value : getValues(op))
    if (shares.getDim(value) >= 0)
      return ShareMisfit{value, /*isNeededWhole=*/true};
  return std::nullopt;
}

Misfit distribution::require(bool fits, Value value) {
  return fits ? Misfit() : Misfit(ShareMisfit{value});
}

//===- Element by element -------------------------------------------------------------------===//

namespace {
template <typename OpTy>
struct Elementwise : Elements<Elementwise<OpTy>, OpTy> {};

/// It costs no more than its operands: the same of arithmetic.
template <typename OpTy>
struct Arithmetic : Elements<Arithmetic<OpTy>, OpTy, LayoutInference::Free> {};

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

//===- Products -----------------------------------------------------------------------------===//

/// Rows follow a, columns b, and each copy needs all of k; scales follow what they are of.
Misfit findProductMisfit(Operation *op, Value a, Value b, Value accumulator, ValueRange scales,
                         const CopyShares &shares) {
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
  for (auto [operand, value] : llvm::enumerate(scales))
    if (isa<RankedTensorType>(value.getType()) &&
        shares.getDim(value) != (dim == int(operand) ? 0 : -1))
      return ShareMisfit{value};
  return require(agrees(b, 1, "transpose_b"), b);
}

template <typename OpTy>
Misfit findProductMisfit(OpTy dot, const CopyShares &shares) {
  return findProductMisfit(dot, dot->getOperand(0), dot->getOperand(1), dot->getOperand(2),
                           dot.getScales(), shares);
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
    return findProductMisfit(cast<DotOp>(op), shares);
  }
};

struct StartDot : Elements<StartDot, StartDotOp> {
  Misfit findMisfit(Operation *op, const CopyShares &shares) const {
    return findProductMisfit(cast<StartDotOp>(op), shares);
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
  Misfit findMisfit(Operation *op, const CopyShares &shares) const {
    auto dot = cast<DotScaledOp>(op);
    return findProductMisfit(op, dot.getA(), dot.getB(), dot.getAccumulator(),
                             {dot.getScaleA(), dot.getScaleB()}, shares);
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
    attachMoves(context);
    attach<Generator, SplatOp, IotaOp>(context);
    attach<Elementwise, AtomicRMWOp, AtomicCASOp, InlineAsmOp, ExternCallOp, MultipleOfOp, PhiloxOp,
           PendOp, WaitOp, FetchOp, FillOp>(context);
    attach<Reads, ToScalarOp, PrintOp, AssertOp>(context);
    DotOp::attachInterface<Dot>(*context);
    DotScaledOp::attachInterface<DotScaled>(*context);
    GatherOp::attachInterface<Gather>(*context);
    LoadOp::attachInterface<Load>(*context);
    ReadOp::attachInterface<Read>(*context);
    ScatterOp::attachInterface<Scatter>(*context);
    StartDotOp::attachInterface<StartDot>(*context);
    StoreOp::attachInterface<Store>(*context);
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
