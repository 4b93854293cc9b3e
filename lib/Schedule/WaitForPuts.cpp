// What a role has put into rings of its own arrives without telling anybody. Each copy of the role
// waits for its own puts, and a barrier tells the others:
//
//   wait_puts; barrier; get; reads; release        in front of the first get of a run of them
//
// Gets of rings that can be waited for in front of all puts of the trip have one wait there, for
// what was put last, and one barrier.
//
// Where dots in flight read, the barrier publishes: an engine sees what warps have brought once
// they have let it.
//
// Between a release of a slot and the put that fills it again stands a barrier too. It is that of
// the gets, if these come in front of the put, or can: they stand at its place, if what they wait
// for was put in an earlier trip. Otherwise it is one more, in front of the put.
//
// A slot that dots read which stay in flight from trip to trip goes back at the end of a later
// trip, which has waited for them.
//
// Copies that lag behind one another by a barrier meet twice a trip: behind what touches their
// rings, and at the end. So the one computes while the other copies and reads. They wait for the
// puts of the next trip in front of the first barrier: both lie between this wait and the get. For
// the first trip they wait and meet before any of them lags.
#include "SourceErrors.h"
#include "Trip.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
/// The uses of one ring in an iteration, as the source has them.
struct OwnRing {
  int64_t depth = 0;
  SmallVector<PutOp> puts;
  SmallVector<GetOp> gets;
};

class PutWaiter {
public:
  PutWaiter(Trip &trip, RoleAttr role, bool knownSlots)
      : trip(trip), role(role), knownSlots(knownSlots),
        builder(trip.block.getParent()->getContext()) {}
  LogicalResult run();

private:
  LogicalResult findRings();
  LogicalResult checkSkew();
  void setSlots();
  LogicalResult waitForGets();
  LogicalResult waitInTurns();
  LogicalResult separatePuts();
  void separateTrips();
  int64_t countLater(size_t place, PutOp put) const;
  WaitPutsOp insertWait(size_t place, PutOp put, int64_t stage);
  void waitTogether(PutOp put);
  void insertBarrier(size_t place, int64_t stage, bool publishes = false);
  void setInsertionPoint();
  TripTime findRelease(GetOp get) const;
  bool isUsedInsideBefore(PutOp put) const;
  bool mayComeRound(Value channel, const OwnRing &ring, PutOp put) const;
  bool hasBarrier(TripTime from, TripTime to, int64_t distance) const;

  Trip &trip;
  RoleAttr role;
  bool knownSlots;
  OpBuilder builder;
  llvm::MapVector<Value, OwnRing> rings;
  SmallVector<BarrierOp> barriers;
  /// In front of all puts of the trip: the wait, if it is for copies, and the barrier behind it.
  WaitPutsOp firstWait;
  BarrierOp firstBarrier;
};
} // namespace

/// What arrives later than the op that puts it.
static bool isAsync(PutOp put) { return !put.getBody().front().getOps<CopyInOp>().empty(); }

static bool isOwn(Value channel) { return cast<ChannelType>(channel.getType()).getOwn(); }

LogicalResult PutWaiter::findRings() {
  for (Operation &op : trip.block)
    if (!isa<PutOp, GetOp>(op)) {
      // What was realised in a loop or a condition has waited there.
      continue;
    } else if (auto put = dyn_cast<PutOp>(op); put && isOwn(put.getChannel())) {
      rings[put.getChannel()].puts.push_back(put);
      if (isAsync(put))
        trip.asyncPuts.push_back(put);
    } else if (auto get = dyn_cast<GetOp>(op);
               get && isOwn(get.getChannel()) && get.getSlot().getDefiningOp<NextOp>()) {
      rings[get.getChannel()].gets.push_back(get);
    }
  for (auto &[channel, ring] : rings)
    ring.depth = cast<ChannelType>(channel.getType()).getDepth();
  return success();
}

/// Copies lag by the barriers of their rings, or by those around their dots in flight.
LogicalResult PutWaiter::checkSkew() {
  for (auto &[channel, ring] : rings)
    for (GetOp get : ring.gets)
      if (role.getSkew() && isReadByDots(get))
        return emitSourceError(get, "expected no skew of role \"")
               << role.getName() << "\", whose dots in flight read the ring that it fills for "
               << "itself";
  return success();
}

/// A trip is written out as often as slots that are constants repeat. More often than this is more
/// code than it is worth: what goes through registers is waited for soon anyway; what is copied
/// past them, waited for in front of each read of a slot that is chosen at run time.
static constexpr int64_t kMostRound = 8, kMostCopiedRound = 16;

/// Whether a loop or a condition gets what is in a ring.
static bool isUsedIn(Operation *op, Value channel) {
  return op
      ->walk([&](Operation *inner) {
        auto get = dyn_cast<GetOp>(inner);
        bool isIts = inner != op && get && get.getChannel() == channel;
        return isIts ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// After which trips slots repeat, and which each use has; nothing if that is after too many.
void PutWaiter::setSlots() {
  for (auto &[channel, ring] : rings) {
    int64_t uses = ring.puts.size();
    for (auto [place, put, get] : llvm::enumerate(ring.puts, ring.gets))
      for (Value slot : {put.getSlot(), get.getSlot()})
        trip.slots[slot.getDefiningOp()] = {ring.depth, uses, int64_t(place)};
    trip.round = std::lcm(trip.round, ring.depth / std::gcd(ring.depth, uses));
  }
  if (trip.round <= (trip.asyncPuts.empty() ? kMostRound : kMostCopiedRound))
    return;
  trip.round = 1;
  trip.slots.clear();
}

void PutWaiter::setInsertionPoint() {
  if (!trip.block.empty() && trip.block.back().hasTrait<OpTrait::IsTerminator>())
    builder.setInsertionPoint(&trip.block.back());
  else
    builder.setInsertionPointToEnd(&trip.block);
}

/// Where trips are not written anew, only puts of the block itself may follow.
int64_t PutWaiter::countLater(size_t place, PutOp put) const {
  return llvm::count_if(trip.asyncPuts, [&](PutOp other) {
    return trip.getPlace(other) > trip.getPlace(put) && trip.getPlace(other) < place;
  });
}

WaitPutsOp PutWaiter::insertWait(size_t place, PutOp put, int64_t stage) {
  setInsertionPoint();
  auto wait = WaitPutsOp::create(builder, put.getLoc(), countLater(place, put));
  trip.putWaits[wait] = put;
  trip.insert(place, wait, stage);
  return wait;
}

/// In front of all puts of the trip, with what is waited for there already.
void PutWaiter::waitTogether(PutOp put) {
  if (!firstWait) {
    firstWait = insertWait(trip.getPlace(firstBarrier), put, trip.stages.lookup(firstBarrier));
    return;
  }
  PutOp &awaited = trip.putWaits[firstWait];
  if (!(trip.getTime(awaited) < trip.getTime(put)))
    return;
  awaited = put;
  firstWait.setInFlight(countLater(trip.getPlace(firstWait), put));
}

void PutWaiter::insertBarrier(size_t place, int64_t stage, bool publishes) {
  setInsertionPoint();
  Location loc = trip.ops[std::min(place, trip.ops.size() - 1)]->getLoc();
  barriers.push_back(BarrierOp::create(builder, loc, publishes,
                                       /*all_copies=*/role.getCopies() > 1, /*global=*/false));
  trip.insert(place, barriers.back(), stage);
}

/// When a slot goes back: releases have been made, but for those of slots that dots in flight hold.
TripTime PutWaiter::findRelease(GetOp get) const {
  for (const HeldSlot &held : trip.heldSlots)
    if (held.get == get)
      return {held.stage, trip.ops.size()};
  TripTime last = trip.getTime(get);
  for (Operation *user : get.getSlot().getUsers())
    if (Operation *here = trip.findHere(user))
      last = std::max(last, trip.getTime(here));
  return last;
}

/// Whether so many barriers as copies lag, and one, stand between two points of time of an
/// iteration, all of which are passed if the iteration is there and the one so many before it.
bool PutWaiter::hasBarrier(TripTime from, TripTime to, int64_t distance) const {
  int64_t passed = 0;
  for (BarrierOp barrier : barriers) {
    TripTime time = trip.getTime(barrier);
    for (int64_t at = from.stage; at <= to.stage; ++at) {
      TripTime here{at, time.place};
      int64_t iteration = at - time.stage;
      passed += from < here && here < to && iteration <= 0 && iteration >= -distance;
    }
  }
  return passed > role.getSkew();
}

/// What comes between the gets that one wait serves.
static bool isOfRing(Operation *op) { return isa<NextOp, GetOp, ReadOp, ReleaseOp, PartOp>(op); }

/// Whether dots read what is got with no barrier in front of them, in a condition or a loop of the
/// trip, that publishes it already.
static bool isReadUnpublished(GetOp get) {
  auto isPublished = [&](Operation *dot) {
    for (Operation *at = dot; at->getBlock() != get->getBlock(); at = at->getParentOp())
      for (Operation *before = at->getPrevNode(); before; before = before->getPrevNode())
        if (auto barrier = dyn_cast<BarrierOp>(before); barrier && barrier.getPublish())
          return true;
    return false;
  };
  return llvm::any_of(get.getBuffers(), [&](Value buffer) {
    return llvm::any_of(findReaders(buffer), [&](Operation *reader) {
      return isa<StartDotOp>(reader) && !isPublished(reader);
    });
  });
}

LogicalResult PutWaiter::waitForGets() {
  DenseMap<Operation *, PutOp> putOf;
  for (auto &[channel, ring] : rings)
    for (auto [put, get] : llvm::zip_equal(ring.puts, ring.gets)) {
      if (!(trip.getTime(put) < trip.getTime(get))) {
        InFlightDiagnostic error =
            emitSourceError(get, "expected what reads it at a later stage than ")
            << trip.stages.lookup(put)
            << ", or at a place behind it in a trip, since it is brought to "
            << "its slot there, got stage " << trip.stages.lookup(get);
        noteReader(error, get);
        return error;
      }
      putOf[get] = put;
    }
  for (size_t begin = 0; begin < trip.ops.size(); ++begin) {
    if (!putOf.contains(trip.ops[begin]))
      continue;
    int64_t stage = trip.stages.lookup(trip.ops[begin]);
    // What was put last has arrived with all that was put before it.
    PutOp last;
    TripTime ready;
    bool publishes = false;
    size_t end = begin;
    for (; end < trip.ops.size() && isOfRing(trip.ops[end]) &&
           trip.stages.lookup(trip.ops[end]) == stage;
         ++end) {
      PutOp put = putOf.lookup(trip.ops[end]);
      if (!put)
        continue;
      if (isAsync(put) && (!last || trip.getTime(last) < trip.getTime(put)))
        last = put;
      ready = std::max(ready, trip.getTime(put));
      publishes |= isReadUnpublished(cast<GetOp>(trip.ops[end]));
      putOf.erase(trip.ops[end]);
    }
    auto isPuts = [](Operation *op) {
      auto next = dyn_cast<NextOp>(op);
      return isa<PutOp>(op) || (next && next.getFills());
    };
    size_t place = llvm::find_if(trip.ops, isPuts) - trip.ops.begin();
    bool isFirst = place <= begin && ready < TripTime{stage, place};
    size_t before = trip.ops.size();
    if (isFirst && firstBarrier && trip.stages.lookup(firstBarrier) == stage) {
      if (last)
        waitTogether(last);
      firstBarrier.setPublish(firstBarrier.getPublish() || publishes);
    } else {
      place = isFirst ? place : begin;
      WaitPutsOp wait = last ? insertWait(place++, last, stage) : WaitPutsOp();
      insertBarrier(place, stage, publishes);
      if (isFirst) {
        firstWait = wait;
        firstBarrier = barriers.back();
      }
    }
    begin = end + trip.ops.size() - before - 1;
  }
  return success();
}

/// Of copies that lag behind one another.
LogicalResult PutWaiter::waitInTurns() {
  size_t behind = 0;
  PutOp last;
  std::optional<int64_t> stage;
  for (auto &[channel, ring] : rings)
    for (auto [put, get] : llvm::zip_equal(ring.puts, ring.gets)) {
      int64_t own = trip.stages.lookup(get);
      if (own <= trip.stages.lookup(put))
        return emitSourceError(get,
                               "expected a later stage than the copies that it gets have, since "
                               "copies of role \"")
               << role.getName() << "\" lag behind one another";
      if (stage.value_or(own) != own)
        return emitSourceError(get, "expected one stage for all that role \"")
               << role.getName() << "\" gets, since its copies lag behind one another, " << *stage
               << ", got " << own;
      stage = own;
      behind = std::max({behind, trip.getPlace(put) + 1, trip.getTime(get).place + 1,
                         findRelease(get).place + 1});
      if (isAsync(put) && (!last || trip.getTime(last) < trip.getTime(put)))
        last = put;
    }
  if (last)
    insertWait(behind++, last, *stage - 1);
  insertBarrier(behind, *stage);
  insertBarrier(trip.ops.size(), *stage);
  trip.lagging = role;
  trip.lagStage = *stage;
  return success();
}

/// Whether a loop or a condition of the trip that uses a ring stands in front of its put, with no
/// barrier of the trip between; where slots are constants, and so are counted otherwise there, that
/// of the trip before, too.
bool PutWaiter::isUsedInsideBefore(PutOp put) const {
  size_t place = trip.getPlace(put), count = trip.ops.size();
  size_t behind = trip.loop && knownSlots ? count - 1 - place : 0;
  for (size_t back = 1; back <= place + behind; ++back) {
    Operation *op = trip.ops[(place + count - back) % count];
    bool isUse = isUsedIn(op, put.getChannel());
    if (isUse || llvm::is_contained(barriers, op))
      return isUse;
  }
  return false;
}

/// Whether no barrier surely stands between the trip before and a put, though what fills its slot
/// again is unknown: a loop of the trip uses the ring too, unknown how often, and so goes round it.
bool PutWaiter::mayComeRound(Value channel, const OwnRing &ring, PutOp put) const {
  SmallVector<TripTime> ends;
  for (Operation *op : trip.ops)
    if (isUsedIn(op, channel))
      ends.push_back(trip.getTime(op));
  if (ends.empty())
    return false;
  for (GetOp get : ring.gets)
    ends.push_back(findRelease(get));
  TripTime to = trip.getTime(put);
  return llvm::any_of(ends, [&](TripTime end) {
    --end.stage;
    return end < to && !hasBarrier(end, to, /*distance=*/1);
  });
}

/// A slot is filled again once who had it has given it back, and all have been told.
LogicalResult PutWaiter::separatePuts() {
  for (auto &[channel, ring] : rings)
    for (auto [place, put] : llvm::enumerate(ring.puts)) {
      auto [before, distance] = findUseBefore(place, ring.puts.size(), ring.depth);
      if (!trip.loop && distance > 0) { // of whatever ran before the block, or in it
        if (isUsedInsideBefore(put))
          insertBarrier(trip.getPlace(put), trip.stages.lookup(put));
        continue;
      }
      GetOp earlier = ring.gets[before];
      TripTime from = findRelease(earlier), to = trip.getTime(put);
      from.stage -= distance;
      if (!(from < to))
        return emitTooFewSlots(earlier, ring.depth);
      if (hasBarrier(from, to, distance) && !isUsedInsideBefore(put) &&
          !mayComeRound(channel, ring, put))
        continue;
      if (role.getSkew())
        return emitSourceError(put, "expected a ring of more than ")
               << ring.depth << " slots ('depth'), since copies of role \"" << role.getName()
               << "\" lag behind one another";
      insertBarrier(trip.getPlace(put), trip.stages.lookup(put));
    }
  return success();
}

/// In a condition of a loop, whose barriers are not those of the trip: a slot that it fills may be
/// read still where it was used last time.
void PutWaiter::separateTrips() {
  if (!trip.block.getParentOp()->getParentOfType<LoopLikeOpInterface>())
    return;
  for (auto &[channel, ring] : rings)
    if (ring.depth < int64_t(2 * ring.puts.size()))
      insertBarrier(trip.getPlace(ring.puts.front()), trip.stages.lookup(ring.puts.front()));
}

LogicalResult PutWaiter::run() {
  if (failed(findRings()) || rings.empty())
    return success();
  for (auto &[channel, ring] : rings)
    if (ring.puts.size() != ring.gets.size())
      return emitSourceError(ring.puts.front(),
                             "expected as many uses of what it loads in one block");
  if (failed(checkSkew()))
    return failure();
  if (!trip.loop) {
    if (role.getSkew())
      return emitSourceError(rings.front().second.puts.front(),
                             "expected to stand in a loop, since "
                             "copies of role \"")
             << role.getName() << "\" lag behind one another";
    if (failed(waitForGets()) || failed(separatePuts()))
      return failure();
    separateTrips();
    return success();
  }
  if (knownSlots)
    setSlots();
  trip.fillsRings = true;
  return failure(failed(role.getSkew() ? waitInTurns() : waitForGets()) || failed(separatePuts()));
}

/// Of few bits, the number of a trip that is not there might overflow.
void kiln::countByIndex(Block &block) {
  auto loop = dyn_cast<scf::ForOp>(block.getParentOp());
  auto fills = [](PutOp put) { return isOwn(put.getChannel()); };
  if (!loop || loop.getInductionVar().getType().isIndex() ||
      llvm::none_of(block.getOps<PutOp>(), fills))
    return;
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  bool isUnsigned = loop.getUnsignedCmp();
  auto cast = [&](Type type, Value value) -> Value {
    if (isUnsigned)
      return arith::IndexCastUIOp::create(builder, loc, type, value);
    return arith::IndexCastOp::create(builder, loc, type, value);
  };
  Type index = builder.getIndexType(), type = loop.getInductionVar().getType();
  auto made = scf::ForOp::create(builder, loc, cast(index, loop.getLowerBound()),
                                 cast(index, loop.getUpperBound()), cast(index, loop.getStep()),
                                 loop.getInitArgs());
  made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  made.getRegion().takeBody(loop.getRegion());
  Value iv = made.getInductionVar();
  iv.setType(index);
  builder.setInsertionPointToStart(&block);
  Value number = cast(type, iv);
  iv.replaceAllUsesExcept(number, number.getDefiningOp());
  loop.replaceAllUsesWith(made.getResults());
  loop.erase();
}

LogicalResult kiln::waitForPuts(Trip &trip, RoleAttr role, bool knownSlots) {
  return PutWaiter(trip, role, knownSlots).run();
}
