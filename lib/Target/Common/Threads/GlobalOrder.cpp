// The order of a program's accesses to global memory, which its source states op by op, among
// threads that run at their own pace: a barrier stands before an access that may meet one of
// another thread since the last such barrier. None is needed between reads, where two arguments
// are known not to overlap, between tiles that lie apart, and where each thread comes back to its
// own elements.
//
// Copies of channels are ordered by their protocol, not here, and so is all that a role does.
#include "ThreadLowering.h"
#include "kiln/Layout/Transforms/AccessFacts.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

//===- What an op accesses ------------------------------------------------------------------===//

static bool isForeign(Operation *op) {
  auto text = dyn_cast<InlineAsmOp>(op);
  auto call = dyn_cast<ExternCallOp>(op);
  return (text && !text.getPure()) || (call && !call.getPure());
}

static bool reads(Operation *op) { return isa<LoadOp, GatherOp>(op); }

static bool writes(Operation *op) {
  return isForeign(op) || isa<StoreOp, ScatterOp, AtomicRMWOp, AtomicCASOp>(op);
}

/// Null if that is unknown.
static Value getView(Operation *op) {
  return TypeSwitch<Operation *, Value>(op)
      .Case<LoadOp, GatherOp, StoreOp, ScatterOp, AtomicRMWOp, AtomicCASOp>(
          [](auto access) { return access.getView(); })
      .Default(Value());
}

/// Whether two arguments are known not to overlap.
static bool areDisjoint(Value a, Value b) {
  auto isAlone = [](Value view) {
    FactsAttr facts = getArgumentFacts(view);
    return facts && facts.getNoalias();
  };
  a = getWholeView(a), b = getWholeView(b);
  return a != b && isa<BlockArgument>(a) && isa<BlockArgument>(b) && (isAlone(a) || isAlone(b));
}

//===- Where tiles of one view lie ----------------------------------------------------------===//

namespace {
struct Tile {
  TypedValue<RankedTensorType> tensor;
  OperandRange offsets;
  bool hasWholeBytes;
};

/// scale * base + constant, or the constant alone.
struct Offset {
  Value base;
  int64_t scale = 1, constant = 0;
};

enum class Relation { Same, Apart, Unknown };
} // namespace

static std::optional<Tile> getTile(Operation *op) {
  auto describe = [](auto access, TypedValue<RankedTensorType> tensor) {
    ArrayRef<int64_t> extents =
        access.getExtents() ? *access.getExtents() : tensor.getType().getShape();
    return Tile{tensor, access.getOffsets(),
                hasWholeBytes(access.getView(), access.getOffsets(), extents)};
  };
  if (auto load = dyn_cast<LoadOp>(op))
    return describe(load, load.getResult());
  if (auto store = dyn_cast<StoreOp>(op))
    return describe(store, store.getValue());
  return std::nullopt;
}

static Offset getOffset(Value value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return {Value(), 1, *constant};
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
    return {value};
  std::optional<int64_t> constant = getConstantIntValue(op->getOperand(1));
  if (!constant)
    return {value};
  Offset offset = getOffset(op->getOperand(0));
  if (isa<arith::MulIOp>(op))
    return {offset.base, offset.scale * *constant, offset.constant * *constant};
  offset.constant += isa<arith::AddIOp>(op) ? *constant : -*constant;
  return offset;
}

/// How two tiles lie along one dimension, the first of an earlier turn of `loop` if one is given.
static Relation relate(Value first, int64_t firstExtent, Value second, int64_t secondExtent,
                       Operation *loop) {
  Offset a = getOffset(first), b = getOffset(second);
  if (a.base != b.base || (a.base && a.scale != b.scale))
    return Relation::Unknown;
  int64_t distance = b.constant - a.constant;
  if (loop && a.base && loop->isAncestor(a.base.getParentRegion()->getParentOp())) {
    auto counted = dyn_cast<scf::ForOp>(loop);
    if (!counted || a.base != counted.getInductionVar())
      return Relation::Unknown;
    // A turn or more later, so the counter is larger by its step at least.
    distance += a.scale * getConstantIntValue(counted.getStep()).value_or(1);
    bool isAhead = a.scale > 0 && distance >= firstExtent;
    bool isBehind = a.scale < 0 && -distance >= secondExtent;
    return isAhead || isBehind ? Relation::Apart : Relation::Unknown;
  }
  if (distance >= firstExtent || -distance >= secondExtent)
    return Relation::Apart;
  return distance == 0 ? Relation::Same : Relation::Unknown;
}

/// Whether tiles of one view have no element in common, or only such as one thread has in both.
static bool isApartOrOwn(Operation *earlier, Operation *later, Operation *loop) {
  std::optional<Tile> first = getTile(earlier), second = getTile(later);
  if (!first || !second)
    return false;
  bool isSame = true;
  RankedTensorType type = first->tensor.getType(), other = second->tensor.getType();
  bool sharesBytes = sharesByte(type.getElementType());
  for (auto [a, n, b, m] :
       llvm::zip(first->offsets, type.getShape(), second->offsets, other.getShape())) {
    Relation relation = relate(a, n, b, m, loop);
    if (relation == Relation::Apart &&
        (!sharesBytes || (first->hasWholeBytes && second->hasWholeBytes)))
      return true;
    isSame &= relation == Relation::Same;
  }
  if (!isSame || sharesBytes || type != other)
    return false;
  LinearLayout layout = getLayout(first->tensor);
  for (auto [in, mask] : llvm::zip(layout.getIns(), layout.freeVariables()))
    if (in.name != kRegister && mask)
      return false;
  return true;
}

/// Whether an access may reach what an earlier one, `loop` turns ago if a loop is given, did.
static bool mayMeet(Operation *earlier, Operation *later, Operation *loop) {
  if (!writes(earlier) && !writes(later))
    return false;
  Value a = getView(earlier), b = getView(later);
  if (!a || !b)
    return true;
  if (areDisjoint(a, b))
    return false;
  // Sums and the like, whose order nobody sees but by what they return.
  auto first = dyn_cast<AtomicRMWOp>(earlier), second = dyn_cast<AtomicRMWOp>(later);
  if (first && second && first.getKind() == second.getKind() && first->use_empty() &&
      second->use_empty() && first.getKind() != AtomicKind::Exch)
    return false;
  // A view that the loop makes is another one each turn.
  Operation *maker = a.getDefiningOp();
  bool isRemade = loop && maker && loop->isAncestor(maker);
  return a != b || isRemade || !isApartOrOwn(earlier, later, loop);
}

//===- The walk -----------------------------------------------------------------------------===//

void ThreadLowering::orderGlobal(Operation *op) {
  if (role || !(reads(op) || writes(op)))
    return;
  auto meets = [&](const GlobalAccess &other) { return mayMeet(other.first, op, other.second); };
  if (llvm::any_of(globalState, meets)) {
    barrier();
    builder.getInsertionBlock()->back().setAttr(kOrdersGlobalAttrName, builder.getUnitAttr());
    globalState.clear();
  }
  globalState.insert({op, nullptr});
}

void ThreadLowering::enterGlobalLoop(Operation *loop) {
  loop->walk([&](Operation *op) {
    if (reads(op) || writes(op))
      globalState.insert({op, loop});
  });
}
