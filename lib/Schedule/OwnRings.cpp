// Rings that a role fills for itself, some trips ahead: no other role waits, so slots are known
// when compiling and the loop is unrolled by its depth.
//
//   puts of the first `ahead` trips                         each if there is such a trip
//   (barriers by which later copies lag, if they are skewed)
//   for whole rounds of `depth` trips whose puts all exist:
//     trip j of the round, for each j:
//       put slot (j + ahead) mod depth; get slot j, `ahead` puts in flight; read; release
//       (a barrier of all copies, if they are skewed); the rest; (again a barrier)
//   the trips that are left, each if it exists              nothing in flight at their gets
//   (barriers by which earlier copies catch up)
//
// A copy lags only once it has put: those before it wait for its share of the first slots.
#include "Rings.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
class OwnRings {
public:
  OwnRings(scf::ForOp loop, RingPlan &plan)
      : loop(loop), plan(plan), loc(loop.getLoc()), role(plan.rings.front().consumer) {
    for (Ring &ring : plan.rings)
      for (LoadOp load : ring.loads)
        ringOf[load] = &ring;
  }
  void realise();

private:
  int64_t getAhead(const Ring &ring) const { return ring.readStage - ring.stage; }
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
  void put(OpBuilder &builder, Ring &ring, Value at, int64_t slot, Value phase);
  SmallVector<Value> trip(OpBuilder &builder, int64_t number, Value at, ValueRange carried,
                          Value round, bool isWhole);
  void meet(OpBuilder &builder) {
    if (role.getSkew())
      tag(BarrierOp::create(builder, loc, /*publish=*/false, /*all_copies=*/true));
  }

  void lag(OpBuilder &builder, arith::CmpIPredicate predicate, int64_t bound);

  scf::ForOp loop;
  RingPlan &plan;
  Location loc;
  RoleAttr role;
  DenseMap<Operation *, Ring *> ringOf;
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

void OwnRings::put(OpBuilder &builder, Ring &ring, Value at, int64_t slot, Value phase) {
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), at);
  SmallVector<SmallVector<Value>> offsets;
  for (LoadOp load : ring.loads) {
    offsets.emplace_back();
    for (Value offset : load.getOffsets())
      offsets.back().push_back(rebuild(builder, offset, mapping));
  }
  Location where = ring.loads.back().getLoc();
  auto put = tag(PutOp::create(builder, where, ring.channel, number(builder, slot), phase, 0));
  ArrayRef<Type> types = ring.channel.getType().getBuffers();
  Block *body = &put.getBody().emplaceBlock();
  body->addArguments(types, SmallVector<Location>(types.size(), where));
  OpBuilder inner = OpBuilder::atBlockEnd(body);
  for (auto [i, load] : llvm::enumerate(ring.loads))
    CopyInOp::create(inner, load.getLoc(), load.getView(), offsets[i], body->getArgument(i),
                     load.getAtomAttr(), load.getCacheAttr(), load.getEvictionAttr());
}

/// One trip: `number` counts from the start of its round, whose first use of each ring has phase
/// `round`. A whole round's puts all exist.
SmallVector<Value> OwnRings::trip(OpBuilder &builder, int64_t number, Value at, ValueRange carried,
                                  Value round, bool isWhole) {
  auto getPhase = [&](OpBuilder &b, int64_t use) -> Value {
    if (use / plan.depth % 2 == 0)
      return round;
    return arith::XOrIOp::create(b, loc, round, this->number(b, 1));
  };
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), at);
  mapping.map(loop.getRegionIterArgs(), carried);
  for (Ring &ring : plan.rings) {
    int64_t use = number + getAhead(ring);
    Value later = skip(builder, at, getAhead(ring));
    if (isWhole) {
      put(builder, ring, later, use % plan.depth, getPhase(builder, use));
      continue;
    }
    auto exists = scf::IfOp::create(builder, loc, isBefore(builder, later, loop.getUpperBound()));
    OpBuilder inner = exists.getThenBodyBuilder();
    put(inner, ring, later, use % plan.depth, getPhase(inner, use));
  }
  for (Ring &ring : plan.rings) {
    Value slot = this->number(builder, number % plan.depth);
    auto inFlight = builder.getI64IntegerAttr(isWhole ? getAhead(ring) : 0);
    auto get =
        tag(GetOp::create(builder, loc, ring.channel, slot, getPhase(builder, number), inFlight));
    for (auto [load, buffer] : llvm::zip_equal(ring.loads, get.getBuffers()))
      mapping.map(load.getResult(),
                  tag(ReadOp::create(builder, load.getLoc(), load.getType(), buffer)).getResult());
    tag(ReleaseOp::create(builder, loc, ring.channel, slot));
  }
  meet(builder);
  for (Operation &op : loop.getBody()->without_terminator())
    if (!ringOf.count(&op))
      builder.clone(op, mapping);
  meet(builder);
  SmallVector<Value> results;
  for (Value value : loop.getBody()->getTerminator()->getOperands())
    results.push_back(mapping.lookupOrDefault(value));
  return results;
}

/// A barrier of those copies whose lag, their number times the skew, compares so with the bound.
void OwnRings::lag(OpBuilder &builder, arith::CmpIPredicate predicate, int64_t bound) {
  IndexMath math{builder, loc};
  Value copy = CopyIdOp::create(builder, loc, builder.getIndexType());
  Value lag = math.mul(copy, math.constant(role.getSkew()));
  Value meets = arith::CmpIOp::create(builder, loc, predicate, lag, math.constant(bound));
  auto condition = scf::IfOp::create(builder, loc, meets);
  OpBuilder inner = condition.getThenBodyBuilder();
  meet(inner);
}

void OwnRings::realise() {
  OpBuilder builder(loop);
  IndexMath math{builder, loc};
  Value lower = loop.getLowerBound(), upper = loop.getUpperBound(), step = loop.getStep();
  Value zero = number(builder, 0);
  int64_t mostAhead = 0;
  for (Ring &ring : plan.rings) {
    mostAhead = std::max(mostAhead, getAhead(ring));
    for (int64_t use = 0; use < getAhead(ring); ++use) {
      Value at = skip(builder, lower, use);
      auto exists = scf::IfOp::create(builder, loc, isBefore(builder, at, upper));
      OpBuilder inner = exists.getThenBodyBuilder();
      put(inner, ring, at, use, number(inner, 0));
    }
  }

  int64_t mostLag = role.getSkew() * (role.getCopies() - 1);
  for (int64_t i = 0; i < mostLag; ++i)
    lag(builder, arith::CmpIPredicate::ugt, i);

  // Whole rounds: as many as have all their puts, perhaps none.
  Value none = math.constant(0);
  Value last = skip(builder, lower, mostAhead);
  Value span = arith::SelectOp::create(builder, loc, isBefore(builder, last, upper),
                                       math.sub(upper, last), none);
  Value trips = arith::CeilDivUIOp::create(builder, loc, span, step);
  Value depth = math.constant(plan.depth);
  Value rounds = math.div(trips, depth);
  Value length = math.mul(depth, step);
  Value middle = math.add(lower, math.mul(rounds, length));
  SmallVector<Value> inits(loop.getInitArgs());
  inits.push_back(zero);
  auto main = scf::ForOp::create(builder, loc, lower, middle, length, inits);
  OpBuilder inner = OpBuilder::atBlockEnd(main.getBody());
  SmallVector<Value> carried(main.getRegionIterArgs().drop_back());
  Value round = main.getRegionIterArgs().back();
  for (int64_t j = 0; j < plan.depth; ++j)
    carried = trip(inner, j, skip(inner, main.getInductionVar(), j), carried, round,
                   /*isWhole=*/true);
  carried.push_back(arith::XOrIOp::create(inner, loc, round, number(inner, 1)));
  scf::YieldOp::create(inner, loc, carried);

  // What is left: fewer than one round, and the trips whose puts went before.
  carried = SmallVector<Value>(main.getResults().drop_back());
  for (int64_t j = 0; j < plan.depth - 1 + mostAhead; ++j) {
    Value at = skip(builder, middle, j);
    auto exists = scf::IfOp::create(builder, loc, ValueRange(carried).getTypes(),
                                    isBefore(builder, at, upper), /*withElseRegion=*/true);
    for (Region *region : {&exists.getThenRegion(), &exists.getElseRegion()})
      if (!region->front().empty())
        region->front().back().erase();
    OpBuilder then = OpBuilder::atBlockEnd(exists.thenBlock());
    SmallVector<Value> results =
        trip(then, j, at, carried, main.getResults().back(), /*isWhole=*/false);
    scf::YieldOp::create(then, loc, results);
    OpBuilder otherwise = OpBuilder::atBlockEnd(exists.elseBlock());
    scf::YieldOp::create(otherwise, loc, carried);
    carried = SmallVector<Value>(exists.getResults());
  }
  for (int64_t i = 0; i < mostLag; ++i)
    lag(builder, arith::CmpIPredicate::ult, mostLag - i);
  loop.replaceAllUsesWith(carried);
  loop.erase();
}

LogicalResult kiln::realiseOwnRings(scf::ForOp loop, RingPlan &plan) {
  for (Operation *op = loop->getParentOp(); !isa<KernelOp>(op); op = op->getParentOp())
    if (isa<scf::ForOp>(op))
      return op->emitOpError("expected no loop around one whose role fills its own ring, since its "
                             "slots are known when compiling");
  if (plan.carried || !plan.immediate.empty()) {
    DotOp dot = plan.carried ? plan.carried : plan.immediate.front();
    return dot.emitOpError("expected no dot in flight in a loop whose role fills its own ring");
  }
  OwnRings(loop, plan).realise();
  return success();
}
