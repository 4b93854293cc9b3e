// Makes a block what its trip says.
//
// A loop whose ops have stages from 0 to S becomes trips in which an op of stage s is that of the
// iteration s before. A value that is used in a later trip than the one that makes it is carried by
// the loop, once for each trip in between. A slot that dots in flight hold is released where the
// loop has gone far enough. Trips of loops that count them are those of CountedTrips.cpp. Where a
// role fills rings of its own, trips are predicated (PredicateTrips.cpp), unless a sum in tensor
// memory goes through them, and where nobody counts iterations, each trip says whether there is
// another (UncountedTrips.cpp).
#include "Expander.h"
#include "Rings.h"
#include "kiln/Dialect/Tile/IR/AccessDecisions.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// Such a sum begins in the block that waits for it: no condition hands it on, so trips do not ask
/// for their iterations.
bool Expander::handsOnCommitted() const {
  return llvm::any_of(trip.heldDots, [&](const HeldDot &held) {
    auto pending = dyn_cast<PendingType>(trip.getYielded(held.index).getType());
    return pending && pending.getInTensorMemory();
  });
}

/// A value that is handed on without an op that makes it is handed on as soon as it is there.
void Expander::findStages() {
  for (Operation *op : trip.ops)
    last = std::max(last, trip.stages.lookup(op));
  // Nobody could ask how many trips there were before.
  for (const HeldSlot &held : trip.heldSlots)
    if (!loop)
      last = std::max({last, held.stage, held.later});
  madeAt.resize(trip.countCarried());
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned i = 0; i < madeAt.size(); ++i) {
      Value value = trip.getYielded(i);
      int64_t stage = isMade(value) ? getStage(value) : 0;
      if (std::optional<unsigned> other = trip.getCarriedIndex(value))
        stage = std::max<int64_t>(0, madeAt[*other] - 1);
      changed |= stage > madeAt[i];
      madeAt[i] = std::max(stage, madeAt[i]);
    }
  }
}

//===- What the loop carries ----------------------------------------------------------------===//

void Expander::carry(Value value, unsigned index, int64_t age) {
  for (int64_t each = 1; each <= age; ++each) {
    auto isSame = [&](const Carried &it) {
      return it.value == value && it.index == index && it.age == each;
    };
    if (llvm::none_of(carried, isSame))
      carried.push_back({value, index, each});
  }
}

void Expander::demand(Value value, int64_t iteration) {
  if (value.getParentBlock() != &body || isNumber(value))
    return;
  if (std::optional<unsigned> index = trip.getCarriedIndex(value))
    return demandCarried(*index, iteration);
  if (isMade(value))
    return carry(value, 0, -iteration - getStage(value));
  for (Value operand : value.getDefiningOp()->getOperands())
    demand(operand, iteration);
}

void Expander::demandCarried(unsigned index, int64_t iteration) {
  int64_t age = 1 - iteration - madeAt[index];
  size_t before = carried.size();
  carry({}, index, age);
  // What is handed on without an op is looked up when it is.
  Value value = trip.getYielded(index);
  if (!isMade(value) && carried.size() > before)
    demand(value, -madeAt[index]);
}

void Expander::demandAll() {
  for (Operation *op : trip.ops)
    for (Value operand : trip.getOperands(op))
      demand(operand, -trip.stages.lookup(op));
  // Behind few iterations, slots of all that there are go back.
  for (HeldSlot &held : trip.heldSlots)
    demand(held.get.getSlot(), -(isPredicated() ? std::max(held.stage, last) : held.stage));
  // Where trips ask for their iterations, the last one of all may be one that is not there.
  for (unsigned index : results)
    demandCarried(index, isPredicated() ? -madeAt[index] : 0);
  // Whether the next iteration is there.
  if (std::optional<unsigned> condition = trip.getConditionIndex())
    demandCarried(*condition, 0);
}

/// Which of these values, one for each that the loop carries, is a value of an age; null if none.
Value Expander::findCarried(ValueRange values, Value value, unsigned index, int64_t age) const {
  for (auto [it, at] : llvm::zip(carried, values))
    if (it.value == value && it.index == index && it.age == age)
      return at;
  return {};
}

//===- Writing trips ------------------------------------------------------------------------===//

Value Expander::lookup(Frame &frame, Value value, int64_t iteration) {
  if (value.getParentBlock() != &body)
    return value;
  if (Value known = frame.values.lookup({value, iteration}))
    return known;
  Value made;
  if (isNumber(value)) {
    made = frame.getIv(iteration);
  } else if (std::optional<unsigned> index = trip.getCarriedIndex(value)) {
    return lookupCarried(frame, *index, iteration);
  } else if (isMade(value)) {
    return frame.getOlder(value, iteration);
  } else {
    Operation *op = value.getDefiningOp();
    IRMapping mapping;
    for (Value operand : op->getOperands())
      mapping.map(operand, lookup(frame, operand, iteration));
    made = builder.clone(*op, mapping)->getResult(cast<OpResult>(value).getResultNumber());
  }
  return frame.values[{value, iteration}] = made;
}

Value Expander::lookupCarried(Frame &frame, unsigned index, int64_t iteration) {
  if (Value known = frame.latest.lookup({index, iteration}))
    return known;
  return frame.getCarried(frame, index, iteration);
}

Value Expander::shift(Value iv, int64_t iterations) {
  if (!iterations)
    return iv;
  Value by = loop.getStep();
  if (iterations != 1)
    by = arith::MulIOp::create(builder, loc, number(iterations), by);
  return arith::AddIOp::create(builder, loc, iv, by);
}

/// `later` is how many dots have surely started after the one that is waited for.
void Expander::emit(Frame &frame, Operation *op, int64_t iteration, int64_t later, Exists exists) {
  if (trip.putWaits.contains(op))
    return emitWait(frame, op, iteration, exists);
  if (emitKnownSlot(frame, op, iteration))
    return;
  IRMapping mapping;
  for (Value operand : trip.getOperands(op))
    mapping.map(operand, lookup(frame, operand, iteration));
  Operation *made = builder.clone(*op, mapping);
  dropPlace(made);
  // What is decided of a loop's trips is not of those that run on their own.
  if (!frame.isLoop)
    made->walk<WalkOrder::PreOrder>([](Operation *inner) {
      inner->removeAttr(kSplitLoopAttrName);
      // Such a sum has columns of its own.
      if (inner->removeAttr(kCarriedAttrName))
        inner->removeAttr(kColumnsAttrName);
      return isa<scf::ForOp, scf::WhileOp>(inner) ? WalkResult::skip() : WalkResult::advance();
    });
  for (auto [from, to] : llvm::zip_equal(op->getResults(), made->getResults()))
    frame.values[{from, iteration}] = to;
  if (auto wait = dyn_cast<WaitOp>(made); wait && trip.starts.contains(op))
    wait.setInFlight(std::min<int64_t>(wait.getInFlight(), later));
}

void Expander::release(Frame &frame, const HeldSlot &held, int64_t iteration, Value condition) {
  GetOp get = held.get;
  Value slot = lookup(frame, get.getSlot(), iteration);
  OpBuilder::InsertionGuard guard(builder);
  if (condition) {
    auto check = scf::IfOp::create(builder, loc, condition);
    builder.setInsertionPointToStart(check.thenBlock());
  }
  makeRelease(builder, loc, get, slot, /*byCommit=*/false);
}

/// How many dots have started after the one that each wait is for, at least, when it is waited for
/// in a trip from `first` to `last`.
DenseMap<Operation *, int64_t> Expander::countLater(int64_t iterations, int64_t first,
                                                    int64_t last) const {
  DenseMap<Operation *, int64_t> least;
  DenseMap<std::pair<Operation *, int64_t>, int64_t> started;
  int64_t count = 0;
  for (int64_t number = 0; number <= last; ++number)
    for (Operation *op : trip.ops) {
      int64_t iteration = number - trip.stages.lookup(op);
      if (iteration < 0 || iteration >= iterations)
        continue;
      if (isa<StartDotOp>(op))
        started[{op, iteration}] = ++count;
      auto start = trip.starts.find(op);
      if (start == trip.starts.end() || number < first)
        continue;
      int64_t later = count - started.lookup({start->second, iteration});
      auto [at, isNew] = least.try_emplace(op, later);
      at->second = std::min(at->second, later);
    }
  return least;
}

/// Iterations are counted from the first one.
void Expander::setAbsolute(Frame &frame) {
  frame.getIv = [this](int64_t iteration) { return shift(loop.getLowerBound(), iteration); };
  frame.getOlder = [](Value, int64_t) -> Value {
    llvm_unreachable("what is needed of an iteration is made before");
  };
  frame.getCarried = [this](Frame &here, unsigned index, int64_t iteration) {
    return iteration <= 0 ? trip.getInit(index).get()
                          : lookup(here, trip.getYielded(index), iteration - 1);
  };
}

/// Iterations are counted from the one that this is the induction variable of; `older` is what was
/// carried to here.
void Expander::setRelative(Frame &frame, Value first, ValueRange older) {
  frame.getIv = [this, first](int64_t iteration) { return shift(first, iteration); };
  frame.getOlder = [this, older](Value value, int64_t iteration) {
    return findCarried(older, value, 0, -iteration - getStage(value));
  };
  frame.getCarried = [this, older](Frame &here, unsigned index, int64_t iteration) {
    int64_t age = 1 - iteration - madeAt[index];
    return age > 0 ? findCarried(older, {}, index, age)
                   : lookup(here, trip.getYielded(index), iteration - 1);
  };
}

/// Whether the slot of an iteration goes back in a trip behind those that begin iterations, of
/// which the last is the one before `end`: the trip has waited for its dots, and a role that fills
/// the ring itself fills slots until the last trips.
bool Expander::goesBack(const HeldSlot &held, int64_t iteration, int64_t end) const {
  return trip.fillsRings && iteration + held.later < end;
}

/// Copies that lag later meet in front of the first trip that gets: no trip has done so before.
void Expander::meetBefore(int64_t number) {
  if (trip.lagging && number == trip.lagStage)
    meetCopies(builder, loc, trip.lagging);
}

/// In the trips that follow, copies lag.
void Expander::lag() {
  meetBefore(last);
  if (trip.lagging)
    lagCopies(builder, loc, trip.lagging, /*isEntry=*/true);
}

/// A trip of a loop of so many iterations.
void Expander::writeTrip(Frame &frame, int64_t number, int64_t iterations) {
  meetBefore(number);
  DenseMap<Operation *, int64_t> later = countLater(iterations, number, number);
  frame.most = iterations - 1;
  for (Operation *op : trip.ops) {
    int64_t iteration = number - trip.stages.lookup(op);
    if (iteration >= 0 && iteration < iterations)
      emit(frame, op, iteration, later.lookup(op), surely);
  }
  for (const HeldSlot &held : trip.heldSlots)
    if (int64_t iteration = number - held.stage;
        iteration >= 0 && (number < iterations || goesBack(held, iteration, iterations)))
      release(frame, held, iteration, {});
}

/// What the loop's values are when it begins, behind its prologue.
SmallVector<Value> Expander::getInitial(Frame &prologue) {
  SmallVector<Value> initial;
  for (const Carried &it : carried) {
    int64_t iteration = last - it.age - (it.value ? getStage(it.value) : madeAt[it.index]);
    if (!it.value)
      initial.push_back(lookupCarried(prologue, it.index, iteration + 1));
    else if (iteration >= 0)
      initial.push_back(lookup(prologue, it.value, iteration));
    else // of a slot that is not there yet
      initial.push_back(
          arith::ConstantOp::create(builder, loc, builder.getZeroAttr(it.value.getType())));
  }
  return initial;
}

/// A trip of the loop, all of whose iterations are there.
void Expander::writeWhole(Frame &frame, int64_t number) {
  DenseMap<Operation *, int64_t> later = countLater(3 * last + 3, last, 3 * last + 2);
  for (Operation *op : trip.ops)
    emit(frame, op, number - trip.stages.lookup(op), later.lookup(op), surely);
  for (const HeldSlot &held : trip.heldSlots)
    release(frame, held, number - held.stage,
            isHeldAt(held, loop ? frame.getIv(number) : Value(), number));
}

/// What the loop carries behind so many trips; `older` is what it did in front of them.
SmallVector<Value> Expander::getCarried(Frame &frame, ValueRange older, int64_t trips) {
  SmallVector<Value> values;
  for (const Carried &it : carried) {
    int64_t stage = it.value ? getStage(it.value) : madeAt[it.index], number = trips - it.age;
    values.push_back(number < 0 ? findCarried(older, it.value, it.index, -number)
                                : lookup(frame, it.value ? it.value : trip.getYielded(it.index),
                                         number - stage));
  }
  return values;
}

ValueRange Expander::makeLoop(ValueRange initial, Value begin, Value end, Value step,
                              int64_t trips) {
  auto made =
      scf::ForOp::create(builder, loc, begin, end, step, initial, nullptr, loop.getUnsignedCmp());
  made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  dropPlace(made);
  made->removeAttr(kLeastTripsAttrName); // some are written in front of it
  if (Block *inner = made.getBody(); !inner->empty())
    inner->back().erase();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(made.getBody());
  Frame frame;
  frame.isLoop = true;
  frame.first = last;
  setRelative(frame, made.getInductionVar(), made.getRegionIterArgs());
  for (int64_t number = 0; number < trips; ++number)
    writeWhole(frame, number);
  scf::YieldOp::create(builder, loc, getCarried(frame, made.getRegionIterArgs(), trips));
  return made.getResults();
}

SmallVector<Value> Expander::writeLoop(Frame &prologue) {
  // Numbers of few bits may overflow behind the end.
  Value begin = shift(loop.getLowerBound(), last), end = loop.getUpperBound();
  if (last > 0 && !begin.getType().isIndex())
    begin = arith::SelectOp::create(builder, loc, isAtLeast(last + 1), begin, end);
  int64_t sets = trip.registerSets;
  if (sets == 1)
    return makeLoop(getInitial(prologue), begin, end, loop.getStep(), /*trips=*/1);
  // Each trip of a round has its own registers.
  Value none = number(0), any = compare(begin, end);
  Value span = arith::SubIOp::create(builder, loc, end, begin);
  span = arith::SelectOp::create(builder, loc, any, span, none);
  Value trips = arith::CeilDivUIOp::create(builder, loc, span, loop.getStep());
  Value rest = arith::RemUIOp::create(builder, loc, trips, number(sets));
  Value whole = arith::SubIOp::create(builder, loc, trips, rest);
  Value behind = arith::AddIOp::create(builder, loc, begin,
                                       arith::MulIOp::create(builder, loc, whole, loop.getStep()));
  Value isWhole = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, rest, none);
  Value middle = arith::SelectOp::create(builder, loc, isWhole, end, behind);
  Value round = arith::MulIOp::create(builder, loc, loop.getStep(), number(sets));
  ValueRange values = makeLoop(getInitial(prologue), begin, middle, round, sets);
  return writeRest(behind, rest, 0, values);
}

/// The trips behind whole rounds, the first of which has the number `begin`: each if there are more
/// of them.
SmallVector<Value> Expander::writeRest(Value begin, Value rest, int64_t number, ValueRange values) {
  if (number == trip.registerSets - 1)
    return values;
  Value isThere =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ugt, rest, this->number(number));
  scf::IfOp check = makeIf(isThere, values.getTypes());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(check.thenBlock());
  Frame frame;
  setRelative(frame, shift(begin, number), values);
  writeWhole(frame, 0);
  scf::YieldOp::create(builder, loc,
                       writeRest(begin, rest, number + 1, getCarried(frame, values, /*trips=*/1)));
  builder.setInsertionPointToEnd(check.elseBlock());
  scf::YieldOp::create(builder, loc, values);
  return check.getResults();
}

Value Expander::waitFor(const HeldDot &held, OpBuilder &builder, Value pending) {
  auto wait = WaitOp::create(builder, held.loc, held.initial.getType(), pending, 0);
  if (held.columns)
    wait->setAttr(kColumnsAttrName, held.columns);
  return wait;
}

/// What the loop's values are in an iteration that is not there, behind the last one. A sum that no
/// iteration has made, if `any` says that there is none, is what it was.
SmallVector<Value> Expander::getResults(Frame &frame, int64_t iteration, Value any) {
  SmallVector<Value> values;
  for (unsigned index : results) {
    Value value = lookupCarried(frame, index, iteration);
    values.push_back(value);
    const HeldDot *held = findHeldDot(index);
    if (!held)
      continue;
    Type type = held->initial.getType();
    if (!any) {
      values.back() = waitFor(*held, builder, value);
      continue;
    }
    auto check = scf::IfOp::create(builder, loc, type, any, /*withElseRegion=*/true);
    values.back() = check.getResult(0);
    OpBuilder then = check.getThenBodyBuilder(), otherwise = check.getElseBodyBuilder();
    scf::YieldOp::create(then, loc, waitFor(*held, then, value));
    scf::YieldOp::create(otherwise, loc, held->initial);
  }
  return values;
}

SmallVector<Value> Expander::getUnchanged() {
  return llvm::map_to_vector(results, [&](unsigned index) {
    const HeldDot *held = findHeldDot(index);
    return held ? held->initial : trip.getInit(index).get();
  });
}

void Expander::run() {
  findStages();
  for (OpResult result : trip.loop->getResults())
    if (!result.use_empty() || findHeldDot(result.getResultNumber()))
      results.push_back(result.getResultNumber());
  demandAll();
  Frame frame;
  setAbsolute(frame);
  SmallVector<Value> values = isPredicated() ? predicate()
                              : loop         ? choose(std::max<int64_t>(last, 1))
                                             : ask(frame, 0);
  for (auto [index, value] : llvm::zip_equal(results, values))
    trip.loop->getResult(index).replaceAllUsesWith(value);
  trip.loop->erase();
}

/// Puts the ops of a block where they stand in its trip.
static void reorder(Trip &trip) {
  Block &block = trip.block;
  bool ends = block.back().hasTrait<OpTrait::IsTerminator>();
  Operation *end = ends ? &block.back() : nullptr;
  DenseSet<Operation *> moved;
  auto move = [&](Operation *op) {
    if (end)
      op->moveBefore(end);
    else
      op->moveBefore(&block, block.end());
  };
  std::function<void(Operation *)> place = [&](Operation *op) {
    for (Value operand : trip.getOperands(op))
      if (Operation *maker = operand.getDefiningOp();
          maker && trip.free.contains(maker) && moved.insert(maker).second)
        place(maker);
    move(op);
    dropPlace(op);
  };
  for (Operation *op : trip.ops)
    place(op);
  if (!end)
    return;
  for (Value operand : end->getOperands())
    if (Operation *maker = operand.getDefiningOp();
        maker && trip.free.contains(maker) && moved.insert(maker).second)
      place(maker);
}

void kiln::expandTrip(Trip &trip) {
  bool isOverlapped = !trip.heldDots.empty() || !trip.heldSlots.empty() ||
                      llvm::any_of(trip.ops, [&](Operation *op) { return trip.stages.lookup(op); });
  if (trip.loop && (isOverlapped || trip.fillsRings))
    Expander(trip).run();
  else
    reorder(trip);
}
