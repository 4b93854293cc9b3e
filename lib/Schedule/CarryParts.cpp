// Has loops carry a sum as the parts that dots in flight make of it, so that each is an accumulator
// of its own, which stays where it is from trip to trip.
#include "CutParts.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"

namespace kiln {
#define GEN_PASS_DEF_CARRYPARTS
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
/// A loop of trips, which hands on results of its body: which of its operands, of its body's
/// arguments and of the body's results is the first of these.
struct Places {
  explicit Places(Operation *loop)
      : body(loop->getRegions().back().front()), init(isa<scf::ForOp>(loop) ? 3 : 1),
        argument(isa<scf::ForOp>(loop) ? 1 : 0), yield(isa<scf::ForOp>(loop) ? 0 : 1) {}
  Block &body;
  unsigned init, argument, yield;
};

/// A value that a loop carries, to which dots alone add, all in the same parts.
struct CarriedDots {
  unsigned index;
  SmallVector<DotOp> dots;
};
} // namespace

/// Whether a dot in flight makes its result in parts, each of which is some registers of each
/// thread. What no thread has by itself `tile-realise-parts` refuses.
static bool isInParts(DotOp dot) {
  auto [rows, columns, depth] = countParts(dot);
  return dot.getInFlight() && rows * columns > 1 &&
         getBoxType(dot.getResult(), getSumBoxes(dot).front().shape);
}

static std::optional<CarriedDots> findDots(Operation *loop, unsigned index) {
  Places places(loop);
  Value value = places.body.getArgument(places.argument + index);
  CarriedDots carried{index, {}};
  while (value.hasOneUse()) {
    OpOperand &use = *value.use_begin();
    if (use.getOwner() == places.body.getTerminator())
      return use.getOperandNumber() == places.yield + index && !carried.dots.empty()
                 ? std::optional(carried)
                 : std::nullopt;
    auto dot = dyn_cast<DotOp>(use.getOwner());
    if (!dot || dot->getBlock() != &places.body || use.getOperandNumber() != 2 || !isInParts(dot))
      return std::nullopt;
    auto [rows, columns, depth] = countParts(dot);
    auto [firstRows, firstColumns, firstDepth] =
        countParts(carried.dots.empty() ? dot : carried.dots.front());
    if (rows != firstRows || columns != firstColumns)
      return std::nullopt;
    carried.dots.push_back(dot);
    value = dot.getResult();
  }
  return std::nullopt;
}

static std::optional<CarriedDots> findDots(Operation *loop) {
  for (unsigned index = 0; index < loop->getNumResults(); ++index)
    if (std::optional<CarriedDots> found = findDots(loop, index))
      return found;
  return std::nullopt;
}

/// The role of an op, or of what it stands in.
static StringRef findRoleName(Operation *op) {
  while (op && getRoleName(op).empty())
    op = op->getParentOp();
  return op ? getRoleName(op) : StringRef();
}

namespace {
/// Rewrites one value of one loop.
class Carrier {
public:
  Carrier(Operation *loop, CarriedDots carried)
      : loop(loop), carried(std::move(carried)), first(this->carried.dots.front()),
        boxes(getSumBoxes(first)), builder(loop) {}
  Operation *carry();

private:
  SmallVector<Value> take(Value whole);
  Value join(ArrayRef<Value> parts, StringRef role);
  void changeArguments(Block &block, unsigned argument);
  void changeHandedOn(Operation *terminator, unsigned operand, ArrayRef<Value> parts);
  void changeBody();
  void joinResults(Value sum, ValueRange parts);

  Operation *loop;
  CarriedDots carried;
  DotOp first;
  SmallVector<PartBox> boxes;
  OpBuilder builder;
};
} // namespace

/// The parts of a value.
SmallVector<Value> Carrier::take(Value whole) {
  SplatElementsAttr splat;
  bool isSplat = matchPattern(whole, m_Constant(&splat));
  return llvm::map_to_vector(boxes, [&](const PartBox &box) -> Value {
    RankedTensorType type = getBoxType(whole, box.shape);
    if (isSplat)
      return arith::ConstantOp::create(builder, whole.getLoc(), splat.resizeSplat(type));
    auto slice = SliceOp::create(builder, whole.getLoc(), type, whole,
                                 builder.getDenseI64ArrayAttr(box.offsets));
    if (StringRef role = findRoleName(first); !role.empty())
      setRoleName(slice, role);
    return slice;
  });
}

Value Carrier::join(ArrayRef<Value> parts, StringRef role) {
  Value joined = joinParts(builder, first, parts);
  SmallVector<Operation *> made = {joined.getDefiningOp()};
  while (!made.empty() && !role.empty()) {
    Operation *op = made.pop_back_val();
    setRoleName(op, role);
    for (Value operand : op->getOperands())
      if (operand.getDefiningOp<ConcatOp>() && !llvm::is_contained(parts, operand))
        made.push_back(operand.getDefiningOp());
  }
  return joined;
}

/// A block takes parts instead.
void Carrier::changeArguments(Block &block, unsigned argument) {
  Location loc = block.getArgument(argument).getLoc();
  block.eraseArgument(argument);
  for (auto [number, box] : llvm::enumerate(boxes))
    block.insertArgument(argument + number, getBoxType(first.getResult(), box.shape), loc);
}

void Carrier::changeHandedOn(Operation *terminator, unsigned operand, ArrayRef<Value> parts) {
  SmallVector<Value> operands(terminator->getOperands());
  operands.erase(operands.begin() + operand);
  operands.insert(operands.begin() + operand, parts.begin(), parts.end());
  terminator->setOperands(operands);
}

void Carrier::changeBody() {
  Places places(loop);
  builder.setInsertionPointAfter(carried.dots.back());
  SmallVector<Value> parts = take(carried.dots.back().getResult());
  changeHandedOn(places.body.getTerminator(), places.yield + carried.index, parts);
  unsigned argument = places.argument + carried.index;
  // Of two dots in a trip the second adds to what the first has made.
  first.getAccumulatorMutable().assign(first.getResult());
  changeArguments(places.body, argument);
  builder.setInsertionPoint(first);
  parts.assign(places.body.getArguments().slice(argument, boxes.size()).begin(),
               places.body.getArguments().slice(argument, boxes.size()).end());
  first.getAccumulatorMutable().assign(join(parts, findRoleName(first)));
  auto asks = dyn_cast<scf::WhileOp>(loop);
  if (!asks)
    return;
  Block &before = *asks.getBeforeBody();
  Operation *condition = before.getTerminator();
  condition->eraseOperand(places.yield + carried.index);
  changeArguments(before, places.yield + carried.index);
  SmallVector<Value> operands = {before.getArgument(0)};
  llvm::append_range(operands, before.getArguments().drop_front());
  condition->setOperands(operands);
}

/// Each role that uses the sum puts it together.
void Carrier::joinResults(Value sum, ValueRange parts) {
  llvm::MapVector<StringRef, SmallVector<OpOperand *>> uses;
  for (OpOperand &use : sum.getUses()) {
    StringRef role = findRoleName(use.getOwner());
    uses[role.empty() ? findRoleName(first) : role].push_back(&use);
  }
  builder.setInsertionPointAfter(loop);
  for (auto &[role, ofRole] : uses) {
    Value joined = join(llvm::to_vector(parts), role);
    for (OpOperand *use : ofRole)
      use->set(joined);
  }
}

Operation *Carrier::carry() {
  Places places(loop);
  SmallVector<Value> operands(loop->getOperands());
  SmallVector<Value> inits = take(operands[places.init + carried.index]);
  operands.erase(operands.begin() + places.init + carried.index);
  operands.insert(operands.begin() + places.init + carried.index, inits.begin(), inits.end());
  SmallVector<Type> types(loop->getResultTypes());
  types.erase(types.begin() + carried.index);
  types.insert(types.begin() + carried.index, inits.size(), inits.front().getType());

  OperationState state(loop->getLoc(), loop->getName(), operands, types, loop->getAttrs());
  for (Region &region : loop->getRegions())
    state.addRegion()->takeBody(region);
  Operation *old = loop;
  loop = builder.create(state);
  changeBody();
  for (auto [number, result] : llvm::enumerate(old->getResults())) {
    if (number == carried.index) {
      joinResults(result, loop->getResults().slice(number, inits.size()));
      continue;
    }
    result.replaceAllUsesWith(
        loop->getResult(number < carried.index ? number : number + inits.size() - 1));
  }
  old->erase();
  return loop;
}

namespace {
struct CarryParts : kiln::impl::CarryPartsBase<CarryParts> {
  void runOnOperation() override {
    SmallVector<Operation *> loops;
    getOperation().walk([&](DotOp dot) {
      if (Operation *loop = isInParts(dot) ? getLoopOfTrips(dot) : nullptr)
        if (!llvm::is_contained(loops, loop))
          loops.push_back(loop);
    });
    for (Operation *loop : loops)
      while (std::optional<CarriedDots> carried = findDots(loop))
        loop = Carrier(loop, *carried).carry();
  }
};
} // namespace
