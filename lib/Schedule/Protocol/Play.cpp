// Runs the traces of all roles against one another, and the instances they are made for.
#include "../Trip.h"
#include "Decoded.h"
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
/// What was done to one use of a channel, or to one meeting: arrivals that fill and release it, and
/// of a use which copies of other programs may fill, bytes that are announced and brought.
struct Use {
  int64_t filled = 0, released = 0, announced = 0, brought = 0;
  /// By program: how many of its arrivals.
  SmallVector<int64_t, 1> told;
};

/// What all traces have done so far: of each program of a cluster, or of the only one.
struct State {
  State(const Decoded &decoded, int64_t programs)
      : groups(decoded.groups), channels(decoded.channels), programs(programs),
        uses(programs * channels.size()), met(programs * groups.getRoles().size()) {
    for (RoleAttr role : groups.getRoles().getAsRange<RoleAttr>())
      copies.push_back(role.getCopies());
  }

  bool mayGo(const Trace &trace, const Event &event) {
    if (event.kind == Event::Meet)
      return getMeeting(trace, event) == copies[trace.role];
    bool isGet = event.kind == Event::Get;
    if (!isGet && event.kind != Event::Put && event.kind != Event::Acquire)
      return true;
    const ChannelFacts &channel = channels[event.channel];
    if (channel.isOwn)
      return true;
    if (isGet) {
      const Use &use = getUse(trace.program, event.channel, event.position);
      return use.filled == channel.full && use.announced == use.brought;
    }
    int64_t before = event.position - channel.depth;
    return before < 0 || getUse(trace.program, event.channel, before).released == channel.empty;
  }
  void arrive(const Trace &trace, const Event &event) {
    if (event.kind == Event::Meet)
      ++getMeeting(trace, event);
  }
  /// Gives the number of a program that a put, or the dots into what is acquired, reach before it
  /// has released the slot, if any.
  std::optional<unsigned> go(const Trace &trace, const Event &event) {
    if (event.kind == Event::Put || event.kind == Event::Acquire)
      return findUntold(trace, event, event.position - channels[event.channel].depth);
    if (event.kind == Event::Fill) {
      fill(trace, event);
      for (const Reach &reach : trace.getReaches(event))
        for (unsigned program : getPrograms(reach.programs))
          getUse(getCounting(program, event), event.channel, event.position).brought += reach.bytes;
    } else if (event.kind == Event::Release) {
      release(trace, event);
    }
    return std::nullopt;
  }
  /// By as many as must, and by every program that is reached.
  bool isReleased(const Trace &trace, const Event &event) {
    const Use &use = getUse(trace.program, event.channel, event.position);
    return use.released == channels[event.channel].empty &&
           !findUntold(trace, event, event.position);
  }

private:
  /// Of a channel of a program.
  Use &getUse(unsigned program, unsigned channel, int64_t position) {
    std::vector<Use> &all = uses[program * channels.size() + channel];
    if (all.size() <= size_t(position))
      all.resize(position + 1);
    return all[position];
  }
  int64_t &getMeeting(const Trace &trace, const Event &event) {
    std::vector<int64_t> &all = met[trace.program * copies.size() + trace.role];
    if (all.size() <= size_t(event.position))
      all.resize(event.position + 1);
    return all[event.position];
  }
  bool isOfPair(const Event &event) { return channels[event.channel].isOfPair; }
  /// At whose barriers the bytes that reach a program count, and who releases its slots.
  unsigned getCounting(unsigned program, const Event &event) {
    return isOfPair(event) ? getFirstOfPair(program) : program;
  }
  int64_t countArrivals(const Trace &trace, const Event &event) {
    return protocol::countArrivals(groups.getRole(trace.role), event.op);
  }
  /// A slot is told of being full, and of how many bytes must come. Of two programs that fill one
  /// together the first announces what both bring; sums both of them tell both.
  void fill(const Trace &trace, const Event &event) {
    unsigned first = getCounting(trace.program, event), telling = isOfPair(event) ? 2 : 1;
    auto put = dyn_cast<PutOp>(event.op);
    int64_t arrivals = countArrivals(trace, event);
    if (put && !put.getBytes() && isOfPair(event)) {
      getUse(first, event.channel, event.position).filled += arrivals;
      return;
    }
    if (!put) {
      for (unsigned program = first; program < first + telling; ++program)
        getUse(program, event.channel, event.position).filled += arrivals;
      return;
    }
    if (first != trace.program)
      return;
    Use &use = getUse(first, event.channel, event.position);
    use.filled += arrivals;
    if (programs > 1)
      use.announced += telling * int64_t(put.getBytes());
  }
  void release(const Trace &trace, const Event &event) {
    int64_t arrivals = countArrivals(trace, event);
    ArrayRef<Reach> reaches = trace.getReaches(event);
    if (reaches.empty())
      getUse(trace.program, event.channel, event.position).released += arrivals;
    for (const Reach &reach : reaches)
      for (unsigned program : getPrograms(reach.programs)) {
        Use &there = getUse(program, event.channel, event.position);
        there.released += arrivals;
        there.told.resize(programs);
        there.told[trace.program] += arrivals;
      }
  }
  /// A program that is reached and has not told of having released a use.
  std::optional<unsigned> findUntold(const Trace &trace, const Event &event, int64_t position) {
    if (position < 0 || programs == 1)
      return std::nullopt;
    const Use &use = getUse(trace.program, event.channel, position);
    const ChannelFacts &channel = channels[event.channel];
    auto isTold = [&](unsigned program) {
      return (use.told.empty() ? 0 : use.told[program]) >= channel.releases;
    };
    for (const Reach &reach : trace.getReaches(event))
      for (unsigned program : getPrograms(reach.programs))
        if (!isTold(getCounting(program, event)))
          return program;
    unsigned first = getCounting(trace.program, event);
    if (event.kind == Event::Acquire && isOfPair(event)) {
      // What dots read, one gives back for both.
      unsigned telling = channel.isReleasedByCommit ? 1 : 2;
      for (unsigned program = first; program < first + telling; ++program)
        if (!isTold(program))
          return program;
    }
    return std::nullopt;
  }

  WarpGroupsOp groups;
  ArrayRef<ChannelFacts> channels;
  int64_t programs;
  SmallVector<int64_t> copies;           ///< by role
  std::vector<std::vector<Use>> uses;    ///< by program and capture
  std::vector<std::vector<int64_t>> met; ///< by program and role
};
} // namespace

int64_t kiln::protocol::countArrivals(RoleAttr role, Operation *op) {
  auto release = dyn_cast<ReleaseOp>(op);
  auto put = dyn_cast<PutOp>(op);
  bool isOfEachWarp = (release && !release.getCommit()) || (put && !put.getBytes());
  return isOfEachWarp && !OneThreadOp::encloses(op) ? role.getWarps() : 1;
}

FailureOr<Order> kiln::protocol::play(const Decoded &decoded, ArrayRef<Trace> traces,
                                      const Instance &instance) {
  WarpGroupsOp groups = decoded.groups;
  State state(decoded, instance.getClusterPrograms());
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
