// Copies of a role that lag behind one another by barriers of all of them.
//
// Where such a role starts dots whose operands another role brings, it meets in front of the first
// of them and behind the last, as far as none is waited for in between. With a skew of one each
// copy then starts its dots while the one before it works on the results of its own, in turns.
//
// A copy that goes through trips without meeting does not wait for those behind it, which stand at
// a barrier and give no slot back meanwhile: it would go round a ring and wait for them forever. So
// each trip that uses a ring meets. Where none of its dots may run, since they stand in a condition
// or in a loop of no trip, the copies meet as often as around one of them.
#include "Rings.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

void kiln::meetCopies(OpBuilder &builder, Location loc, RoleAttr role) {
  BarrierOp::create(builder, loc, /*publish=*/false, /*all_copies=*/role.getCopies() > 1,
                    /*global=*/false);
}

/// A copy lags by its number times the skew. On entry it meets those before it so often first; at
/// the end they meet it as often as it is behind.
void kiln::lagCopies(OpBuilder &builder, Location loc, RoleAttr role, bool isEntry) {
  int64_t most = role.getSkew() * (role.getCopies() - 1);
  for (int64_t i = 0; i < most; ++i) {
    IndexMath math{builder, loc};
    Value copy = CopyIdOp::create(builder, loc, builder.getIndexType());
    Value lag = math.mul(copy, math.constant(role.getSkew()));
    auto predicate = isEntry ? arith::CmpIPredicate::ugt : arith::CmpIPredicate::ult;
    Value meets =
        arith::CmpIOp::create(builder, loc, predicate, lag, math.constant(isEntry ? i : most - i));
    auto condition = scf::IfOp::create(builder, loc, meets);
    OpBuilder inner = condition.getThenBodyBuilder();
    meetCopies(inner, loc, role);
  }
}

//===- Starting dots in turns ---------------------------------------------------------------===//

/// Meets around the dots of a block that nothing waits between.
static void meetAroundDots(Block &block, RoleAttr role) {
  StartDotOp last;
  auto close = [&] {
    if (!last)
      return;
    OpBuilder builder(last);
    builder.setInsertionPointAfter(last);
    meetCopies(builder, last.getLoc(), role);
    last = nullptr;
  };
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (op.getNumRegions() > 0 || isa<WaitOp>(op))
      close();
    auto dot = dyn_cast<StartDotOp>(op);
    if (!dot)
      continue;
    if (!last) {
      OpBuilder builder(dot);
      meetCopies(builder, dot.getLoc(), role);
    }
    last = dot;
  }
  close();
}

//===- Trips without dots -------------------------------------------------------------------===//

namespace {
/// The ways through something: whether one meets nowhere, and whether one that does uses a ring.
struct Ways {
  bool mayPass = true, mayUse = false;
};
} // namespace

static Ways follow(Ways first, Ways second) {
  return {first.mayPass && second.mayPass,
          (first.mayUse && second.mayPass) || (first.mayPass && second.mayUse)};
}
static Ways either(Ways one, Ways other) {
  return {one.mayPass || other.mayPass, one.mayUse || other.mayUse};
}

static Ways findWays(Operation &op);

static Ways findWays(Region &region) {
  Ways ways;
  if (!region.empty())
    for (Operation &op : region.front())
      ways = follow(ways, findWays(op));
  return ways;
}

/// A condition that a loop has trips if it stands in.
static bool saysAnyTrip(scf::IfOp condition, scf::ForOp loop) {
  auto below = condition.getCondition().getDefiningOp<arith::CmpIOp>();
  auto wanted = loop.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
  return below && below.getPredicate() == wanted && below.getLhs() == loop.getLowerBound() &&
         below.getRhs() == loop.getUpperBound();
}

static bool mayHaveNoTrip(scf::ForOp loop) {
  if (std::optional<APInt> trips = loop.getStaticTripCount())
    return trips->isZero();
  auto least = loop->getAttrOfType<IntegerAttr>(kLeastTripsAttrName);
  auto condition = dyn_cast<scf::IfOp>(loop->getParentOp());
  return !(least && least.getInt() > 0) &&
         !(condition && saysAnyTrip(condition, loop) && loop->getBlock() == condition.thenBlock());
}

static Ways findWays(Operation &op) {
  if (auto barrier = dyn_cast<BarrierOp>(op))
    return {!barrier.getAllCopies(), false};
  auto put = dyn_cast<PutOp>(op);
  auto get = dyn_cast<GetOp>(op);
  if (put || get)
    return {true, !(put ? put.getChannel() : get.getChannel()).getType().getOwn()};
  if (auto condition = dyn_cast<scf::IfOp>(op))
    return either(findWays(condition.getThenRegion()), findWays(condition.getElseRegion()));
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    Ways trip = findWays(loop.getRegion());
    return mayHaveNoTrip(loop) ? either(Ways(), trip) : trip;
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return follow(findWays(loop.getBefore()), either(Ways(), findWays(loop.getAfter())));
  return {};
}

/// The ways through a trip of a loop.
static Ways findTripWays(Operation *loop) {
  Ways ways;
  for (Region &region : loop->getRegions())
    ways = follow(ways, findWays(region));
  return ways;
}

static bool hasDots(Region &region) {
  return region.walk([](StartDotOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

static void meetAsAroundDots(OpBuilder &builder, Location loc, RoleAttr role) {
  for (int i = 0; i < 2; ++i)
    meetCopies(builder, loc, role);
}

/// An `scf.while` that tells as its last value whether it has had no trip.
static Value tellNoTrip(scf::WhileOp loop) {
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  auto constant = [&](bool value) -> Value {
    return arith::ConstantIntOp::create(builder, loc, value, 1);
  };
  SmallVector<Value> inits(loop.getInits());
  inits.push_back(constant(true));
  SmallVector<Type> types(loop.getResultTypes());
  types.push_back(builder.getI1Type());
  auto made = scf::WhileOp::create(builder, loc, types, inits);
  made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  for (auto [from, to] : llvm::zip_equal(loop->getRegions(), made->getRegions())) {
    to.takeBody(from);
    to.addArgument(builder.getI1Type(), loc);
  }
  made.getConditionOp().getArgsMutable().append(made.getBeforeArguments().back());
  scf::YieldOp yield = made.getYieldOp();
  builder.setInsertionPoint(yield);
  yield.getResultsMutable().append(constant(false));
  loop.replaceAllUsesWith(made.getResults().drop_back());
  loop.erase();
  return made.getResults().back();
}

static void meetOnAllWays(Region &region, RoleAttr role);

static void meetOnAllWays(scf::IfOp condition, RoleAttr role) {
  OpBuilder builder(condition);
  if (condition.getElseRegion().empty()) {
    builder.createBlock(&condition.getElseRegion());
    scf::YieldOp::create(builder, condition.getLoc());
  }
  for (Region *branch : {&condition.getThenRegion(), &condition.getElseRegion()}) {
    if (hasDots(*branch)) {
      meetOnAllWays(*branch, role);
      continue;
    }
    if (!findWays(*branch).mayPass)
      continue;
    builder.setInsertionPoint(branch->front().getTerminator());
    meetAsAroundDots(builder, condition.getLoc(), role);
  }
}

/// A loop of no trip meets behind it.
static void meetOnAllWays(Operation *loop, RoleAttr role) {
  meetOnAllWays(loop->getRegions().back(), role);
  auto counted = dyn_cast<scf::ForOp>(loop);
  if (counted && !mayHaveNoTrip(counted))
    return;
  OpBuilder builder(loop);
  builder.setInsertionPointAfter(loop);
  Location loc = loop->getLoc();
  Value none;
  if (counted) {
    auto from = counted.getUnsignedCmp() ? arith::CmpIPredicate::uge : arith::CmpIPredicate::sge;
    none =
        arith::CmpIOp::create(builder, loc, from, counted.getLowerBound(), counted.getUpperBound());
  } else {
    none = tellNoTrip(cast<scf::WhileOp>(loop));
  }
  auto condition = scf::IfOp::create(builder, loc, none);
  OpBuilder inner = condition.getThenBodyBuilder();
  meetAsAroundDots(inner, loc, role);
}

/// Of a region with dots. It meets where they are in any case: a condition that may have none is
/// the cheapest place.
static void meetOnAllWays(Region &region, RoleAttr role) {
  if (!findWays(region).mayPass)
    return;
  Operation *loop = nullptr;
  for (Operation &op : region.front()) {
    if (llvm::none_of(op.getRegions(), hasDots))
      continue;
    if (auto condition = dyn_cast<scf::IfOp>(op))
      return meetOnAllWays(condition, role);
    loop = &op;
  }
  meetOnAllWays(loop, role);
}

void kiln::skewDots(Region &region, RoleAttr role) {
  llvm::SetVector<Block *> blocks;
  region.walk([&](StartDotOp dot) { blocks.insert(dot->getBlock()); });
  if (blocks.empty())
    return;
  for (Block *block : blocks)
    meetAroundDots(*block, role);
  // Inner loops first: those around them meet where they do.
  region.walk([&](Operation *loop) {
    if (isa<scf::ForOp, scf::WhileOp>(loop) && hasDots(loop->getRegions().back()) &&
        findTripWays(loop).mayUse)
      meetOnAllWays(loop->getRegions().back(), role);
  });
  OpBuilder entry = OpBuilder::atBlockBegin(&region.front());
  OpBuilder exit = OpBuilder::atBlockEnd(&region.front());
  lagCopies(entry, region.getLoc(), role, /*isEntry=*/true);
  lagCopies(exit, region.getLoc(), role, /*isEntry=*/false);
}
