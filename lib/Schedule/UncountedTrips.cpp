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
// So a trip stands where as many iterations as it needs are known to be there. Where a role fills
// rings of its own, whose puts must be counted, the first and the last trips ask op by op instead,
// by what the loop carries: an iteration that is not there leaves the answer as it was, which is
// no.
#include "Expander.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// Whether an iteration is there, which the trip before has said.
Value Expander::goesOn(Frame &frame, int64_t iteration) {
  return lookupCarried(frame, *trip.getConditionIndex(), iteration);
}

ValueRange Expander::makeUncounted(ValueRange initial, WriteTrips writeTrips) {
  SmallVector<Type> types(initial.getTypes());
  SmallVector<Location> locs(types.size(), loc);
  auto made = scf::WhileOp::create(builder, loc, types, initial);
  made->setDiscardableAttrs(trip.loop->getDiscardableAttrDictionary());
  dropPlace(made);
  OpBuilder::InsertionGuard guard(builder);
  Block *before = builder.createBlock(&made.getBefore(), {}, types, locs);
  Value next = findCarried(before->getArguments(), {}, *trip.getConditionIndex(), /*age=*/1);
  scf::ConditionOp::create(builder, loc, next, before->getArguments());
  Block *after = builder.createBlock(&made.getAfter(), {}, types, locs);
  writeBody(after->getArguments(), /*iv=*/{}, writeTrips, /*trips=*/1);
  return made.getResults();
}

/// What follows so many trips, each of which has begun an iteration.
SmallVector<Value> Expander::ask(Frame &frame, int64_t number) {
  if (number == last)
    return overlap(frame);
  SmallVector<Type> types =
      llvm::map_to_vector(getUnchanged(), [](Value it) { return it.getType(); });
  auto check = scf::IfOp::create(builder, loc, types, goesOn(frame, number),
                                 /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  for (Region *region : {&check.getThenRegion(), &check.getElseRegion()})
    if (!region->front().empty())
      region->front().back().erase();
  // What is made in a branch is known in it alone.
  Frame then = frame, otherwise = frame;
  builder.setInsertionPointToEnd(check.thenBlock());
  writeTrip(then, number, last);
  scf::YieldOp::create(builder, loc, ask(then, number + 1));
  builder.setInsertionPointToEnd(check.elseBlock());
  scf::YieldOp::create(builder, loc, number ? end(otherwise, number) : getUnchanged());
  return check.getResults();
}

SmallVector<Value> Expander::predicateUncounted() {
  Frame prologue;
  setAbsolute(prologue);
  SmallVector<Value> initial =
      writePrologue(prologue, [&](int64_t iteration) { return goesOn(prologue, iteration); });
  return drain(/*end=*/{}, writeRounds(initial, {}, {}, {}));
}
