// Rings that a role fills for itself, some trips ahead: no other role waits, so slots are known
// when compiling and the loop is unrolled by its depth.
//
//   a barrier, if this is itself in a loop
//   puts of the first `ahead` trips                         each if there is such a trip
//   for whole rounds of `depth` trips whose puts all exist:
//     trip j of the round, for each j:
//       wait for the puts of this trip, `ahead` - 1 are in flight; a barrier of all copies
//       put slot (j + ahead) mod depth; get slot j; read; release; the rest
//   the trips that are left, each if it exists, likewise    fewer puts are in flight, at last none
//
// Nobody waits at a slot. That all have put what is got, and all have released what is put again,
// comes of the barriers, which the protocol check counts.
//
// If copies are skewed, one of two reads while the other computes. Then barriers part the two, and
// a trip is
//
//       put slot (j + ahead) mod depth; get slot j; read; release
//       wait for the puts of the next trip
//       a barrier; the rest; a barrier
//
// before the loop stand the wait and the barrier for the first trip, and barriers by which later
// copies lag; behind it, those by which earlier ones catch up.
#include "Rings.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
class OwnRings {
public:
  OwnRings(scf::ForOp loop, ArrayRef<Ring *> rings)
      : loop(loop), rings(rings), depth(rings.front()->depth), loc(loop.getLoc()),
        role(rings.front()->producer) {
    for (Ring *ring : rings)
      for (LoadOp load : getUse(ring).loads) {
        made.insert(load);
        for (Operation *user : load->getUsers())
          if (isa<ConvertLayoutOp>(user))
            made.insert(user);
      }
  }
  void realise();

private:
  static RingUse &getUse(Ring *ring) { return ring->uses.front(); }
  int64_t getAhead(Ring *ring) const { return getUse(ring).readers.front().stage; }
  Value number(OpBuilder &builder, int64_t value) {
    return arith::ConstantIntOp::create(builder, loc, value, 32);
  }
  Value isBefore(OpBuilder &builder, Value at, Value end) {
    auto below = loop.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
    return arith::CmpIOp::create(builder, loc, below, at, end);
  }
  Value skip(OpBuilder &builder, Value at, int64_t trips) {
    IndexMath math{builder, loc};
    return trips ? math.add(at, math.mul(math.constant(trips), loop.getStep())) : at;
  }
  template <typename Op>
  Op tag(Op op) {
    setRoleName(op, role.getName());
    return op;
  }
  Value rebuild(OpBuilder &builder, Value value, IRMapping &mapping);
  void put(OpBuilder &builder, Ring *ring, Value at, int64_t slot);
  void waitForPuts(OpBuilder &builder, int64_t inFlight);
  void waitForPuts(OpBuilder &builder, Value at, int64_t most);
  /// How the trips of a round put: their puts all exist; each may; none does.
  enum class Puts { All, Some, None };
  void waitForTrip(OpBuilder &builder, int64_t number, Value at, int64_t by, Puts puts);
  SmallVector<Value> trip(OpBuilder &builder, int64_t number, Value at, ValueRange carried,
                          Puts puts);
  void meet(OpBuilder &builder) { meetCopies(builder, loc, role); }

  scf::ForOp loop;
  ArrayRef<Ring *> rings;
  int64_t depth;
  Location loc;
  RoleAttr role;
  /// The loads, and conversions of what they bring.
  DenseSet<Operation *> made;
};
} // namespace

/// A value of the loop's body for another trip: what makes it is made again.
Value OwnRings::rebuild(OpBuilder &builder, Value value, IRMapping &mapping) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != loop.getBody())
    return value;
  for (Value operand : op->getOperands())
    (void)rebuild(builder, operand, mapping);
  builder.clone(*op, mapping);
  return mapping.lookup(value);
}

void OwnRings::put(OpBuilder &builder, Ring *ring, Value at, int64_t slot) {
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), at);
  SmallVector<SmallVector<Value>> offsets;
  for (LoadOp load : getUse(ring).loads) {
    offsets.emplace_back();
    for (Value offset : load.getOffsets())
      offsets.back().push_back(rebuild(builder, offset, mapping));
  }
  Location where = getUse(ring).loads.back().getLoc();
  auto put = tag(
      PutOp::create(builder, where, ring->channel, number(builder, slot), number(builder, 0), 0));
  ArrayRef<Type> types = ring->channel.getType().getBuffers();
  Block *body = &put.getBody().emplaceBlock();
  body->addArguments(types, SmallVector<Location>(types.size(), where));
  OpBuilder inner = OpBuilder::atBlockEnd(body);
  for (auto [i, load] : llvm::enumerate(getUse(ring).loads))
    CopyInOp::create(inner, load.getLoc(), load.getView(), offsets[i], body->getArgument(i),
                     load.getAtomAttr(), load.getCacheAttr(), load.getEvictionAttr(),
                     load.getDroppedAttr());
}

void OwnRings::waitForPuts(OpBuilder &builder, int64_t inFlight) {
  for (Ring *ring : rings)
    tag(WaitPutsOp::create(builder, loc, ring->channel, inFlight));
}

/// For those of this trip: there were puts for it and for at most so many trips in all, of which
/// some may be beyond the end.
void OwnRings::waitForPuts(OpBuilder &builder, Value at, int64_t most) {
  if (most == 1)
    return waitForPuts(builder, 0);
  Value last = skip(builder, at, most - 1);
  auto exists = scf::IfOp::create(builder, loc, isBefore(builder, last, loop.getUpperBound()),
                                  /*withElseRegion=*/true);
  OpBuilder inner = exists.getThenBodyBuilder(), other = exists.getElseBodyBuilder();
  waitForPuts(inner, most - 1);
  waitForPuts(other, at, most - 1);
}

/// For those of the trip that is `by` trips from this one, with all that are ahead of it by then
/// under way.
void OwnRings::waitForTrip(OpBuilder &builder, int64_t number, Value at, int64_t by, Puts puts) {
  int64_t ahead = getAhead(rings.front());
  if (puts == Puts::All)
    return waitForPuts(builder, ahead - 1);
  // Of the trips that are left the last `ahead` have their puts behind them.
  int64_t most = std::min(ahead, depth - 1 + ahead - number - by);
  if (most > 0)
    waitForPuts(builder, most > 1 ? skip(builder, at, by) : at, most);
}

/// One trip: `number` counts from the start of its round.
SmallVector<Value> OwnRings::trip(OpBuilder &builder, int64_t number, Value at, ValueRange carried,
                                  Puts puts) {
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), at);
  mapping.map(loop.getRegionIterArgs(), carried);
  if (!role.getSkew()) {
    waitForTrip(builder, number, at, /*by=*/0, puts);
    meet(builder);
  }
  for (Ring *ring : rings) {
    if (puts == Puts::None)
      break;
    int64_t use = number + getAhead(ring);
    Value later = skip(builder, at, getAhead(ring));
    if (puts == Puts::All) {
      put(builder, ring, later, use % depth);
      continue;
    }
    auto exists = scf::IfOp::create(builder, loc, isBefore(builder, later, loop.getUpperBound()));
    OpBuilder inner = exists.getThenBodyBuilder();
    put(inner, ring, later, use % depth);
  }
  for (Ring *ring : rings) {
    Value slot = this->number(builder, number % depth);
    auto get = tag(GetOp::create(builder, loc, ring->channel, slot, this->number(builder, 0)));
    for (auto [load, buffer] : llvm::zip_equal(getUse(ring).loads, get.getBuffers())) {
      bool isConverted = llvm::all_of(load->getUsers(), llvm::IsaPred<ConvertLayoutOp>);
      if (!isConverted)
        mapping.map(load.getResult(),
                    tag(readAs(builder, load, load.getType(), buffer)).getResult());
      for (Operation *user : load->getUsers())
        if (auto conversion = dyn_cast<ConvertLayoutOp>(user))
          mapping.map(conversion.getResult(),
                      tag(readAs(builder, load, conversion.getType(), buffer)).getResult());
    }
    tag(ReleaseOp::create(builder, loc, ring->channel, slot, /*lanes=*/false));
  }
  if (role.getSkew()) {
    waitForTrip(builder, number, at, /*by=*/1, puts);
    meet(builder);
  }
  for (Operation &op : loop.getBody()->without_terminator())
    if (!made.contains(&op))
      dropPlace(builder.clone(op, mapping));
  if (role.getSkew())
    meet(builder);
  SmallVector<Value> results;
  for (Value value : loop.getBody()->getTerminator()->getOperands())
    results.push_back(mapping.lookupOrDefault(value));
  return results;
}

void OwnRings::realise() {
  OpBuilder builder(loop);
  IndexMath math{builder, loc};
  Value lower = loop.getLowerBound(), upper = loop.getUpperBound(), step = loop.getStep();
  int64_t mostAhead = 0;
  // If the ring is gone round before, others may read it still.
  if (!role.getSkew() && loop->getParentOfType<scf::ForOp>())
    meet(builder);
  for (Ring *ring : rings) {
    mostAhead = std::max(mostAhead, getAhead(ring));
    for (int64_t use = 0; use < getAhead(ring); ++use) {
      Value at = skip(builder, lower, use);
      auto exists = scf::IfOp::create(builder, loc, isBefore(builder, at, upper));
      OpBuilder inner = exists.getThenBodyBuilder();
      put(inner, ring, at, use);
    }
  }
  if (role.getSkew()) {
    waitForPuts(builder, lower, mostAhead);
    meet(builder);
  }
  lagCopies(builder, loc, role, /*isEntry=*/true);

  // Whole rounds: as many as have all their puts, perhaps none.
  Value none = math.constant(0);
  Value last = skip(builder, lower, mostAhead);
  Value span = math.sub(upper, last);
  span = loop.getUnsignedCmp()
             ? arith::SelectOp::create(builder, loc, isBefore(builder, last, upper), span, none)
                   .getResult()
             : arith::MaxSIOp::create(builder, loc, span, none).getResult();
  Value trips = arith::CeilDivUIOp::create(builder, loc, span, step);
  Value slots = math.constant(depth);
  Value rounds = math.div(trips, slots);
  Value length = math.mul(slots, step);
  Value middle = math.add(lower, math.mul(rounds, length));
  auto main = scf::ForOp::create(builder, loc, lower, middle, length, loop.getInitArgs());
  if (Block *body = main.getBody(); !body->empty())
    body->back().erase();
  OpBuilder inner = OpBuilder::atBlockEnd(main.getBody());
  SmallVector<Value> carried(main.getRegionIterArgs());
  for (int64_t j = 0; j < depth; ++j)
    carried = trip(inner, j, skip(inner, main.getInductionVar(), j), carried, Puts::All);
  scf::YieldOp::create(inner, loc, carried);

  // What is left: fewer trips than a round has, which may put, and those whose puts went before.
  carried = SmallVector<Value>(main.getResults());
  for (int64_t j = 0; j < depth - 1 + mostAhead; ++j) {
    Value at = skip(builder, middle, j);
    auto exists = scf::IfOp::create(builder, loc, ValueRange(carried).getTypes(),
                                    isBefore(builder, at, upper), /*withElseRegion=*/true);
    for (Region *region : {&exists.getThenRegion(), &exists.getElseRegion()})
      if (!region->front().empty())
        region->front().back().erase();
    OpBuilder then = OpBuilder::atBlockEnd(exists.thenBlock());
    SmallVector<Value> results =
        trip(then, j, at, carried, j < depth - 1 ? Puts::Some : Puts::None);
    scf::YieldOp::create(then, loc, results);
    OpBuilder otherwise = OpBuilder::atBlockEnd(exists.elseBlock());
    scf::YieldOp::create(otherwise, loc, carried);
    carried = SmallVector<Value>(exists.getResults());
  }
  lagCopies(builder, loc, role, /*isEntry=*/false);
  loop.replaceAllUsesWith(carried);
  loop.erase();
}

void kiln::realiseOwnRings(scf::ForOp loop, ArrayRef<Ring *> rings) {
  OwnRings(loop, rings).realise();
}
