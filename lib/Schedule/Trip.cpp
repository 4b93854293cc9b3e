// The stages and the order of a trip: those that are decided, completed by what ops need of one
// another.
#include "Trip.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

//===- What a block has ---------------------------------------------------------------------===//

Trip::Trip(Block &block) : block(block), loop(dyn_cast<scf::ForOp>(block.getParentOp())) {
  for (Operation &op : block)
    if (!op.hasTrait<OpTrait::IsTerminator>())
      ops.push_back(&op);
}

SmallVector<Value> Trip::getOperands(Operation *op) const {
  SmallVector<Value> operands;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (operand.getParentBlock() == &block)
        operands.push_back(operand);
  });
  return operands;
}

std::optional<unsigned> Trip::getCarriedIndex(Value value) const {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!loop || !argument || argument.getOwner() != &block || argument.getArgNumber() == 0)
    return std::nullopt;
  return argument.getArgNumber() - 1;
}

std::optional<Dependence> Trip::findMaker(Value value) const {
  int64_t distance = 0;
  llvm::SmallDenseSet<Value> seen;
  while (std::optional<unsigned> index = getCarriedIndex(value)) {
    if (!seen.insert(value).second)
      return std::nullopt; // values that only go round
    value = getYielded(*index);
    ++distance;
  }
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != &block || free.contains(op))
    return std::nullopt;
  return Dependence{op, distance};
}

//===- Completing a schedule ----------------------------------------------------------------===//

namespace {
class Scheduler {
public:
  explicit Scheduler(Trip &trip) : trip(trip) {}
  LogicalResult run();

private:
  void findFree();
  void completeStages();
  LogicalResult checkStages();
  LogicalResult orderOps();
  LogicalResult place(Operation *op, std::optional<int64_t> before);
  LogicalResult checkRings();
  LogicalResult checkEffects();
  SmallVector<Dependence> getNeeds(Operation *op) const;
  /// Trips that lie between the making of what is needed and its use; negative if it is used first.
  int64_t getLag(Operation *op, const Dependence &need) const {
    return trip.stages.lookup(op) + need.distance - trip.stages.lookup(need.op);
  }

  Trip &trip;
  SmallVector<Operation *> source, placed;
  enum class State { Placing, Placed };
  DenseMap<Operation *, State> states;
};
} // namespace

static std::optional<int64_t> findNumber(Operation *op, StringRef name) {
  auto number = dyn_cast_or_null<IntegerAttr>(getDecision(op, name));
  return number ? std::optional(number.getInt()) : std::nullopt;
}

/// Gets come as late as their users let them.
static bool isLate(Operation *op) {
  return isa<NextOp, GetOp, ReadOp>(op) && !findNumber(op, "stage");
}

SmallVector<Dependence> Scheduler::getNeeds(Operation *op) const {
  SmallVector<Dependence> needs;
  for (Value operand : trip.getOperands(op))
    if (std::optional<Dependence> need = trip.findMaker(operand))
      needs.push_back(*need);
  return needs;
}

void Scheduler::findFree() {
  for (Operation *op : trip.ops) {
    auto isScalar = [](Type type) { return !isa<ShapedType>(type); };
    bool isSmall =
        op->hasTrait<OpTrait::ConstantLike>() || (llvm::all_of(op->getOperandTypes(), isScalar) &&
                                                  llvm::all_of(op->getResultTypes(), isScalar));
    bool isFree =
        isPure(op) && op->getNumRegions() == 0 && isSmall && !findNumber(op, "stage") &&
        !findNumber(op, "order") && llvm::all_of(op->getOperands(), [&](Value operand) {
          Operation *maker = operand.getDefiningOp();
          bool isHere = operand.getParentBlock() == &trip.block;
          return !isHere || (maker ? trip.free.contains(maker) : !trip.getCarriedIndex(operand));
        });
    if (isFree && trip.loop)
      trip.free.insert(op);
  }
  llvm::erase_if(trip.ops, [&](Operation *op) { return trip.free.contains(op); });
}

/// Ops without a stage run as early as what they need lets them.
void Scheduler::completeStages() {
  for (Operation *op : trip.ops)
    trip.stages[op] = findNumber(op, "stage").value_or(0);
  for (bool changed = true; changed;) {
    changed = false;
    for (Operation *op : trip.ops) {
      if (findNumber(op, "stage") || isLate(op))
        continue;
      int64_t &stage = trip.stages[op], least = 0;
      for (const Dependence &need : getNeeds(op))
        least = std::max(least, trip.stages.lookup(need.op) - need.distance);
      changed |= least > stage;
      stage = std::max(stage, least);
    }
  }
  for (Operation *op : llvm::reverse(trip.ops)) {
    if (!isLate(op))
      continue;
    std::optional<int64_t> first;
    for (Operation *user : op->getUsers())
      if (Operation *here = trip.findHere(user); trip.stages.contains(here))
        first = std::min(first.value_or(INT64_MAX), trip.stages.lookup(here));
    trip.stages[op] = first.value_or(0);
  }
}

LogicalResult Scheduler::checkStages() {
  Operation *first = nullptr;
  for (Operation *op : trip.ops) {
    std::optional<int64_t> stage = findNumber(op, "stage");
    if (stage && (!first || *stage < *findNumber(first, "stage")))
      first = op;
    for (const Dependence &need : getNeeds(op))
      if (getLag(op, need) < 0) {
        InFlightDiagnostic error = op->emitOpError("expected a stage of at least ")
                                   << trip.stages.lookup(need.op) - need.distance
                                   << ", as the op that makes what it needs is at stage "
                                   << trip.stages.lookup(need.op) << ", got "
                                   << trip.stages.lookup(op);
        error.attachNote(need.op->getLoc()) << "this op makes it";
        return error;
      }
  }
  if (first && *findNumber(first, "stage") > 0)
    return first->emitOpError("expected stages that begin with 0 in this role's loop, got ")
           << *findNumber(first, "stage") << " as the least";
  return success();
}

/// Appends an op behind what it needs of its own trip.
LogicalResult Scheduler::place(Operation *op, std::optional<int64_t> before) {
  auto [state, isNew] = states.try_emplace(op, State::Placing);
  if (!isNew && state->second == State::Placed)
    return success();
  std::optional<int64_t> order = findNumber(op, "order");
  if (!isNew || (order && before && *order > *before)) {
    InFlightDiagnostic error = op->emitOpError("expected ");
    if (order)
      return error << "an order below that of the ops that need it in the same trip, got "
                   << *order;
    return error << "stages and orders by which it does not need its own result in one trip";
  }
  if (order)
    before = order;
  for (const Dependence &need : getNeeds(op))
    if (getLag(op, need) == 0 && failed(place(need.op, before)))
      return failure();
  states[op] = State::Placed;
  placed.push_back(op);
  return success();
}

/// Ops go by their order; one without stays behind the op that it follows in the source, and comes
/// no earlier than what it needs.
LogicalResult Scheduler::orderOps() {
  DenseMap<Operation *, int64_t> keys;
  int64_t key = -1;
  for (Operation *op : trip.ops) {
    key = findNumber(op, "order").value_or(key);
    keys[op] = key;
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (Operation *op : trip.ops) {
      if (findNumber(op, "order") || isLate(op))
        continue;
      for (const Dependence &need : getNeeds(op))
        if (getLag(op, need) == 0 && !isLate(need.op) && keys[need.op] > keys[op]) {
          keys[op] = keys[need.op];
          changed = true;
        }
    }
  }
  SmallVector<std::pair<int64_t, size_t>> order; // by key, then as in the source
  for (auto [index, op] : llvm::enumerate(trip.ops))
    order.push_back({isLate(op) ? INT64_MAX : keys[op], index});
  llvm::sort(order);
  for (auto [key, index] : order)
    if (failed(place(trip.ops[index], std::nullopt)))
      return failure();
  trip.ops = placed;
  return success();
}

/// Both sides of a ring use its slots in the order of the source: iteration by iteration.
LogicalResult Scheduler::checkRings() {
  llvm::MapVector<Value, SmallVector<Operation *>> uses;
  for (Operation *op : source) {
    llvm::SmallSetVector<Value, 2> channels;
    op->walk([&](NextOp next) { channels.insert(next.getChannel()); });
    for (Value channel : channels)
      uses[channel].push_back(op);
  }
  for (auto &[channel, ops] : uses)
    for (auto [x, y] : llvm::zip(ops, llvm::drop_begin(ops)))
      if (trip.stages.lookup(x) != trip.stages.lookup(y) || trip.getPlace(x) > trip.getPlace(y)) {
        Operation *user = y->use_empty() ? y : *y->user_begin();
        return user->emitOpError("expected uses of one ring in a loop to have one stage and the "
                                 "order of the source; loads of another ring are free of these");
      }
  return success();
}

namespace {
/// What an op, with those in it, accesses of global memory.
struct Accesses {
  SmallVector<Value> views;
  bool isElsewhere = false, writes = false;
};
} // namespace

static Accesses findAccesses(Operation *op) {
  Accesses accesses;
  op->walk([&](Operation *inner) {
    bool isRings = isa<NextOp, PutOp, GetOp, ReleaseOp, CopyInOp, ReadOp, WriteOp, DotOp,
                       StartDotOp, WaitOp, WaitStoresOp>(inner);
    if (isRings || inner->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
        inner->hasTrait<OpTrait::IsTerminator>() || isMemoryEffectFree(inner))
      return;
    size_t before = accesses.views.size();
    llvm::copy_if(inner->getOperands(), std::back_inserter(accesses.views),
                  [](Value operand) { return isa<ViewType>(operand.getType()); });
    accesses.isElsewhere |= accesses.views.size() == before;
    accesses.writes |= !isa<LoadOp, GatherOp>(inner);
  });
  return accesses;
}

/// Whether two views are of different memory: of two arguments, one of which no other one reaches.
static bool areApart(Value x, Value y) {
  auto findArgument = [](Value view) {
    auto inside = dyn_cast<BlockArgument>(view);
    auto groups =
        inside ? dyn_cast<WarpGroupsOp>(inside.getOwner()->getParentOp()) : WarpGroupsOp();
    return groups ? dyn_cast<BlockArgument>(groups.getCaptures()[inside.getArgNumber()]) : inside;
  };
  BlockArgument first = findArgument(x), second = findArgument(y);
  if (!first || !second || first == second)
    return false;
  auto isAlone = [](BlockArgument argument) {
    auto kernel = dyn_cast<KernelOp>(argument.getOwner()->getParentOp());
    FactsAttr facts = kernel ? kernel.getFacts(argument.getArgNumber()) : FactsAttr();
    return facts && facts.getNoalias();
  };
  return isAlone(first) || isAlone(second);
}

/// What accesses the same memory does so in the order of the source, unless both only read.
LogicalResult Scheduler::checkEffects() {
  SmallVector<std::pair<Operation *, Accesses>> all;
  for (Operation *op : source)
    if (Accesses accesses = findAccesses(op); !accesses.views.empty() || accesses.isElsewhere)
      all.push_back({op, accesses});
  for (auto [i, first] : llvm::enumerate(all))
    for (const auto &second : ArrayRef(all).drop_front(i + 1)) {
      Operation *x = first.first, *y = second.first;
      const Accesses &accesses = first.second, &its = second.second;
      bool areViewsApart = llvm::all_of(accesses.views, [&](Value view) {
        return llvm::all_of(its.views, [&](Value other) { return areApart(view, other); });
      });
      bool isApart = !(accesses.writes || its.writes) ||
                     (!accesses.isElsewhere && !its.isElsewhere && areViewsApart);
      TripTime xTime = trip.getTime(x), yTime = trip.getTime(y);
      TripTime next = {xTime.stage + 1, xTime.place};
      if (isApart || (xTime < yTime && yTime < next))
        continue;
      InFlightDiagnostic error = y->emitOpError(
          "expected a stage and an order that leave it behind what may access the same memory "
          "before it, and in front of that in the next iteration");
      error.attachNote(x->getLoc())
          << "this op does; 'noalias' among the facts of an argument says "
             "that no other reaches its memory";
      return error;
    }
  return success();
}

LogicalResult Scheduler::run() {
  findFree();
  source = trip.ops;
  completeStages();
  if (failed(checkStages()) || failed(orderOps()) || failed(checkRings()))
    return failure();
  return trip.loop ? checkEffects() : success();
}

LogicalResult kiln::scheduleTrip(Trip &trip) { return Scheduler(trip).run(); }

LogicalResult kiln::checkTrip(const Trip &trip) {
  for (auto [place, op] : llvm::enumerate(trip.ops))
    for (Value operand : trip.getOperands(op)) {
      std::optional<Dependence> need = trip.findMaker(operand);
      if (!need)
        continue;
      int64_t lag = trip.stages.lookup(op) + need->distance - trip.stages.lookup(need->op);
      if (lag < 0 || (lag == 0 && trip.getPlace(need->op) >= place))
        return op->emitOpError("expected stages and orders that leave it behind what it needs");
    }
  return success();
}
