// Writes the trips of a loop that counts its iterations, whose ops have stages from 0 to S. Where n
// is how many iterations it has:
//
//   if n is at least S, and 1:
//     trips 0 to S - 1                        the ops of the stages that have begun
//     a loop of trips S to n - 1              all ops, each of its own iteration
//     trips n to n + S - 1                    the ops of the stages that have not ended
//   otherwise, for each number below S:
//     the trips of so many iterations
#include "Expander.h"
#include "Rings.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// In a trip of the loop: whether the iteration is there whose slot goes back; null if it surely
/// is. The induction variable is that of the trip's stage 0.
Value Expander::isHeldAt(const HeldSlot &held, Value iv, int64_t number) {
  if (held.stage <= last + number)
    return {};
  if (held.stage > 1)
    return isBehind(iv, held.stage);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, iv, loop.getLowerBound());
}

/// Whether so many iterations lie in front of this one.
Value Expander::isBehind(Value iv, int64_t iterations) {
  if (iv.getType().isIndex())
    return compare(shift(loop.getLowerBound(), iterations - 1), iv);
  Value length = arith::SubIOp::create(builder, loc, iv, loop.getLowerBound());
  Value before = arith::DivUIOp::create(builder, loc, length, loop.getStep());
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge, before, number(iterations));
}

/// Of a loop that has at least as many iterations as stages overlap: the trips behind those of the
/// prologue.
SmallVector<Value> Expander::overlap(Frame &prologue) {
  SmallVector<Value> values = writeLoop(prologue);

  Frame frame;
  setRelative(frame, {}, values);
  frame.getIv = [&](int64_t iteration) -> Value {
    Value span = arith::SubIOp::create(builder, loc, loop.getUpperBound(), loop.getLowerBound());
    Value count = arith::CeilDivUIOp::create(builder, loc, span, loop.getStep());
    Value length = arith::MulIOp::create(builder, loc, count, loop.getStep());
    Value end = arith::AddIOp::create(builder, loc, loop.getLowerBound(), length);
    return shift(end, iteration);
  };
  return drain(frame);
}

/// The trips behind the loop, whose last iteration is the one before number 0.
SmallVector<Value> Expander::drain(Frame &frame) {
  frame.most = -1;
  for (int64_t number = 0; number < last; ++number) {
    DenseMap<Operation *, int64_t> later;
    for (int64_t count = std::max<int64_t>(last, 1); count <= 2 * last + 2; ++count)
      for (auto [op, least] : countLater(count, count + number, count + number)) {
        auto [at, isNew] = later.try_emplace(op, least);
        at->second = std::min(at->second, least);
      }
    for (Operation *op : trip.ops)
      if (int64_t stage = trip.stages.lookup(op); stage > number)
        emit(frame, op, number - stage, later.lookup(op), surely);
    for (const HeldSlot &held : trip.heldSlots)
      if (number < held.stage && goesBack(held, number - held.stage, /*end=*/0))
        release(frame, held, number - held.stage, {});
  }
  SmallVector<Value> ended = getResults(frame, 0);
  int64_t most = 0;
  for (const HeldSlot &held : trip.heldSlots)
    most = std::max(most, held.stage);
  for (int64_t back = most; back > 0; --back)
    for (const HeldSlot &held : trip.heldSlots)
      if (back <= held.stage && !goesBack(held, -back, /*end=*/0))
        release(frame, held, -back, back > std::max<int64_t>(last, 1) ? isAtLeast(back) : Value());
  return ended;
}

SmallVector<Value> Expander::writeOut(int64_t iterations) {
  Frame frame;
  setAbsolute(frame);
  for (int64_t number = 0; number < iterations; ++number)
    writeTrip(frame, number, iterations);
  return end(frame, iterations);
}

/// The trips that end as many iterations as have begun.
SmallVector<Value> Expander::end(Frame &frame, int64_t iterations) {
  for (int64_t number = iterations; number < iterations + last; ++number)
    writeTrip(frame, number, iterations);
  SmallVector<Value> values = getResults(frame, iterations);
  for (const HeldSlot &held : trip.heldSlots)
    for (int64_t iteration = std::max<int64_t>(iterations - held.stage, 0); iteration < iterations;
         ++iteration)
      if (!goesBack(held, iteration, iterations))
        release(frame, held, iteration, {});
  return values;
}

/// Whether the loop surely has so many iterations.
bool Expander::isSurelyAtLeast(int64_t iterations) {
  auto known = loop->getAttrOfType<IntegerAttr>(kLeastTripsAttrName);
  std::optional<APInt> trips = loop.getStaticTripCount();
  return (known && known.getInt() >= iterations) || (trips && trips->uge(iterations));
}

Value Expander::isAtLeast(int64_t iterations) {
  if (isSurelyAtLeast(iterations))
    return arith::ConstantIntOp::create(builder, loc, 1, 1);
  Value lower = loop.getLowerBound(), upper = loop.getUpperBound();
  Value any = compare(lower, upper);
  if (iterations == 1)
    return any;
  // Of no negative numbers, so that nothing overflows.
  Value length = arith::SubIOp::create(builder, loc, upper, lower);
  Value before = arith::SubIOp::create(builder, loc, length, number(1));
  Value last = arith::DivUIOp::create(builder, loc, before, loop.getStep());
  Value enough =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge, last, number(iterations - 1));
  return arith::AndIOp::create(builder, loc, any, enough);
}

scf::IfOp Expander::makeIf(Value condition, TypeRange types) {
  auto made = scf::IfOp::create(builder, loc, types, condition, /*withElseRegion=*/true);
  for (Region *region : {&made.getThenRegion(), &made.getElseRegion()})
    if (!region->front().empty())
      region->front().back().erase();
  return made;
}

/// The loop, if it has at most so many iterations.
SmallVector<Value> Expander::choose(int64_t iterations) {
  if (iterations == 0)
    return getUnchanged();
  scf::IfOp check = makeIf(isAtLeast(iterations), ValueRange(getUnchanged()).getTypes());
  bool isAll = iterations >= std::max<int64_t>(last, 1);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(check.thenBlock());
  if (isAll) {
    Frame prologue;
    setAbsolute(prologue);
    for (int64_t number = 0; number < last; ++number)
      writeTrip(prologue, number, iterations);
    scf::YieldOp::create(builder, loc, overlap(prologue));
  } else {
    scf::YieldOp::create(builder, loc, writeOut(iterations));
  }
  builder.setInsertionPointToEnd(check.elseBlock());
  scf::YieldOp::create(builder, loc, choose(iterations - 1));
  return check.getResults();
}
