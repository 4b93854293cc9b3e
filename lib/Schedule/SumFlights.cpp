// Follows sums in tensor memory from their dots through loops and conditions to the waits for them,
// and counts how many are in flight at once.
#include "SumFlights.h"
#include "TensorUses.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

static bool isSum(Value value) {
  auto pending = dyn_cast<PendingType>(value.getType());
  return pending && pending.getInTensorMemory();
}

/// What a sum begins as, which is not in flight.
static bool isRoot(Value value) {
  return isa_and_nonnull<ub::PoisonOp, PendOp>(value.getDefiningOp());
}

namespace {
/// Which sums are one, wherever they are handed on.
class Flows {
public:
  explicit Flows(Region &region) {
    region.walk([&](Operation *op) { add(op); });
  }
  /// Null of a value that is none.
  Value getLeader(Value value) const {
    auto at = classes.findLeader(value);
    return at == classes.member_end() ? Value() : *at;
  }
  /// By which op another value than a dot's is handed on.
  llvm::SetVector<OpOperand *> carriers;

private:
  void add(Operation *op);
  void connect(OpOperand &from, Value to);
  void connectAll(MutableArrayRef<OpOperand> from, ValueRange to);

  llvm::EquivalenceClasses<Value> classes;
};

/// How many sums of one kind are in flight at once.
class FlightCounter {
public:
  FlightCounter(const Flows &flows, Value leader) : flows(flows), leader(leader) {}
  int64_t count(Region &region) {
    countBack(region.front(), {});
    return most;
  }

private:
  using Sums = llvm::SetVector<Value>;

  bool isOne(Value value) const { return isSum(value) && flows.getLeader(value) == leader; }
  Sums countBack(Block &block, Sums live);
  void addUses(Operation *op, Sums &live) const;
  void addInnerUses(Operation *op, Sums &live) const;

  const Flows &flows;
  Value leader;
  int64_t most = 0;
};
} // namespace

void Flows::connect(OpOperand &from, Value to) {
  if (!isSum(to))
    return;
  carriers.insert(&from);
  if (isRoot(from.get()))
    classes.insert(to);
  else
    classes.unionSets(from.get(), to);
}

void Flows::connectAll(MutableArrayRef<OpOperand> from, ValueRange to) {
  for (auto [operand, value] : llvm::zip_equal(from, to))
    connect(operand, value);
}

void Flows::add(Operation *op) {
  if (auto dot = dyn_cast<StartDotOp>(op)) {
    if (!isSum(dot.getResult()))
      return;
    classes.insert(dot.getResult());
    if (!isRoot(dot.getAccumulator()))
      classes.unionSets(dot.getAccumulator(), dot.getResult());
  } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
    auto *yield = loop.getBody()->getTerminator();
    connectAll(loop.getInitArgsMutable(), loop.getRegionIterArgs());
    connectAll(yield->getOpOperands(), loop.getRegionIterArgs());
    connectAll(yield->getOpOperands(), loop.getResults());
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    connectAll(loop->getOpOperands(), loop.getBeforeArguments());
    connectAll(loop.getYieldOp()->getOpOperands(), loop.getBeforeArguments());
    MutableArrayRef<OpOperand> args = loop.getConditionOp()->getOpOperands().drop_front();
    connectAll(args, loop.getAfterArguments());
    connectAll(args, loop.getResults());
  } else if (auto condition = dyn_cast<scf::IfOp>(op)) {
    for (Region *region : condition.getRegions())
      if (!region->empty())
        connectAll(region->front().getTerminator()->getOpOperands(), condition.getResults());
  }
}

//===- How many are in flight ---------------------------------------------------------------===//

/// All that an op uses, and those in it of what is made outside of it.
void FlightCounter::addUses(Operation *op, Sums &live) const {
  for (Value operand : op->getOperands())
    if (isOne(operand))
      live.insert(operand);
  addInnerUses(op, live);
}

void FlightCounter::addInnerUses(Operation *op, Sums &live) const {
  for (Region &region : op->getRegions())
    visitUsedValuesDefinedAbove(region, [&](OpOperand *operand) {
      if (isOne(operand->get()))
        live.insert(operand->get());
    });
}

/// From what is in flight behind a block to what is in front of it.
FlightCounter::Sums FlightCounter::countBack(Block &block, Sums live) {
  for (Operation &op : llvm::reverse(block)) {
    Sums outside = live;
    outside.remove_if([&](Value value) { return value.getDefiningOp() == &op; });
    // What a loop uses it uses in each trip.
    if (isa<scf::ForOp, scf::WhileOp>(op))
      addInnerUses(&op, outside);
    for (Region &region : op.getRegions())
      if (!region.empty())
        countBack(region.front(), outside);
    most = std::max<int64_t>(most, live.size());
    live = std::move(outside);
    addUses(&op, live);
  }
  most = std::max<int64_t>(most, live.size());
  return live;
}

//===- Flights ------------------------------------------------------------------------------===//

/// The last of the dots that begin with this one.
static SumBegin findLast(StartDotOp dot) {
  SumBegin begin = {&dot.getAccumulatorMutable(), dot};
  while (begin.last->hasOneUse()) {
    auto next = dyn_cast<StartDotOp>(*begin.last->user_begin());
    if (!next || next->getBlock() != dot->getBlock() ||
        next.getAccumulator() != begin.last.getResult())
      break;
    begin.last = next;
  }
  return begin;
}

std::vector<SumFlight> kiln::findFlights(Region &region) {
  Flows flows(region);
  llvm::MapVector<Value, SumFlight> found; // by a value of theirs
  region.walk([&](WaitOp wait) {
    Value leader = isSum(wait.getPending()) ? flows.getLeader(wait.getPending()) : Value();
    if (leader && !findLife(wait))
      found[leader];
  });
  region.walk<WalkOrder::PreOrder>([&](WaitOp wait) {
    if (auto *at = found.find(flows.getLeader(wait.getPending())); at != found.end())
      at->second.waits.push_back(wait);
  });
  DenseMap<Value, int64_t> dots; // of which no begin tells
  region.walk<WalkOrder::PreOrder>([&](StartDotOp dot) {
    Value leader = flows.getLeader(dot.getResult());
    auto *at = found.find(leader);
    if (at == found.end())
      return;
    ++dots[leader];
    if (!isRoot(dot.getAccumulator()))
      return;
    SumBegin begin = findLast(dot);
    at->second.begins.push_back(begin);
    for (StartDotOp each = begin.last;; each = each.getAccumulator().getDefiningOp<StartDotOp>()) {
      --dots[leader];
      if (each == dot)
        break;
    }
  });
  std::vector<SumFlight> flights;
  for (auto &[leader, flight] : found) {
    if (flight.begins.empty() || dots.lookup(leader) > 0)
      continue;
    flight.slots = FlightCounter(flows, leader).count(region);
    for (OpOperand *carrier : flows.carriers)
      if (Value value = carrier->get(); !isRoot(value) && flows.getLeader(value) == leader)
        flight.carriers.push_back(carrier);
    flights.push_back(std::move(flight));
  }
  return flights;
}
