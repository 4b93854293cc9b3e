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
// Where slots must be known and repeat after U trips, a turn of the loop is a round of these, each
// of which has an end of its own, so that the slots of an end are known too:
//
//   if the next one is:
//     while the last trip was not:
//       trip 0
//       if the next one is:
//         ...
//           trip U - 1
//           if the next one is: on to the next round
//           otherwise: the trips that end S iterations behind trip U - 1
//       otherwise: the trips that end S iterations behind trip 0
//   otherwise: the trips that end S iterations
//
// No end follows a trip that it is not of, on any path of the final code.
#include "Expander.h"
#include "Rings.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// Whether an iteration is there, which the trip before has said.
Value Expander::goesOn(Frame &frame, int64_t iteration) {
  return lookupCarried(frame, *trip.getConditionIndex(), iteration);
}

/// What follows so many trips, each of which has begun an iteration.
SmallVector<Value> Expander::ask(Frame &frame, int64_t number) {
  if (number == last && trip.round == 1)
    return overlapUncounted(frame);
  scf::IfOp check = makeIf(goesOn(frame, number), ValueRange(getUnchanged()).getTypes());
  OpBuilder::InsertionGuard guard(builder);
  // What is made in a branch is known in it alone.
  Frame then = frame, otherwise = frame;
  builder.setInsertionPointToEnd(check.thenBlock());
  if (number < last)
    writeTrip(then, number, last);
  scf::YieldOp::create(builder, loc,
                       number < last ? ask(then, number + 1) : overlapUncounted(then));
  builder.setInsertionPointToEnd(check.elseBlock());
  scf::YieldOp::create(builder, loc, number ? end(otherwise, number) : getUnchanged());
  return check.getResults();
}

/// Copies lag in the loop and its ends alone.
SmallVector<Value> Expander::overlapUncounted(Frame &prologue) {
  SmallVector<Value> initial = getInitial(prologue);
  lag();
  SmallVector<Value> values = makeUncounted(initial);
  if (trip.round == 1)
    values = endUncounted(values, 0);
  if (trip.lagging)
    lagCopies(builder, loc, trip.lagging, /*isEntry=*/false);
  return values;
}

/// The loop: what it carries, or of rounds, whose trips have ends of their own, its results.
ValueRange Expander::makeUncounted(ValueRange initial) {
  SmallVector<Value> values(initial);
  if (trip.round > 1)
    llvm::append_range(values, makePoison(ValueRange(getUnchanged()).getTypes()));
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
  ValueRange older = ValueRange(after->getArguments()).take_front(initial.size());
  Frame frame;
  frame.isLoop = true;
  frame.first = last;
  setRelative(frame, {}, older);
  if (trip.round > 1) {
    scf::YieldOp::create(builder, loc, writeRound(frame, older, 0));
    return made.getResults().drop_front(initial.size());
  }
  writeWhole(frame, 0);
  scf::YieldOp::create(builder, loc, getCarried(frame, older, 1));
  return made.getResults();
}

SmallVector<Value> Expander::makePoison(TypeRange types) {
  return llvm::map_to_vector(
      types, [&](Type type) -> Value { return ub::PoisonOp::create(builder, loc, type); });
}

/// The trips of a round from this one on: what the loop carries behind the last one, and the
/// results, of which either is there.
SmallVector<Value> Expander::writeRound(Frame &frame, ValueRange older, int64_t number) {
  writeWhole(frame, number);
  int64_t trips = number + 1;
  SmallVector<Type> results(ValueRange(getUnchanged()).getTypes()), types(older.getTypes());
  llvm::append_range(types, results);
  scf::IfOp check = makeIf(goesOn(frame, trips), types);
  OpBuilder::InsertionGuard guard(builder);
  Frame then = frame, otherwise = frame;
  builder.setInsertionPointToEnd(check.thenBlock());
  SmallVector<Value> values;
  if (trips < trip.round) {
    values = writeRound(then, older, trips);
  } else {
    values = getCarried(then, older, trips);
    llvm::append_range(values, makePoison(results));
  }
  scf::YieldOp::create(builder, loc, values);
  builder.setInsertionPointToEnd(check.elseBlock());
  values.clear();
  for (auto [it, type] : llvm::zip(carried, older.getTypes())) {
    bool saysNext = !it.value && it.index == trip.getConditionIndex() && it.age == 1;
    values.push_back(saysNext ? Value(arith::ConstantIntOp::create(builder, loc, 0, 1))
                              : Value(ub::PoisonOp::create(builder, loc, type)));
  }
  llvm::append_range(values, endUncounted(getCarried(otherwise, older, trips), trips));
  scf::YieldOp::create(builder, loc, values);
  return check.getResults();
}

/// The trips behind so many trips of a round.
SmallVector<Value> Expander::endUncounted(ValueRange values, int64_t trips) {
  Frame frame;
  frame.first = last + trips;
  setRelative(frame, {}, values);
  return drain(frame);
}
