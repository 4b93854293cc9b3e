// Dots in flight: starts, and waits where their results are used.
//
// Dots that add to one another's results are a chain, which is waited for as one: in front of the
// first op of the trip that uses its result, which may be at a later stage, and by then as many
// later dots may be under way as it says. A chain that only adds to a value of its loop stays in
// flight: the loop carries it as pending, and it is waited for after the last trip. A commit tells
// of each dot by itself, so where dots end by commit nothing waits until a result is used.
#include "Trip.h"
#include "kiln/Dialect/Tile/IR/AccessDecisions.h"
#include "kiln/Dialect/Tile/IR/BareTypes.h"
#include "kiln/Dialect/Tile/IR/Swapped.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// Whether a tensor is a constant of zeros, which need not be read.
static bool isZero(Value tensor) {
  return matchPattern(tensor, m_AnyZeroFloat()) || matchPattern(tensor, m_Zero());
}

/// The sum of a dot that is in flight lies where its atom has it.
static PendingType getPendingType(DotOp dot) {
  auto atom = cast<MmaAtomInterface>(dot.getAtomAttr());
  return PendingType::get(dot.getType(), atom.getAccumulatorPlace() == Place::Tensor);
}

static bool isInFlight(Operation *op) {
  auto dot = dyn_cast<DotOp>(op);
  return dot && dot.getInFlight();
}

namespace {
class DotRealiser {
public:
  explicit DotRealiser(Trip &trip) : trip(trip), builder(trip.block.getParent()->getContext()) {}
  LogicalResult run();

private:
  /// Dots each of which adds to the one before.
  using Chain = SmallVector<DotOp>;

  DotOp findNext(DotOp dot) const;
  LogicalResult check(Chain &chain) const;
  std::optional<unsigned> findHeld(Chain &chain) const;
  LogicalResult hold(Chain &chain, unsigned index);
  LogicalResult rotateRegisters(DotOp dot, int64_t trips);
  LogicalResult startAndWait(Chain &chain);
  SmallVector<StartDotOp> start(Chain &chain, Value accumulator, Value accumulates);
  SmallVector<Operation *> findTogether(ArrayRef<StartDotOp> starts) const;
  FailureOr<TripTime> findWaitTime(DotOp dot) const;
  int64_t countStarts(TripTime from, TripTime to) const;
  /// A value that costs nothing, wherever it is needed.
  Value makeFree(Operation *op) {
    trip.free.insert(op);
    return op->getResult(0);
  }
  /// New ops stand at the block's end until the trip is expanded.
  void setInsertionPoint() {
    if (!trip.block.empty() && trip.block.back().hasTrait<OpTrait::IsTerminator>())
      builder.setInsertionPoint(&trip.block.back());
    else
      builder.setInsertionPointToEnd(&trip.block);
  }

  Trip &trip;
  OpBuilder builder;
};
} // namespace

/// The dot of the same stage that alone uses a dot's result, and adds to it.
DotOp DotRealiser::findNext(DotOp dot) const {
  if (!dot->hasOneUse())
    return {};
  Operation *user = *dot->user_begin();
  auto next = dyn_cast<DotOp>(user);
  bool isNext = next && isInFlight(next) && next->getBlock() == &trip.block &&
                dot->use_begin()->getOperandNumber() == 2 &&
                trip.stages.lookup(next) == trip.stages.lookup(dot);
  return isNext ? next : DotOp();
}

LogicalResult DotRealiser::check(Chain &chain) const {
  for (DotOp dot : ArrayRef(chain).drop_back())
    if (dot.getInFlight() != chain.back().getInFlight())
      return dot.emitOpError("expected in_flight of the dot that adds to it, ")
             << *chain.back().getInFlight() << ", got " << *dot.getInFlight();
  DotOp last = chain.back();
  for (DotOp dot : ArrayRef(chain).drop_back())
    for (StringRef name : {kCarriedAttrName, kColumnsAttrName})
      if (Attribute decision = dot->getAttr(name); decision && decision != last->getAttr(name)) {
        InFlightDiagnostic error = dot.emitOpError("expected '")
                                   << name << "' of the dot that adds to it, got " << decision;
        error.attachNote(last.getLoc()) << "that dot";
        return error;
      }
  for (DotOp dot : chain) {
    Attribute columns = dot->getAttr(kOperandColumnsAttrName);
    bool areOfScales = isa_and_nonnull<DenseI64ArrayAttr>(columns);
    if (areOfScales && dot.getScales().empty())
      return dot.emitOpError("expected scales, since '")
             << kOperandColumnsAttrName << "' is " << columns;
    if (columns && !areOfScales && !isa<RankedTensorType>(dot.getA().getType()))
      return dot.emitOpError("expected an operand a that warps have computed, since '")
             << kOperandColumnsAttrName << "' is decided, got "
             << getBareType(dot.getA().getType());
  }
  if (last->use_empty())
    return last.emitOpError("expected a use, since 'in_flight' is decided");
  return success();
}

/// Whether a chain adds to a value of its loop and is handed on at once: which value that is.
std::optional<unsigned> DotRealiser::findHeld(Chain &chain) const {
  Value accumulator = chain.front().getAccumulator();
  std::optional<unsigned> index = trip.getCarriedIndex(accumulator);
  bool isHandedOn = index && accumulator.hasOneUse() && chain.back()->hasOneUse() &&
                    *chain.back()->user_begin() == &trip.block.back() &&
                    trip.getYielded(*index) == chain.back().getResult();
  return isHandedOn ? index : std::nullopt;
}

SmallVector<StartDotOp> DotRealiser::start(Chain &chain, Value accumulator, Value accumulates) {
  SmallVector<StartDotOp> starts;
  for (DotOp dot : chain) {
    setInsertionPoint();
    starts.push_back(StartDotOp::create(
        builder, dot.getLoc(), accumulator.getType(), dot.getA(), dot.getB(), accumulator,
        accumulates, dot.getScales(), dot.getTransposeAAttr(), dot.getTransposeBAttr(),
        dot.getUnsignedAAttr(), dot.getUnsignedBAttr(), dot.getPrecisionAttr(), dot.getAtomAttr(),
        /*one_thread=*/UnitAttr()));
    trip.ops[trip.getPlace(dot)] = starts.back();
    trip.stages[starts.back()] = trip.stages.lookup(dot);
    if (Attribute columns = dot->getAttr(kOperandColumnsAttrName))
      starts.back()->setAttr(kOperandColumnsAttrName, columns);
    accumulator = starts.back().getResult();
    accumulates = nullptr;
  }
  return starts;
}

/// The dots of a trip in which all start in the same iteration as these, in the order of the trip;
/// these alone if others start in another one, which may not have been there in the first trips.
SmallVector<Operation *> DotRealiser::findTogether(ArrayRef<StartDotOp> starts) const {
  int64_t stage = trip.stages.lookup(starts.front());
  SmallVector<Operation *> all;
  for (Operation *op : trip.ops)
    if (isa<StartDotOp>(op) || isInFlight(op))
      all.push_back(op);
  if (llvm::all_of(all, [&](Operation *op) { return trip.stages.lookup(op) == stage; }))
    return all;
  return SmallVector<Operation *>(starts.begin(), starts.end());
}

/// The loop carries the accumulator as pending. One that starts as zero is not even written before
/// the first dot.
LogicalResult DotRealiser::hold(Chain &chain, unsigned index) {
  Operation *loop = trip.loop;
  Location loc = chain.back().getLoc();
  int64_t stage = trip.stages.lookup(chain.back()), inFlight = *chain.back().getInFlight();
  PendingType type = getPendingType(chain.back());
  Value initial = trip.getInit(index).get();
  // The first of counted trips is known by its number.
  scf::ForOp counted = trip.getCounted();
  bool startsAsZero = counted && isZero(initial);
  builder.setInsertionPoint(loop);
  Value before = startsAsZero ? ub::PoisonOp::create(builder, loop->getLoc(), type).getResult()
                              : PendOp::create(builder, loop->getLoc(), type, initial).getResult();
  trip.getInit(index).set(before);
  trip.setType(index, type);
  Value accumulator = chain.front().getAccumulator();

  Value accumulates;
  setInsertionPoint();
  if (startsAsZero)
    accumulates =
        makeFree(arith::CmpIOp::create(builder, loop->getLoc(), arith::CmpIPredicate::ne,
                                       counted.getInductionVar(), counted.getLowerBound()));
  SmallVector<StartDotOp> starts = start(chain, accumulator, accumulates);
  trip.heldDots.push_back({index, initial, loc, chain.back()->getAttr(kColumnsAttrName)});
  if (endsByCommit(chain.back().getAtomAttr())) {
    trip.getYield(index).set(starts.back().getResult());
    return success();
  }
  setInsertionPoint();
  auto held = WaitOp::create(builder, loc, type, starts.back().getResult(), inFlight);
  trip.insert(trip.ops.size(), held, stage);
  trip.getYield(index).set(held.getResult());
  // While a dot is waited for, those that follow it run on, in its trip and in later ones.
  SmallVector<Operation *> together = findTogether(starts);
  for (auto [number, started] : llvm::enumerate(starts)) {
    auto *own = llvm::find(together, started.getOperation());
    int64_t others = inFlight - (together.end() - own - 1);
    int64_t trips = llvm::divideCeil(std::max<int64_t>(others, 0), together.size());
    trip.heldFor[started] = trips;
    if (failed(rotateRegisters(chain[number], trips)))
      return failure();
  }
  return success();
}

/// When the result of a chain is used first: by which op of the block, or at the end of its trip.
FailureOr<TripTime> DotRealiser::findWaitTime(DotOp dot) const {
  TripTime own = trip.getTime(dot), first = {own.stage, trip.ops.size()};
  bool endsTrip = llvm::any_of(dot->getUsers(), [&](Operation *user) {
    return user->hasTrait<OpTrait::IsTerminator>() && user->getBlock() == &trip.block;
  });
  if (!endsTrip)
    first.stage = INT64_MAX;
  for (Operation *op : trip.ops)
    for (Value operand : trip.getOperands(op)) {
      std::optional<Dependence> need = trip.findMaker(operand);
      if (!need || need->op != dot)
        continue;
      TripTime time = {trip.stages.lookup(op) + need->distance, trip.getPlace(op)};
      // By a later trip of a later iteration the dot's own trip has ended, and waited.
      if (need->distance == 0 || time.stage == own.stage)
        first = std::min(first, time);
    }
  // A commit tells of each dot by itself, whichever have started since.
  if (endsByCommit(dot.getAtomAttr()))
    return first;
  auto hasStarts = [](Operation *op) {
    return op->walk([](StartDotOp) { return WalkResult::interrupt(); }).wasInterrupted();
  };
  for (auto [place, op] : llvm::enumerate(trip.ops)) {
    bool isBetween = first.stage > own.stage || (place > own.place && place < first.place);
    if (isBetween && op->getNumRegions() > 0 && hasStarts(op))
      return op->emitOpError(
          "expected no dots in flight in what stands between a dot in flight and "
          "the first use of its result");
  }
  return first;
}

/// Dots that start between two points of time of an iteration, once all stages run.
int64_t DotRealiser::countStarts(TripTime from, TripTime to) const {
  int64_t starts = 0;
  for (auto [place, op] : llvm::enumerate(trip.ops))
    if (isa<StartDotOp>(op) || isInFlight(op))
      starts += to.stage - from.stage + 1 - (place <= from.place) - (place >= to.place);
  return starts;
}

/// Whether a tensor's registers may be those of what it is made of.
static bool mayKeepRegisters(Operation *op) {
  return isa<ReshapeOp, TransposeOp, BroadcastOp, SliceOp, ConcatOp, ConvertLayoutOp>(op);
}

/// A product reads operands in registers until it is waited for, so many trips after its own. The
/// trips until then that make them again write other registers. A product that ends by commit reads
/// no registers: what warps have computed for it is in memory.
LogicalResult DotRealiser::rotateRegisters(DotOp dot, int64_t trips) {
  if (trips == 0 || endsByCommit(dot.getAtomAttr()))
    return success();
  // Each with how many iterations before its own the dot takes it from.
  SmallVector<std::pair<Value, int64_t>> values = {{dot.getA(), 0}, {dot.getB(), 0}};
  while (!values.empty()) {
    auto [value, distance] = values.pop_back_val();
    if (!isa<RankedTensorType>(value.getType()))
      continue;
    std::optional<Dependence> maker = trip.findMaker(value);
    std::optional<unsigned> index = trip.getCarriedIndex(value);
    bool isConstant = !maker && (!index || trip.getYielded(*index) == value);
    if (isConstant)
      continue;
    if (!maker || !trip.getCounted())
      return dot.emitOpError("expected to be waited for in its own trip, since it reads registers "
                             "until it is waited for, which the next trip writes, ")
             << (maker ? "and how many trips there are nobody knows before"
                       : "since the loop hands the operand on without making it")
             << "; set in_flight to 0, use the result at the dot's own stage, or have the operand "
                "read from shared memory, with a 'tile.residency' of \"shared\"";
    distance += maker->distance;
    int64_t until = trip.stages.lookup(dot) + trips + distance;
    trip.registerSets = std::max(trip.registerSets, until - trip.stages.lookup(maker->op) + 1);
    if (mayKeepRegisters(maker->op))
      for (Value operand : maker->op->getOperands())
        values.push_back({operand, distance});
  }
  return success();
}

LogicalResult DotRealiser::startAndWait(Chain &chain) {
  DotOp last = chain.back();
  FailureOr<TripTime> time = findWaitTime(last);
  if (failed(time))
    return failure();
  for (DotOp dot : chain)
    if (failed(rotateRegisters(dot, time->stage - trip.stages.lookup(dot))))
      return failure();
  int64_t later = countStarts(trip.getTime(last), *time), inFlight = *last.getInFlight();
  if (inFlight > later)
    return last.emitOpError("expected in_flight of at most ")
           << later << ", the dots of its role that start before its result is used, got "
           << inFlight;
  Location loc = chain.front().getLoc();
  Value tensor = chain.front().getAccumulator(), accumulator, accumulates;
  PendingType type = getPendingType(chain.front());
  setInsertionPoint();
  if (isZero(tensor)) {
    accumulator = makeFree(ub::PoisonOp::create(builder, loc, type));
    accumulates = makeFree(arith::ConstantIntOp::create(builder, loc, 0, 1));
  } else {
    auto pend = PendOp::create(builder, loc, type, tensor);
    size_t place = trip.getPlace(chain.front());
    trip.insert(place, pend, trip.stages.lookup(chain.front()));
    time->place += place < time->place;
    accumulator = pend;
  }
  SmallVector<StartDotOp> starts = start(chain, accumulator, accumulates);
  setInsertionPoint();
  auto wait =
      WaitOp::create(builder, last.getLoc(), last.getType(), starts.back().getResult(), inFlight);
  for (StringRef name : {kCarriedAttrName, kColumnsAttrName})
    if (Attribute decision = last->getAttr(name))
      wait->setAttr(name, decision);
  trip.insert(time->place, wait, time->stage);
  trip.starts[wait] = starts.back();
  for (StartDotOp started : starts)
    trip.waits[started] = wait;
  last.getResult().replaceAllUsesWith(wait.getResult());
  return success();
}

LogicalResult DotRealiser::run() {
  SmallVector<Chain> chains;
  DenseSet<Operation *> seen;
  for (Operation *op : trip.ops) {
    if (!isInFlight(op) || !seen.insert(op).second)
      continue;
    Chain &chain = chains.emplace_back(Chain{cast<DotOp>(op)});
    while (DotOp next = findNext(chain.back())) {
      seen.insert(next);
      chain.push_back(next);
    }
  }
  for (Chain &chain : chains) {
    if (failed(check(chain)))
      return failure();
    std::optional<unsigned> index = findHeld(chain);
    auto carried = chain.back()->getAttrOfType<StringAttr>(kCarriedAttrName);
    if (index && carried && carried == "registers")
      return chain.back().emitOpError("expected a sum that the loop changes otherwise, since '")
             << kCarriedAttrName << "' is " << carried
             << ": dots that only add to it leave it where it is";
    if (index && failed(hold(chain, *index)))
      return failure();
    if (!index && failed(startAndWait(chain)))
      return failure();
  }
  for (Chain &chain : chains)
    for (DotOp dot : llvm::reverse(chain))
      dot.erase();
  return success();
}

LogicalResult kiln::startDots(Trip &trip) { return DotRealiser(trip).run(); }
