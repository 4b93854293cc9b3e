// Gives each slot back behind the last op that reads it. Of a ring that lanes read as well as dots
// that end by commit, each slot goes back twice: behind the last that lanes read, and by a commit.
#include "SourceErrors.h"
#include "Trip.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// The first op of this kind behind a place, at this place's stage.
template <typename Op>
static Operation *findNext(const Trip &trip, TripTime time) {
  for (Operation *op : ArrayRef(trip.ops).drop_front(time.place))
    if (isa<Op>(op) && trip.stages.lookup(op) == time.stage)
      return op;
  return nullptr;
}

SmallVector<Operation *> kiln::findReaders(Value buffer) {
  SmallVector<Operation *> readers;
  for (Operation *user : buffer.getUsers())
    if (auto part = dyn_cast<PartOp>(user))
      llvm::append_range(readers, findReaders(part.getResult()));
    else
      readers.push_back(user);
  return readers;
}

bool kiln::isReadByLanes(GetOp get) {
  return llvm::any_of(get.getBuffers(), [](Value buffer) {
    return !llvm::all_of(findReaders(buffer), llvm::IsaPred<StartDotOp, CopyOutOp>);
  });
}

bool kiln::isReadByDots(GetOp get) {
  return llvm::any_of(get.getBuffers(), [](Value buffer) {
    return llvm::any_of(findReaders(buffer), llvm::IsaPred<StartDotOp>);
  });
}

bool kiln::isReadUntilCommit(GetOp get) {
  return get.getToStart() || llvm::any_of(get.getChannel().getUsers(), [](Operation *user) {
           auto release = dyn_cast<ReleaseOp>(user);
           return release && release.getCommit();
         });
}

static bool isCommitted(Operation *op) {
  if (auto dot = dyn_cast<DotOp>(op))
    return dot.getInFlight() && endsByCommit(dot.getAtomAttr());
  auto dot = dyn_cast<StartDotOp>(op);
  return dot && endsByCommit(dot.getAtom());
}

/// One lane tells for its warp that the others have read the slot, or at least seen that it is
/// full: who looks when the slot has been filled again sees the parity of the phase before. All
/// lanes start dots together, unless these end by commit, or are of a loop that may have no trip.
static bool mustLanesMeet(GetOp get) {
  bool startTogether = llvm::any_of(get.getBuffers(), [&](Value buffer) {
    return llvm::any_of(findReaders(buffer), [&](Operation *reader) {
      auto dot = dyn_cast<StartDotOp>(reader);
      return dot && dot->getBlock() == get->getBlock() && !endsByCommit(dot.getAtom());
    });
  });
  return isReadByLanes(get) || !startTogether;
}

ReleaseOp kiln::makeRelease(OpBuilder &builder, Location loc, GetOp get, Value slot,
                            bool byCommit) {
  return ReleaseOp::create(builder, loc, get.getChannel(), slot, !byCommit && mustLanesMeet(get),
                           byCommit, /*peers=*/ValueRange());
}

RingReaders kiln::findRingReaders(Region &region) {
  RingReaders all;
  for (BlockArgument channel : region.getArguments()) {
    bool byDots = false, byOthers = false;
    for (Operation *user : channel.getUsers())
      if (auto get = dyn_cast<GetOp>(user))
        for (Value buffer : get.getBuffers())
          for (Operation *reader : findReaders(buffer))
            (isCommitted(reader) ? byDots : byOthers) = true;
    if (byDots)
      (byOthers ? all.byBoth : all.byDots).insert(channel);
  }
  return all;
}

/// A loop that leaves dots in flight is done once they are waited for.
static Operation *findDrain(Operation *loop) {
  for (Value result : loop->getResults())
    if (isa<PendingType>(result.getType()))
      for (Operation *user : result.getUsers())
        if (isa<WaitOp>(user))
          return user;
  return loop;
}

/// When a reader of a slot's buffer is done. That of a dot that stays in flight is a later stage.
static TripTime findEnd(const Trip &trip, Operation *reader) {
  Operation *here = trip.findHere(reader);
  TripTime time = trip.getTime(here);
  if (isCommitted(reader))
    return time;
  if (here != reader)
    return trip.getTime(trip.findHere(findDrain(here)));
  if (auto held = trip.heldFor.find(reader); held != trip.heldFor.end())
    return {time.stage + held->second, trip.ops.size() - 1};
  if (WaitOp wait = trip.waits.lookup(reader))
    return trip.getTime(wait);
  if (isa<CopyOutOp>(reader))
    if (Operation *wait = findNext<WaitStoresOp>(trip, time))
      return trip.getTime(wait);
  return time;
}

/// A slot that is held for some trips needs others to go on with.
static LogicalResult checkDepth(const Trip &trip, GetOp get, int64_t held) {
  int64_t uses = 0;
  for (Operation *op : trip.ops)
    if (auto other = dyn_cast<GetOp>(op))
      uses += other.getChannel() == get.getChannel();
  int64_t depth = get.getChannel().getType().getDepth();
  if (held * uses < depth)
    return success();
  return emitSourceError(get, "expected a ring of more than ")
         << held * uses << " slots ('depth'), as many as are held when the next one is got, got "
         << depth;
}

/// The op of a block behind which a reader in it is done.
static Operation *findWait(Operation *op) {
  auto dot = dyn_cast<StartDotOp>(op);
  if (!dot)
    return findDrain(op);
  if (isCommitted(dot))
    return dot;
  uint64_t later = 0;
  for (Operation *next = op->getNextNode(); next; next = next->getNextNode()) {
    later += isa<StartDotOp>(next);
    if (auto wait = dyn_cast<WaitOp>(next); wait && wait.getInFlight() <= later)
      return next;
  }
  return op;
}

/// Releases a slot in each branch of a condition that has all of the last reads, behind these: what
/// follows them there need not be waited for.
static void releaseIn(scf::IfOp condition, GetOp get, bool byCommit) {
  OpBuilder builder(get);
  if (condition.getElseRegion().empty()) {
    builder.createBlock(&condition.getElseRegion());
    scf::YieldOp::create(builder, condition.getLoc());
  }
  for (Region *region : {&condition.getThenRegion(), &condition.getElseRegion()}) {
    Block &block = region->front();
    Operation *last = nullptr;
    DenseSet<Operation *> readers;
    for (Value buffer : get.getBuffers())
      for (Operation *user : findReaders(buffer))
        if (Operation *here = block.findAncestorOpInBlock(*user);
            here && isCommitted(user) == byCommit) {
          readers.insert(here);
          Operation *end = block.findAncestorOpInBlock(*findWait(here));
          if (!last || last->isBeforeInBlock(end))
            last = end;
        }
    // A condition that only waits for dots of a loop in front of it is behind them either way.
    if (auto inner = dyn_cast_or_null<scf::IfOp>(last); inner && readers.contains(inner)) {
      releaseIn(inner, get, byCommit);
      continue;
    }
    if (last)
      builder.setInsertionPointAfter(last);
    else
      builder.setInsertionPointToStart(&block);
    makeRelease(builder, get.getLoc(), get, get.getSlot(), byCommit);
  }
}

/// Behind the last that reads it of those that end by commit, or of the others.
static LogicalResult release(Trip &trip, GetOp get, bool byCommit) {
  TripTime end = trip.getTime(get);
  int64_t later = 0;
  for (Value buffer : get.getBuffers())
    for (Operation *user : findReaders(buffer))
      if (isCommitted(user) == byCommit) {
        end = std::max(end, findEnd(trip, user));
        later = std::max(later, trip.heldFor.lookup(user));
      }
  if (trip.loop && failed(checkDepth(trip, get, end.stage - trip.stages.lookup(get))))
    return failure();
  if (later > 0) {
    trip.heldSlots.push_back({get, end.stage, later});
    return success();
  }
  if (auto condition = dyn_cast<scf::IfOp>(trip.ops[end.place])) {
    releaseIn(condition, get, byCommit);
    return success();
  }
  OpBuilder builder(get);
  ReleaseOp release = makeRelease(builder, get.getLoc(), get, get.getSlot(), byCommit);
  trip.insert(end.place + 1, release, end.stage);
  return success();
}

/// Whether a role gives back a slot in front of a later op of its own, so many trips later.
static LogicalResult checkGivenBack(const Trip &trip, GetOp earlier, int64_t distance,
                                    Operation *next) {
  for (Operation *user : earlier.getSlot().getUsers()) {
    if (!isa<ReleaseOp>(user) || !trip.findHere(user))
      continue;
    TripTime from = trip.getTime(trip.findHere(user));
    from.stage -= distance;
    if (!(from < trip.getTime(next)))
      return emitTooFewSlots(earlier, earlier.getChannel().getType().getDepth());
  }
  return success();
}

/// Whether a loop or a condition of the trip goes round a ring, too.
static bool usesInside(const Trip &trip, Value channel) {
  return llvm::any_of(channel.getUsers(), [&](Operation *user) {
    Operation *here = trip.findHere(user);
    return isa<NextOp>(user) && here && here != user;
  });
}

/// Where a role waits for slots that it gives back itself, or that are filled when it has given
/// them back, it has done so in front of the wait.
static LogicalResult checkRefills(const Trip &trip) {
  llvm::MapVector<Value, std::pair<SmallVector<PutOp>, SmallVector<GetOp>>> rings;
  for (Operation *op : trip.ops)
    if (auto put = dyn_cast<PutOp>(op))
      rings[put.getChannel()].first.push_back(put);
    else if (auto get = dyn_cast<GetOp>(op); get && isCounted(get))
      rings[get.getChannel()].second.push_back(get);
  for (auto &[channel, sides] : rings) {
    auto &[puts, gets] = sides;
    int64_t depth = cast<ChannelType>(channel.getType()).getDepth(), uses = gets.size();
    if (puts.empty() && usesInside(trip, channel))
      continue;
    if (puts.empty())
      llvm::sort(gets, [&](GetOp one, GetOp other) {
        return trip.getPlace(one.getSlot().getDefiningOp()) <
               trip.getPlace(other.getSlot().getDefiningOp());
      });
    SmallVector<Operation *> waits(gets.begin(), gets.end());
    if (!puts.empty())
      waits.assign(puts.begin(), puts.end());
    if (waits.size() != gets.size())
      continue;
    for (auto [place, wait] : llvm::enumerate(waits)) {
      auto [before, distance] = findUseBefore(place, uses, depth);
      if (failed(checkGivenBack(trip, gets[before], distance, wait)))
        return failure();
    }
  }
  return success();
}

/// The op of a trip with which what is committed begins.
static Operation *findBegin(const Trip &trip, CommitOp commit) {
  Operation *first = commit;
  auto pend = commit.getAccumulator().getDefiningOp<PendOp>();
  for (Value sum = pend ? pend.getTensor() : Value(); sum;) {
    Operation *op = sum.getDefiningOp();
    if (!op || op->getBlock() != &trip.block || trip.free.contains(op))
      break;
    first = op;
    auto wait = dyn_cast<WaitOp>(op);
    auto dot = dyn_cast<StartDotOp>(op);
    sum = wait ? wait.getPending() : dot ? dot.getAccumulator() : Value();
  }
  return first;
}

/// A sum that its own role fetches beside others has been when the next one in its slot begins.
static LogicalResult checkRefetches(const Trip &trip) {
  for (Operation *op : trip.ops)
    for (Operation *other : trip.ops) {
      auto commit = dyn_cast<CommitOp>(op);
      auto get = dyn_cast<GetOp>(other);
      if (!commit || !get || commit.getChannel() != get.getChannel())
        continue;
      int64_t depth = get.getChannel().getType().getDepth();
      if (failed(checkGivenBack(trip, get, depth, findBegin(trip, commit))))
        return failure();
    }
  return success();
}

LogicalResult kiln::releaseSlots(Trip &trip, const RingReaders &readers) {
  SmallVector<GetOp> gets;
  for (Operation *op : trip.ops) {
    // A loop that is realised leaves gets in front of it and behind, with their releases.
    auto get = dyn_cast<GetOp>(op);
    auto isRelease = [](Operation *user) { return isa<ReleaseOp>(user); };
    if (get && isCounted(get) && llvm::none_of(get.getSlot().getUsers(), isRelease))
      gets.push_back(get);
  }
  for (GetOp get : gets) {
    // What only dots read one thread gets for them.
    get.setToStart(readers.byDots.contains(get.getChannel()));
    bool isByBoth = readers.byBoth.contains(get.getChannel());
    for (bool byCommit : {false, true})
      if ((isByBoth || get.getToStart() == byCommit) && failed(release(trip, get, byCommit)))
        return failure();
  }
  return failure(trip.loop && (failed(checkRefills(trip)) || failed(checkRefetches(trip))));
}
