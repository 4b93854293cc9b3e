// How copies of a role combine partial results: each writes its own to a buffer of the program, all
// meet, and each reads those of all and combines them in the order of the copies. So all have the
// same bits.
#include "AcrossCopies.h"
#include "Decisions.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Layout/Transforms/SharedLayout.h"
#include "kiln/Target/TargetInterface.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

static std::optional<unsigned> getAxis(Operation *op) {
  return TypeSwitch<Operation *, std::optional<unsigned>>(op)
      .Case<ReduceOp, ScanOp>([](auto along) { return unsigned(along.getAxis()); })
      .Default(std::nullopt);
}

bool kiln::isAcrossCopies(Operation *op, RoleAttr role) {
  std::optional<unsigned> axis = getAxis(op);
  if (!axis || role.getCopies() == 1)
    return false;
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  auto layout = dyn_cast_or_null<LayoutAttr>(type.getEncoding());
  if (!layout)
    return false;
  LinearLayout linear = layout.toLinear(type.getShape());
  size_t ownBits = llvm::Log2_64_Ceil(role.getWarps());
  return linear.getInBits(kWarp) > ownBits &&
         llvm::any_of(linear.getBases(kWarp).drop_front(ownBits),
                      [&](const LinearLayout::Basis &basis) { return basis[*axis] != 0; });
}

/// A tensor as buffers hold it: they have a dimension at least, and whole bytes.
static RankedTensorType getHeldType(RankedTensorType type) {
  if (type.getRank() > 0)
    return getStoredType(type);
  RankedTensorType one = RankedTensorType::get({1}, type.getElementType());
  if (type.getEncoding())
    one = withLayout(one, cast<LayoutAttr>(type.getEncoding()).toLinear({}).reshapeOuts({1}));
  return getStoredType(one);
}

SmallVector<std::pair<BufferType, unsigned>> kiln::getPartialBuffers(Operation *op) {
  SmallVector<std::pair<BufferType, unsigned>> buffers;
  llvm::SmallDenseMap<Type, unsigned> ofType;
  for (Type input : op->getOperandTypes()) {
    auto type = cast<RankedTensorType>(input);
    SmallVector<int64_t> shape(type.getShape());
    shape.erase(shape.begin() + *getAxis(op));
    type = getHeldType(RankedTensorType::get(shape, type.getElementType()));
    auto buffer = BufferType::get(op->getContext(), type.getShape(), type.getElementType(), {});
    buffers.push_back({buffer, ofType[buffer]++});
  }
  return buffers;
}

SmallVector<Value> CopyCombiner::getBuffers(std::pair<BufferType, unsigned> key) {
  SmallVector<Value> &made = buffers[key];
  Region &region = groups.getBodies()[number];
  if (!made.empty())
    return made;
  OpBuilder builder(groups);
  for (int64_t i = 0; i < groups.getRole(number).getCopies(); ++i) {
    Value buffer = AllocOp::create(builder, groups.getLoc(), key.first);
    groups.getCapturesMutable().append(buffer);
    for (Region &each : groups.getBodies())
      each.addArgument(buffer.getType(), buffer.getLoc());
    made.push_back(region.getArguments().back());
  }
  return made;
}

static Value hold(OpBuilder &builder, Location loc, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getRank() == 0)
    value = ReshapeOp::create(builder, loc,
                              withLayout(RankedTensorType::get({1}, type.getElementType()),
                                         getLayout(value).reshapeOuts({1})),
                              value);
  return makeStored(builder, loc, value);
}

static Value unhold(OpBuilder &builder, Location loc, Value held, RankedTensorType type) {
  if (type.getRank() > 0)
    return unmakeStored(builder, loc, held, type);
  auto one = cast<RankedTensorType>(held.getType()).clone(type.getElementType());
  return ReshapeOp::create(builder, loc, type, unmakeStored(builder, loc, held, one));
}

/// Nobody writes before all have read what was there before, and nobody reads before all have
/// written.
CopyCombiner::Partials CopyCombiner::exchange(OpBuilder &builder, Operation *op, Value copy,
                                              ArrayRef<Value> own,
                                              ArrayRef<RankedTensorType> types) {
  Location loc = op->getLoc();
  int64_t copies = groups.getRole(number).getCopies();
  SmallVector<SmallVector<Value>> places;
  for (auto key : getPartialBuffers(op))
    places.push_back(getBuffers(key));
  auto meet = [&] {
    BarrierOp::create(builder, loc, /*publish=*/false, /*all_copies=*/true, /*global=*/false);
  };
  SmallVector<Value> held;
  for (Value value : own)
    held.push_back(hold(builder, loc, value));
  meet();
  IndexMath math{builder, loc};
  for (int64_t i = 0; i < copies; ++i) {
    Value isMine =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, copy, math.constant(i));
    OpBuilder inner = scf::IfOp::create(builder, loc, isMine).getThenBodyBuilder();
    for (auto [value, place] : llvm::zip_equal(held, places))
      WriteOp::create(inner, loc, value, place[i]);
  }
  meet();
  Partials partials(copies);
  for (int64_t i = 0; i < copies; ++i)
    for (auto [type, place] : llvm::zip_equal(types, places)) {
      Value read = ReadOp::create(builder, loc, getHeldType(type), place[i]);
      partials[i].push_back(unhold(builder, loc, read, type));
    }
  return partials;
}

/// What an op's region makes of two tensors, element by element: of pairs that each thread has.
static SmallVector<Value> combinePairs(OpBuilder &builder, Operation *op, ArrayRef<Value> left,
                                       ArrayRef<Value> right) {
  Location loc = op->getLoc();
  SmallVector<Value> pairs;
  SmallVector<Type> types;
  for (auto [first, second] : llvm::zip_equal(left, right)) {
    auto type = cast<RankedTensorType>(first.getType());
    LinearLayout joined = joinPairs(getLayout(first));
    pairs.push_back(JoinOp::create(
        builder, loc,
        withLayout(RankedTensorType::get(joined.getShape(), type.getElementType()), joined), first,
        second));
    types.push_back(type);
  }
  int64_t axis = cast<RankedTensorType>(types.front()).getRank();
  auto reduce = ReduceOp::create(builder, loc, types, pairs, axis);
  IRMapping mapping;
  op->getRegion(0).cloneInto(&reduce.getCombiner(), mapping);
  return llvm::to_vector_of<Value>(reduce.getResults());
}

/// The same in a layout that pairs can be made in, and back.
static Value layOut(OpBuilder &builder, Location loc, Value value, RankedTensorType type) {
  return value.getType() == type ? value : ConvertLayoutOp::create(builder, loc, type, value);
}

static RankedTensorType getPlainType(Value value) {
  return withLayout(cast<RankedTensorType>(value.getType()), canonicalise(getLayout(value)));
}

void CopyCombiner::combine(ReduceOp op, Value copy) {
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  Location loc = op.getLoc();
  SmallVector<Value> own(op.getResults());
  SmallVector<RankedTensorType> types = llvm::map_to_vector(own, getPlainType);
  SmallVector<OpOperand *> uses;
  for (Value result : own)
    for (OpOperand &use : result.getUses())
      uses.push_back(&use);
  Partials partials = exchange(builder, op, copy, own, types);
  SmallVector<Value> all = partials.front();
  for (ArrayRef<Value> next : ArrayRef(partials).drop_front())
    all = combinePairs(builder, op, all, next);
  SmallVector<Value> results;
  for (auto [value, result] : llvm::zip_equal(all, own))
    results.push_back(layOut(builder, loc, value, cast<RankedTensorType>(result.getType())));
  for (OpOperand *use : uses)
    use->set(results[cast<OpResult>(use->get()).getResultNumber()]);
}

/// A copy's elements come behind what the copies before it have, or in front of what those behind
/// it have.
void CopyCombiner::combine(ScanOp op, Value copy) {
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  Location loc = op.getLoc();
  unsigned axis = op.getAxis();
  int64_t copies = groups.getRole(number).getCopies();
  SmallVector<OpOperand *> uses;
  for (Value result : op.getResults())
    for (OpOperand &use : result.getUses())
      uses.push_back(&use);

  // What a copy has altogether; and, as each copy reads it, a row beside the elements.
  SmallVector<Type> totals;
  SmallVector<RankedTensorType> rows, types;
  SmallVector<Value> elements;
  for (auto [input, result] : llvm::zip_equal(op.getInputs(), op.getResults())) {
    elements.push_back(layOut(builder, loc, result, getPlainType(result)));
    auto type = cast<RankedTensorType>(result.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[axis] = 1;
    rows.push_back(withLayout(RankedTensorType::get(shape, type.getElementType()),
                              projectTo(getLayout(elements.back()), shape)));
    shape.erase(shape.begin() + axis);
    auto total = RankedTensorType::get(shape, type.getElementType());
    totals.push_back(withLayout(total, dropDim(getLayout(input), axis)));
    types.push_back(withLayout(total, cast<LayoutAttr>(rows.back().getEncoding())
                                          .toLinear(rows.back().getShape())
                                          .reshapeOuts(shape)));
  }
  auto total = ReduceOp::create(builder, loc, totals, op.getInputs(), axis);
  IRMapping mapping;
  op.getCombiner().cloneInto(&total.getCombiner(), mapping);
  Partials partials =
      exchange(builder, op, copy, llvm::to_vector_of<Value>(total.getResults()), types);
  if (op.getReverse())
    std::reverse(partials.begin(), partials.end());
  auto inOrder = [&](ArrayRef<Value> before, ArrayRef<Value> value) {
    return op.getReverse() ? combinePairs(builder, op, value, before)
                           : combinePairs(builder, op, before, value);
  };
  // Of the copies in the scan's order, whether this is the one of that number.
  IndexMath math{builder, loc};
  auto isCopy = [&](int64_t at) -> Value {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, copy,
                                 math.constant(op.getReverse() ? copies - 1 - at : at));
  };
  auto choose = [&](Value condition, ArrayRef<Value> some, ArrayRef<Value> others) {
    SmallVector<Value> chosen;
    for (auto [one, other] : llvm::zip_equal(some, others)) {
      auto type = cast<RankedTensorType>(one.getType()).clone(builder.getI1Type());
      Value mask = SplatOp::create(builder, loc, type, condition);
      chosen.push_back(arith::SelectOp::create(builder, loc, mask, one, other));
    }
    return chosen;
  };
  SmallVector<Value> before = partials.front(), sum = before;
  for (int64_t at = 2; at < copies; ++at) {
    sum = inOrder(sum, partials[at - 1]);
    before = choose(isCopy(at), sum, before);
  }
  SmallVector<Value> spread;
  for (auto [value, row, element] : llvm::zip_equal(before, rows, elements)) {
    Value beside = ReshapeOp::create(builder, loc, row, value);
    spread.push_back(BroadcastOp::create(builder, loc, element.getType(), beside));
  }
  SmallVector<Value> all = choose(isCopy(0), elements, inOrder(spread, elements));
  for (OpOperand *use : uses) {
    unsigned index = cast<OpResult>(use->get()).getResultNumber();
    auto type = cast<RankedTensorType>(use->get().getType());
    use->set(layOut(builder, loc, all[index], type));
  }
}

void CopyCombiner::combine(Operation *op, Value copy) {
  TypeSwitch<Operation *>(op).Case<ReduceOp, ScanOp>([&](auto along) { combine(along, copy); });
}
