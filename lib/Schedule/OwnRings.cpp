// When a role reads what it has loaded for itself, if nobody says when.
#include "CutParts.h"
#include "GlobalAccesses.h"
#include "Rings.h"
#include "Trip.h"
#include "kiln/Layout/Transforms/Layouts.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
/// What dots in flight do with a slot that they read.
struct Hold {
  /// The dot that holds it for longest; null if none stays in flight to the end of its trip.
  DotOp dot;
  /// How many trips later its trip's end is that gives the slot back.
  int64_t trips = 0;
};
} // namespace

/// How a dot holds what it reads that adds to the loop's own sum, alone or in a chain of dots:
/// while it is waited for, those of its chain behind it run on, in its trip and in later ones.
static Hold getHold(DotOp dot) {
  if (!dot.getInFlight() || endsByCommit(dot.getAtomAttr()))
    return {};
  auto isNext = [](Operation *op, DotOp from) {
    auto next = dyn_cast<DotOp>(op);
    return next && next.getInFlight() && next->getBlock() == from->getBlock() &&
           next.getAccumulator() == from.getResult() && from->hasOneUse();
  };
  int64_t length = countStarts(dot), behind = 0;
  DotOp first = dot, last = dot;
  while (auto before = first.getAccumulator().getDefiningOp<DotOp>()) {
    if (!isNext(first, before))
      return {};
    first = before;
    length += countStarts(first);
  }
  while (last->hasOneUse() && isNext(*last->user_begin(), last)) {
    last = cast<DotOp>(*last->user_begin());
    behind += countStarts(last);
  }
  length += behind;
  Value sum = first.getAccumulator();
  bool isCarried = isa<BlockArgument>(sum) && sum.getParentBlock() == dot->getBlock() &&
                   sum.hasOneUse() && last->hasOneUse() &&
                   *last->user_begin() == dot->getBlock()->getTerminator();
  if (!isCarried)
    return {};
  int64_t others = std::max<int64_t>(*last.getInFlight() - behind, 0);
  return {dot, int64_t(llvm::divideCeil(others, length))};
}

/// How dots hold what a use brings, of those that read it out of its slot.
static Hold getHold(RingUse &use) {
  Hold longest;
  for (LoadOp load : use.loads)
    for (OpOperand &operand : load.getResult().getUses())
      if (isReadFromBuffer(operand)) {
        Hold hold = getHold(cast<DotOp>(operand.getOwner()));
        if (hold.dot && (!longest.dot || hold.trips > longest.trips))
          longest = hold;
      }
  return longest;
}

/// How dots hold what a trip brings by each of its uses of the ring.
static SmallVector<Hold> getHolds(Ring &ring, Block *trip) {
  SmallVector<Hold> holds;
  for (RingUse &use : ring.uses)
    if (use.getBlock() == trip)
      holds.push_back(getHold(use));
  return holds;
}

/// Whether each slot is given back in front of what fills it again, if it is read so many trips
/// after it has been filled.
static bool hasSlots(ArrayRef<Hold> holds, int64_t depth, int64_t ahead, bool isWritten) {
  int64_t uses = holds.size();
  for (int64_t place = 0; place < uses; ++place) {
    int64_t before = place - depth, distance = -llvm::divideFloorSigned(before, uses);
    int64_t earlier = before + distance * uses;
    int64_t later = ahead + holds[earlier].trips - distance;
    // What goes through registers is written at the end of a trip, and what dots hold is given back
    // behind that.
    bool isInTime = !holds[earlier].dot && (isWritten || earlier < place);
    if (later > 0 || (later == 0 && !isInTime))
      return false;
  }
  return true;
}

/// How many trips before the end of one that it tells of an op of a loop may stand at most, since
/// whether there is another trip hangs on it; nothing if it does not.
static std::optional<int64_t> countTripsToTell(Operation *op) {
  auto loop = dyn_cast<scf::WhileOp>(op->getParentOp());
  if (!loop || !isRotated(loop))
    return std::nullopt;
  // The nearest makers come first.
  SmallVector<Value> values = {loop.getYieldOp().getOperand(0)}, carried;
  DenseSet<Value> seen;
  for (int64_t trips = 0; trips < kStageLimit; ++trips, values = std::exchange(carried, {})) {
    while (!values.empty()) {
      Value value = values.pop_back_val();
      if (!seen.insert(value).second)
        continue;
      if (auto argument = dyn_cast<BlockArgument>(value)) {
        // What the loop is asked hands all but the answer on.
        if (argument.getOwner() == loop.getAfterBody())
          carried.push_back(loop.getYieldOp().getOperand(argument.getArgNumber() + 1));
        continue;
      }
      Operation *here = loop.getAfterBody()->findAncestorOpInBlock(*value.getDefiningOp());
      if (here == op)
        return trips;
      if (here)
        here->walk([&](Operation *inner) { llvm::append_range(values, inner->getOperands()); });
    }
  }
  return std::nullopt;
}

static int64_t countUses(Ring &ring, RingUse &use) {
  return llvm::count_if(ring.uses,
                        [&](RingUse &other) { return other.getBlock() == use.getBlock(); });
}

/// Whether a loop or a condition of a use's trip uses the ring, too: in between, trip by trip.
static bool isUsedInside(Ring &ring, RingUse &use) {
  return llvm::any_of(ring.uses, [&](RingUse &other) {
    Operation *site = other.getSite(), *here = use.getBlock()->findAncestorOpInBlock(*site);
    return here && here != site;
  });
}

/// What of a trip reads first, for the role that fills the ring, what a use brings, if anybody says
/// when.
static std::optional<StagedUser> findFirstReader(Ring &ring, RingUse &use) {
  std::optional<StagedUser> first;
  for (LoadOp load : use.loads)
    if (std::optional<StagedUser> user = kiln::findFirstUser(load, ring.producer.getName());
        user && (!first || user->stage + user->later < first->stage + first->later))
      first = user;
  return first;
}

/// Whether the loop may store over what a use brings: then the next trip's loads wait for this one.
static bool isStoredOver(RingUse &use) {
  Operation *loop = getLoopOfTrips(use.getSite());
  return loop && llvm::any_of(use.loads, [&](LoadOp load) { return mayStoreLoaded(loop, load); });
}

bool kiln::isWrittenLater(Ring &ring, RingUse &use) {
  if (!ring.isWritten())
    return false;
  LoadOp load = use.loads.front();
  if (!ring.isReadByProducer() || ring.producer.getSkew() || getWriteStage(load))
    return true;
  if (isUsedInside(ring, use))
    return false;
  if (std::optional<StagedUser> user = findFirstReader(ring, use))
    return user->stage + user->later != int64_t(load.getStage().value_or(0));
  SmallVector<Hold> holds = getHolds(ring, use.getBlock());
  bool hasTwo = !isStoredOver(use) && hasSlots(holds, ring.depth, /*ahead=*/1, /*isWritten=*/true);
  return hasTwo || !hasSlots(holds, ring.depth, /*ahead=*/0, /*isWritten=*/false);
}

/// As many trips as the slots of the ring and stores of the loop allow.
static int64_t countTripsOf(Ring &ring, RingUse &use) {
  SmallVector<Hold> holds = getHolds(ring, use.getBlock());
  int64_t least = isWrittenLater(ring, use), ahead = std::max(ring.depth - 1, least);
  if (isUsedInside(ring, use) || isStoredOver(use))
    return least;
  for (LoadOp load : use.loads)
    if (std::optional<int64_t> most = countTripsToTell(load))
      ahead = std::max(std::min(ahead, *most), least);
  while (ahead > least && !hasSlots(holds, ring.depth, ahead, ring.isWritten()))
    --ahead;
  return ahead;
}

/// The use of a ring of its own role that brings a load of a loop's trips, if nobody says a stage
/// of what uses it.
static std::pair<Ring *, RingUse *> findOpenUse(RingPlan &plan, LoadOp load) {
  for (Ring &ring : plan)
    for (RingUse &use : ring.uses)
      if (llvm::is_contained(use.loads, load)) {
        bool isOpen = ring.isReadByProducer() && getLoopOfTrips(use.getSite()) &&
                      !llvm::any_of(use.loads, [](LoadOp each) { return findFirstStage(each); });
        return isOpen ? std::pair(&ring, &use) : std::pair<Ring *, RingUse *>();
      }
  return {};
}

/// The dots of a use's block that read its slots, or what is computed of them there.
static SetVector<DotOp> findDots(RingUse &use) {
  SetVector<DotOp> dots;
  SetVector<Operation *> ops;
  for (LoadOp load : use.loads)
    ops.insert(load);
  for (size_t i = 0; i < ops.size(); ++i)
    for (Operation *user : ops[i]->getUsers()) {
      if (user->getBlock() != use.getBlock() || user->hasTrait<OpTrait::IsTerminator>())
        continue;
      if (auto dot = dyn_cast<DotOp>(user))
        dots.insert(dot);
      else
        ops.insert(user);
    }
  return dots;
}

/// The loads of a dot's block that it reads, or what is computed of them there.
static SmallVector<LoadOp> findLoads(DotOp dot) {
  SmallVector<LoadOp> loads;
  SetVector<Operation *> ops;
  ops.insert(dot);
  for (size_t i = 0; i < ops.size(); ++i)
    for (Value value : ops[i]->getOperands()) {
      Operation *op = value.getDefiningOp();
      if (auto load = dyn_cast_or_null<LoadOp>(op))
        loads.push_back(load);
      else if (op && op->getBlock() == dot->getBlock() && !isa<DotOp>(op))
        ops.insert(op);
    }
  return loads;
}

static bool readsSlots(DotOp dot) {
  return llvm::any_of(dot->getOpOperands(),
                      [](OpOperand &operand) { return isReadFromBuffer(operand); });
}

TripStages kiln::findTripStages(RingPlan &plan, Ring &ring, RingUse &use) {
  // What one dot reads out of slots it reads in one trip, though one ring has more slots than
  // another.
  auto getSaid = [](RingUse &use) { return findNumber(use.loads.front(), "stage"); };
  auto getFilled = [&](RingUse &use) {
    return getWriteStage(use.loads.front()).value_or(getSaid(use).value_or(0));
  };
  SmallVector<std::pair<Ring *, RingUse *>> together = {{&ring, &use}};
  int64_t most = std::numeric_limits<int64_t>::max(), least = 0, own = countTripsOf(ring, use);
  for (size_t i = 0; i < together.size(); ++i) {
    auto [ring, use] = together[i];
    int64_t filled = getFilled(*use);
    most = std::min(most, filled + countTripsOf(*ring, *use));
    least = std::max<int64_t>(least, filled + isWrittenLater(*ring, *use));
    for (DotOp dot : findDots(*use))
      if (readsSlots(dot))
        for (LoadOp load : findLoads(dot))
          if (auto found = findOpenUse(plan, load); found.first &&
                                                    found.second->getBlock() == use->getBlock() &&
                                                    !llvm::is_contained(together, found))
            together.push_back(found);
  }
  int64_t read = std::max(most, least);
  return {getSaid(use).value_or(std::max<int64_t>(read - own, 0)), read};
}

TripStages kiln::findOwnStages(RingPlan &plan, Ring &ring, RingUse &use) {
  LoadOp load = use.loads.front();
  std::optional<int64_t> read;
  for (LoadOp each : use.loads)
    if (std::optional<int64_t> stage = findFirstStage(each); stage && (!read || *stage < *read))
      read = stage;
  return read ? TripStages{int64_t(load.getStage().value_or(0)), *read}
              : findTripStages(plan, ring, use);
}

/// A ring has slots for what dots in flight hold.
static LogicalResult checkHolds(Ring &ring, RingUse &use) {
  SmallVector<Hold> holds = getHolds(ring, use.getBlock());
  DotOp holder = getHold(use).dot;
  int64_t least = ring.depth, ahead = ring.isWritten();
  while (holder && !hasSlots(holds, least, ahead, ring.isWritten()))
    ++least;
  if (least == ring.depth)
    return success();
  InFlightDiagnostic error = use.loads.front().emitOpError("expected at least ")
                             << least << " slots ('depth') of what role \""
                             << ring.producer.getName()
                             << "\" loads for itself, of which a product in flight holds some "
                                "('in_flight' is "
                             << *holder.getInFlight() << "), got " << ring.depth;
  error.attachNote(holder.getLoc()) << "the product";
  return error;
}

/// Where slots have barriers, the role waits for the slot's release before it fills it again, and
/// so has read it by then.
static LogicalResult checkSaid(Ring &ring, RingUse &use) {
  LoadOp first = use.loads.front();
  bool isLater = isWrittenLater(ring, use);
  int64_t filled = first.getStage().value_or(0), written = getWriteStage(first).value_or(filled);
  int64_t least = isLater ? written + 1 : filled;
  std::optional<StagedUser> user = findFirstReader(ring, use);
  if (user && user->stage + user->later < least) {
    Operation *op = user->op; // what reads, not what it is converted by
    while (isa<ConvertLayoutOp>(op) && !op->use_empty())
      op = *op->user_begin();
    InFlightDiagnostic error = op->emitOpError("expected a stage of at least ")
                               << least - user->later << ", since what it reads is loaded at stage "
                               << filled;
    if (isLater)
      error << " and written to its slot at the end of a trip"
            << (getWriteStage(first) ? " ('tile.write_stage' is " + std::to_string(written) + ")"
                                     : std::string());
    (error << ", got " << user->stage).attachNote(first.getLoc()) << "the load";
    return error;
  }
  if (ring.isOwn() || countUses(ring, use) > 1)
    return success();
  Hold hold = getHold(use);
  for (LoadOp load : use.loads) {
    std::optional<int64_t> read = findFirstStage(load);
    if (!read)
      continue;
    int64_t ahead = *read - (isLater ? written : filled);
    int64_t least = std::max<int64_t>(ahead + hold.trips + !isLater, 1);
    if (ring.depth >= least)
      continue;
    InFlightDiagnostic error =
        load.emitOpError("expected at least ")
        << least << " slots ('depth') of what role \"" << ring.producer.getName()
        << "\" loads for itself, since it is read " << ahead << " trips later ('stage')";
    if (hold.trips)
      error << " and a product in flight holds it for " << hold.trips << " more ('in_flight')";
    return error << ", got " << ring.depth;
  }
  return success();
}

LogicalResult kiln::checkTripsAhead(RingPlan &plan, Ring &ring) {
  for (RingUse &use : ring.uses) {
    if (!getLoopOfTrips(use.getSite()))
      continue;
    if (llvm::any_of(use.loads, [](LoadOp each) { return findFirstStage(each); })) {
      if (failed(checkSaid(ring, use)))
        return failure();
      continue;
    }
    LoadOp load = use.loads.front();
    int64_t read = findTripStages(plan, ring, use).read;
    if (read >= kStageLimit)
      return load.emitOpError("expected at most ")
             << ring.depth - read + kStageLimit - 1 << " slots ('depth') of what role \""
             << ring.producer.getName()
             << "\" loads for itself, since it is used as many trips later, as nobody says its "
                "users' stage, and stages are below "
             << kStageLimit << ", got " << ring.depth;
    if (failed(checkHolds(ring, use)))
      return failure();
  }
  return success();
}
