// Runs the traces of all roles against one another, and the instances they are made for.
#include "../Trip.h"
#include "Protocol.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::protocol;
using namespace kiln::tile;

//===- Instances ----------------------------------------------------------------------------===//

// No trip, one trip, fewer trips than slots, and several rounds of a ring, for tiles of 16 to 256.
static constexpr int64_t kExtents[] = {0, 64, 200, 640, 130, 1000, 17, 384, 320, 256};
static constexpr unsigned kNumExtents = std::size(kExtents), kManyPrograms = 7;
static constexpr int64_t kMostAlike = 384;
/// The trips of a loop by no more than the small step are as many as tiles of an extent: with loops
/// in them, as many as elements would be too many to play.
static constexpr int64_t kTile = 64, kSmallStep = 8;

int64_t Instance::getExtent(unsigned argument, unsigned dim) const {
  // The first patterns give all extents one value, the others mix them; the last give many
  // programs, of which none has a trip.
  if (pattern >= 2 * kNumExtents)
    return argument < 2 && dim == pattern % 2 ? 0 : scale * kExtents[kManyPrograms];
  if (pattern < kNumExtents)
    return scale * kExtents[pattern];
  return scale * kExtents[(pattern + 3 * argument + 5 * dim) % kNumExtents];
}

/// The least step by which a loop counts up to a number, or to what it is converted to.
static int64_t findLeastStep(Value number) {
  int64_t least = kTile;
  for (OpOperand &use : number.getUses()) {
    Operation *user = use.getOwner();
    if (isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::ExtUIOp,
            arith::TruncIOp>(user))
      least = std::min(least, findLeastStep(user->getResult(0)));
    else if (auto loop = dyn_cast<scf::ForOp>(user); loop && use.get() == loop.getUpperBound())
      least = std::min(least, getConstantIntValue(loop.getStep()).value_or(least));
  }
  return least;
}

int64_t Instance::getScalar(WarpGroupsOp groups, unsigned argument) const {
  int64_t extent = getExtent(argument, 0), step = kTile;
  for (Region &role : groups.getBodies())
    step = std::min(step, findLeastStep(role.getArgument(argument)));
  return step <= kSmallStep ? llvm::divideCeil(extent * step, kTile) : extent;
}

int64_t Instance::getLoaded(unsigned argument, ArrayRef<int64_t> place) const {
  // Under some patterns each place leads to the one in front of it, as those of a list do; under
  // all others it differs from place to place.
  if (pattern >= kNumExtents && pattern % 2 == 1 && !place.empty())
    return place.back() - 1;
  int64_t which = pattern + 3 * int64_t(argument);
  for (int64_t at : place)
    which += 7 * (at % int64_t(kNumExtents) + int64_t(kNumExtents));
  return scale * kExtents[which % int64_t(kNumExtents)];
}

int64_t Instance::getHandedOver(unsigned channel, int64_t position, unsigned bits) const {
  bool counts = pattern % 2 == 0;
  int64_t number = counts ? position + program
                          : kExtents[(pattern + 3 * channel + 7 * position) % int64_t(kNumExtents)];
  return bits <= 8 ? number % 2 : number;
}

std::vector<Instance> kiln::protocol::getInstances() {
  std::vector<Instance> instances;
  for (unsigned pattern = 0; pattern < 2 * kNumExtents + 2; ++pattern)
    // All extents as large as the largest make as many trips in each of many tiles: where some ring
    // is not gone round otherwise, there are longer ones (Rounds.h).
    if (pattern >= kNumExtents || kExtents[pattern] <= kMostAlike)
      for (auto [program, programs] : {std::pair<int64_t, int64_t>{0, 1}, {1, 3}})
        instances.push_back({program, programs, pattern});
  return instances;
}

std::vector<Instance> Instance::getProgramsOfCluster(std::array<int64_t, 3> extents,
                                                     bool together) const {
  std::vector<Instance> instances;
  Instance instance = *this;
  instance.extents = extents;
  if (!together)
    return {instance};
  instance.cluster = extents;
  auto &[x, y, z] = instance.place;
  for (z = 0; z < extents[2]; ++z)
    for (y = 0; y < extents[1]; ++y)
      for (x = 0; x < extents[0]; ++x)
        instances.push_back(instance);
  return instances;
}

void kiln::protocol::describe(InFlightDiagnostic &error, WarpGroupsOp groups,
                              const Instance &instance) {
  Diagnostic &note = error.attachNote(groups.getLoc())
                     << "found for "
                     << (instance.getClusterPrograms() > 1 ? "cluster " : "program ")
                     << instance.program << " of " << instance.programs;
  StringRef separator = ", where ";
  for (auto [i, capture] : llvm::enumerate(groups.getCaptures())) {
    if (auto view = dyn_cast<ViewType>(capture.getType())) {
      note << separator << "argument " << i << " is";
      for (int64_t dim = 0; dim < view.getRank(); ++dim)
        note << (dim ? "x" : " ")
             << (view.isDynamicDim(dim) ? instance.getExtent(i, dim) : view.getShape()[dim]);
    } else if (capture.getType().isIntOrIndex()) {
      note << separator << "argument " << i << " is " << instance.getScalar(groups, i);
    } else {
      continue;
    }
    separator = ", ";
  }
}

//===- Play ---------------------------------------------------------------------------------===//

namespace {
/// What all traces have done so far: of each program of a cluster, or of the only one.
struct State {
  State(WarpGroupsOp groups, int64_t programs) : groups(groups), isShared(programs > 1) {}

  bool mayGo(const Trace &trace, const Event &event) {
    if (event.kind == Event::Meet)
      return met[getMeeting(trace, event)] == groups.getRole(trace.role).getCopies();
    bool isGet = event.kind == Event::Get;
    if (!isGet && event.kind != Event::Put && event.kind != Event::Acquire)
      return true;
    ChannelOp channel = channels[event.channel];
    if (channel.getType().getOwn())
      return true;
    if (isGet) {
      Use use = getUse(trace.program, event.channel, event.position);
      return filled[use] == int64_t(channel.getFull()) && announced[use] == brought[use];
    }
    int64_t before = event.position - channel.getType().getDepth();
    return before < 0 ||
           released[getUse(trace.program, event.channel, before)] == int64_t(channel.getEmpty());
  }
  void arrive(const Trace &trace, const Event &event) {
    if (event.kind == Event::Meet)
      ++met[getMeeting(trace, event)];
  }
  /// Gives the number of a program that a put, or the dots into what is acquired, reach before it
  /// has released the slot, if any.
  std::optional<unsigned> go(const Trace &trace, const Event &event) {
    if (event.kind == Event::Put || event.kind == Event::Acquire)
      return findUntold(trace, event, getBefore(event));
    RoleAttr role = groups.getRole(trace.role);
    if (event.kind == Event::Fill) {
      fill(trace, event, countArrivals(role, event.op));
      for (const Reach &reach : event.reaches)
        for (unsigned program : getPrograms(reach.programs))
          brought[getUse(getCounting(program, event), event.channel, event.position)] +=
              reach.bytes;
    } else if (event.kind == Event::Release) {
      Use use = getUse(trace.program, event.channel, event.position);
      int64_t arrivals = countArrivals(role, event.op);
      if (event.reaches.empty())
        released[use] += arrivals;
      for (const Reach &reach : event.reaches)
        for (unsigned program : getPrograms(reach.programs)) {
          Use there = getUse(program, event.channel, event.position);
          released[there] += arrivals;
          told[{there.first, {there.second, trace.program}}] += arrivals;
        }
    }
    return std::nullopt;
  }
  /// By as many as must, and by every program that is reached.
  bool isReleased(const Trace &trace, const Event &event) {
    return released[getUse(trace.program, event.channel, event.position)] ==
               int64_t(channels[event.channel].getEmpty()) &&
           !findUntold(trace, event, event.position);
  }

private:
  /// A channel of a program, and which use of it.
  using Use = std::pair<unsigned, int64_t>;
  Use getUse(unsigned program, unsigned channel, int64_t position) {
    return {program * unsigned(groups.getCaptures().size()) + channel, position};
  }
  Use getMeeting(const Trace &trace, const Event &event) {
    return {trace.program * unsigned(groups.getRoles().size()) + trace.role, event.position};
  }
  bool isOfPair(const Event &event) { return channels[event.channel].getType().getPair(); }
  /// At whose barriers the bytes that reach a program count, and who releases its slots.
  unsigned getCounting(unsigned program, const Event &event) {
    return isOfPair(event) ? getFirstOfPair(program) : program;
  }
  /// A slot is told of being full, and of how many bytes must come. Of two programs that fill one
  /// together the first announces what both bring; sums both of them tell both.
  void fill(const Trace &trace, const Event &event, int64_t arrivals) {
    unsigned first = getCounting(trace.program, event), programs = isOfPair(event) ? 2 : 1;
    auto put = dyn_cast<PutOp>(event.op);
    if (put && !put.getBytes() && isOfPair(event)) {
      filled[getUse(first, event.channel, event.position)] += arrivals;
      return;
    }
    if (!put) {
      for (unsigned program = first; program < first + programs; ++program)
        filled[getUse(program, event.channel, event.position)] += arrivals;
      return;
    }
    if (first != trace.program)
      return;
    Use use = getUse(first, event.channel, event.position);
    filled[use] += arrivals;
    if (isShared)
      announced[use] += programs * put.getBytes();
  }
  /// The use of the slot before this one; negative if there is none.
  int64_t getBefore(const Event &event) {
    return event.position - channels[event.channel].getType().getDepth();
  }
  bool isReleasedByCommit(unsigned channel) {
    return llvm::any_of(groups.getBodies(), [&](Region &region) {
      return llvm::any_of(region.getArgument(channel).getUsers(), [](Operation *user) {
        auto release = dyn_cast<ReleaseOp>(user);
        return release && release.getCommit();
      });
    });
  }
  /// A program that is reached and has not told of having released a use.
  std::optional<unsigned> findUntold(const Trace &trace, const Event &event, int64_t position) {
    if (position < 0)
      return std::nullopt;
    Use use = getUse(trace.program, event.channel, position);
    auto isTold = [&](unsigned program) {
      return told[{use.first, {use.second, program}}] >= countReleases(groups, event.channel);
    };
    for (const Reach &reach : event.reaches)
      for (unsigned program : getPrograms(reach.programs))
        if (!isTold(getCounting(program, event)))
          return program;
    unsigned first = getCounting(trace.program, event);
    if (event.kind == Event::Acquire && isOfPair(event)) {
      // What dots read, one gives back for both.
      unsigned telling = isReleasedByCommit(event.channel) ? 1 : 2;
      for (unsigned program = first; program < first + telling; ++program)
        if (!isTold(program))
          return program;
    }
    return std::nullopt;
  }

  using Counts = DenseMap<Use, int64_t>;
  WarpGroupsOp groups;
  SmallVector<ChannelOp> channels = getChannels(groups);
  bool isShared;
  Counts filled, released, met, announced, brought;
  /// Of a use, by whom.
  DenseMap<std::pair<unsigned, std::pair<int64_t, unsigned>>, int64_t> told;
};
} // namespace

int64_t kiln::protocol::countArrivals(RoleAttr role, Operation *op) {
  auto release = dyn_cast<ReleaseOp>(op);
  auto put = dyn_cast<PutOp>(op);
  bool isOfEachWarp = (release && !release.getCommit()) || (put && !put.getBytes());
  return isOfEachWarp && !OneThreadOp::encloses(op) ? role.getWarps() : 1;
}

FailureOr<Order> kiln::protocol::play(WarpGroupsOp groups, ArrayRef<Trace> traces,
                                      const Instance &instance) {
  State state(groups, instance.getClusterPrograms());
  Order order;
  SmallVector<size_t> next(traces.size());
  SmallVector<bool> hasArrived(traces.size());
  for (bool moved = true; moved;) {
    moved = false;
    for (auto [i, trace] : llvm::enumerate(traces)) {
      while (next[i] < trace.events.size()) {
        const Event &event = trace.events[next[i]];
        if (!hasArrived[i]) {
          state.arrive(trace, event);
          hasArrived[i] = moved = true;
        }
        if (!state.mayGo(trace, event))
          break;
        if (std::optional<unsigned> program = state.go(trace, event)) {
          InFlightDiagnostic early = event.op->emitOpError("expected every program that the ")
                                     << (event.kind == Event::Acquire ? "dots" : "copies")
                                     << " reach to have released the slot to this one, got one "
                                        "that has not: number "
                                     << *program << " of the cluster";
          describe(early, groups, instance);
          return failure();
        }
        order.push_back({i, &event});
        ++next[i];
        hasArrived[i] = false;
        moved = true;
      }
    }
  }
  std::optional<InFlightDiagnostic> error;
  llvm::SetVector<ChannelOp> rings;
  for (auto [i, trace] : llvm::enumerate(traces)) {
    if (next[i] == trace.events.size())
      continue;
    const Event &event = trace.events[next[i]];
    StringRef name = groups.getRole(trace.role).getName();
    if (!error)
      error.emplace(event.op->emitOpError("expected not to wait forever, got a wait of role \"")
                    << name << "\" that nothing ends");
    else
      error->attachNote(event.op->getLoc()) << "role \"" << name << "\" waits here";
    if (event.kind != Event::Meet)
      rings.insert(getChannel(groups, event.channel));
  }
  if (error) {
    for (ChannelOp ring : rings)
      noteRing(*error, ring);
    describe(*error, groups, instance);
    return failure();
  }
  // What was put and never got would stay in the slots of the next launch's barriers.
  for (auto [i, trace] : llvm::enumerate(traces))
    for (const Event &event : trace.events)
      if ((event.kind == Event::Put || event.kind == Event::Acquire) &&
          !state.isReleased(trace, event)) {
        InFlightDiagnostic left = event.op->emitOpError("expected each slot that is put to be "
                                                        "released by all, got one that is not");
        describe(left, groups, instance);
        return failure();
      }
  return std::move(order);
}

void kiln::protocol::noteRing(InFlightDiagnostic &error, ChannelOp channel) {
  ChannelType type = channel.getType();
  error.attachNote(channel.getLoc()) << "the ring, of " << type.getDepth() << " slots ('"
                                     << (type.getAccumulator() ? "in_flight" : "depth") << "')";
}
