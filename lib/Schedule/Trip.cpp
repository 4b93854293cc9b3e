// The ops of a trip by their stages and orders.
#include "Trip.h"
#include "GlobalAccesses.h"
#include "SourceErrors.h"
#include "kiln/Layout/Transforms/AccessFacts.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

//===- What a block has ---------------------------------------------------------------------===//

std::optional<int64_t> kiln::findNumber(Operation *op, StringRef name) {
  auto number = dyn_cast_or_null<IntegerAttr>(getDecision(op, name));
  return number ? std::optional(number.getInt()) : std::nullopt;
}

bool kiln::hasDecisions(Block &block) {
  return llvm::any_of(block, [](Operation &op) {
    auto get = dyn_cast<GetOp>(op);
    auto dot = dyn_cast<DotOp>(op);
    return getDecision(&op, "stage") || getDecision(&op, "order") || (dot && dot.getInFlight()) ||
           (get && isCounted(get));
  });
}

/// The loop of a block that is one's body.
static Operation *findLoop(Block &block) {
  auto loop = dyn_cast<scf::WhileOp>(block.getParentOp());
  bool isBody = loop ? isRotated(loop) && &block == loop.getAfterBody()
                     : isa<scf::ForOp>(block.getParentOp());
  return isBody ? block.getParentOp() : nullptr;
}

Trip::Trip(Block &block) : block(block), loop(findLoop(block)) {
  for (Operation &op : block)
    if (!op.hasTrait<OpTrait::IsTerminator>())
      ops.push_back(&op);
  findFree();
  SmallVector<std::pair<int64_t, size_t>> places; // by order, then as in the source
  int64_t stage = 0, order = -1;
  for (auto [index, op] : llvm::enumerate(ops)) {
    order = findNumber(op, "order").value_or(order);
    stage = findNumber(op, "stage").value_or(stage);
    places.push_back({order, index});
    stages[op] = stage;
  }
  llvm::sort(places);
  ops = llvm::map_to_vector(places, [&](auto place) { return ops[place.second]; });
}

void Trip::findFree() {
  if (!loop)
    return;
  for (Operation *op : ops) {
    auto isScalar = [](Type type) { return !isa<ShapedType>(type); };
    bool isSmall =
        op->hasTrait<OpTrait::ConstantLike>() || (llvm::all_of(op->getOperandTypes(), isScalar) &&
                                                  llvm::all_of(op->getResultTypes(), isScalar));
    bool isFree = isPure(op) && op->getNumRegions() == 0 && isSmall && !findNumber(op, "stage") &&
                  !findNumber(op, "order") && llvm::all_of(op->getOperands(), [&](Value operand) {
                    Operation *maker = operand.getDefiningOp();
                    bool isHere = operand.getParentBlock() == &block;
                    return !isHere || (maker ? free.contains(maker) : !getCarriedIndex(operand));
                  });
    if (isFree)
      free.insert(op);
  }
  llvm::erase_if(ops, [&](Operation *op) { return free.contains(op); });
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
  if (!loop || !argument || argument.getOwner() != &block)
    return std::nullopt;
  if (!getCounted())
    return argument.getArgNumber();
  return argument.getArgNumber() ? std::optional(argument.getArgNumber() - 1) : std::nullopt;
}

/// An `scf.while` has what says whether it goes on in front of its other values.
static unsigned getPlaceOf(const Trip &trip, unsigned index) {
  std::optional<unsigned> condition = trip.getConditionIndex();
  return !condition ? index : index == *condition ? 0 : index + 1;
}

OpOperand &Trip::getInit(unsigned index) const {
  scf::ForOp counted = getCounted();
  unsigned first = counted ? counted.getNumControlOperands() : 0;
  return loop->getOpOperand(first + getPlaceOf(*this, index));
}

OpOperand &Trip::getYield(unsigned index) const {
  return block.back().getOpOperand(getPlaceOf(*this, index));
}

void Trip::setType(unsigned index, Type type) const {
  loop->getResult(index).setType(type);
  block.getArgument(index + (getCounted() ? 1 : 0)).setType(type);
  if (auto asks = dyn_cast<scf::WhileOp>(loop))
    asks.getBeforeArguments()[getPlaceOf(*this, index)].setType(type);
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

//===- What a schedule must leave -----------------------------------------------------------===//

/// What tells the slots of an op's uses of rings, or, in a loop or a condition where they are
/// constants, uses them; with the side of each.
static SmallVector<std::pair<RingSide, Operation *>> findSides(Operation *op) {
  SmallVector<std::pair<RingSide, Operation *>> sides;
  op->walk([&](Operation *inner) {
    auto put = dyn_cast<PutOp>(inner);
    auto get = dyn_cast<GetOp>(inner);
    if (auto next = dyn_cast<NextOp>(inner))
      sides.push_back({getRingSide(next), next->use_empty() ? inner : *next->user_begin()});
    else if (inner != op && (put || get))
      sides.push_back({{put ? put.getChannel() : get.getChannel(), unsigned(bool(put))}, inner});
  });
  return sides;
}

/// Both sides of a ring use its slots in the order of the source: iteration by iteration.
static LogicalResult checkRings(const Trip &trip, ArrayRef<Operation *> source) {
  llvm::MapVector<RingSide, SmallVector<Operation *>> uses;
  for (Operation *op : source)
    for (auto [side, user] : findSides(op))
      if (SmallVector<Operation *> &ops = uses[side]; ops.empty() || ops.back() != op)
        ops.push_back(op);
  for (auto &[side, ops] : uses)
    for (auto [x, y] : llvm::zip(ops, llvm::drop_begin(ops)))
      if (trip.stages.lookup(x) != trip.stages.lookup(y) || trip.getPlace(x) > trip.getPlace(y)) {
        auto isIts = [side = side](const auto &use) { return use.first == side; };
        SmallVector<std::pair<RingSide, Operation *>> found = findSides(y);
        Operation *user = llvm::find_if(found, isIts)->second;
        return emitSourceError(user,
                               "expected uses of one ring, one of which stands in a condition or a "
                               "loop of the trip, to have one stage and the order of the source; "
                               "loads of another ring are free of these");
      }
  return success();
}

std::pair<size_t, int64_t> kiln::findUseBefore(size_t place, int64_t uses, int64_t depth) {
  int64_t before = int64_t(place) - depth, distance = -llvm::divideFloorSigned(before, uses);
  return {before + distance * uses, distance};
}

void kiln::noteReader(InFlightDiagnostic &error, GetOp get) {
  SmallVector<Value> values(get.getBuffers());
  while (!values.empty())
    for (Operation *user : values.pop_back_val().getUsers()) {
      if (user->getLoc() != get.getLoc()) {
        error.attachNote(user->getLoc()) << "what reads it";
        return;
      }
      llvm::append_range(values, user->getResults());
    }
}

InFlightDiagnostic kiln::emitTooFewSlots(GetOp earlier, int64_t depth) {
  if (earlier.getChannel().getType().getAccumulator())
    return emitSourceError(earlier, "expected in_flight of more than ")
           << depth - 1 << ", or an earlier stage of what uses the sum: its slot, of " << depth
           << " in tensor memory, is filled again before it is fetched";
  InFlightDiagnostic error = emitSourceError(earlier, "expected a ring of more than ")
                             << depth << " slots ('depth'), or an earlier stage of what reads it: "
                             << "a slot is filled again before it is read";
  noteReader(error, earlier);
  return error;
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
    if (auto copy = dyn_cast<CopyInOp>(inner))
      accesses.views.push_back(copy.getView());
    // Rings order what goes through them. Loops of the trip that fill rings of their own wait for
    // these: waits and barriers more than the trip asks for are no harm.
    bool isRings =
        isa<NextOp, PutOp, GetOp, ReleaseOp, CopyInOp, ReadOp, WriteOp, DotOp, StartDotOp, WaitOp,
            CommitOp, FetchOp, WaitStoresOp, WaitPutsOp, BarrierOp>(inner);
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

bool kiln::mayWrite(Operation *op, Value view) {
  Accesses accesses = findAccesses(op);
  return accesses.writes && (accesses.isElsewhere || llvm::any_of(accesses.views, [&](Value other) {
                               return !areOfOtherMemory(view, other);
                             }));
}

llvm::MapVector<PutOp, GetOp> kiln::pairUses(ArrayRef<Operation *> source) {
  llvm::MapVector<Value, SmallVector<PutOp>> puts;
  DenseMap<Value, SmallVector<GetOp>> gets;
  for (Operation *op : source)
    if (auto put = dyn_cast<PutOp>(op))
      puts[put.getChannel()].push_back(put);
    else if (auto get = dyn_cast<GetOp>(op))
      gets[get.getChannel()].push_back(get);
  llvm::MapVector<PutOp, GetOp> pairs;
  for (auto &[channel, own] : puts)
    for (auto [put, get] : llvm::zip(own, gets[channel]))
      pairs[put] = get;
  return pairs;
}

/// What accesses the same memory does so in the order of the source, unless both only read. A copy
/// ends where it has arrived.
static LogicalResult checkEffects(const Trip &trip, ArrayRef<Operation *> source) {
  llvm::MapVector<PutOp, GetOp> uses = pairUses(source);
  auto getEnd = [&](Operation *op) {
    auto put = dyn_cast<PutOp>(op);
    GetOp arrival = put ? uses.lookup(put) : GetOp();
    TripTime time = trip.getTime(op);
    return arrival ? std::max(time, trip.getTime(arrival)) : time;
  };
  SmallVector<std::pair<Operation *, Accesses>> all;
  for (Operation *op : source)
    if (Accesses accesses = findAccesses(op); !accesses.views.empty() || accesses.isElsewhere)
      all.push_back({op, accesses});
  for (auto [i, first] : llvm::enumerate(all))
    for (const auto &second : ArrayRef(all).drop_front(i + 1)) {
      Operation *x = first.first, *y = second.first;
      const Accesses &accesses = first.second, &its = second.second;
      bool areViewsApart = llvm::all_of(accesses.views, [&](Value view) {
        return llvm::all_of(its.views, [&](Value other) { return areOfOtherMemory(view, other); });
      });
      bool isApart = !(accesses.writes || its.writes) ||
                     (!accesses.isElsewhere && !its.isElsewhere && areViewsApart);
      TripTime xTime = trip.getTime(x), yTime = trip.getTime(y);
      TripTime next = {xTime.stage + 1, xTime.place};
      if (isApart || (getEnd(x) < yTime && getEnd(y) < next))
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

LogicalResult kiln::checkSchedule(const Trip &trip) {
  if (!trip.loop)
    return success();
  SmallVector<Operation *> source;
  for (Operation &op : trip.block)
    if (trip.stages.contains(&op))
      source.push_back(&op);
  return failure(failed(checkRings(trip, source)) || failed(checkEffects(trip, source)));
}

/// A trip of an `scf.while` says whether there is another one, before that begins.
static LogicalResult checkCondition(const Trip &trip) {
  std::optional<Dependence> need = trip.findMaker(trip.getYielded(*trip.getConditionIndex()));
  int64_t stage = need ? trip.stages.lookup(need->op) : 0;
  if (!need || stage <= need->distance)
    return success();
  // What it follows from that is as late.
  Operation *late = need->op;
  for (bool isFound = true; isFound;) {
    isFound = false;
    for (Value operand : trip.getOperands(late))
      if (std::optional<Dependence> from = trip.findMaker(operand);
          !isFound && from && from->distance == 0 && trip.stages.lookup(from->op) == stage) {
        late = from->op;
        isFound = true;
      }
  }
  InFlightDiagnostic error = need->op->emitOpError("expected stage ")
                             << need->distance << ", since it says whether the scf.while goes on "
                             << "before the next trip begins, got " << stage;
  if (late != need->op)
    error.attachNote(late->getLoc()) << "it follows from this op of stage " << stage;
  return error;
}

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
  return trip.loop && !trip.getCounted() ? checkCondition(trip) : success();
}
