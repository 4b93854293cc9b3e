// Writes a loop whose trips nobody counts: an `scf.while` that carries what it asks, so that each
// trip says, by ops of stage 0, whether there is another.
//
//   if the first iteration is there:
//     trip 0                                  the ops of stage 0
//     if the second one is:
//       ...
//         trip S - 1
//         while the next one is:              all ops, each of its own iteration
//         the trips that end S iterations
//     otherwise:
//       the trips that end one iteration
//
// So a trip stands where as many iterations as it needs are known to be there, and what is in
// flight at each place is known: puts of a role's own rings, too. The loop's values of few
// iterations are those of its first trips.
//
// Where slots must be known and repeat after U trips, a turn of the loop is a round of these:
//
//   while the next one is:
//     trip 0
//     if the next one is:
//       ...
//         trip U - 1
//   the trips that end S iterations, once for each trip of the round that may have been the last
#include "Expander.h"
#include "Rings.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// Whether an iteration is there, which the trip before has said.
Value Expander::goesOn(Frame &frame, int64_t iteration) {
  return lookupCarried(frame, *trip.getConditionIndex(), iteration);
}

/// What follows so many trips, each of which has begun an iteration.
SmallVector<Value> Expander::ask(Frame &frame, int64_t number) {
  if (number == last)
    return overlapUncounted(frame);
  scf::IfOp check = makeIf(goesOn(frame, number), ValueRange(getUnchanged()).getTypes());
  OpBuilder::InsertionGuard guard(builder);
  // What is made in a branch is known in it alone.
  Frame then = frame, otherwise = frame;
  builder.setInsertionPointToEnd(check.thenBlock());
  writeTrip(then, number, last);
  scf::YieldOp::create(builder, loc, ask(then, number + 1));
  builder.setInsertionPointToEnd(check.elseBlock());
  scf::YieldOp::create(builder, loc, number ? end(otherwise, number) : getUnchanged());
  return check.getResults();
}

/// The loop, which carries besides after which trip of a round it has ended.
ValueRange Expander::makeUncounted(ValueRange initial) {
  SmallVector<Value> values(initial);
  if (trip.round > 1)
    values.push_back(arith::ConstantIntOp::create(builder, loc, 0, 32));
  SmallVector<Type> types(ValueRange(values).getTypes());
  SmallVector<Location> locs(types.size(), loc);
  auto made = scf::WhileOp::create(builder, loc, types, values);
  made->setDiscardableAttrs(trip.loop->getDiscardableAttrDictionary());
  dropPlace(made);
  OpBuilder::InsertionGuard guard(builder);
  Block *before = builder.createBlock(&made.getBefore(), {}, types, locs);
  Value next = findCarried(before->getArguments(), {}, *trip.getConditionIndex(), /*age=*/1);
  scf::ConditionOp::create(builder, loc, next, before->getArguments());
  Block *after = builder.createBlock(&made.getAfter(), {}, types, locs);
  Frame frame;
  frame.isLoop = true;
  frame.first = last;
  setRelative(frame, {}, after->getArguments());
  scf::YieldOp::create(builder, loc, writeRound(frame, after->getArguments(), 0));
  return made.getResults();
}

/// The trips of a round from this one on: what the loop carries behind the last one.
SmallVector<Value> Expander::writeRound(Frame &frame, ValueRange older, int64_t number) {
  writeWhole(frame, number);
  int64_t trips = number + 1;
  auto leave = [&](Frame &here) {
    SmallVector<Value> values = getCarried(here, older, trips);
    if (trip.round > 1)
      values.push_back(arith::ConstantIntOp::create(builder, loc, trips % trip.round, 32));
    return values;
  };
  if (trips == trip.round)
    return leave(frame);
  scf::IfOp check = makeIf(goesOn(frame, trips), older.getTypes());
  OpBuilder::InsertionGuard guard(builder);
  Frame then = frame, otherwise = frame;
  builder.setInsertionPointToEnd(check.thenBlock());
  scf::YieldOp::create(builder, loc, writeRound(then, older, trips));
  builder.setInsertionPointToEnd(check.elseBlock());
  scf::YieldOp::create(builder, loc, leave(otherwise));
  return check.getResults();
}

/// Copies lag in the loop and behind it alone.
SmallVector<Value> Expander::overlapUncounted(Frame &prologue) {
  SmallVector<Value> initial = getInitial(prologue);
  if (trip.lagging) {
    meetCopies(builder, loc, trip.lagging);
    lagCopies(builder, loc, trip.lagging, /*isEntry=*/true);
  }
  return drainUncounted(makeUncounted(initial), /*turn=*/0);
}

/// The trips behind the loop, if it has ended after this trip of a round or a later one.
SmallVector<Value> Expander::drainUncounted(ValueRange values, int64_t turn) {
  auto drainHere = [&] {
    Frame frame;
    frame.first = last + turn;
    setRelative(frame, {}, values);
    SmallVector<Value> results = drain(frame);
    if (trip.lagging)
      lagCopies(builder, loc, trip.lagging, /*isEntry=*/false);
    return results;
  };
  if (turn + 1 == trip.round)
    return drainHere();
  Value here = arith::ConstantIntOp::create(builder, loc, turn, 32);
  Value isHere = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, values.back(), here);
  scf::IfOp check = makeIf(isHere, ValueRange(getUnchanged()).getTypes());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(check.thenBlock());
  scf::YieldOp::create(builder, loc, drainHere());
  builder.setInsertionPointToEnd(check.elseBlock());
  scf::YieldOp::create(builder, loc, drainUncounted(values, turn + 1));
  return check.getResults();
}
