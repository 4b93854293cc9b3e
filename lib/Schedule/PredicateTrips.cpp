// Writes a loop in which a role fills rings of its own: trips that lack some ops ask for the
// iterations that these are of.
//
// A loop whose ops have stages from 0 to S, and whose slots and registers repeat after U trips,
// becomes
//
//   trips 0 to S - 1                    the ops of the stages that have begun, each if its
//                                       iteration is there; of known slots also once for whenever
//                                       the loop follows
//   a loop of whole rounds of U trips   all ops, each of its own iteration: all are there
//   the trips that are left             likewise, each if its iteration is there
//
// So each op stands S + U times or so, however many stages there are, and each use of a slot that
// must be known when compiling is at a constant one. Without such slots U is 1, and what is left is
// the S trips that end the last iterations.
//
// Slots that dots hold which stay in flight go back in the trip that has waited for the dots of a
// later iteration, if that is there; those of the last iterations behind the last wait.
//
// How many puts are in flight behind the one that is waited for is a constant in the loop; behind
// it, as many as there are iterations left.
#include "Expander.h"
#include "Rings.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "llvm/Support/MathExtras.h"
#include <map>
#include <numeric>

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// A slot that is known: that of the iteration's use of its ring.
bool Expander::emitKnownSlot(Frame &frame, Operation *op, int64_t iteration) {
  auto known = trip.slots.find(op);
  if (known == trip.slots.end())
    return false;
  const KnownSlot &use = known->second;
  int64_t round = trip.round, turn = ((frame.first + iteration) % round + round) % round;
  Value slot = arith::ConstantIntOp::create(builder, op->getLoc(),
                                            (turn * use.uses + use.place) % use.depth, 32);
  Value phase = arith::ConstantIntOp::create(builder, op->getLoc(), 0, 32);
  frame.values[{op->getResult(0), iteration}] = slot;
  frame.values[{op->getResult(1), iteration}] = phase;
  return true;
}

/// Until the put of the iteration has arrived, if that is there: nobody minds another wait. Of the
/// puts that may follow it, as many have been made as there are iterations for.
void Expander::emitWait(Frame &frame, Operation *wait, int64_t iteration, Exists exists) {
  // By iteration, counted from the one that is waited for: how many puts follow.
  std::map<int64_t, int64_t> behind;
  PutOp awaited = trip.putWaits.lookup(wait);
  TripTime from = trip.getTime(awaited), to = trip.getTime(wait);
  for (PutOp put : trip.asyncPuts) {
    TripTime time = trip.getTime(put);
    for (int64_t at = from.stage; at <= to.stage; ++at)
      if (from < TripTime{at, time.place} && TripTime{at, time.place} < to)
        ++behind[at - time.stage];
  }
  auto count = [&](int64_t most) {
    int64_t puts = 0;
    for (auto [distance, number] : behind)
      // Of iterations before this one, those that surely were.
      if (distance <= most && frame.first + iteration + distance >= 0)
        puts += number;
    return puts;
  };
  std::function<void(int64_t)> choose = [&](int64_t most) {
    Value condition;
    while (most > 0 && (!behind.count(most) || count(most) == count(most - 1)))
      --most;
    if (most > 0 && !frame.isLoop)
      condition = exists(iteration + most);
    if (!condition) {
      WaitPutsOp::create(builder, wait->getLoc(), count(most));
      return;
    }
    auto check = scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(check.thenBlock());
    WaitPutsOp::create(builder, wait->getLoc(), count(most));
    builder.setInsertionPointToStart(check.elseBlock());
    choose(most - 1);
  };
  int64_t most = behind.empty() ? 0 : behind.rbegin()->first;
  most = std::min(most, frame.most - iteration);
  // Of code with known slots it is proven by each path that no put is read too early; which paths
  // there are together, nobody asks. Trips that nobody counts stand where their iterations are.
  choose(trip.slots.empty() || frame.isLoop || !loop ? most : 0);
}

/// Where there is an iteration there are all that come before it. So what works on the oldest one
/// asks for all, and what works on later ones asks in it.
///
/// What of a group is used in later trips, which have asked for the same iteration, is whatever it
/// is if that is not there. What the loop hands on stays as it was.
scf::IfOp Expander::writeGroup(Frame &frame, ArrayRef<Operation *> group, int64_t trips,
                               Exists exists) {
  auto getIteration = [&](Operation *op) { return trips - trip.stages.lookup(op); };
  int64_t oldest = getIteration(group.front());
  for (Operation *op : group)
    oldest = std::min(oldest, getIteration(op));
  auto writeAll = [&](Frame &inner) {
    auto needsNoMore = [&](Operation *op) {
      return getIteration(op) == oldest || trip.putWaits.contains(op);
    };
    for (size_t begin = 0, end = 0; begin < group.size(); begin = end) {
      if (needsNoMore(group[begin])) {
        emit(inner, group[begin], getIteration(group[begin]), /*later=*/0, exists);
        end = begin + 1;
        continue;
      }
      while (end < group.size() && !needsNoMore(group[end]))
        ++end;
      writeGroup(inner, group.slice(begin, end - begin), trips, exists);
    }
  };
  Value condition = exists(oldest);
  if (!condition) {
    writeAll(frame);
    return {};
  }
  SmallVector<std::pair<Value, int64_t>> values;
  SmallVector<std::pair<unsigned, int64_t>> handedOn;
  SmallVector<Type> types;
  for (Operation *op : group)
    for (Value result : op->getResults()) {
      auto isOutside = [&](Operation *user) {
        Operation *here = trip.findHere(user);
        return !user->hasTrait<OpTrait::IsTerminator>() &&
               (!llvm::is_contained(group, here) || getIteration(here) != getIteration(op));
      };
      auto isHeld = [&](HeldSlot held) { return held.get.getSlot() == result; };
      bool isUsed =
          llvm::any_of(result.getUsers(), isOutside) || llvm::any_of(trip.heldSlots, isHeld);
      if (isUsed && !trip.slots.contains(op)) {
        values.push_back({result, getIteration(op)});
        types.push_back(result.getType());
      }
    }
  for (unsigned index = 0; index < trip.countCarried(); ++index)
    if (Value value = trip.getYielded(index);
        isMade(value) && llvm::is_contained(group, value.getDefiningOp())) {
      handedOn.push_back({index, getIteration(value.getDefiningOp())});
      types.push_back(value.getType());
    }
  auto check = scf::IfOp::create(builder, loc, types, condition, /*withElseRegion=*/!types.empty());
  for (Region *region : {&check.getThenRegion(), &check.getElseRegion()})
    if (!region->empty() && !region->front().empty())
      region->front().back().erase();
  {
    OpBuilder::InsertionGuard guard(builder);
    // What is made in a branch is known in it alone.
    Frame then = frame, otherwise = frame;
    builder.setInsertionPointToEnd(check.thenBlock());
    writeAll(then);
    SmallVector<Value> made, kept;
    for (auto [value, iteration] : values)
      made.push_back(lookup(then, value, iteration));
    for (auto [index, iteration] : handedOn) {
      Value latest = then.latest.lookup({index, iteration + 1});
      made.push_back(latest ? latest : lookup(then, trip.getYielded(index), iteration));
    }
    scf::YieldOp::create(builder, loc, made);
    if (!types.empty()) {
      builder.setInsertionPointToEnd(check.elseBlock());
      for (auto [value, iteration] : values)
        kept.push_back(ub::PoisonOp::create(builder, loc, value.getType()));
      for (auto [index, iteration] : handedOn) {
        // What no later trip takes is not carried to here.
        Value value = lookupCarried(otherwise, index, iteration);
        Type type = trip.getYielded(index).getType();
        kept.push_back(value ? value : ub::PoisonOp::create(builder, loc, type).getResult());
      }
      scf::YieldOp::create(builder, loc, kept);
    }
  }
  for (auto [number, value] : llvm::enumerate(values))
    frame.values[value] = check.getResult(number);
  for (auto [number, handed] : llvm::enumerate(handedOn)) {
    auto [index, iteration] = handed;
    Value result = check.getResult(values.size() + number);
    frame.latest[{index, iteration + 1}] = result;
    frame.values.try_emplace({trip.getYielded(index), iteration}, result);
  }
  // Slots are constants, wherever they are used.
  for (Operation *op : group)
    emitKnownSlot(frame, op, getIteration(op));
  return check;
}

/// A value of the loop that is handed on without an op which makes it.
void Expander::keepLatest(Frame &frame, unsigned index, int64_t iteration, Exists exists) {
  Value condition = exists(iteration);
  if (!condition)
    return;
  scf::IfOp check = makeIf(condition, trip.getInit(index).get().getType());
  OpBuilder::InsertionGuard guard(builder);
  Frame then = frame, otherwise = frame;
  builder.setInsertionPointToEnd(check.thenBlock());
  scf::YieldOp::create(builder, loc, lookup(then, trip.getYielded(index), iteration));
  builder.setInsertionPointToEnd(check.elseBlock());
  scf::YieldOp::create(builder, loc, lookupCarried(otherwise, index, iteration));
  frame.latest[{index, iteration + 1}] = check.getResult(0);
}

void Expander::writeTrip(Frame &frame, int64_t number, Exists exists) {
  auto isPossible = [&](int64_t iteration) {
    return iteration >= -frame.first && iteration <= frame.most;
  };
  SmallVector<Operation *> ops;
  llvm::copy_if(trip.ops, std::back_inserter(ops),
                [&](Operation *op) { return isPossible(number - trip.stages.lookup(op)); });
  int64_t latest = 0;
  for (Operation *op : ops)
    latest = std::max(latest, trip.stages.lookup(op));
  if (!ops.empty())
    if (scf::IfOp check = writeGroup(frame, ops, number, exists))
      asked.back().push_back({check, number - latest});
  for (unsigned index : results)
    if (int64_t iteration = number - madeAt[index];
        isPossible(iteration) && !isMade(trip.getYielded(index)))
      keepLatest(frame, index, iteration, exists);
}

/// Of a trip behind the loop.
void Expander::releaseBehind(Frame &frame, int64_t number, Exists exists) {
  for (const HeldSlot &held : trip.heldSlots) {
    int64_t iteration = number - held.stage, waited = iteration + held.later;
    if (waited > frame.most)
      continue;
    Value condition = exists(waited);
    if (iteration < -last) {
      Value before = isAtLeast(last + llvm::alignTo(-last - iteration, trip.round));
      condition = condition ? arith::AndIOp::create(builder, loc, condition, before) : before;
    }
    release(frame, held, iteration, condition);
  }
}

/// Of iterations behind which too few follow for some trip to have waited for their dots.
void Expander::releaseLast(Frame &frame, Exists exists) {
  for (const HeldSlot &held : trip.heldSlots)
    for (int64_t iteration = -std::max(last, held.later); iteration <= frame.most; ++iteration) {
      Value condition = iteration < -last
                            ? isAtLeast(last + llvm::alignTo(-last - iteration, trip.round))
                            : exists(iteration);
      if (int64_t waited = iteration + held.later; waited <= frame.most) {
        Value isReleased = exists(waited);
        if (!isReleased)
          continue;
        Value isOpen = arith::XOrIOp::create(builder, loc, isReleased,
                                             arith::ConstantIntOp::create(builder, loc, 1, 1));
        condition = condition ? arith::AndIOp::create(builder, loc, condition, isOpen) : isOpen;
      }
      release(frame, held, iteration, condition);
    }
}

/// All of it stands behind a condition that always holds, so that it is one op of the block around
/// it as long as that is to be realised.
SmallVector<Value> Expander::predicate() {
  SmallVector<Value> unchanged = getUnchanged();
  scf::IfOp always =
      makeIf(arith::ConstantIntOp::create(builder, loc, 1, 1), ValueRange(unchanged).getTypes());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(always.elseBlock());
  scf::YieldOp::create(builder, loc, unchanged);
  builder.setInsertionPointToEnd(always.thenBlock());
  scf::YieldOp::create(builder, loc, writePredicated());
  // Copies that lag wait in one trip for what the next one reads: none is taken without those
  // before it.
  if (trip.lagging)
    for (ArrayRef<AskedTrip> trips : asked)
      nestTrips(trips);
  return always.getResults();
}

/// The trips in front of the loop, and what its values are then.
SmallVector<Value> Expander::writePrologue(Frame &prologue, Exists exists) {
  asked.emplace_back();
  for (int64_t number = 0; number < last; ++number) {
    meetBefore(number);
    writeTrip(prologue, number, exists);
    for (const HeldSlot &held : trip.heldSlots)
      if (number >= held.stage)
        release(prologue, held, number - held.stage, exists(number - held.stage + held.later));
  }
  lag();
  return getInitial(prologue);
}

SmallVector<Value> Expander::writePredicated() {
  auto existsFirst = [&](int64_t iteration) {
    return isSurelyAtLeast(iteration + 1)
               ? Value()
               : compare(shift(loop.getLowerBound(), iteration), loop.getUpperBound());
  };

  trip.round = std::lcm(trip.round, trip.registerSets);
  // Whole rounds: as many as have all their iterations, perhaps none.
  Value begin = shift(loop.getLowerBound(), last), none = number(0);
  Value span = arith::SubIOp::create(builder, loc, loop.getUpperBound(), begin);
  // If all iterations stand in the prologue, `begin` may exceed the loop's end by less than a step.
  if (!isSurelyAtLeast(last + 1))
    span = arith::SelectOp::create(builder, loc, compare(begin, loop.getUpperBound()), span, none);
  Value trips = arith::CeilDivUIOp::create(builder, loc, span, loop.getStep());
  Value length = loop.getStep();
  if (trip.round > 1) {
    Value round = number(trip.round);
    trips = arith::DivUIOp::create(builder, loc, trips, round);
    length = arith::MulIOp::create(builder, loc, length, round);
  }
  Value end = arith::AddIOp::create(builder, loc, begin,
                                    arith::MulIOp::create(builder, loc, trips, length));
  // Of code with known slots it is proven by each path that no put is read too early: so the way to
  // the loop is one on which all puts are made. Copies that lag do so behind one branch.
  SmallVector<Value> values;
  Frame prologue;
  setAbsolute(prologue);
  if (trip.slots.empty() || trip.lagging || isSurelyAtLeast(last + trip.round)) {
    values = makeLoop(writePrologue(prologue, existsFirst), begin, end, length, trip.round);
  } else {
    auto types = llvm::map_to_vector(carried, [&](const Carried &it) {
      return it.value ? it.value.getType() : loop.getInitArgs()[it.index].getType();
    });
    scf::IfOp check = makeIf(compare(begin, end), types);
    OpBuilder::InsertionGuard guard(builder);
    for (bool any : {true, false}) {
      builder.setInsertionPointToEnd(any ? check.thenBlock() : check.elseBlock());
      Frame own = prologue;
      values = writePrologue(own, any ? Exists(surely) : Exists(existsFirst));
      scf::YieldOp::create(builder, loc,
                           any ? makeLoop(values, begin, end, length, trip.round)
                               : ValueRange(values));
    }
    values = check.getResults();
  }
  return drainPredicated(end, values);
}

/// The trips behind the loop, which ends in front of the iteration `end`.
SmallVector<Value> Expander::drainPredicated(Value end, ValueRange values) {
  Frame frame;
  asked.emplace_back();
  frame.first = last;
  setRelative(frame, end, values);
  // Fewer iterations begin here than a round has.
  frame.most = trip.round - 2;
  auto existsLast = [&](int64_t iteration) {
    return iteration < 0 && isSurelyAtLeast(last + iteration + 1)
               ? Value()
               : compare(shift(end, iteration), loop.getUpperBound());
  };
  for (int64_t number = 0; number <= frame.most + last; ++number) {
    writeTrip(frame, number, existsLast);
    releaseBehind(frame, number, existsLast);
  }
  if (trip.lagging)
    lagCopies(builder, loc, trip.lagging, /*isEntry=*/false);
  Value any = isSurelyAtLeast(1) ? Value() : isAtLeast(1);
  SmallVector<Value> results = getResults(frame, frame.most + 1, any);
  releaseLast(frame, existsLast);
  return results;
}
